"""Loops over records that numba compiles: values, and exchanges of values, that help.

What is random here protects nobody: the tables aimed at are noisy already (`microdata.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adomnia.compiled import compiled
from adomnia.marginals.workload import Subset

__all__ = ["Board", "Crowd", "Swap", "exchange", "kick", "layout", "move"]

Integers = NDArray[np.int64]
Scores = NDArray[np.float32]
PARTNERS, MANY_PARTNERS = 8, 64
"""How many records are tried for an exchange with one; more, if it stands badly."""


class Slots(NamedTuple):
    """Every table stands in one slot for each of its attributes, ordered by attribute.

    In a slot the values of its attribute stand side by side, so that all values that a record
    could take are read in one go. `others` and `strides` say from where: by the record's values
    of the table's other attributes (stride 0 where there are fewer).
    """

    sizes: Integers
    first: Integers
    """The first slot of each attribute, and the end."""

    owner: Integers
    """The attribute of each slot."""

    starts: Integers
    weights: NDArray[np.float64]
    others: Integers
    strides: Integers
    twins: Integers
    """The slots of the same table; -1 where there are fewer."""


def layout(sizes: Sequence[int], tables: Sequence[tuple[Subset, float]]) -> Slots:
    """Slots for tables of these subsets and weights."""
    slots = [
        (place, number)
        for place in range(len(sizes))
        for number, (subset, _) in enumerate(tables)
        if place in subset
    ]
    where = {slot: place for place, slot in enumerate(slots)}
    order = max((len(subset) for subset, _ in tables), default=1)
    others = np.zeros((len(slots), max(order - 1, 1)), np.int64)
    strides = np.zeros_like(others)
    twins = np.full((len(slots), order), -1, np.int64)
    for slot, (place, number) in enumerate(slots):
        subset, _ = tables[number]
        rest = [other for other in subset if other != place]
        for position, other in enumerate(rest):
            others[slot, position] = other
            strides[slot, position] = sizes[place] * prod(sizes[p] for p in rest[position + 1 :])
        twins[slot, : len(subset)] = [where[other, number] for other in subset]
    owner = np.array([place for place, _ in slots], np.int64)
    cells = [prod(sizes[place] for place in tables[number][0]) for _, number in slots]
    return Slots(
        np.array(sizes, np.int64),
        np.searchsorted(owner, np.arange(len(sizes) + 1)).astype(np.int64),
        owner,
        np.cumsum([0, *cells[:-1]], dtype=np.int64)[: len(slots)],
        np.array([tables[number][1] for _, number in slots], np.float64),
        others,
        strides,
        twins,
    )


class Board(NamedTuple):
    """The surpluses of the records over all tables, and where they stand."""

    slots: Slots
    surplus: Scores


class Crowd(NamedTuple):
    """Kinds of records and how many rows each stands for; with room behind for more."""

    records: NDArray[np.int32]
    times: Integers


class Swap(NamedTuple):
    """An attribute whose values are exchanged: the records of value v are `members` from `ends[v]`
    to `ends[v + 1]`."""

    place: int
    least: float
    members: Integers
    ends: Integers
    seed: int


@compiled
def _row(slots: Slots, slot: int, record: Integers) -> int:
    """Where the record's row of a slot begins."""
    base: int = slots.starts[slot]
    for k in range(slots.others.shape[1]):
        base += record[slots.others[slot, k]] * slots.strides[slot, k]
    return base


@compiled
def _add(board: Board, record: Integers, place: int, many: float) -> None:
    """So many more rows of this record, in all tables that have the attribute."""
    slots, surplus = board.slots, board.surplus
    for slot in range(slots.first[place], slots.first[place + 1]):
        step = np.float32(slots.weights[slot] * many)
        for k in range(slots.twins.shape[1]):
            twin = slots.twins[slot, k]
            if twin < 0:
                break
            surplus[_row(slots, twin, record) + record[slots.owner[twin]]] += step


@compiled
def _change(board: Board, crowd: Crowd, used: int, change: tuple[int, int, int, int]) -> int:
    """So many rows of a record take another value; if not all, they become a new record."""
    number, place, value, many = change
    records, times = crowd.records, crowd.times
    _add(board, records[number], place, -many)
    if many < times[number]:
        records[used] = records[number]
        times[number] -= many
        times[used] = many
        number, used = used, used + 1
    records[number, place] = value
    _add(board, records[number], place, many)
    return used


