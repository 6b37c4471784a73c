"""Measurements: the exact vectors to which noise is added, one row of components per cell.

Averages and variances are not measured as a sum and a count that split the budget. A row with
position t in [0, 1] between its bounds adds (t, 1 - t) for an average, and (t², 2t(1-t), (1-t)²)
for a variance: Bernstein's polynomials, which are never negative and sum to one. So one row adds
exactly one in all, whatever its value, and every moment comes out of one measurement of
sensitivity one (`measurement.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from adomnia.queries.expression import Expr
from adomnia.queries.operations import LIMIT
from adomnia.queries.ranges import Number

__all__ = [
    "Counts",
    "Distinct",
    "Measurement",
    "Mode",
    "Moments",
    "Quantile",
    "Sum",
    "number",
    "unit_of",
    "width_of",
]


@dataclass(frozen=True)
class Counts:
    """How many rows meet each condition; None is every row."""

    conditions: tuple[Expr | None, ...]


@dataclass(frozen=True)
class Sum:
    """The sum of an expression, in steps of its lattice."""

    argument: Expr


@dataclass(frozen=True)
class Moments:
    """Sums of Bernstein's polynomials of an expression, and its NULLs where `rest` is set."""

    argument: Expr
    degree: int
    rest: bool = False


@dataclass(frozen=True)
class Distinct:
    """How many different values an expression has."""

    argument: Expr


@dataclass(frozen=True)
class Quantile:
    """A value with a share of the rows below it; `edge` asks for the lowest or highest instead."""

    argument: Expr
    share: Fraction = Fraction(1, 2)
    edge: str | None = None


@dataclass(frozen=True)
class Mode:
    """A value of a public list that (nearly) the most rows have; NULL is no value."""

    argument: Expr


Measurement = Counts | Sum | Moments | Distinct | Quantile | Mode


def number(expr: Expr) -> Number:
    """The range of a numeric expression."""
    if not isinstance(expr.range, Number):
        raise TypeError("a measurement of numbers needs a number")
    return expr.range


def width_of(measurement: Measurement) -> int:
    """How many components a cell has."""
    if isinstance(measurement, Counts):
        return len(measurement.conditions)
    if isinstance(measurement, Moments):
        return measurement.degree + 1 + measurement.rest
    return 1


def unit_of(measurement: Measurement) -> int:
    """What one row adds to moments in all: the width of its range, to the degree."""
    if not isinstance(measurement, Moments):
        return 1
    unit = int(max(1, number(measurement.argument).width) ** measurement.degree)
    if unit > LIMIT:
        raise ValueError("the bounds are too wide for a variance")
    return unit
