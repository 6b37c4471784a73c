"""Pairs of units as arrays: both ends numbered, amounts within what was declared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.joins.exact_sums import Whole, dense, sums, total
from adomnia.schema.graph import id_keys
from adomnia.schema.unit_amounts import PairAmounts

__all__ = ["IndexedPairs", "indexed"]

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class IndexedPairs:
    """Rows (first, second, amount) with units numbered below `units`.

    The second unit of a row that has only one is `units`, which is nobody. `keys` are those of both
    units as they were given.
    """

    first: Integers
    second: Integers
    amounts: Integers
    keys: tuple[Integers, Integers]
    units: int
    order: Integers | None = None

    @cached_property
    def totals(self) -> Whole:
        """What the rows of each unit add up to; of nobody, 0."""
        return self.by_unit(self.amounts)

    def by_unit(self, values: Whole) -> Whole:
        """What whole numbers of rows add up to for each unit."""
        ends = self.units + 1
        found = sums(self.first, values, ends) + sums(self.second, values, ends)
        found[-1] = 0
        return found

    def kept(self, rows: Flags) -> IndexedPairs:
        """These rows alone."""
        keys = self.keys[0][rows], self.keys[1][rows]
        order = None if self.order is None else self.order[rows]
        return IndexedPairs(
            self.first[rows], self.second[rows], self.amounts[rows], keys, self.units, order
        )

    def in_steps(self, step: int) -> IndexedPairs:
        """The same with amounts in whole steps, rounded down."""
        return replace(self, amounts=self.amounts // step)

    def touching(self, over: Flags) -> Flags:
        """Which rows have a unit of these."""
        flags: Flags = over[self.first] | over[self.second]
        return flags

    @property
    def highest(self) -> int:
        """The largest total of a unit."""
        return int(self.totals.max(initial=0))

    def count(self, bound: int) -> int:
        """How many units have a total above the bound."""
        return int(np.count_nonzero(self.totals > bound))

    def parts(self, bound: int) -> int:
        """0: all rows are here."""
        return 0

    def part_above(self, bound: int, number: int) -> IndexedPairs:
        """All rows above the bound."""
        return self.above(bound)

    def above(self, bound: int) -> IndexedPairs:
        """The rows that have a unit whose total is above the bound."""
        return self.kept(self.touching(self.totals > bound))

    def below(self, bound: int) -> int:
        """What all other rows add up to."""
        return total(self.amounts[~self.touching(self.totals > bound)])

    def around(self, bound: int) -> tuple[IndexedPairs, Flags]:
        """The rows of units above the bound alone, with units that occur, and which are above."""
        over, rows = self.totals > bound, self.above(bound)
        here = np.zeros(self.units + 1, np.bool_)
        here[rows.first] = here[rows.second] = True
        here[-1] = True  # nobody stays the last
        number = np.cumsum(here) - 1
        ends = number[rows.first], number[rows.second]
        found = IndexedPairs(*ends, rows.amounts, rows.keys, int(number[-1]), rows.order)
        return found, over[here]

    def in_order(self) -> IndexedPairs:
        """By the numbers that rows came with, or by a mixture of the two keys, ties by the keys: no
        other row has a say in an order of two rows."""
        order = _order(*self.keys) if self.order is None else np.argsort(self.order)
        keys = self.keys[0][order], self.keys[1][order]
        first, second = self.first[order], self.second[order]
        return IndexedPairs(first, second, self.amounts[order], keys, self.units)


def _order(left: Integers, right: Integers) -> Integers:
    mixed = id_keys((left.view(np.uint64) ^ id_keys(right)).view(np.int64))
    order = np.argsort(mixed)
    same = np.diff(mixed[order]) == 0
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    rows = order[tied]
    order[tied] = rows[np.lexsort((right[rows], left[rows], mixed[rows]))]
    return order


def indexed(pairs: PairAmounts, most: int) -> IndexedPairs:
    """The pairs with amounts brought between 0 and `most`, each by itself."""
    left, right = (np.ascontiguousarray(side, np.int64) for side in (pairs.left, pairs.right))
    amounts = np.clip(pairs.amounts, 0, most).astype(np.int64)
    if not pairs.alike:
        (first, some), (second, others) = dense(left), dense(right)
        ends = first, second + some
        return IndexedPairs(*ends, amounts, (left, right), some + others, pairs.order)
    low, high = np.minimum(left, right), np.maximum(left, right)
    numbers, units = dense(np.concatenate([low, high]))
    first, second = numbers[: low.size], numbers[low.size :]
    second = np.where(low == high, units, second)
    return IndexedPairs(first, second, amounts, (low, high), units, pairs.order)
