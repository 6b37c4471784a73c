"""Whole points of a region: bounds that follow, and exhaustive search (`fibre.md`).

Everything here is whole numbers; nothing rests on a solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.effort import Limit
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.system import System, whole

__all__ = ["ENDLESS", "Region", "box", "enumerate_points", "impossible", "region", "tighten"]

Integers = NDArray[np.int64]
ENDLESS = 1 << 60
LARGEST = 1 << 58
ROUNDS = 60
GROWN = 2
"""Steps for each number of a partial point and of its totals."""
BLOCK, MEMORY, WIDEST = 1 << 14, 1 << 23, 1 << 20


@dataclass(frozen=True, eq=False)
class Region:
    """Whole points t with low <= A t <= high and lower <= t <= upper (`ENDLESS`: no bound)."""

    matrix: Any
    low: Integers
    high: Integers
    lower: Integers
    upper: Integers

    @property
    def finite(self) -> bool:
        """Whether every cell is bounded from above."""
        return bool((self.upper < ENDLESS).all())

    def holds(self, point: Integers) -> bool:
        """Whether the point is in the region: exact, in whole numbers."""
        inside = (self.lower <= point) & ((point <= self.upper) | (self.upper >= ENDLESS))
        if not inside.all() or _reach(self.matrix, np.abs(point)) >= LARGEST:
            return False
        totals = self.matrix @ point
        return bool(((self.low <= totals) & (totals <= self.high)).all())

    def rows(self, chosen: NDArray[Any]) -> Region:
        """The region of some of the rows."""
        return replace(
            self, matrix=self.matrix[chosen], low=self.low[chosen], high=self.high[chosen]
        )


def region(system: System) -> Region:
    """The tables that agree with every row of the system whose value is known."""
    known = [number for number, value in enumerate(system.values) if value is not None]
    intervals = [value for value in system.values if value is not None]
    if any(abs(end) >= LARGEST for value in intervals for end in value):
        raise OverflowError("a released value beyond 2^58")
    bounds = np.array(intervals, dtype=np.int64).reshape(-1, 2)
    upper = np.full(system.cells, ENDLESS, np.int64)
    upper[sorted(system.forbidden)] = 0
    lower = np.zeros(system.cells, np.int64)
    return Region(sparse.csr_array(system.matrix)[known], bounds[:, 0], bounds[:, 1], lower, upper)


def box(matrix: Any, totals: Integers, upper: Integers) -> Region:
    """The points from zero up to `upper` with these totals."""
    held = sparse.csr_array(whole(matrix))
    return Region(held, totals, totals, np.zeros_like(upper), upper)


def tighten(found: Region) -> Region | None:
    """The same whole points, with the cell bounds that follow row by row; None if there are none.

    A row bounds each of its cells by what the others can add at most or at least.
    """
    matrix = found.matrix
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    cell, factor = matrix.indices, matrix.data
    lower, upper = found.lower.copy(), found.upper.copy()
    for _ in range(ROUNDS):
        _guard(matrix, lower, upper)
        before = lower.copy(), upper.copy()
        most, endless_most = _ends(factor, lower[cell], upper[cell], 1)
        least, endless_least = _ends(factor, lower[cell], upper[cell], -1)
        above = _rest(most, endless_most, row, matrix.shape[0])
        below = _rest(least, endless_least, row, matrix.shape[0])
        for rest, limit, sense in ((above, found.low, -1), (below, found.high, 1)):
            usable = rest[1]
            _narrow(
                lower, upper, cell[usable], factor[usable], (limit[row] - rest[0])[usable], sense
            )
        if (lower > upper).any():
            return None
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    tight = replace(found, lower=lower, upper=upper)
    return None if impossible(tight).any() else tight


def _ends(
    factor: Integers, lower: Integers, upper: Integers, sense: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """What each entry adds at most (sense 1) or at least (-1), and where that has no end."""
    end = np.where(factor * sense > 0, upper, lower)
    endless = end >= ENDLESS
    return factor * np.where(endless, 0, end), endless


def _rest(
    ends: Integers, endless: NDArray[np.bool_], row: Integers, rows: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """What the other entries of the row add together, and where that is finite."""
    totals, unlimited = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    np.add.at(totals, row, ends)
    np.add.at(unlimited, row, endless)
    return totals[row] - ends, unlimited[row] - endless == 0


def impossible(found: Region) -> NDArray[np.bool_]:
    """The rows that, alone, cannot have their value within the cell bounds."""
    _guard(found.matrix, found.lower, found.upper)
    positive = found.matrix.multiply(found.matrix > 0)
    negative = found.matrix - positive
    finite = np.where(found.upper >= ENDLESS, 0, found.upper)
    endless = (found.upper >= ENDLESS).astype(np.int64)
    most = positive @ finite + negative @ found.lower
    least = positive @ found.lower + negative @ finite
    short = ~((positive @ endless) > 0) & (most < found.low)
    over = ~((negative @ endless) < 0) & (least > found.high)
    failing: NDArray[np.bool_] = short | over
    return failing


def _narrow(
    lower: Integers, upper: Integers, cell: Integers, factor: Integers, limit: Integers, sense: int
) -> None:
    """Takes in factor * t <= limit (sense 1) or >= limit (sense -1) for each entry."""
    quotient = limit // factor
    ceiling = -((-limit) // factor)
    down = factor * sense > 0
    np.minimum.at(upper, cell[down], quotient[down])
    np.maximum.at(lower, cell[~down], ceiling[~down])


def _guard(matrix: Any, lower: Integers, upper: Integers) -> None:
    """Refuses bounds with which a row's sum could pass 64 bits."""
    sizes = np.maximum(np.abs(lower), np.where(upper >= ENDLESS, 0, np.abs(upper)))
    if _reach(matrix, sizes) >= LARGEST:
        raise OverflowError("released rows whose sums pass 2^58")


