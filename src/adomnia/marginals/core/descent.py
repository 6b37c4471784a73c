"""Loops over records that numba compiles: values, and exchanges of values, that help.

What is random here protects nobody: the tables aimed at are noisy already (`microdata.md`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.compiled import compiled
from adomnia.marginals.core.slots import Slots

__all__ = ["exchange", "move"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
PARTNERS = 8
"""How many records are tried for an exchange of values with one."""
MANY_PARTNERS = 64


@compiled
def _row(slots: Slots, slot: int, record: Integers) -> int:
    """Where the record's row of a slot begins."""
    base = slots.starts[slot]
    for k in range(slots.others.shape[1]):
        base += record[slots.others[slot, k]] * slots.strides[slot, k]
    return base


@compiled
def _add(
    slots: Slots, surplus: NDArray[np.float32], record: Integers, place: int, many: float
) -> None:
    """So many more rows of this record, in all tables that have the attribute."""
    for slot in range(slots.first[place], slots.first[place + 1]):
        step = np.float32(slots.weights[slot] * many)
        for k in range(slots.twins.shape[1]):
            twin = slots.twins[slot, k]
            if twin < 0:
                break
            surplus[_row(slots, twin, record) + record[slots.owner[twin]]] += step


@compiled
def _change(
    slots: Slots,
    surplus: NDArray[np.float32],
    records: NDArray[np.int32],
    times: Integers,
    used: int,
    number: int,
    place: int,
    value: int,
    many: int,
) -> int:
    """So many rows of a record take another value; if not all, they become a new record."""
    _add(slots, surplus, records[number], place, -many)
    if many < times[number]:
        records[used] = records[number]
        times[number] -= many
        times[used] = many
        number, used = used, used + 1
    records[number, place] = value
    _add(slots, surplus, records[number], place, many)
    return used


@compiled
def move(
    slots: Slots,
    surplus: NDArray[np.float32],
    records: NDArray[np.int32],
    times: Integers,
    used: int,
    order: Integers,
    step: int,
    least: Floats,
) -> tuple[int, int]:
    """Every record in this order takes, attribute by attribute, the value that helps most.

    A record stands for `times` rows. As many of them change as is best, in steps of `step`; if
    not all, they become a record of their own, while there is room. What helps less than `least`
    of its attribute is left. Returns how many records there are then, and how many values were changed.
    """
    score = np.zeros(slots.sizes.max(), np.float32)
    moved = 0
    for number in order:
        for place in range(len(slots.sizes)):
            record = records[number]
            size = slots.sizes[place]
            cost = np.float64(0)
            score[:size] = 0
            for slot in range(slots.first[place], slots.first[place + 1]):
                base = _row(slots, slot, record)
                cost += slots.weights[slot]
                for value in range(size):
                    score[value] += surplus[base + value]
            old, new = record[place], 0
            for value in range(1, size):
                if score[value] < score[new]:
                    new = value
            gain = np.float64(score[old]) - np.float64(score[new]) - least[place]
            unit = min(step, times[number])
            if new == old or gain <= cost * unit:
                continue
            many = min(times[number], unit * max(1, np.int64(gain / (2 * cost * unit) + 0.5)))
            if many == times[number] or used < len(records):
                used = _change(
                    slots, surplus, records, times, used, number, place, new, many
                )  # fmt: skip
                moved += 1
    return used, moved


@compiled
def exchange(
    slots: Slots,
    surplus: NDArray[np.float32],
    records: NDArray[np.int32],
    times: Integers,
    used: int,
    order: Integers,
    place: int,
    step: int,
    least: float,
    members: Integers,
    ends: Integers,
    seed: int,
) -> tuple[int, int]:
    """Records in this order exchange their value of one attribute with another record, if it helps.

    The tables of single attributes stay as they are. `members` are the records by value, those of
    value v from ends[v] to ends[v + 1]. Returns how many records there are then, and how many
    exchanges were made.
    """
    size = slots.sizes[place]
    score = np.zeros(size, np.float32)
    state = np.uint64(seed | 1)
    made = 0
    low, high = slots.first[place], slots.first[place + 1]
    for number in order:
        record = records[number]
        old = record[place]
        score[:] = 0
        for slot in range(low, high):
            if slots.strides[slot, 0] > 0:
                base = _row(slots, slot, record)
                for value in range(size):
                    score[value] += surplus[base + value]
        new = -1
        for value in range(size):
            if value != old and ends[value + 1] > ends[value] and (
                new < 0 or score[value] < score[new]
            ):
                new = value
        if new < 0:
            continue
        hope = score[old] - score[new]
        if hope <= 0:
            continue
        best, partner, much = 0.0, -1, np.int64(0)
        for _ in range(PARTNERS if hope < 1 + least else MANY_PARTNERS):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            many = np.uint64(ends[new + 1] - ends[new])
            other = members[ends[new] + np.int64(state % many)]
            if records[other, place] != new:
                continue  # it has exchanged its value since
            unit = min(step, times[number], times[other])
            gain, cost = -least, 0.0
            for slot in range(low, high):
                if slots.strides[slot, 0] > 0:
                    mine, its = _row(slots, slot, record), _row(slots, slot, records[other])
                    if mine != its:
                        gain += surplus[mine + old] - surplus[mine + new]
                        gain += surplus[its + new] - surplus[its + old]
                        cost += 2 * slots.weights[slot]
            if (gain - cost * unit) * unit > best:
                best, partner, much = (gain - cost * unit) * unit, other, unit
                much = unit * max(1, np.int64(gain / (2 * cost * unit) + 0.5))
        if partner < 0:
            continue
        much = min(much, times[number], times[partner])
        if used + 2 <= len(records) or much == times[number] == times[partner]:
            used = _change(slots, surplus, records, times, used, number, place, new, much)
            used = _change(slots, surplus, records, times, used, partner, place, old, much)
            made += 1
    return used, made



