"""A table drawn among all that agree with what is public, near the true one (`consistent.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise.exponential import choose
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["choose_table", "distances", "unit"]

SALTS = 8
LARGEST = 1 << 40
"""Larger counts are taken as this one, so that no sum of differences overflows."""
Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]


def choose_table(
    sealed: Sealed[NDArray[Any]],
    tables: Integers,
    moves: Integers,
    epsilon: Fraction,
    bits: Bits = SYSTEM,
    places: Sequence[int] | None = None,
) -> Integers:
    """One of `tables`, with weight exp(-epsilon d/2), d its distance from the sealed one.

    `tables` are all that agree with what is public, one a row; `moves` the Graver moves, up to
    sign. Data that does not agree with what is public is answered too (`consistent.md`). With
    `places`, the table is what the sealed counts have there.
    """
    if epsilon < 0:
        raise ValueError("epsilon is not negative")
    counts = np.asarray(unseal(sealed)).reshape(-1)
    counts = counts if places is None else counts[list(places)]
    if counts.dtype.kind not in "iu":
        raise TypeError("a table holds counts: integers")
    most = min(LARGEST, np.iinfo(counts.dtype).max)
    penalties = distances(np.minimum(counts, most).astype(np.int64), tables, moves)
    values, many = np.unique(penalties, return_counts=True)
    chosen = choose(values, many, epsilon / (2 * unit(moves)), bits)
    equal = np.flatnonzero(penalties == values[chosen])
    drawn: Integers = tables[equal[bits.below(equal.size)]].copy()
    return drawn


def unit(moves: Integers) -> int:
    """The fewest rows that a move adds and removes: the length of an edge in `distances`."""
    lengths = np.abs(moves).sum(axis=1)
    if not lengths.all():
        raise ValueError("a move changes something")
    return int(lengths.min()) if lengths.size else 1


def distances(start: Integers, tables: Integers, moves: Integers) -> Integers:
    """The length of the shortest way from `start` to every table.

    A move has the length `unit(moves)`; from any start one may first jump to a table, for as much
    as the counts differ. For a start among the tables this is its distance in the graph of induced
    neighbours, times the unit.
    """
    if tables.ndim != 2 or moves.ndim != 2 or moves.shape[1] != tables.shape[1]:
        raise ValueError("tables and moves have one column for each cell")
    if not len(tables):
        raise ValueError("no table agrees with what is public")
    if start.shape != tables.shape[1:]:
        raise ValueError("the data has another number of cells than the tables")
    if int(tables.max(initial=0)) > LARGEST:
        raise ValueError("a count is too large to be compared")
    keys, steps = _keys(tables, moves)
    order = np.argsort(keys)
    jumps = np.abs(tables - start).sum(axis=1)
    found: Integers = np.empty_like(jumps)
    found[order] = _spread(jumps[order], keys[order], steps, unit(moves))
    return found


def _keys(tables: Integers, moves: Integers) -> tuple[Keys, Keys]:
    """A number for each table, all different, that grows by a move's number with the move."""
    for salt in range(SALTS):
        factors = np.array([_factor(salt, cell) for cell in range(tables.shape[1])], np.uint64)
        keys = tables.astype(np.uint64) @ factors
        if np.unique(keys).size == len(keys):
            return keys, moves.astype(np.uint64) @ factors
    raise ValueError("the tables are not all different")


def _factor(salt: int, cell: int) -> int:
    return int.from_bytes(blake2b(f"{salt} {cell}".encode(), digest_size=8).digest(), "little")


def _spread(values: Integers, keys: Keys, steps: Keys, edge: int) -> Integers:
    """The values lowered along edges until none exceeds a neighbour's by more than `edge`.

    Values are settled from the least upward, as in Dijkstra's algorithm; a level is either pushed
    to its neighbours or pulled by those that could still fall, whichever are fewer.
    """
    level = int(values.min())
    while True:
        frontier = np.flatnonzero(values == level)
        high = np.flatnonzero(values > level + edge)
        if not high.size:
            return values
        if frontier.size <= high.size:
            _push(values, keys, steps, frontier, level + edge)
        else:
            _pull(values, keys, steps, (frontier, high), level + edge)
        level = int(values[values > level].min())


def _push(values: Integers, keys: Keys, steps: Keys, frontier: Integers, bound: int) -> None:
    for step in (*steps, *(-steps)):
        places = _where(keys[frontier] + step, keys)
        met = places[places >= 0]
        values[met] = np.minimum(values[met], bound)


def _pull(
    values: Integers, keys: Keys, steps: Keys, ends: tuple[Integers, Integers], bound: int
) -> None:
    frontier, high = ends
    settled = keys[frontier]
    for step in (*steps, *(-steps)):
        reached = _where(keys[high] + step, settled) >= 0
        values[high[reached]] = bound
        high = high[~reached]
        if not high.size:
            return


def _where(wanted: Keys, keys: Keys) -> Integers:
    """The places of the wanted keys among the sorted ones, -1 where they are not."""
    places = np.searchsorted(keys, wanted)
    places[places == keys.size] = 0
    places[keys[places] != wanted] = -1
    return places
