"""Measurements: the exact vectors to which noise is added, one row of components per cell.

Averages and variances are not measured as a sum and a count that split the budget. A row with
position t in [0, 1] between its bounds adds (t, 1 - t) for an average, and (t², 2t(1-t), (1-t)²)
for a variance: Bernstein's polynomials, which are never negative and sum to one. So one row adds
exactly one in all, whatever its value, and every moment comes out of one measurement of
sensitivity one (`measurement.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.queries.expression import Expr
from adomnia.queries.operations import LIMIT
from adomnia.queries.ranges import Number

__all__ = [
    "Counts",
    "Distinct",
    "Measurement",
    "Mode",
    "Moments",
    "Primitive",
    "Quantile",
    "Sum",
    "combine",
    "number",
    "primitives",
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


@dataclass(frozen=True)
class Primitive:
    """What an engine computes in a group: `rows` meeting a condition, `sum`, `squares`, `values`
    that are not NULL, or `distinct` values of an expression."""

    kind: str
    argument: Expr | None = None


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


def primitives(measurement: Measurement) -> tuple[Primitive, ...]:
    """What the engine must compute for a measurement, in the order `combine` takes it."""
    if isinstance(measurement, Counts):
        return tuple(Primitive("rows", condition) for condition in measurement.conditions)
    if isinstance(measurement, Sum):
        return (Primitive("sum", measurement.argument),)
    if isinstance(measurement, Distinct):
        return (Primitive("distinct", measurement.argument),)
    if isinstance(measurement, Moments):
        kinds = ("values", "sum", "squares")[: measurement.degree + 1]
        needed = tuple(Primitive(kind, measurement.argument) for kind in kinds)
        return (*needed, Primitive("rows")) if measurement.rest else needed
    return ()


def combine(measurement: Measurement, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The components per cell (cells × width, whole numbers) from the engine's primitives."""
    if not isinstance(measurement, Moments):
        return np.stack([_exact(part) for part in parts], axis=1)
    width, unit = max(1, number(measurement.argument).width), unit_of(measurement)
    powers = _shifted(measurement, [part.astype(object) for part in parts])
    columns = [
        comb(measurement.degree, k) * _bernstein(powers, width, measurement.degree, k)
        for k in range(measurement.degree + 1)
    ]
    if measurement.rest:
        columns.append((parts[-1].astype(object) - powers[0]) * unit)
    return np.stack([_exact(column) for column in columns], axis=1)


def _shifted(measurement: Moments, parts: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Σ1, Σj, Σj² of j = x - low, from Σ1, Σx, Σx²."""
    low, count, total = number(measurement.argument).low, parts[0], parts[1]
    powers = [count, total - low * count]
    if measurement.degree == 2:
        powers.append(parts[2] - 2 * low * total + low * low * count)
    return powers


def _bernstein(powers: list[NDArray[Any]], width: int, degree: int, k: int) -> NDArray[Any]:
    """Σ j^k (width - j)^(degree - k), expanded in powers of j."""
    terms = [
        comb(degree - k, i) * (-1) ** i * width ** (degree - k - i) * powers[k + i]
        for i in range(degree - k + 1)
    ]
    out: NDArray[Any] = sum(terms[1:], terms[0])
    return out


def _exact(part: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as 64-bit integers where they fit, else as Python's."""
    if part.dtype != object:
        return part.astype(np.int64)
    large = max((abs(int(value)) for value in part), default=0) > LIMIT
    return part if large else part.astype(np.int64)