@compiled
def _scores(board: Board, record: Integers, place: int, single: bool, score: Scores) -> float:
    """The surplus that each value would meet, and what a row that changes it costs.

    Tables of the attribute alone count only if `single` is set.
    """
    slots, surplus, size = board.slots, board.surplus, board.slots.sizes[place]
    cost = 0.0
    score[:size] = 0
    for slot in range(slots.first[place], slots.first[place + 1]):
        if single or slots.strides[slot, 0] > 0:
            base = _row(slots, slot, record)
            cost += slots.weights[slot]
            for value in range(size):
                score[value] += surplus[base + value]
    return cost


@compiled
def move(
    board: Board, crowd: Crowd, used: int, order: Integers, step: int, least: NDArray[np.float64]
) -> tuple[int, int]:
    """Every record in this order takes, attribute by attribute, the value that helps most.

    As many of its rows change as is best, in steps of `step`; if not all, they become a record of
    their own, while there is room. What helps less than `least` of its attribute is left. Returns
    how many records there are then, and how many values were changed.
    """
    sizes, times = board.slots.sizes, crowd.times
    score = np.zeros(sizes.max(), np.float32)
    moved = 0
    for number in order:
        for place in range(len(sizes)):
            cost = _scores(board, crowd.records[number], place, True, score)
            old, new = crowd.records[number, place], 0
            for value in range(1, sizes[place]):
                if score[value] < score[new]:
                    new = value
            gain = np.float64(score[old]) - np.float64(score[new]) - least[place]
            unit = min(step, times[number])
            if new == old or gain <= cost * unit:
                continue
            many = times[number]
            if cost > 0:  # else it only leaves a cell that is forbidden, and no table is aimed at
                many = min(many, unit * max(1, int(gain / (2 * cost * unit) + 0.5)))
            if many == times[number] or used < len(times):
                used = _change(board, crowd, used, (number, place, new, many))
                moved += 1
    return used, moved


@compiled
def _gain(board: Board, left: Integers, right: Integers, place: int) -> tuple[float, float]:
    """What two records gain by exchanging their values, and what a pair of rows costs."""
    slots, surplus = board.slots, board.surplus
    mine, its = left[place], right[place]
    gain = cost = 0.0
    for slot in range(slots.first[place], slots.first[place + 1]):
        here, there = _row(slots, slot, left), _row(slots, slot, right)
        if here != there:  # else nothing changes; so it is for tables of the attribute alone
            gain += surplus[here + mine] - surplus[here + its]
            gain += surplus[there + its] - surplus[there + mine]
            cost += 2 * slots.weights[slot]
    return gain, cost


@compiled
def exchange(board: Board, crowd: Crowd, used: int, order: Integers, swap: Swap) -> tuple[int, int]:
    """Records in this order exchange their value of one attribute with another record, if it helps.

    The tables of single attributes stay as they are. Returns how many records there are then, and
    how many exchanges were made.
    """
    place, least, members, ends, seed = swap
    records, times, size = crowd.records, crowd.times, board.slots.sizes[place]
    score = np.zeros(size, np.float32)
    state = np.uint64(seed | 1)
    made = 0
    for number in order:
        _scores(board, records[number], place, False, score)
        old, new = records[number, place], -1
        for value in range(size):
            there = value != old and ends[value + 1] > ends[value]
            if there and (new < 0 or score[value] < score[new]):
                new = value
        if new < 0 or score[old] <= score[new]:
            continue
        tries = PARTNERS if score[old] - score[new] < 1 + least else MANY_PARTNERS
        best, partner, many = 0.0, -1, 0
        for _ in range(tries):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            other = members[ends[new] + np.int64(state % np.uint64(ends[new + 1] - ends[new]))]
            if records[other, place] != new:
                continue  # it has exchanged its value since
            gain, cost = _gain(board, records[number], records[other], place)
            if gain - least - cost > best:
                best, partner = gain - least - cost, other
                many = times[number]
                if cost > 0:  # as above
                    many = max(1, int((gain - least) / (2 * cost) + 0.5))
        if partner < 0:
            continue
        many = min(many, times[number], times[partner])
        if used + 2 <= len(times) or many == times[number] == times[partner]:
            used = _change(board, crowd, used, (number, place, new, many))
            used = _change(board, crowd, used, (partner, place, old, many))
            made += 1
    return used, made


@compiled
def kick(board: Board, crowd: Crowd, used: int, changes: Integers) -> int:
    """One row each of some records takes a value, whether it helps or not: record, place, value."""
    for number, place, value in changes:
        if used < len(crowd.times) or crowd.times[number] == 1:
            used = _change(board, crowd, used, (number, place, value, 1))
    return used