def _reach(matrix: Any, sizes: Integers) -> float:
    """A bound of the largest total, in floats, to see overflow coming."""
    totals = abs(matrix).astype(float) @ sizes.astype(float)
    return float(totals.max(initial=0.0)) * 1.01


def enumerate_points(found: Region, limit: Limit) -> Iterator[Integers]:
    """All whole points, block by block (rows are points); each exactly once.

    Depth first over the cells, many partial points at a time. Raises `TooLarge` where a cell has
    no upper bound, and when the limit is passed; its rows count what was looked at.
    """
    tight = tighten(found)
    if tight is None:
        return
    if not tight.finite:
        raise TooLarge("a cell has no upper bound: there is no end of tables")
    plan = _Plan(tight)
    looked = 0
    stack = [(0, np.zeros((1, 0), np.int64), np.zeros((1, tight.matrix.shape[0]), np.int64))]
    while stack:
        depth, points, totals = stack.pop()
        if depth == len(plan.order):
            whole_points = np.zeros_like(points)
            whole_points[:, plan.order] = points
            yield whole_points
            continue
        for part in plan.split(depth, len(points)):
            grown = plan.grow(depth, points[part], totals[part])
            looked += len(grown[0])
            if len(grown[0]):
                stack.append((depth + 1, *grown))
            limit.check(looked, GROWN * (1 + len(grown[0])) * (1 + depth + tight.matrix.shape[0]))


class _Plan:
    """The order of the cells, and what the cells still to come can add to each row."""

    def __init__(self, found: Region) -> None:
        self.found = found
        columns = sparse.csc_array(found.matrix)
        self.order = _order(found.matrix)
        self.rows, self.factors, self.least, self.most = [], [], [], []
        for cell in self.order:
            span = slice(columns.indptr[cell], columns.indptr[cell + 1])
            self.rows.append(columns.indices[span])
            self.factors.append(columns.data[span])
        least = most = np.zeros(found.matrix.shape[0], np.int64)
        for cell, rows, factors in reversed(
            list(zip(self.order, self.rows, self.factors, strict=True))
        ):
            self.least.append(least[rows])
            self.most.append(most[rows])
            least, most = least.copy(), most.copy()
            ends = np.sort(np.stack([factors * found.lower[cell], factors * found.upper[cell]]), 0)
            least[rows] += ends[0]
            most[rows] += ends[1]
        self.least.reverse()
        self.most.reverse()

    def split(self, depth: int, count: int) -> list[slice]:
        """Slices of the partial points, small enough that each grows to a block or so."""
        cell = self.order[depth]
        width = int(self.found.upper[cell] - self.found.lower[cell]) + 1
        if width > WIDEST:
            raise TooLarge("a cell has too many values to be listed")
        block = min(BLOCK, MEMORY // max(self.found.matrix.shape))
        step = max(1, block // width) if count * width > block * 4 else max(count, 1)
        return [slice(start, start + step) for start in range(0, count, step)]

    def grow(self, depth: int, points: Integers, totals: Integers) -> tuple[Integers, Integers]:
        """Every partial point with every value of the next cell that the rows still allow."""
        cell, rows, factors = self.order[depth], self.rows[depth], self.factors[depth]
        low = np.full(len(points), self.found.lower[cell])
        high = np.full(len(points), self.found.upper[cell])
        for place, row in enumerate(rows):
            factor, sofar = factors[place], totals[:, row]
            least = self.found.low[row] - sofar - self.most[depth][place]
            most = self.found.high[row] - sofar - self.least[depth][place]
            if factor < 0:
                least, most, factor = -most, -least, -factor
            low = np.maximum(low, -((-least) // factor))
            high = np.minimum(high, most // factor)
        counts = np.maximum(high - low + 1, 0)
        parent = np.repeat(np.arange(len(points)), counts)
        starts = np.cumsum(counts) - counts
        value = low[parent] + np.arange(len(parent)) - starts[parent]
        totals = totals[parent]
        totals[:, rows] += value[:, None] * factors
        return np.column_stack([points[parent], value]), totals


def _order(matrix: Any) -> list[int]:
    """Cells so that rows are finished one after the other, the nearly finished first."""
    cells = [set(matrix.indices[a:b].tolist()) for a, b in pairwise(matrix.indptr)]
    order: list[int] = []
    placed: set[int] = set()
    while cells:
        nearest = min(cells, key=len)
        cells.remove(nearest)
        for cell in sorted(nearest):
            order.append(cell)
            placed.add(cell)
        cells = [row - nearest for row in cells]
        cells = [row for row in cells if row]
    return order + [cell for cell in range(matrix.shape[1]) if cell not in placed]
