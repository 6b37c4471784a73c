"""Project and lift: Graver bases carried from a few coordinates to all (`graver.md`)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.effort import Limit
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice.kernel import triangular
from adomnia.priors.solver.lattice.signs import Keys, bits_of, blocks, pairs, parts, within

__all__ = ["lift_all"]

Integers = NDArray[np.int64]
LARGEST = 1 << 48
SORTED, SUMMED = 20, 20
"""Steps for an entry of a layer that is sorted and laid out, and for a sum that is formed."""


def lift_all(lattice: Integers, limit: Limit) -> Integers:
    """The Graver basis of the lattice that these independent rows span, up to sign."""
    fresh, done = triangular(lattice)
    rows = np.zeros((0, lattice.shape[1]), np.int64)
    for place, column in enumerate(done):
        rows = _Lift(rows, done[:place], column, limit, fresh[place]).run()
    rest = [column for column in range(lattice.shape[1]) if column not in set(done)]
    while rest:
        # few rows that move the next coordinate make few pairs: the cheapest first
        column = min(rest, key=lambda c: (np.count_nonzero(rows[:, c]), c))
        rows = _Lift(rows, done, column, limit).run()
        done = [*done, column]
        rest.remove(column)
    return rows


@dataclass
class _Layer:
    """Rows of one length on the finished coordinates, and their signs as bits."""

    rows: Integers
    keys: Keys
    negated: Keys
    sizes: Integers


class _Lift:
    """One more coordinate: what is minimal on `done` is known, and completed for `column`.

    Rows are kept with the new coordinate positive or zero, one of each pair g, -g. `fresh` is
    zero on the finished coordinates; it is given while these do not yet tell rows apart.
    """

    def __init__(
        self,
        rows: Integers,
        done: list[int],
        column: int,
        limit: Limit,
        fresh: Integers | None = None,
    ) -> None:
        self.done, self.column, self.limit, self.fresh = done, column, limit, fresh
        self.seen = [*done, column]
        self.layers: dict[int, _Layer] = {}
        self.moving: dict[int, _Layer] = {}
        self.heap: list[int] = []
        self.planned: set[int] = set()
        self.count = 0
        rows = rows if fresh is None else self._both_lifts(rows)
        self.bits = self._column_bits()
        lengths = np.abs(rows[:, done]).sum(axis=1)
        for length in np.unique(lengths).tolist():
            self._add(length, rows[lengths == length])

    def run(self) -> Integers:
        """All minimal rows on one coordinate more."""
        while self.heap:
            length = heapq.heappop(self.heap)
            found = self._distinct(self._new(length))
            if len(found) and self.fresh is not None:
                other = self._irreducible(self._both_lifts(found), length)
                found = self._distinct([found, other])
            if len(found):
                self._add(length, found)
        layers = [layer.rows for layer in self.layers.values()]
        if self.fresh is not None:
            layers.append(self.fresh[None, :])
        return np.concatenate(layers) if layers else np.zeros((0, 0), np.int64)

    def _both_lifts(self, rows: Integers) -> Integers:
        """Every row with its new coordinate brought below the fresh row's, from both sides."""
        assert self.fresh is not None
        times = rows[:, self.column] // self.fresh[self.column]
        if float(np.abs(times).max(initial=0)) * float(np.abs(self.fresh).max()) >= LARGEST:
            raise TooLarge("entries beyond 2^48")
        rows = rows - np.outer(times, self.fresh)
        return np.concatenate([rows, rows[rows[:, self.column] > 0] - self.fresh])

    def _column_bits(self) -> Keys:
        """The bits that say: the new coordinate is negative, zero, positive."""
        signs = np.zeros((3, len(self.seen)), np.int64)
        signs[:, -1] = (-1, 0, 1)
        return bits_of(signs)

    def _add(self, length: int, rows: Integers) -> None:
        """Takes rows in as one layer (or more of one) and plans the pairs they make."""
        if np.abs(rows).max(initial=0) >= LARGEST:
            raise TooLarge("entries beyond 2^48")
        rows = _upright(rows, self.column)
        if length in self.layers:
            rows = np.concatenate([self.layers[length].rows, rows])
        self.count += len(rows) - (len(self.layers[length].rows) if length in self.layers else 0)
        self.limit.check(self.count, SORTED * rows.size)
        self.layers[length] = self._layer(rows, self.seen)
        moving = rows[rows[:, self.column] > 0]
        if len(moving):
            self.moving[length] = self._layer(moving, self.done)
            for other in self.moving:
                if length + other not in self.planned:
                    self.planned.add(length + other)
                    heapq.heappush(self.heap, length + other)

    def _layer(self, rows: Integers, columns: list[int]) -> _Layer:
        """Sorted so that rows with entries 0 and 1 come first: for them the bits say all."""
        sizes = np.abs(rows[:, columns]).max(axis=1, initial=0)
        order = np.argsort(sizes, kind="stable")
        rows = rows[order]
        signs = np.zeros((len(rows), len(self.seen)), np.int64)
        signs[:, : len(columns)] = rows[:, columns]
        return _Layer(rows, bits_of(signs), bits_of(-signs), sizes[order])

    def _new(self, length: int) -> list[Integers]:
        """The minimal ones among the sums of two rows whose lengths make up this length."""
        found = []
        reducers = _Reducers(self, length // 2)
        for near, far, same in self._layer_pairs(length):
            self.limit.check(steps=len(near.rows) * len(far.rows) * near.keys.shape[1])
            for first, second in pairs(near.keys, far.keys, same):
                self.limit.check(steps=SUMMED * len(first))
                gap = near.rows[first, self.column] - far.rows[second, self.column]
                keys = near.keys[first] | far.negated[second] | self.bits[np.sign(gap) + 1]
                alive = reducers.survive_bits(keys)
                sums = near.rows[first[alive]] - far.rows[second[alive]]
                found.append(reducers.survive_sizes(sums, keys[alive]))
        return found

    def _irreducible(self, rows: Integers, length: int) -> Integers:
        """The rows of this length that no shorter minimal row divides."""
        reducers = _Reducers(self, length // 2)
        keys = bits_of(rows[:, self.seen])
        alive = reducers.survive_bits(keys)
        return reducers.survive_sizes(rows[alive], keys[alive])

    def _layer_pairs(self, length: int) -> Iterator[tuple[_Layer, _Layer, bool]]:
        for near in sorted(self.moving):
            far = length - near
            if near <= far and far in self.moving:
                yield self.moving[near], self.moving[far], near == far

    def _distinct(self, found: list[Integers]) -> Integers:
        if not found:
            return np.zeros((0, 0), np.int64)
        return np.unique(_upright(np.concatenate(found), self.column), axis=0)


class _Reducers:
    """Minimal rows up to a length, both signs: what they divide is not minimal."""

    def __init__(self, lift: _Lift, longest: int) -> None:
        self.seen, self.limit = lift.seen, lift.limit
        layers = [lift.layers[length] for length in sorted(lift.layers) if length <= longest]
        simple, other = [], []
        sizes: list[Integers] = [np.zeros((0, len(self.seen)), np.int64)]
        words = lift.bits.shape[1]
        for layer in layers:
            cut = int(np.searchsorted(layer.sizes, 1, side="right"))
            simple += [layer.keys[:cut], layer.negated[:cut]]
            other += [layer.keys[cut:], layer.negated[cut:]]
            sizes += [np.abs(layer.rows[cut:][:, self.seen])] * 2
        none = np.zeros((0, words), np.uint64)
        self.simple = np.concatenate([none, *simple])
        self.other = np.concatenate([none, *other])
        self.sizes = np.concatenate(sizes)

    def survive_bits(self, keys: Keys) -> NDArray[np.intp]:
        """Which sums are divided by no row with entries of at most one: the bits decide."""
        alive = np.arange(len(keys))
        missing = ~keys
        for start, end in blocks(len(self.simple)):
            self.limit.check(steps=len(alive) * (end - start) * keys.shape[1])
            kept = [
                part[~within(self.simple[start:end], missing[part]).any(axis=1)]
                for part in parts(alive, end - start)
            ]
            alive = np.concatenate(kept) if kept else alive[:0]
        return alive

    def survive_sizes(self, sums: Integers, keys: Keys) -> Integers:
        """The sums that no other row divides: bits first, then sizes."""
        alive = np.arange(len(sums))
        missing, sizes = ~keys, np.abs(sums[:, self.seen])
        for start, end in blocks(len(self.other)):
            self.limit.check(steps=len(alive) * (end - start) * keys.shape[1])
            dead = np.zeros(len(sums), bool)
            for part in parts(alive, end - start):
                which, row = np.nonzero(within(self.other[start:end], missing[part]))
                self.limit.check(steps=len(which) * sizes.shape[1])
                divides = (self.sizes[start + row] <= sizes[part[which]]).all(axis=1)
                dead[part[which[divides]]] = True
            alive = alive[~dead[alive]]
        return sums[alive]


def _upright(rows: Integers, column: int) -> Integers:
    """Each row or its negative: the coordinate positive, else the first that is not zero."""
    if not len(rows):
        return rows
    lead = (rows != 0).argmax(axis=1)
    sign = np.sign(rows[:, column])
    sign = np.where(sign == 0, np.sign(rows[np.arange(len(rows)), lead]), sign)
    turned: Integers = rows * sign[:, None]
    return turned
