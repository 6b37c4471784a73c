"""What a row adds to a measurement, cell by cell (`prior_knowledge.md`, claim 2).

Measurements of numbers get a cell for each extreme that a row of the class can add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import comb

import numpy as np

from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.priors.reader import ClassReader, Integers
from adomnia.queries.expression import Column, Expr
from adomnia.queries.measurement import Counts, Measurement, Moments, Sum, number, unit_of, width_of
from adomnia.queries.patterns import names
from adomnia.queries.ranges import clamp

__all__ = ["Effects", "effects", "is_read"]

MODEST = 1 << 20
"""Contributions are made smaller than this, so that no product of them passes 64 bits."""


@dataclass(frozen=True, eq=False)
class Effects:
    """The class of every cell, and what a row of it adds to the outputs, in some unit."""

    owner: Integers
    row: Integers
    col: Integers
    data: Integers
    tight: bool = True
    unit: int = 1


def effects(
    measurement: Measurement,
    known: PriorKnowledge,
    reader: ClassReader,
    where: Expr | None,
    keys: tuple[Expr, ...],
) -> Effects:
    """What the rows of each cell add to what is measured."""
    cell = reader.cell(keys)
    inside = np.flatnonzero(reader.met(where) & (cell >= 0))
    if isinstance(measurement, Counts):
        adds = [reader.met(test).astype(np.int64) for test in measurement.conditions]
        return _by_class(adds, cell, inside, len(reader.found))
    told = isinstance(measurement, Sum | Moments) and measurement.argument in reader.places
    if told and _is_modest(measurement):
        return _by_class(_contributions(measurement, reader), cell, inside, len(reader.found))
    corners, tight, unit = _corners(measurement, known, reader)
    height = len(corners[0])
    outside = np.setdiff1d(np.arange(len(reader.found)), inside)
    owner = np.concatenate([outside, np.repeat(inside, len(corners))])
    start = len(outside) + np.arange(len(inside)) * len(corners)
    row, col, data = [], [], []
    for choice, corner in enumerate(corners):
        for component, amount in enumerate(corner):
            row.append(cell[inside] * height + component)
            col.append(start + choice)
            data.append(np.full(len(inside), amount, np.int64))
    joined = (np.concatenate(part) for part in (row, col, data))
    return Effects(owner, next(joined), next(joined), next(joined), tight, unit)


def _by_class(adds: list[Integers], cell: Integers, inside: Integers, count: int) -> Effects:
    """Each class is a cell, and its rows all add the same."""
    row = np.concatenate([cell[inside] * len(adds) + place for place in range(len(adds))])
    col = np.tile(inside, len(adds))
    data = np.concatenate([part[inside] for part in adds])
    return Effects(np.arange(count), row, col, data)


def is_read(measurement: Measurement, others: Sequence[Expr | None]) -> bool:
    """Whether rows of a class can be told apart by what they add, at no further cost."""
    if not isinstance(measurement, Sum | Moments) or not _is_modest(measurement):
        return False
    return names(measurement.argument) <= names(*others)


def _is_modest(measurement: Measurement) -> bool:
    assert isinstance(measurement, Sum | Moments)
    spread = number(measurement.argument)
    return max(abs(spread.low), abs(spread.high), spread.width**2) <= MODEST


def _contributions(measurement: Measurement, reader: ClassReader) -> list[Integers]:
    """What a row of each class adds to each component of a sum or of moments."""
    assert isinstance(measurement, Sum | Moments)
    argument, spread = measurement.argument, number(measurement.argument)
    if isinstance(measurement, Sum):
        return [reader.codes(argument, lambda v: 0 if v is None else clamp(spread, v))]
    degree, width, unit = measurement.degree, max(1, spread.width), unit_of(measurement)

    def bernstein(value: int | None, k: int) -> int:
        if value is None:
            return 0
        place = clamp(spread, value) - spread.low
        return int(comb(degree, k) * place**k * (width - place) ** (degree - k))

    parts = [reader.codes(argument, partial(bernstein, k=k)) for k in range(degree + 1)]
    if measurement.rest:
        parts.append(reader.codes(argument, lambda v: unit if v is None else 0))
    return parts


def _corners(
    measurement: Measurement, known: PriorKnowledge, reader: ClassReader
) -> tuple[list[tuple[int, ...]], bool, int]:
    """What one row can add to its cell: corners, whether each is some row's, and their unit.

    Differences of quantiles and distinct counts are bounded by the rows that move, whatever
    their values: two outputs for two different values, each worth what a row is worth.
    """
    assert not isinstance(measurement, Counts)
    argument = measurement.argument
    plain = isinstance(argument, Column) and argument.name not in names(*reader.places)
    empty = argument.name in known.nullable if isinstance(argument, Column) else True
    if isinstance(measurement, Sum):
        spread = number(argument)
        unit = -(-max(abs(spread.low), abs(spread.high)) // MODEST) or 1
        ends = [(spread.low // unit,), (-(-spread.high // unit),)]
        return list(dict.fromkeys(ends + [(0,)] * empty)), plain and unit == 1, unit
    if isinstance(measurement, Moments):
        width = width_of(measurement)
        found = [tuple(int(i == j) for j in range(width)) for i in range(measurement.degree + 1)]
        if empty:
            null = tuple(int(measurement.rest and j == width - 1) for j in range(width))
            found.append(null)
        return found, plain and measurement.degree == 1, unit_of(measurement)
    return [(1, 0), (0, 1), *([(0, 0)] if empty else [])], False, 1
