"""How a question uses its columns: as keys, in conditions, or as numbers that are added up."""

from __future__ import annotations

from collections.abc import Iterator

from adomnia.queries.expression import Call, Column, Expr, columns
from adomnia.queries.question import Question, Statistic
from adomnia.queries.ranges import Truth

__all__ = ["clamped_columns", "compared_columns", "deciding_columns", "key_columns", "read_columns"]

CLAMPED = ("sum", "avg", "var", "quantile", "min", "max")
"""Statistics that take a value outside of its bounds as the nearest one."""


def read_columns(question: Question) -> frozenset[str]:
    """The columns that a question reads."""
    return _names(question.where, *question.keys, *(s.argument for s in question.statistics))


def deciding_columns(question: Question, statistic: Statistic) -> frozenset[str]:
    """The columns that decide which rows are in one count or sum, and in which group."""
    argument = statistic.argument if statistic.kind == "count" else None
    return _names(question.where, *question.keys, argument)


def key_columns(question: Question) -> frozenset[str]:
    """The columns that are keys as they are."""
    return frozenset(key.name for key in question.keys if isinstance(key, Column))


def compared_columns(question: Question) -> frozenset[str]:
    """The columns whose values are compared: in conditions, in keys that are worked out, and where
    different values are counted."""
    others = [s.argument for s in question.statistics if s.kind not in CLAMPED]
    keys = [key for key in question.keys if not isinstance(key, Column)]
    found = {name for expr in (*keys, *others) for name in _compared(expr, True)}
    clamped = [s.argument for s in question.statistics if s.kind in CLAMPED]
    found |= {name for expr in (question.where, *clamped) for name in _compared(expr, False)}
    return frozenset(found)


def clamped_columns(question: Question) -> frozenset[str]:
    """The columns whose values are clamped in a sum, an average or a quantile."""
    arguments = [s.argument for s in question.statistics if s.kind in CLAMPED]
    return frozenset(name for expr in arguments for name in _added(expr))


def _names(*listed: Expr | None) -> frozenset[str]:
    return frozenset(column.name for expr in listed for column in columns(expr))


def _compared(expr: Expr | None, inside: bool) -> Iterator[str]:
    """Columns in conditions; whether a value is NULL does not depend on which it is."""
    if isinstance(expr, Column) and inside:
        yield expr.name
    if not isinstance(expr, Call) or (expr.op == "is_null" and isinstance(expr.args[0], Column)):
        return
    for arg in expr.args:
        yield from _compared(arg, inside or isinstance(expr.range, Truth))


def _added(expr: Expr | None) -> Iterator[str]:
    """Columns outside of conditions."""
    if isinstance(expr, Column):
        yield expr.name
    if isinstance(expr, Call) and not isinstance(expr.range, Truth):
        for arg in expr.args:
            yield from _added(arg)
