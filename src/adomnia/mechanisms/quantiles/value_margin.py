"""A private interval of values around a quantile: two more choices, a few ranks to either side
(`value_margin.md`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise.exponential import choose
from adomnia.mechanisms.quantiles.quantile import (
    MAX_RANK,
    Rank,
    Share,
    deviations,
    quantile,
    runs,
    surest_penalty,
)
from adomnia.mechanisms.randomness import SYSTEM, Bits

__all__ = ["Around", "Beyond", "Bounded", "extreme_rank", "interval_rows", "near"]

Grid = tuple[int, int]
Bounded = tuple[int, int, int]
"""A point, and the ends of the interval around it."""
Tally = tuple[NDArray[Any], NDArray[Any]]


def interval_rows(candidates: int, eta: Fraction, share: Share, confidence: float) -> int:
    """How many ranks beside the quantile each end of its interval is looked for, so that all of
    it holds the quantile with this confidence, on any data."""
    doubt = (1 - Fraction(str(confidence))) / 2
    needed = surest_penalty(candidates, eta, doubt)
    return min(MAX_RANK, math.ceil(needed / share.q.denominator) + 1)


def extreme_rank(candidates: int, eta: Fraction, confidence: float) -> int:
    """The rank at which an extreme is looked for, so that with this confidence what is found does
    not lie beyond it, on any data."""
    needed = surest_penalty(candidates, eta, 1 - Fraction(str(confidence)))
    return min(MAX_RANK, max(1, math.ceil(needed)))


@dataclass(frozen=True)
class Around:
    """A quantile chosen at a rate `eta`, and an end to either side chosen at `end_eta`, so many
    `rows` of ranks away."""

    share: Share
    eta: Fraction
    end_eta: Fraction
    rows: int

    def draw(self, values: NDArray[Any], counts: NDArray[Any], grid: Grid, bits: Bits) -> Bounded:
        """The point and its interval; `values` ascend, and `counts` are their rows."""
        point = quantile(values, counts, *grid, self.share, self.eta, bits)
        if self.rows >= MAX_RANK:
            return point, *grid  # no number of rows would be enough
        found = (point, *self.ends(values, counts, grid, bits))
        return point, min(found), max(found)

    def ends(
        self, values: NDArray[Any], counts: NDArray[Any], grid: Grid, bits: Bits = SYSTEM
    ) -> tuple[int, int]:
        """The two ends as they are chosen."""
        top, unit = self.share.q.numerator, self.share.q.denominator
        aim, rows = top * int(counts.sum()), self.rows
        below, above = (_padded(values, counts, end, rows) for end in grid)
        low = near(below, grid, (aim, unit), self.end_eta, bits)
        return low, near(above, grid, (aim + unit * rows, unit), self.end_eta, bits)

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of each choice."""
        return self.eta, self.end_eta, self.end_eta


@dataclass(frozen=True)
class Beyond:
    """An extreme: one choice, that most likely does not lie beyond it; on the far side nothing
    but the end of the grid is sure."""

    rank: Rank
    eta: Fraction

    def draw(self, values: NDArray[Any], counts: NDArray[Any], grid: Grid, bits: Bits) -> Bounded:
        """The choice, and what lies between it and the end of the grid."""
        low, high = grid
        far = low if self.rank.from_top else high
        padded = _padded(values, counts, far, self.rank.r)
        point = quantile(*padded, low, high, self.rank, self.eta, bits)
        if self.rank.r >= MAX_RANK:
            return point, low, high
        return (point, point, high) if self.rank.from_top else (point, low, point)

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rate of each choice."""
        return (self.eta,)


def _padded(values: NDArray[Any], counts: NDArray[Any], end: int, rows: int) -> Tally:
    """The rows, and so many more at an end of the grid: where ranks run out, it is the end."""
    if rows == 0:
        return values, counts
    at = int(np.searchsorted(values, end))
    if at < values.size and values[at] == end:
        more = counts.copy()
        more[at] += rows
        return values, more
    wide = values.astype(object) if abs(end) >= 1 << 62 else values
    return np.insert(wide, at, end), np.insert(counts, at, rows)


def near(tally: Tally, grid: Grid, aim: tuple[int, int], eta: Fraction, bits: Bits) -> int:
    """A point of the grid whose rank is near the aim, in parts of a row."""
    starts, sizes, below, upto = runs(*tally, grid)
    group = choose(deviations(below, upto, *aim), sizes, eta, bits)
    return int(starts[group]) + bits.below(int(sizes[group]))
