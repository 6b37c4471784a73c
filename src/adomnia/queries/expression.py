"""Expressions over one row: columns, constants and calls, each with its derived range.

They are frozen and hashable: two questions that mean the same by construction compare equal,
which is how an earlier answer is recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from adomnia.queries.ranges import Range

__all__ = ["Call", "Column", "Constant", "Expr", "columns", "conjuncts", "rewrite"]


@dataclass(frozen=True)
class Column:
    """A cleaned column of the private table."""

    name: str
    range: Range


@dataclass(frozen=True)
class Constant:
    """A literal: an index on the lattice of its range, a text, a day, a truth value or None."""

    value: Any
    range: Range


@dataclass(frozen=True)
class Call:
    """An operation of `operations.py` on arguments; `params` are fixed when it is bound.

    `size` counts the calls in it, repeated ones as often as they are repeated.
    """

    op: str
    args: tuple[Expr, ...]
    range: Range
    params: tuple[Any, ...] = ()
    size: int = field(default=1, compare=False, repr=False)


Expr = Column | Constant | Call


def columns(expr: Expr | None) -> tuple[Column, ...]:
    """The columns an expression reads, each once, in order of appearance."""
    return tuple(dict.fromkeys(_columns(expr))) if expr is not None else ()


def _columns(expr: Expr) -> Iterator[Column]:
    if isinstance(expr, Column):
        yield expr
    elif isinstance(expr, Call):
        for arg in expr.args:
            yield from _columns(arg)


def conjuncts(*tests: Expr | None) -> list[Expr]:
    """The conditions that must all hold, one by one; those that always do are left out."""
    parts: list[Expr] = []
    for test in tests:
        if isinstance(test, Call) and test.op == "and":
            parts += conjuncts(*test.args)
        elif test is not None and not (isinstance(test, Constant) and test.value is True):
            parts.append(test)
    return list(dict.fromkeys(parts))


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with every subexpression replaced for which `change` gives another."""
    changed = change(expr)
    if changed is not None:
        return changed
    if not isinstance(expr, Call):
        return expr
    return Call(expr.op, tuple(rewrite(arg, change) for arg in expr.args), expr.range, expr.params)
