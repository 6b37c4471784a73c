"""Integer records whose marginals come close to given tables (`microdata.md`).

Coordinate descent: the records are visited in batches; for one attribute at a time each finds
the value that lessens the squared distance most, and the best few of a batch move. Nothing here
touches data: the tables aimed at are made of noisy measurements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adomnia.marginals.workload import Subset

__all__ = ["MOST_MOVING", "SWEEPS", "Aim", "descend", "replicate", "spread_out", "tabulate"]

Records = NDArray[np.int64]
Floats = NDArray[np.float64]
SWEEPS = (16, 8, 4, 2, 1)
"""How many records of a batch may move to one value, sweep by sweep."""

MOST_MOVING = 1 << 17
"""Of more records than this, that many are moved and the others stay."""

RELUCTANCE = 0.7
"""How much of the noise of a gain it must be above, to move a record."""

BATCH = 1024
FEWEST = 40
NEVER = np.float32(1e9)


@dataclass(frozen=True, eq=False)
class Aim:
    """A table that the records' marginal should come close to; `forbidden` cells stay empty.

    `noise` is the deviation of the noise that its cells still have: gains that it alone would
    make are left.
    """

    subset: Subset
    table: Floats
    weight: float = 1.0
    noise: float = 0.0
    forbidden: NDArray[np.bool_] | None = None


def tabulate(records: Records, sizes: Sequence[int], subset: Subset) -> NDArray[np.int64]:
    """The marginal of the records."""
    shape = tuple(sizes[place] for place in subset)
    code = np.zeros(len(records), np.int64)
    for place in subset:
        code = code * sizes[place] + records[:, place]
    return np.bincount(code, minlength=prod(shape)).reshape(shape)


def spread_out(table: Floats, chance: np.random.Generator) -> Records:
    """As many records as the table sums to, each cell's number rounded up or down, shuffled."""
    ends = np.concatenate([[0.0], np.cumsum(table.reshape(-1))])
    whole = round(float(ends[-1]))
    ends *= whole / max(float(ends[-1]), 1e-300)
    counts = np.diff(np.floor(ends + chance.random()).astype(np.int64).clip(0, whole))
    counts[-1] += whole - counts.sum()
    cells = np.repeat(np.arange(counts.size), counts)
    cells = chance.permutation(cells)
    return np.stack(np.unravel_index(cells, table.shape), axis=1).astype(np.int64)


def descend(
    records: Records,
    sizes: Sequence[int],
    aims: Sequence[Aim],
    chance: np.random.Generator,
    sweeps: Sequence[int] = SWEEPS,
) -> Records:
    """Records moved towards the aims; as many as came, values inside the domain.

    They are taken to come in no order: of very many only the first ones are moved.
    """
    whole, records = records, records[:MOST_MOVING].copy()
    excess = {aim.subset: _excess(whole, sizes, aim) for aim in aims}
    for cap in sweeps:
        for place in chance.permutation(len(sizes)).tolist():
            mine = [aim for aim in aims if place in aim.subset]
            if sizes[place] > 1 and mine and len(records):
                _pass(records, sizes, (place, mine, excess), chance, cap)
    return np.concatenate([records, whole[MOST_MOVING:]])


