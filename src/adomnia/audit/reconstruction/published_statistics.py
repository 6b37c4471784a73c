"""Published statistics as rows over cells: counts, means and medians, exact or rounded.

A cell is a combination of values, one of each attribute; a table says how many people are in each.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError

__all__ = [
    "UNLIMITED",
    "CellLayout",
    "Count",
    "LinearConstraint",
    "Mean",
    "Median",
    "Statement",
    "marginal",
]

Integers = NDArray[np.int64]
Where = Mapping[str, Collection[Any]]
"""The people meant: for some attributes the values they may have."""
UNLIMITED = 1 << 40
"""More than any sum that a row of a table can have."""


@dataclass(frozen=True)
class CellLayout:
    """The attributes and their values, in order.

    >>> CellLayout({"sex": ("F", "M"), "age": (0, 1, 2)}).shape
    (2, 3)
    """

    values: Mapping[str, tuple[Any, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(len(found) for found in self.values.values())

    @property
    def many(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    def chosen(self, where: Where) -> Integers:
        """1 for the cells that are meant, 0 for the others."""
        inside = np.ones(self.shape, np.int64)
        for name, allowed in where.items():
            inside *= self._along(name, [value in allowed for value in self._values(name)])
        return inside.reshape(-1)

    def numbers(self, name: str) -> Integers:
        """The value of a whole-numbered attribute, for each cell."""
        spread = np.ones(self.shape, np.int64) * self._along(name, self._values(name))
        return spread.reshape(-1)

    def record(self, cell: int) -> tuple[Any, ...]:
        """The values of a cell."""
        places = np.unravel_index(cell, self.shape)
        return tuple(v[int(p)] for v, p in zip(self.values.values(), places, strict=True))

    def table(self, records: Sequence[Sequence[Any]]) -> Integers:
        """How many of the records are in each cell."""
        found = np.zeros(self.many, np.int64)
        for record in records:
            where = dict(zip(self.values, ([value] for value in record), strict=True))
            found += self.chosen(where)
        return found

    def _values(self, name: str) -> tuple[Any, ...]:
        if name not in self.values:
            raise QuestionError(
                f"there is no attribute {name!r}", f"there are: {list(self.values)}"
            )
        return self.values[name]

    def _along(self, name: str, values: Sequence[Any]) -> Integers:
        shape = [1] * len(self.values)
        shape[list(self.values).index(name)] = -1
        return np.asarray(values, np.int64).reshape(shape)


@dataclass(frozen=True, eq=False)
class LinearConstraint:
    """`low` ≤ factors · table ≤ `high`.

    >>> import numpy as np
    >>> LinearConstraint(np.array([1, 0]), 3, 5).low
    3
    """

    factors: Integers
    low: int
    high: int


@dataclass(frozen=True)
class Count:
    """From `low` to `high` people are in `where`; a suppressed count is an interval too.

    >>> Count("women", {"sex": ["F"]}, 3, 5).rows(CellLayout({"sex": ("F", "M")}))[0].low
    3
    """

    name: str
    where: Where
    low: int
    high: int

    def rows(self, cells: CellLayout) -> list[LinearConstraint]:
        """What this says of the table."""
        return [LinearConstraint(cells.chosen(self.where), self.low, self.high)]


@dataclass(frozen=True)
class Mean:
    """The mean of a whole-numbered attribute over `where`, published rounded to `unit`.

    Both ends of the rounding interval are allowed: nobody says how halves were rounded.

    >>> Mean("age", {}, "age", Fraction(30)).unit
    Fraction(0, 1)
    """

    name: str
    where: Where
    attribute: str
    value: Fraction
    unit: Fraction = Fraction(0)

    def rows(self, cells: CellLayout) -> list[LinearConstraint]:
        """Σ (age − high) t ≤ 0 ≤ Σ (age − low) t, in whole numbers: no count is needed."""
        inside, numbers = cells.chosen(self.where), cells.numbers(self.attribute)
        rows = []
        for end, low, high in (
            (self.value - self.unit / 2, 0, UNLIMITED),
            (self.value + self.unit / 2, -UNLIMITED, 0),
        ):
            factors = inside * (numbers * end.denominator - end.numerator)
            rows.append(LinearConstraint(factors, low, high))
        return rows if self.unit else [LinearConstraint(rows[0].factors, 0, 0)]


@dataclass(frozen=True)
class Median:
    """The median of a whole-numbered attribute over the `count` people in `where`.

    Of an even number it is half the sum of the two in the middle, and is published rounded to
    `unit`. `lower` bounds the first of the two; it is narrowed while searching.

    >>> Median("age", {}, "age", Fraction(30), count=5).count
    5
    """

    name: str
    where: Where
    attribute: str
    value: Fraction
    count: int
    unit: Fraction = Fraction(0)
    lower: tuple[int, int] | None = None

    def rows(self, cells: CellLayout) -> list[LinearConstraint]:
        """What follows for the table if the first of the middle two lies within `lower`."""
        inside, numbers = cells.chosen(self.where), cells.numbers(self.attribute)
        least, most = self.span(cells)
        half = self.count // 2
        ends = self._twice()
        if self.count % 2:
            pairs = [(most, half + 1, True), (least, half + 1, False)]
        else:
            pairs = [(most, half, True), (least, half + 1, False)]
            pairs += [(ends[1] - least, half + 1, True), (ends[0] - most, half, False)]
        return [
            LinearConstraint(
                inside * (numbers <= at if below else numbers >= at), people, UNLIMITED
            )
            for at, people, below in pairs
        ]

    def span(self, cells: CellLayout) -> tuple[int, int]:
        """Where the first of the middle two can lie: at first anywhere not above the median."""
        if self.lower is not None:
            return self.lower
        values = cells.numbers(self.attribute)
        least, most = self._twice()
        if self.count % 2:
            return -(-least // 2), most // 2
        return max(int(values.min()), least - int(values.max())), most // 2

    def is_open(self, cells: CellLayout) -> bool:
        """Whether the rows still say less than the median does."""
        least, most = self.span(cells)
        return self.count % 2 == 0 and least < most

    def _twice(self) -> tuple[int, int]:
        """Twice the median lies between these whole numbers."""
        return math.ceil(2 * self.value - self.unit), math.floor(2 * self.value + self.unit)


Statement = Count | Mean | Median


def marginal(
    cells: CellLayout, names: Sequence[str], counts: NDArray[Any], base: int = 1
) -> list[Count]:
    """A published table of counts over some attributes, each rounded to a multiple of `base`.

    A count rounded to c can be any number less than `base` away from it if it was rounded at
    random or by an unknown rule, so that is allowed; with base 1 it is c.
    """
    table = np.asarray(counts)
    shape = tuple(len(cells.values[name]) for name in names)
    if table.shape != shape:
        raise QuestionError(f"the table {' × '.join(names)} has another shape", f"expected {shape}")
    said = []
    for place in np.ndindex(shape):
        where = {n: [cells.values[n][p]] for n, p in zip(names, place, strict=True)}
        count = int(table[place])
        shown = ", ".join(f"{n} {values[0]}" for n, values in where.items()) or "all"
        said.append(Count(shown, where, max(0, count - base + 1), count + base - 1))
    return said
