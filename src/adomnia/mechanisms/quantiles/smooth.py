"""Smooth sensitivity of quantiles, minimum and maximum on a public integer grid (`smooth.md`).

After Nissim, Raskhodnikova and Smith: noise follows how much a neighbour can move the answer
near the given data, not on the worst data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.admissible import Admissible
from adomnia.mechanisms.noise.exponential import exponentials
from adomnia.mechanisms.quantiles.quantile import Rank, Target
from adomnia.mechanisms.randomness import SYSTEM, Bits

__all__ = ["exact_quantile", "rank_of", "smooth_quantile", "smooth_sensitivity"]

FLOOR = Fraction(1, 1 << 10)
"""No sensitivity is taken as less: it bounds how far from the rank one has to look."""
ROUNDING = Fraction(1, 1 << 36)
"""The floats below are right to this part of themselves (`smooth.md`, claim 4)."""
WIDEST = 1 << 800
STEEPEST = Fraction(64)

Grid = tuple[int, int]


@dataclass(frozen=True)
class _Side:
    """What lies on one side of the quantile: ranks away, and how far in value."""

    offsets: NDArray[np.int64]
    distances: NDArray[np.float64]


def smooth_quantile(
    values: NDArray[Any],
    counts: NDArray[Any],
    grid: Grid,
    target: Target,
    noise: Admissible,
    bits: Bits = SYSTEM,
) -> int:
    """The quantile plus noise that follows its smooth sensitivity, clamped to the grid.

    `values` ascend and `counts` are their rows, as for `quantile`; a value outside the grid is
    taken as its nearer end. Costs `noise.loss`, for a row more or less and for a row changed.
    """
    low, high = _checked(values, grid)
    if low == high:
        return low
    drawn = noise.draw(smooth_sensitivity(values, counts, grid, target, noise.beta), bits)
    return min(high, max(low, exact_quantile(values, counts, grid, target) + drawn))


def rank_of(target: Target, rows: int) -> int:
    """Which smallest value is meant among so many rows; a row more raises it by 0 or 1."""
    if isinstance(target, Rank):
        return rows + 1 - target.r if target.from_top else target.r
    return max(1, math.ceil(target.q * rows))


def exact_quantile(values: NDArray[Any], counts: NDArray[Any], grid: Grid, target: Target) -> int:
    """The value of that rank: low before the first row, and high after the last. Private."""
    low, high = _checked(values, grid)
    ends = np.cumsum(counts, dtype=np.int64)
    rows = int(ends[-1]) if ends.size else 0
    rank = rank_of(target, rows)
    if rank < 1 or rank > rows:
        return low if rank < 1 else high
    return min(high, max(low, int(values[np.searchsorted(ends, rank)])))


def smooth_sensitivity(
    values: NDArray[Any], counts: NDArray[Any], grid: Grid, target: Target, beta: Fraction
) -> Fraction:
    """A beta-smooth upper bound of the local sensitivity; the least one, for changed rows, up to
    rounding and the floor (`smooth.md`). Private: it is for a noise, not for an answer.
    """
    if beta <= 2 * ROUNDING:
        raise QuestionError("beta is too small for the sensitivity to be smooth")
    low, high = _checked(values, grid)
    if low == high:
        return FLOOR
    decay = min(beta - 2 * ROUNDING, STEEPEST)
    reach = math.ceil(Fraction(math.log(high - low) + 7) / decay) + 1  # e^-7 is below the floor
    largest = _largest(*_sides(values, counts, grid, target, reach), decay)
    return max(FLOOR, Fraction(largest) * (1 + ROUNDING))


def _checked(values: NDArray[Any], grid: Grid) -> Grid:
    low, high = grid
    if not 0 <= high - low < WIDEST:
        raise QuestionError("a grid runs from a low to a high whole number")
    if values.size and values.dtype.kind not in "iuO":
        raise QuestionError("values are whole numbers of the grid", hint="scale them to its steps")
    return int(low), int(high)


def _sides(
    values: NDArray[Any], counts: NDArray[Any], grid: Grid, target: Target, reach: int
) -> tuple[_Side, _Side]:
    """The values below and above the quantile, nearest first, each at its nearest rank."""
    low, high = grid
    center = exact_quantile(values, counts, grid, target)
    ends = np.cumsum(counts, dtype=np.int64)
    rows = int(ends[-1]) if ends.size else 0
    rank = rank_of(target, rows)
    reach = min(reach, rows + abs(rank) + 1)
    first, last = np.searchsorted(ends, [rank - reach, rank + reach])
    near = slice(first, last + 1)  # the last value may begin within reach
    starts, ends = (ends - counts)[near] + 1, ends[near]
    clamped = np.clip(values[near].astype(object), low, high)
    down, up = clamped < center, clamped > center
    below = [*zip((rank - ends[down])[::-1], (center - clamped[down])[::-1], strict=True)]
    above = [*zip(starts[up] - rank, clamped[up] - center, strict=True)]
    return _side(below, (rank, center - low)), _side(above, (rows + 1 - rank, high - center))


def _side(found: list[tuple[Any, Any]], end: tuple[int, int]) -> _Side:
    """The quantile itself, what was found beside it, and the end of the grid, if it is beyond."""
    points = [(0, 0), *found]
    if end[0] > points[-1][0]:
        points.append(end)
    offsets = np.array([offset for offset, _ in points], np.int64)
    return _Side(offsets, np.array([float(distance) for _, distance in points]))


def _largest(below: _Side, above: _Side, beta: Fraction) -> float:
    """The maximum of (a + b) e^(-beta (u + v - 1)) over pairs from both sides.

    The farther one goes down the less far up is worth it, so rows are halved and columns shared
    out between the halves: O(k log k) for k values within reach (`smooth.md`, lemma 3).
    """
    rows, row_weights = below.distances, exponentials(below.offsets, beta)
    columns, weights = above.distances, exponentials(above.offsets, beta)
    best = 0.0
    tasks = [(0, rows.size, 0, columns.size)]
    while tasks:
        first, last, left, right = tasks.pop()
        if first >= last:
            continue
        row = (first + last) // 2
        found = (columns[left:right] + rows[row]) * weights[left:right]
        column = left + int(found.argmax())
        best = max(best, float(found[column - left]) * float(row_weights[row]))
        tasks += [(first, row, column, right), (row + 1, last, left, column + 1)]
    return best * math.exp(beta)
