"""The paper's linear program: the non-negative table closest to what was measured, then rounded.

Only noisy values are read here, never the data (`linear_program.md`). The cells of the table are
brought in a few at a time: the duals of the cells at hand say, by one fast transform, whether any
other cell could bring the table closer; when none could, the vertex found is one of the whole.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from adomnia.errors import QuestionError
from adomnia.marginals.paper.bits import Encoding, signs, spell, walsh_hadamard
from adomnia.marginals.workload import Subset, downward_closure

__all__ = ["MarginalCells", "Parities", "Rows", "Vertex", "check_size", "closest", "theorem_five"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

MOST_CELLS = 1 << 16
MOST_ROWS = 1024
PENALTY = 1e3
HARDEST = 1e8
EXACT = 1e-4
TOLERANCE = 1e-7
LARGEST = 1e6


class Rows(Protocol):
    """What was measured of a table: a matrix with a column per cell, never written out whole."""

    @property
    def rank(self) -> int:
        """The rank of the matrix, or a bound on it: a vertex has no more cells than this."""

    def columns(self, cells: Places) -> Any:
        """The columns of some cells."""

    def price(self, weights: Floats) -> Floats:
        """The weighted sum of the rows, for every cell."""


@dataclass(frozen=True)
class Parities:
    """Parities of the bits of all attributes; impossible patterns are not cells."""

    encoding: Encoding
    subsets: tuple[Subset, ...]

    @property
    def rank(self) -> int:
        """Parities are orthogonal over all patterns."""
        return len(self.subsets)

    def _masks(self) -> Places:
        bits = self.encoding.starts[-1]
        return np.array([spell(subset, bits) for subset in self.subsets], np.int64)

    def _patterns(self) -> Places:
        return self.encoding.possible(tuple(range(len(self.encoding.sizes))))

    def columns(self, cells: Places) -> Any:
        """+1 and -1, by the parity of what a cell's pattern shares with each set."""
        return signs(self._masks(), self._patterns()[cells])

    def price(self, weights: Floats) -> Floats:
        """One Walsh-Hadamard transform."""
        spread = np.zeros(1 << self.encoding.starts[-1])
        spread[self._masks()] = weights
        prices: Floats = walsh_hadamard(spread)[self._patterns()]
        return prices


@dataclass(frozen=True)
class MarginalCells:
    """The cells of marginals, one marginal after another."""

    sizes: tuple[int, ...]
    marginals: tuple[Subset, ...]

    @property
    def rank(self) -> int:
        """The residuals of the closure: each attribute of a set has size - 1 free values."""
        closure = downward_closure(self.marginals)
        return sum(math.prod(self.sizes[place] - 1 for place in part) for part in closure)

    def _shape(self, subset: Subset) -> tuple[int, ...]:
        return tuple(self.sizes[place] for place in subset)

    def columns(self, cells: Places) -> Any:
        """A cell of the table lies in exactly one cell of each marginal."""
        at = np.array(np.unravel_index(cells, (1, *self.sizes))[1:])
        rows, start = [], 0
        for subset in self.marginals:
            found = np.ravel_multi_index(at[list(subset)], self._shape(subset)) if subset else 0
            rows.append(np.broadcast_to(start + found, cells.shape))
            start += math.prod(self._shape(subset))
        places = np.concatenate(rows)
        which = np.tile(np.arange(cells.size), len(self.marginals))
        shape = (start, cells.size)
        return sparse.csc_matrix((np.ones(places.size), (places, which)), shape=shape)

    def price(self, weights: Floats) -> Floats:
        """Every marginal's weights, spread over the table."""
        prices, start = np.zeros(self.sizes), 0
        for subset in self.marginals:
            shape = self._shape(subset)
            wide = [size if place in subset else 1 for place, size in enumerate(self.sizes)]
            prices += weights[start : start + math.prod(shape)].reshape(wide)
            start += math.prod(shape)
        return prices.ravel()


@dataclass(frozen=True)
class Vertex:
    """A vertex of the best tables: its non-zero cells, their weights and the largest miss.

    Where the program was not `solved` it is a table near what was measured, and no vertex.
    """

    cells: Places
    weights: Floats
    worst: float
    rounds: int
    solved: bool = True

    def rounded(self, sizes: tuple[int, ...]) -> NDArray[np.int64]:
        """The table of nearest integers; each non-zero cell moves by at most one half."""
        table = np.zeros(math.prod(sizes), np.int64)
        table[self.cells] = np.maximum(np.rint(self.weights), 0).astype(np.int64)
        return table.reshape(sizes)


def check_size(cells: int, rows: int) -> None:
    """Refuses, before anything is measured, a program that would not end in minutes."""
    if cells <= MOST_CELLS and rows <= MOST_ROWS:
        return
    raise QuestionError(
        f"the linear program would have {cells} cells and {rows} coefficients; it takes "
        f"{MOST_CELLS} cells (16 binary attributes) and {MOST_ROWS} coefficients at most",
        hint="ask for fewer attributes or ways, or take method fourier or fourier-shift, "
        "or the method microdata, which has no such limit",
    )


