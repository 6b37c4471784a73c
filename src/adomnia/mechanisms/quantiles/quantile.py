"""Private quantiles and ranks over a public integer grid (`quantile.md`).

Candidates between two neighbouring data values share one penalty, so a million rows make at most
two million and one groups, however wide the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise.exponential import choose
from adomnia.mechanisms.randomness import SYSTEM, Bits

__all__ = [
    "MAX_RANK",
    "Rank",
    "Share",
    "Target",
    "deviations",
    "penalties",
    "quantile",
    "rank_margin",
    "runs",
    "sensitivity",
    "surest_penalty",
]

SAFE = 1 << 61
MAX_RANK = 10**15
"""No table has more rows; past this an extreme is any value at all."""


@dataclass(frozen=True)
class Share:
    """The q-quantile, q = a/b in [0, 1]: at most q of the rows below it and 1 - q above."""

    q: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.q <= 1:
            raise ValueError("a share lies between 0 and 1")


@dataclass(frozen=True)
class Rank:
    """The r-th smallest value (r = 1 is the minimum), or the r-th largest."""

    r: int
    from_top: bool = False

    def __post_init__(self) -> None:
        if self.r < 1:
            raise ValueError("ranks begin at 1")


Target = Share | Rank


def sensitivity(target: Target, changed: bool = False) -> int:
    """By how much one row moves a penalty: added or removed, or `changed` (`quantile.md`)."""
    if isinstance(target, Rank):
        return 1
    a, b = target.q.numerator, target.q.denominator
    return b if changed else max(a, b - a)


def quantile(  # noqa: PLR0913, PLR0917
    values: NDArray[Any],
    counts: NDArray[Any],
    low: int,
    high: int,
    target: Target,
    eta: Fraction,
    bits: Bits = SYSTEM,
) -> int:
    """A point o of the grid low..high with probability proportional to exp(-eta * penalty(o)).

    `values` are the distinct values present, ascending, and `counts` their numbers of rows.
    """
    starts, sizes, below, upto = runs(values, counts, (low, high))
    group = choose(penalties(below, upto, int(counts.sum()), target), sizes, eta, bits)
    return int(starts[group]) + bits.below(int(sizes[group]))


def runs(
    values: NDArray[Any], counts: NDArray[Any], grid: tuple[int, int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Runs of the grid with equal penalties: first point, length, #{x < o} and #{x <= o}."""
    low, high = grid
    wide = values.dtype == object or max(abs(low), abs(high)) >= SAFE
    starts = np.empty(2 * values.size + 1, object if wide else np.int64)
    starts[0], starts[1::2], starts[2::2] = low, values, values
    starts[2::2] += 1  # a gap begins after each value, and may be empty
    sizes = np.ones_like(starts)
    sizes[0:-1:2] = starts[1::2] - starts[0:-1:2]
    sizes[-1] = high + 1 - starts[-1]
    below, upto = np.zeros(starts.size, np.int64), np.zeros(starts.size, np.int64)
    upto[1::2] = upto[2::2] = below[2::2] = np.cumsum(counts, dtype=np.int64)
    below[1::2] = below[0:-1:2]
    if sizes[::2].all():
        return starts, sizes, below, upto
    present = sizes > 0
    return starts[present], sizes[present], below[present], upto[present]


def penalties(
    below: NDArray[np.int64], upto: NDArray[np.int64], rows: int, target: Target
) -> NDArray[Any]:
    """How far each point is from the target, in units of 1/b row; 0 where it is met."""
    if isinstance(target, Rank):
        if target.from_top:
            below, upto = rows - upto, rows - below
        return _larger(target.r - upto, below - (target.r - 1))
    return deviations(below, upto, target.q.numerator * rows, target.q.denominator)


def deviations(
    below: NDArray[np.int64], upto: NDArray[np.int64], aim: int, unit: int
) -> NDArray[Any]:
    """How far the rank of each point is from an aim, both in parts of `unit` to a row."""
    if max(aim, unit * (int(upto.max(initial=0)) + 1)) >= SAFE:
        below, upto = below.astype(object), upto.astype(object)
    return _larger(aim - unit * upto, unit * below - aim)


def _larger(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """The larger of two arrays and 0, written over the first."""
    np.maximum(one, other, out=one)
    np.maximum(one, 0, out=one)
    return one


def rank_margin(candidates: int, eta: Fraction, target: Target, confidence: float) -> int:
    """Rows by which the answer's rank may miss, at most, with this confidence, on any data."""
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    needed = surest_penalty(candidates, eta, 1 - Fraction(str(confidence)))
    unit = target.q.denominator if isinstance(target, Share) else 1
    return max(0, math.ceil((math.ceil(needed) - 1) / Fraction(unit)))


def surest_penalty(candidates: int, eta: Fraction, doubt: Fraction) -> Fraction:
    """The penalty that is not reached, over the least there is, but with a probability of `doubt`
    at most, on any data; rounded against us."""
    odds = (candidates - 1) * (1 - doubt) / doubt
    if odds <= 1:
        return Fraction(0)
    return (Fraction(_log(odds)) + Fraction(1, 10**9)) / eta


def _log(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)
