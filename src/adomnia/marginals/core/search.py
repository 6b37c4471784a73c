"""The search for records near the aims: from coarse steps to fine ones (`microdata.md`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.descent import Board, Crowd, Swap, exchange, kick, layout, move
from adomnia.marginals.core.microdata import NEVER, Aim, SyntheticRecords

__all__ = ["descend"]

SWEEPS, LEVEL_SWEEPS, PASSES = 12, 4, 6
FINER = 4
"""By how much the steps become finer from level to level, where there are many rows."""

ROOM = 1 << 17
"""How many records may come by splitting, between two times that equal ones are put together."""

SAMPLE = 1 << 15
"""How many records look for an exchange, of each attribute in a pass."""

SETTLED = 0.002
"""A search ends when fewer than this share of the records still change."""

GAIN = 0.01
"""It ends too when a pass lessens the misfit by less than this share of it..."""
SILENT = 0.01
"""...or when the misfit is this share of what the noise of the aims makes."""

RELUCTANCE = 0.35
"""How much of the noise of a gain it must be above, to change a record."""

FEW, KICKS, MOST_KICKED = 1 << 12, 200, 8
"""Up to so many kinds of records are shaken so often, so many rows at a time."""


def descend(
    made: SyntheticRecords, sizes: Sequence[int], aims: Sequence[Aim], chance: np.random.Generator
) -> SyntheticRecords:
    """Records moved towards the aims: as many rows as came, values inside the domain.

    First each record takes the values that help most, then records exchange values.
    """
    search = _Descent(made, sizes, aims, chance)
    step = made.usual
    while step > 1:
        search.sweep(step, LEVEL_SWEEPS)
        step = -(-step // FINER)
    search.sweep(1, SWEEPS)
    misfit = search.misfit()
    for _ in range(PASSES):
        if misfit < search.enough:
            break
        changed = search.exchange() + search.move(1, 4 * SAMPLE)
        before, misfit = misfit, search.misfit()
        if changed < SETTLED or misfit > (1 - GAIN) * before:
            break
    if search.used <= FEW and misfit > search.enough / SILENT:
        search.shake()
    return search.found()


class _Descent:
    """The records on the way, the surpluses of all tables, and where those stand."""

    def __init__(
        self,
        made: SyntheticRecords,
        sizes: Sequence[int],
        aims: Sequence[Aim],
        chance: np.random.Generator,
    ) -> None:
        self.chance = chance
        slots = layout(sizes, [(aim.subset, aim.weight) for aim in aims])
        self.board = Board(slots, _surpluses(made, sizes, aims))
        noise = [
            sum((aim.weight * aim.noise) ** 2 for aim in aims if place in aim.subset)
            for place in range(len(sizes))
        ]
        self.least = RELUCTANCE * np.sqrt(np.array(noise, np.float64))
        self.enough = SILENT * sum(
            len(aim.subset) * aim.weight * aim.table.size * aim.noise**2 for aim in aims
        )
        self._begin(made.merged())

    def _begin(self, made: SyntheticRecords) -> None:
        """Room for records that come by splitting, if any can."""
        many = len(made.times)
        room = min(ROOM, made.rows - many)
        records = np.zeros((many + room, made.records.shape[1]), np.int32)
        self.crowd = Crowd(records, np.zeros(many + room, np.int64))
        self.crowd.records[:many], self.crowd.times[:many] = made.records, made.times
        self.used = many

    def misfit(self) -> float:
        """The weighted squares of the surpluses, each table's once for each of its attributes."""
        slots, surplus = self.board.slots, self.board.surplus
        ends = np.append(slots.starts[1:], len(surplus))
        weights = np.repeat(slots.weights, ends - slots.starts)
        usable = (surplus < NEVER / 2) & (weights > 0)
        return float((surplus[usable].astype(np.float64) ** 2 / weights[usable]).sum())

    def sweep(self, step: int, most: int) -> None:
        """Sweeps in steps of so many rows, until few records change; equal ones put together."""
        for _ in range(most):
            if self.move(step) < SETTLED:
                break
        self._begin(self.found())

    def move(self, step: int, most: int | None = None) -> float:
        """One sweep; which share of the records changed."""
        if self.used == len(self.crowd.times):
            self._begin(self.found())
        order = self.chance.permutation(self.used)[:most]
        self.used, moved = move(self.board, self.crowd, self.used, order, step, self.least)
        return float(moved / max(len(order), 1))

    def exchange(self) -> float:
        """One pass over the attributes; which share of the records looked at exchanged a value."""
        made = looked = 0
        for place in self.chance.permutation(len(self.least)).tolist():
            size = int(self.board.slots.sizes[place])
            column = self.crowd.records[: self.used, place]
            ends = np.zeros(size + 1, np.int64)
            np.cumsum(np.bincount(column, minlength=size), out=ends[1:])
            members = np.argsort(column, kind="stable")
            least = 2**0.5 * float(self.least[place])
            swap = Swap(place, least, members, ends, int(self.chance.integers(1 << 62)))
            order = self.chance.permutation(self.used)[:SAMPLE]
            self.used, some = exchange(self.board, self.crowd, self.used, order, swap)
            made, looked = made + some, max(looked, len(order))
        return float(made / max(looked, 1))

    def shake(self) -> None:
        """Out of a local minimum: a few rows are changed at random, and what is better is kept."""
        best, misfit = self.found(), self.misfit()
        for _ in range(KICKS):
            if misfit <= self.enough:
                break
            surplus = self.board.surplus.copy()
            many = int(self.chance.integers(1, MOST_KICKED + 1))
            places = self.chance.integers(0, len(self.least), many)
            values = self.chance.integers(0, self.board.slots.sizes[places])
            numbers = self.chance.integers(0, self.used, many)
            changes = np.stack([numbers, places, values], axis=1)
            self.used = kick(self.board, self.crowd, self.used, changes)
            self.move(1)
            self.exchange()
            self.move(1)
            after = self.misfit()
            if after < misfit:
                best, misfit = self.found(), after
            else:
                self.board.surplus[:] = surplus
            self._begin(best)

    def found(self) -> SyntheticRecords:
        """The records as they are now, equal ones put together."""
        return SyntheticRecords(
            self.crowd.records[: self.used], self.crowd.times[: self.used]
        ).merged()


def _surpluses(
    made: SyntheticRecords, sizes: Sequence[int], aims: Sequence[Aim]
) -> NDArray[np.float32]:
    """The surplus of every table, once for each of its attributes, that one last."""
    tables = [aim.surplus(made, sizes) for aim in aims]
    parts = [
        np.moveaxis(table, aim.subset.index(place), -1).reshape(-1)
        for place in range(len(sizes))
        for aim, table in zip(aims, tables, strict=True)
        if place in aim.subset
    ]
    return np.concatenate([*parts, np.zeros(0, np.float32)])
