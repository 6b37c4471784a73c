"""Where the pairs of a scan come from: rows of units above a bound are taken as they are needed.

A unit's rows are told by its total until a comparison needs them; what is not needed stays where
it is. Memory grows with the rows that are needed, in the worst case with those of all units above a
bound (`removal_distance.md`, claim 6 and limits).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adomnia.limits import MAX_UNIT_AMOUNT
from adomnia.mechanisms.joins.exact_sums import sums, total
from adomnia.mechanisms.joins.indexed_pairs import Flags, IndexedPairs, indexed
from adomnia.schema.unit_amounts import PairAmounts, Pairs, PairTable

__all__ = ["ENOUGH", "PairSource", "TablePairs", "pair_source"]

Integers = NDArray[np.int64]
LARGEST = 2 * MAX_UNIT_AMOUNT
"""Totals are told up to this, which is above every bound."""
ENOUGH = 1 << 18
"""Rows that are taken at once, if there are so many, so that smaller bounds find them here."""
MORE = 8
"""If these decide nothing, so many times as many are taken next."""


class PairSource(Protocol):
    """Pairs of units, of which a scan needs those of the larger ones."""

    @property
    def highest(self) -> int:
        """The largest total of a unit."""
        ...

    def count(self, bound: int) -> int:
        """How many units have a total above the bound."""
        ...

    def above(self, bound: int) -> IndexedPairs:
        """The rows that have a unit whose total is above the bound."""
        ...

    def parts(self, bound: int) -> int:
        """How many parts of these rows there are that are not all, each larger than the other."""
        ...

    def part_above(self, bound: int, number: int) -> IndexedPairs:
        """Such a part: rows of the largest units; all rows where there are not so many parts."""
        ...

    def below(self, bound: int) -> int:
        """What the rows add up to that have no unit above the bound."""
        ...


def pair_source(pairs: Pairs, most: int) -> PairSource:
    """The pairs with amounts brought between 0 and `most`, each by itself."""
    return indexed(pairs, most) if isinstance(pairs, PairAmounts) else TablePairs(pairs, most)


class TablePairs:
    """Pairs that stay in a table: of a unit only its total is here, until its rows are needed."""

    def __init__(self, table: PairTable, most: int) -> None:
        self._table, self._most = table, most
        self._first, self._second = sides = table.totals(most, LARGEST)
        self._units = np.concatenate([side.keys for side in sides])
        if table.alike:  # a unit may be on both sides
            self._units = np.unique(self._units)
        ends = np.concatenate([self._numbers(side.keys, i) for i, side in enumerate(sides)])
        size = self._units.size
        self._totals = sums(ends, np.concatenate([side.totals for side in sides]), size)
        self._largest = np.argsort(-self._totals, kind="stable")
        many = sums(ends, np.concatenate([side.rows for side in sides]), size)
        self._many = np.cumsum(many[self._largest])
        self._floor, self._rows = self.highest, self._taken(self._over(self.highest))
        self._part = -1, self._rows

    @property
    def highest(self) -> int:
        """The largest total of a unit."""
        return int(self._totals.max(initial=0))

    def count(self, bound: int) -> int:
        """How many units have a total above the bound."""
        return int(np.searchsorted(-self._totals[self._largest], -bound))

    def above(self, bound: int) -> IndexedPairs:
        """The rows that have a unit whose total is above the bound."""
        if bound < self._floor:
            floor = min(bound, self._least_within(max(ENOUGH, self._rows_above(bound))))
            self._rows, self._floor = self._taken(self._over(floor)), floor
        return self._rows.kept(self._rows.touching(np.append(self._over(bound), False)))

    def parts(self, bound: int) -> int:
        """How many parts of these rows there are that are not all, each larger than the other."""
        found, many = 0, self._rows_above(bound) if bound < self._floor else 0
        while ENOUGH * MORE**found < many:
            found += 1
        return found

    def part_above(self, bound: int, number: int) -> IndexedPairs:
        """Such a part: rows of the largest units; all rows where there are not so many parts."""
        if number >= self.parts(bound):
            return self.above(bound)
        if number != self._part[0]:
            chosen = np.zeros(self._units.size, np.bool_)
            rows = ENOUGH * MORE**number
            chosen[self._largest[: np.searchsorted(self._many, rows, "right")]] = True
            self._part = number, self._taken(chosen)
        return self._part[1]

    def below(self, bound: int) -> int:
        """What the first units of rows that are not above the bound add up to, without those of
        their rows whose second unit is above it."""
        small, near = ~self._over(bound), self.above(bound)
        theirs = total(self._first.totals[small[self._numbers(self._first.keys, 0)]])
        return theirs - total(near.amounts[small[near.first]])

    def _over(self, bound: int) -> Flags:
        flags: Flags = self._totals > bound
        return flags

    def _rows_above(self, bound: int) -> int:
        """How many rows there are of units above the bound, those of two of them twice."""
        many = self.count(bound)
        return int(self._many[many - 1]) if many else 0

    def _least_within(self, rows: int) -> int:
        """A bound above which units have no more rows than so many."""
        place = int(np.searchsorted(self._many, rows, "right"))
        return int(self._totals[self._largest[place]]) if place < self._many.size else 0

    def _numbers(self, keys: Integers, side: int) -> Integers:
        """The numbers of units that are on this side of rows."""
        if self._table.alike:
            return np.searchsorted(self._units, keys)
        before = self._first.keys.size
        some = self._units[before:] if side else self._units[:before]
        return np.searchsorted(some, keys) + side * before

    def _taken(self, chosen: Flags) -> IndexedPairs:
        """The rows of these units."""
        first, second = (
            side.keys[chosen[self._numbers(side.keys, place)]]
            for place, side in enumerate((self._first, self._second))
        )
        given = self._table.touching(first, second)
        amounts = np.clip(given.amounts, 0, self._most)
        ends = self._numbers(given.left, 0), self._numbers(given.right, 1)
        if self._table.alike:
            ends = ends[0], np.where(given.left == given.right, self._units.size, ends[1])
        keys = given.left, given.right
        return IndexedPairs(*ends, amounts, keys, self._units.size, given.order)