def closest(rows: Rows, target: NDArray[Any], noisy: NDArray[np.bool_], seconds: float) -> Vertex:
    """The vertex that misses the noisy rows least in the worst one, and the exact ones nowhere.

    Where `seconds` have passed, or the solver finds none, it is a table that comes close.
    """
    values = target.astype(float)
    scale = max(1.0, float(np.abs(values).max(initial=0.0)) / LARGEST)
    goal: Floats = values / scale
    end, rounds, penalty = time.monotonic() + seconds, 0, PENALTY
    cells = np.sort(np.argsort(-rows.price(goal), kind="stable")[: 2 * rows.rank + 1])
    while True:
        rounds += 1
        program = _master(rows.columns(cells), goal, noisy, penalty)
        found = _solve(program, end, (cells.size, rows.rank))
        if found is None:
            return _near(rows, goal, scale, rounds)
        missing = _missing(rows.price(found.eqlin.marginals), cells, rows.rank)
        if missing.size:
            cells = np.sort(np.concatenate([cells, missing]))
        elif found.x[-1] <= EXACT or penalty > HARDEST:
            return _vertex(cells, found.x, scale, rounds)
        else:
            penalty *= 100


def _near(rows: Rows, goal: Floats, scale: float, rounds: int) -> Vertex:
    """What was measured spread back over the cells, without what is negative."""
    spread = np.maximum(rows.price(goal), 0.0)
    cells = np.sort(np.argsort(-spread, kind="stable")[: 2 * rows.rank + 1])
    weights = spread[cells]
    reached = np.asarray(rows.columns(cells) @ weights).reshape(-1)
    size = float(reached @ reached)
    weights = weights * (max(0.0, float(reached @ goal)) / size if size else 0.0)
    miss = np.abs(np.asarray(rows.columns(cells) @ weights).reshape(-1) - goal)
    kept = weights > TOLERANCE
    worst = float(miss.max(initial=0.0)) * scale
    return Vertex(cells[kept], weights[kept] * scale, worst, rounds, solved=False)


def _vertex(cells: Places, solution: Floats, scale: float, rounds: int) -> Vertex:
    weights: Floats = solution[: cells.size] * scale
    kept = weights > TOLERANCE * scale
    worst = max(0.0, float(solution[-2])) * scale
    return Vertex(cells[kept], weights[kept], worst, rounds)


def _missing(prices: Floats, cells: Places, most: int) -> Places:
    """The cells outside that would bring the table closest, if any would."""
    prices = prices.copy()
    prices[cells] = 0.0
    order = np.argsort(-prices, kind="stable")[:most]
    return order[prices[order] > TOLERANCE]


def _master(columns: Any, goal: Floats, noisy: NDArray[np.bool_], penalty: float) -> dict[str, Any]:
    """Minimise b + penalty b0 over w >= 0: columns w + r = goal, |r| <= b (exact rows: b0)."""
    height, width = columns.shape
    unit = sparse.identity(height, format="csc")
    none = sparse.csc_matrix((height, width))
    limits = sparse.csc_matrix(np.stack([noisy, ~noisy], axis=1).astype(float))
    free = [(0, None)] * width + [(None, None)] * height + [(0, None)] * 2
    return {
        "c": np.concatenate([np.zeros(width + height), [1.0, penalty]]),
        "A_eq": sparse.hstack([columns, unit, sparse.csc_matrix((height, 2))], format="csc"),
        "b_eq": goal,
        "A_ub": sparse.vstack(
            [sparse.hstack([none, unit, -limits]), sparse.hstack([none, -unit, -limits])],
            format="csc",
        ),
        "b_ub": np.zeros(2 * height),
        "bounds": free,
    }


def _solve(program: dict[str, Any], end: float, size: tuple[int, int]) -> Any:
    """The optimum at a vertex: interior point with crossover, or the simplex where that fails.

    None where neither finds one, or the time is over.
    """
    width, rank = size
    solve: Callable[..., Any] = linprog
    for method in ("highs-ipm", "highs-ds"):
        left = end - time.monotonic()
        if left <= 0:
            return None
        try:
            found = solve(**program, method=method, options={"time_limit": left})
        except (ArithmeticError, MemoryError, ValueError):
            continue
        if found.status == 1:
            return None
        if found.status == 0 and np.count_nonzero(found.x[:width] > TOLERANCE) <= rank:
            return found
    return None


def theorem_five(width: int, coefficients: int, spread: float) -> float:
    """Theorem 5 as printed; `spread` is what no noise passes, scale times log(|B|/delta)."""
    return float(2**width * 2 * spread + coefficients)
