"""Constants that a column does not declare: which tests deny them, and so cannot be told.

Of a value outside its domain it is known that it lies below or above, and nothing else. So that a
column *is* such a constant is never met, and that it is *not* cannot be said of any row outside.
All of it rests on the public domains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from adomnia.queries.emptiness import may_be
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.ranges import Range

__all__ = ["Undeclared", "denied_constant", "stored_column"]

_FLIPPED = {True: False, False: True, None: None}


class Undeclared(NamedTuple):
    """A column, and a constant outside of its domain that it is compared with."""

    column: Column
    value: Any
    range: Range


def denied_constant(test: Expr, denied: bool | None = False) -> Undeclared | None:
    """The first constant that no value of its column is declared to be and that a test tells other
    values from. `denied` is whether the test itself is; None where it is both asked and denied.

    >>> from adomnia.queries.operations import call, constant
    >>> from adomnia.queries.ranges import Number
    >>> age = Column("age", Number(0, 120, ragged=True))
    >>> denied_constant(call("eq", age, constant(-9))) is None
    True
    >>> denied_constant(call("ne", age, constant(-9))).value
    -9
    """
    return next(_denied(test, denied), None)


def stored_column(expr: Expr) -> Column | None:
    """The column that is compared as it is stored, where it may hold what is not declared."""
    while isinstance(expr, Call) and expr.op in ("scale", "inside"):
        expr = expr.args[0]
    return expr if isinstance(expr, Column) and expr.range.ragged else None


def _denied(test: Expr, denied: bool | None) -> Iterator[Undeclared]:
    if not isinstance(test, Call):
        return
    if test.op in ("eq", "in") and denied is not False:
        yield from _constants(test)
    if test.op == "ne" and denied is not True:
        yield from _constants(test)
    inner = denied if test.op in ("and", "or") else None
    if test.op == "not":
        inner = _FLIPPED[denied]
    for arg in test.args:
        yield from _denied(arg, inner)


def _constants(test: Call) -> Iterator[Undeclared]:
    """The constants of one comparison that its column does not declare."""
    left, right = (*test.args, None)[:2]
    if isinstance(left, Constant):
        left, right = right, left
    column = None if left is None else stored_column(left)
    if left is None or column is None:
        return
    values = test.params if test.op == "in" else ()
    spread = left.range
    if isinstance(right, Constant):
        values, spread = (right.value,), right.range
    yield from (Undeclared(column, value, spread) for value in values if not may_be(left, value))
