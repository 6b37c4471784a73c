"""Exact releases as rows of whole numbers over classes, with their values and names."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from adomnia.errors import QuestionError
from adomnia.priors.prior_knowledge import Interval, PriorKnowledge, Published
from adomnia.priors.reader import ClassReader, Integers
from adomnia.queries.expression import Column
from adomnia.queries.grouping import axes
from adomnia.queries.measurement import Counts, Sum, number
from adomnia.queries.ranges import clamp, show

__all__ = ["counts_rows", "released_rows"]

ANY: Interval = (-(1 << 57), 1 << 57)
"""Where a rounded number lies that was not given here."""


def released_rows(
    known: PriorKnowledge, reader: ClassReader
) -> tuple[Any, list[Interval | None], list[str]]:
    """One row for each released number that some row can add to."""
    blocks = [_rows_of(published, reader) for published in known.published]
    if counts_rows(known):
        ones = sparse.csr_array(np.ones((1, len(reader.found)), np.int64))
        blocks.append((ones, [None], ["the number of rows"]))
    if not blocks:
        return sparse.csr_array((0, len(reader.found)), dtype=np.int64), [], []
    matrix = sparse.vstack([block[0] for block in blocks], format="csr")
    return matrix, [v for b in blocks for v in b[1]], [n for b in blocks for n in b[2]]


def counts_rows(known: PriorKnowledge) -> bool:
    """Whether the number of rows is a row of its own: not where a table of counts tells it."""
    return known.total and not any(p.is_marginal and not p.rounded for p in known.published)


def _rows_of(
    published: Published, reader: ClassReader
) -> tuple[Any, list[Interval | None], list[str]]:
    cell = reader.cell(published.keys)
    counts = reader.met(published.where) & (cell >= 0)
    width = published.width
    parts = [
        (cell * width + place, coefficient * counts)
        for place, coefficient in enumerate(_coefficients(published, reader))
    ]
    if not parts:  # no row can add to any of its numbers
        return sparse.csr_array((0, len(reader.found)), dtype=np.int64), [], []
    row = np.concatenate([part[0] for part in parts])
    data = np.concatenate([part[1] for part in parts])
    column = np.tile(np.arange(len(reader.found)), len(parts))
    live = data != 0
    wanted = np.unique(row[live])
    _check_impossible(published, wanted)
    place = np.searchsorted(wanted, row[live])
    shape = (len(wanted), len(reader.found))
    matrix = sparse.csr_array((data[live], (place, column[live])), shape=shape)
    values = [_value(published, int(number)) for number in wanted]
    return matrix, values, [_name(published, int(number)) for number in wanted]


def _coefficients(published: Published, reader: ClassReader) -> list[Integers]:
    """What a row of each class adds to each component."""
    found = []
    for measurement in published.measurements:
        if isinstance(measurement, Counts):
            found += [reader.met(test).astype(np.int64) for test in measurement.conditions]
        else:
            found.append(reader.codes(measurement.argument, partial(_added, measurement)))
    return found


def _added(measurement: Sum, value: int | None) -> int:
    return 0 if value is None else clamp(number(measurement.argument), int(value))


def _value(published: Published, number: int) -> Interval | None:
    cell, component = divmod(number, published.width)
    if published.values is None:
        return ANY if published.rounded or component in published.loose else None
    return published.values[cell][component]


def _check_impossible(published: Published, wanted: Integers) -> None:
    """A number in a cell that no row can be in must be zero."""
    if published.values is None:
        return
    possible = set(wanted.tolist())
    for cell, row in enumerate(published.values):
        for component, (low, high) in enumerate(row):
            number = cell * published.width + component
            if number not in possible and not low <= 0 <= high:
                raise QuestionError(
                    f"{_name(published, number)} was released as {low}, and no row can be there",
                    "correct the released values, or the domains in the policy",
                )


def _name(published: Published, number: int) -> str:
    """A released number as people know it: its keys, and the statement."""
    cell = number // published.width
    parts: list[str] = []
    for key, axis in reversed(list(zip(published.keys, axes(published.keys), strict=True))):
        cell, place = divmod(cell, len(axis))
        label = key.name if isinstance(key, Column) else "key"
        parts.append(f"{label} {show(key.range, axis[place])}")
    return ", ".join(reversed(parts)) or published.sql