def replicate(records: Records, rows: int, chance: np.random.Generator) -> Records:
    """`rows` records: each one as often as the next, in a new order."""
    times = np.diff(np.arange(len(records) + 1) * rows // max(len(records), 1))
    return chance.permutation(np.repeat(records, times, axis=0))


def _excess(records: Records, sizes: Sequence[int], aim: Aim) -> NDArray[np.float32]:
    """Weighted surplus of the records over the aim; forbidden cells have an endless one."""
    surplus = aim.weight * (tabulate(records, sizes, aim.subset) - aim.table)
    if aim.forbidden is not None:
        surplus = surplus + np.where(aim.forbidden, NEVER, 0)
    found: NDArray[np.float32] = surplus.astype(np.float32)
    return found


def _pass(
    records: Records,
    sizes: Sequence[int],
    task: tuple[int, list[Aim], dict[Subset, NDArray[np.float32]]],
    chance: np.random.Generator,
    cap: int,
) -> None:
    """One attribute of all records, batch by batch."""
    place, aims, excess = task
    values = sizes[place]
    board = _Board.of(place, aims, excess, values)
    order = chance.permutation(len(records))
    rests = board.rests(records[order], sizes, place, aims)
    current = records[order, place]
    step = max(1, min(BATCH, -(-len(order) // FEWEST)))
    for start in range(0, len(order), step):
        part = slice(start, start + step)
        moved, to = board.moves(rests[part], current[part], cap)
        board.update(rests[part][moved], current[part][moved], to)
        current[start + moved] = to
    records[order, place] = current
    board.give_back(place, aims, excess, sizes)


@dataclass(frozen=True, eq=False)
class _Board:
    """The surpluses of all aims of one attribute: a row per rest of a cell, a column per value."""

    surplus: NDArray[np.float32]
    starts: NDArray[np.int64]
    weights: NDArray[np.float32]
    least: float

    @classmethod
    def of(
        cls, place: int, aims: list[Aim], excess: Mapping[Subset, NDArray[np.float32]], values: int
    ) -> _Board:
        """The tables turned so that the attribute comes last, one beneath the other."""
        turned = [
            np.moveaxis(excess[aim.subset], aim.subset.index(place), -1).reshape(-1, values)
            for aim in aims
        ]
        starts = np.cumsum([0, *map(len, turned)])
        weights = np.array([aim.weight for aim in aims], np.float32)
        noise = float(np.sqrt(sum((aim.weight * aim.noise) ** 2 for aim in aims)))
        least = float(weights.sum()) + RELUCTANCE * noise
        return cls(np.ascontiguousarray(np.concatenate(turned)), starts, weights, least)

    def rests(
        self, records: Records, sizes: Sequence[int], place: int, aims: list[Aim]
    ) -> NDArray[np.int32]:
        """For each record and aim the row of the board that its other values stand for."""
        columns = {p: records[:, p].astype(np.int32) for p in range(len(sizes))}
        found = np.empty((len(records), len(aims)), np.int32)
        for number, aim in enumerate(aims):
            code = np.full(len(records), 0, np.int32)
            for other in aim.subset:
                if other != place:
                    code = code * np.int32(sizes[other]) + columns[other]
            found[:, number] = code + np.int32(self.starts[number])
        return found

    def moves(
        self, rests: NDArray[np.int32], current: Records, cap: int
    ) -> tuple[NDArray[np.int64], Records]:
        """Which records of the batch move, and to which value: of each value's best `cap`."""
        many, aims = rests.shape
        ends = np.arange(0, rests.size + 1, aims, dtype=np.int32)
        ones = np.ones(rests.size, np.float32)
        score = csr_array((ones, rests.reshape(-1), ends), (many, len(self.surplus))) @ self.surplus
        to = score.argmin(axis=1)
        one = np.arange(many)
        gain = score[one, current] - score[one, to] - self.least
        better = np.flatnonzero(gain > 0)
        better = better[np.lexsort((-gain[better], to[better]))]
        goal = to[better]
        first = np.flatnonzero(np.diff(goal, prepend=-1))
        rank = np.arange(len(goal)) - np.repeat(first, np.diff(np.append(first, len(goal))))
        moved = better[rank < cap]
        return moved, to[moved]

    def update(self, rests: NDArray[np.int32], old: Records, new: Records) -> None:
        """The surpluses after the moves."""
        flat = self.surplus.reshape(-1)
        cells = rests.astype(np.int64) * self.surplus.shape[1]
        weights = np.broadcast_to(self.weights, rests.shape).reshape(-1)
        np.add.at(flat, (cells + new[:, None]).reshape(-1), weights)
        np.subtract.at(flat, (cells + old[:, None]).reshape(-1), weights)

    def give_back(
        self,
        place: int,
        aims: list[Aim],
        excess: dict[Subset, NDArray[np.float32]],
        sizes: Sequence[int],
    ) -> None:
        """The tables in their own order of axes again."""
        for number, aim in enumerate(aims):
            others = [sizes[p] for p in aim.subset if p != place]
            part = self.surplus[self.starts[number] : self.starts[number + 1]]
            turned = part.reshape(*others, sizes[place])
            excess[aim.subset] = np.moveaxis(turned, -1, aim.subset.index(place))
