"""Ordered water-filling: rows of two units each, cut so that no unit has more than a bound
(`water_filling.md`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.compiled import compiled
from adomnia.mechanisms.joins.exact_sums import total
from adomnia.mechanisms.joins.pair_sources import PairSource

__all__ = ["water_filling"]

Integers = NDArray[np.int64]


def water_filling(pairs: PairSource, bound: int) -> int:
    """What is left of all amounts in total: rows are taken in an order of their keys, and of each
    as much as both of its units have room for, where each has room for `bound`."""
    free = pairs.below(bound)
    near, over = pairs.above(bound).around(bound)
    if not (over[near.first] & over[near.second]).any():
        return free + bound * int(np.count_nonzero(over))
    near = near.in_order()
    room = np.full(near.units + 1, bound, np.int64)
    taken = np.empty(near.amounts.size, np.int64)
    compiled(_fill)(room, near.first, near.second, near.amounts, taken)
    return free + total(taken)


def _fill(
    room: Integers, first: Integers, second: Integers, amounts: Integers, taken: Integers
) -> None:
    nobody = room.size - 1
    for row in range(first.size):
        a, b = first[row], second[row]
        take = min(amounts[row], room[a])
        if b != nobody:
            take = min(take, room[b])
            room[b] -= take
        room[a] -= take
        taken[row] = take
