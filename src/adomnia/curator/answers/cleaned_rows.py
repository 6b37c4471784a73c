"""Which way cleaning moves a count: whether rows with a value that is not declared can only be
missing from it, or also be in it by mistake (`quality.md`, claim 3)."""

from __future__ import annotations

from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import OPERATIONS
from adomnia.queries.question import Question, Statistic
from adomnia.queries.undeclared import stored_column

__all__ = ["only_misses"]

_MET = ("eq", "in", "lt", "le", "gt", "ge", "like")
"""Tests that a value outside meets only where what the source holds meets them."""


def only_misses(question: Question, statistic: Statistic) -> bool:
    """Whether every row that is counted as cleaned counts by what the source holds, too, in groups
    whose keys are declared values."""
    filtered = statistic.argument if statistic.kind == "count" else None
    tests = [test for test in (question.where, filtered) if test is not None]
    return all(map(_implied, tests)) and all(map(_passes_null, question.keys))


def _implied(test: Expr) -> bool:
    """Whether a row meets this by what the source holds where it does as cleaned."""
    if not isinstance(test, Call):
        return True
    if test.op in ("and", "or"):
        return all(map(_implied, test.args))
    if test.op == "ne":
        return _is_plain(test)
    if test.op == "not":
        return _denied(test.args[0])
    return test.op in _MET and all(map(_passes_null, test.args))


def _denied(test: Expr) -> bool:
    """The same of a test that is denied: that a column is a declared constant, or that there is no
    value."""
    if not isinstance(test, Call):
        return True  # a truth value: what is none is met by neither
    if test.op == "is_null":
        return _passes_null(test.args[0])
    return test.op in ("eq", "in") and _is_plain(test)


def _is_plain(test: Call) -> bool:
    """Whether a column as it is stored is compared with constants alone: all of them declared."""
    found = [arg for arg in test.args if not isinstance(arg, Constant)]
    return len(found) == 1 and (stored_column(found[0]) is not None or isinstance(found[0], Column))


def _passes_null(expr: Expr) -> bool:
    """Whether it is NULL wherever a value in it has none to compute with."""
    if not isinstance(expr, Call):
        return True
    return OPERATIONS[expr.op].strict and expr.op != "nearest" and all(map(_passes_null, expr.args))
