"""Patterns: which conditions one row can meet at once, tried on rows that stand for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from adomnia.queries.calendar import PARTS, UNITS, midnight, truncate
from adomnia.queries.expression import Call, Column, Constant, Expr, columns
from adomnia.queries.operations import evaluate
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, cells, count_cells, outside

__all__ = ["MAX_ROWS", "is_rounded", "names", "patterns", "stand_ins"]

MAX_ROWS = 5_000
"""Conditions are tried on the rows of their columns, as long as these are this many."""

SHORT = 100
"""A column with no more values than this is tried on all of them."""

Pattern = tuple[bool, ...]


def names(*exprs: Expr | None) -> frozenset[str]:
    """The names of the columns that expressions read."""
    return frozenset(column.name for expr in exprs for column in columns(expr))


@lru_cache(maxsize=256)
def patterns(
    conditions: tuple[Expr | None, ...], where: Expr | None = None
) -> frozenset[Pattern] | None:
    """For each row of the public domain which conditions it meets, none of them outside `where`.

    None comes back where there are too many rows to try.
    """
    tests = [test for test in (where, *conditions) if test is not None]
    if any(is_rounded(test) for test in tests):
        return None  # an engine may round a root, a logarithm or a power of e another way
    rows = _rows(tests)
    if rows is None:
        return None
    found: set[Pattern] = set()
    for row in rows:
        kept = where is None or evaluate(where, row) is True
        met = (kept and (test is None or evaluate(test, row) is True) for test in conditions)
        found.add(tuple(met))
        if len(found) == 2 ** len(conditions):
            break
    return frozenset(found)


def is_rounded(expr: Expr) -> bool:
    """Whether a floating point function decides the value: Python cannot speak for an engine."""
    return isinstance(expr, Call) and (expr.op == "real" or any(map(is_rounded, expr.args)))


def _rows(tests: Sequence[Expr]) -> Iterator[dict[str, Any]] | None:
    """Rows that stand for all rows, as far as the tests can tell."""
    read = {column.name: column.range for test in tests for column in columns(test)}
    choices = []
    for name, spread in read.items():
        listed = stand_ins(name, spread, tests)
        if listed is None:
            return None
        # the ends first: they tell most
        choices.append((None, *listed[:1], *listed[:0:-1], *outside(spread)))
    if prod(len(choice) for choice in choices) > MAX_ROWS:
        return None
    return (dict(zip(read, row, strict=True)) for row in product(*choices))


def stand_ins(name: str, spread: Range, tests: Sequence[Expr]) -> tuple[Any, ...] | None:
    """Values that stand for all others of a column: all, or those around its comparisons."""
    count = count_cells(spread)
    if count is not None and count <= SHORT:
        return cells(spread)
    uses = [_compared(use, spread) for test in tests for use in _uses(test, name)]
    if None not in uses:
        return _around({point for use in uses if use for point in use}, spread)
    if isinstance(spread, Moment) and all(_sees_days(test, name) for test in tests):
        return _first_of_days(spread)
    return cells(spread) if count is not None and count <= MAX_ROWS else None


def _sees_days(expr: Expr, name: str) -> bool:
    """Whether nothing in an expression tells two moments of one day of a column apart."""
    if not isinstance(expr, Call):
        return not isinstance(expr, Column) or expr.name != name
    first = expr.args[0] if expr.args else None
    if isinstance(first, Call) and first.op in ("inside", "nearest"):
        first = first.args[0]
    if isinstance(first, Column) and first.name == name:
        return _cuts_to_days(expr)
    return all(_sees_days(arg, name) for arg in expr.args)


def _cuts_to_days(use: Call) -> bool:
    if use.op in ("lt", "ge"):
        other = use.args[1]
        value = other.value if isinstance(other, Constant) else None
        return isinstance(value, datetime) and truncate(value, "day") == value
    if use.op in ("to_day", "is_null"):
        return True
    known = {"moment_trunc": UNITS, "moment_part": PARTS}.get(use.op, ())
    return use.params[:1] != () and use.params[0] in known


def _first_of_days(spread: Moment) -> tuple[Any, ...] | None:
    days = (spread.high.date() - spread.low.date()).days + 1
    if days > MAX_ROWS:
        return None
    first = midnight(spread.low.date())
    return (spread.low, *(first + timedelta(days=day) for day in range(1, days)))


def _uses(expr: Expr, name: str) -> Iterator[Expr]:
    """The calls that read a column directly, or the column where it stands alone."""
    if isinstance(expr, Column) and expr.name == name:
        yield expr
    if not isinstance(expr, Call):
        return
    if any(isinstance(arg, Column) and arg.name == name for arg in expr.args):
        yield expr
    for arg in expr.args:
        if isinstance(arg, Call):
            yield from _uses(arg, name)


def _compared(use: Expr, spread: Range) -> tuple[Any, ...] | None:
    """The constants with which a call compares a column; None where it does something else."""
    if not isinstance(use, Call):
        return None
    if use.op in ("in", "is_null"):
        return use.params
    allowed = ("eq", "ne") if isinstance(spread, Text) else ("eq", "ne", "lt", "le", "gt", "ge")
    constants = tuple(arg.value for arg in use.args if isinstance(arg, Constant))
    return constants if use.op in allowed and len(constants) == 1 else None


def _around(points: set[Any], spread: Range) -> tuple[Any, ...]:
    """The points and those beside them: between two neighbouring points no comparison changes."""
    points = points - {None}
    if isinstance(spread, Text):
        fresh = max(points, key=len, default="") + "+"  # longer than all, so none of them
        return (*sorted(points), fresh) if spread.values is None else spread.values
    if isinstance(spread, Number) and spread.values is None:
        near = {spread.low, spread.high, *(p + d for p in points for d in (-1, 0, 1))}
        return tuple(sorted(p for p in near if spread.low <= p <= spread.high))
    if isinstance(spread, Moment):
        step = timedelta(seconds=spread.step)
        inside = [p for p in points if spread.low <= p <= spread.high]
        near = {spread.low, spread.high, *(p + d * step for p in inside for d in (-1, 0, 1))}
        return tuple(sorted(p for p in near if spread.low <= p <= spread.high))
    if not isinstance(spread, Day):
        return cells(spread)
    days = {p.toordinal() + d for p in points for d in (-1, 0, 1)}
    ends = spread.low.toordinal(), spread.high.toordinal()
    return tuple(date.fromordinal(d) for d in sorted({*days, *ends}) if ends[0] <= d <= ends[1])
