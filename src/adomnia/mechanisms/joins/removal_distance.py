"""Removal distance: how many units, in parts, must go until all others fit below a bound
(`removal_distance.md`)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.errors import MachineryError
from adomnia.mechanisms.joins.indexed_pairs import IndexedPairs
from adomnia.mechanisms.joins.pair_sources import PairSource
from adomnia.mechanisms.joins.removal_certificate import lower_bound, upper_bound
from adomnia.mechanisms.joins.removal_program import proposals

__all__ = ["FALL", "PARTS", "RISE", "RemovalScores", "brackets", "removal_distance"]

PARTS = 100
"""Distances are told in hundredths of a unit."""
RISE = PARTS + 1
"""By so many hundredths at most a score is higher with one unit more."""
FALL = 1
"""And lower."""
NONE = Fraction(0)
DIGITS = 28
"""A bound is so many binary digits of steps, or fewer, so that sums fit into 64 bits."""


@dataclass(frozen=True)
class RemovalScore:
    """The score of one bound, worked out as far as it is asked for."""

    scores: RemovalScores
    place: int

    def __le__(self, level: int) -> bool:
        return self.scores.is_at_most(self.place, level)

    def __int__(self) -> int:
        return self.scores.score(self.place)


class RemovalScores(Sequence[RemovalScore]):
    """For each bound its removal distance in hundredths, and no more than `cap`; of the last bound,
    which is never left, 0.

    A score is a function of the pairs alone; of its programs only those are solved that a
    comparison needs.
    """

    def __init__(self, pairs: PairSource, grid: Sequence[int], cap: int) -> None:
        self._pairs, self._grid, self._cap = pairs, grid, cap
        self._top = bisect_left(grid, pairs.highest, hi=len(grid) - 1) - 1
        self._least: dict[int, Fraction] = {}
        self._tried: dict[int, int] = {}
        self._exact: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._grid)

    def __getitem__(self, place: Any) -> Any:
        return RemovalScore(self, range(len(self))[place])

    def is_at_most(self, place: int, level: int) -> bool:
        """Whether the score of this place's bound is no higher than the level."""
        if level >= self._cap or place > self._top:
            return level >= 0
        if place not in self._exact and self._is_above(place, level):
            return False
        if place not in self._exact:
            return self._compared(place, level)
        return self._exact[place] <= level

    def score(self, place: int) -> int:
        """The score of this place's bound."""
        if place <= self._top and place not in self._exact:
            found = removal_distance(self._pairs, self._grid[place], self._cap)
            self._exact[place] = found
        return self._exact.get(place, 0)

    def _is_above(self, place: int, level: int) -> bool:
        """Whether it is shown by what is cheap to prove, here or at a larger bound: distances fall
        as bounds grow. Larger bounds have fewer rows, and what is shown there holds for more."""
        same = [at for at in self._least if at >= place and self._is_alike(at, place)]
        if any(PARTS * self._least[at] > level for at in same):
            return True
        top = max(at for at in range(place, self._top + 1) if self._is_alike(at, place))
        for effort in range(1 + self._pairs.parts(self._grid[place])):
            larger, step = top, 1
            while PARTS * self._cheap(larger, effort) <= level:
                if larger == place:
                    break
                larger, step = max(place, larger - step), 2 * step
            else:
                return True
        return False

    def _is_alike(self, place: int, other: int) -> bool:
        """Whether amounts are taken in the same steps: else distances need not fall."""
        return _step(self._grid[place]) == _step(self._grid[other])

    def _cheap(self, place: int, effort: int) -> Fraction:
        """What a part of the rows proves, or all where there is no such part."""
        bound, known = self._grid[place], self._tried.get(place, -1)
        if known < min(effort, self._pairs.parts(bound)):
            rows = self._pairs.part_above(bound, effort)
            self._least[place] = max(self._least.get(place, NONE), _packed_bound(rows, bound))
            self._tried[place] = effort
        return self._least[place]

    def _compared(self, place: int, level: int) -> bool:
        for low, high in brackets(self._pairs, self._grid[place]):
            if PARTS * low > level:
                self._least[place] = max(self._least.get(place, NONE), low)
                return False
            if PARTS * high <= level - 1:  # a score is less than 2 above its distance
                return True
            if PARTS * (high - low) <= 1:
                self._exact[place] = _rounded(low, high, self._cap)
                return self._exact[place] <= level
        raise _unproven()


def removal_distance(pairs: PairSource, bound: int, cap: int) -> int:
    """A whole number from the distance in hundredths on and less than 2 above it; `cap` at most."""
    for low, high in brackets(pairs, bound):
        if PARTS * low >= cap or PARTS * (high - low) <= 1:
            return _rounded(low, high, cap)
    raise _unproven()


def _rounded(low: Fraction, high: Fraction, cap: int) -> int:
    return cap if PARTS * low >= cap else min(cap, math.ceil(PARTS * high))


def brackets(pairs: PairSource, bound: int) -> Iterator[tuple[Fraction, Fraction]]:
    """What the distance lies between, closer and closer, each dearer to prove.

    Amounts are taken in steps of a tiny part of the bound, each rounded down by itself.
    """
    step = _step(bound)
    low, high = NONE, Fraction(pairs.count(bound))
    yield low, high
    near, over = pairs.above(bound).in_steps(step).around(bound // step)
    for proposal in proposals(near, over, bound // step):
        low = max(low, lower_bound(near, bound // step, proposal))
        high = min(high, upper_bound(near, over, bound // step, proposal))
        yield low, high


def _step(bound: int) -> int:
    """A power of two, so that many bounds have the same."""
    return 1 << max(0, bound.bit_length() - 1 - DIGITS)


def _packed_bound(rows: IndexedPairs, bound: int) -> Fraction:
    """What the first proposal proves of these rows; fewer rows have no larger distance."""
    step = _step(bound)
    near, over = rows.in_steps(step).around(bound // step)
    return lower_bound(near, bound // step, next(proposals(near, over, bound // step)))


def _unproven() -> MachineryError:
    return MachineryError("a distance was not proven", "please report it: nothing was shown")
