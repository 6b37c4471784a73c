"""Rebuilding a table from noisy counts inside the lattice that exact answers leave open."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adomnia.priors.solver.lattice.kernel import components
from adomnia.priors.solver.tables.sampling import ENDLESS, Move, ranges

__all__ = ["CellComponent", "along", "parts", "rebuild"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
PAIRS = 1000
SWEEPS = 3


@dataclass(frozen=True, eq=False)
class CellComponent:
    """Cells that change together: a basis of their lattice, and moves inside the part."""

    cells: Integers
    basis: Any
    moves: list[Move]

    @property
    def dimension(self) -> int:
        """How many independent changes there are."""
        return int(self.basis.shape[1])


def parts(basis: Any, rng: np.random.Generator) -> list[CellComponent]:
    """The independent parts of a lattice, given by its sparse basis."""
    found = []
    for cells, columns in components(basis):
        own = basis[:, columns].tocsr()[cells, :].tocsc()
        found.append(CellComponent(cells, own, _moves(own, rng)))
    return found


def rebuild(
    noisy: Reals, consistent: Integers, found: list[CellComponent], deadline: float = math.inf
) -> Integers:
    """Likely tables for noisy counts with equal Laplace noise (cells by trials).

    `consistent` holds any tables of whole numbers that give the exact answers; they say where the
    lattice lies, and the result is the same for each of them. After the deadline (monotonic)
    what there is is returned.
    """
    tables = consistent.copy()
    for part in found:
        seen, start = noisy[part.cells], tables[part.cells]
        if part.dimension > 1:
            dense = part.basis.toarray()
            start = start + dense @ _nearest_plane(seen - start, dense.astype(float))
        tables[part.cells] = _polish(start, seen, part.moves, deadline)
    return tables


def along(residual: Reals, change: Integers, low: Any = -ENDLESS, high: Any = ENDLESS) -> Integers:
    """How often the change is made, by maximum likelihood under Laplace noise; one per trial.

    `residual` (cells by trials) is what was seen minus a table. The whole number in [low, high]
    with the least sum of |residual - times * change|: a weighted median, then the better of its
    two whole neighbours, because the sum is convex (`prior_leak.md`).
    """
    middle = np.floor(_median(residual / change[:, None], np.abs(change)))
    below = np.clip(middle, low, high)
    above = np.clip(middle + 1, low, high)
    worse = _length(residual, change, below) > _length(residual, change, above)
    return np.where(worse, above, below).astype(np.int64)


def _nearest_plane(residual: Reals, basis: Reals) -> Integers:
    """Whole multiples of the basis near the least squares fit, one column per trial (Babai)."""
    upper = linalg.cholesky(basis.T @ basis)
    aims = linalg.solve_triangular(upper, basis.T @ residual, trans="T")
    times = np.zeros_like(aims)
    for i in range(len(upper) - 1, -1, -1):
        times[i] = np.rint((aims[i] - upper[i, i + 1 :] @ times[i + 1 :]) / upper[i, i])
    return np.asarray(times, np.int64)


def _polish(tables: Integers, noisy: Reals, moves: list[Move], deadline: float) -> Integers:
    """The tables (cells by trials), made more likely by one move at a time, and not negative.

    With a single move this is the exact maximum likelihood.
    """
    better = tables.copy()
    for _ in range(SWEEPS):
        moved = False
        for cells, change in moves:
            low, high = ranges(better[cells], change)
            times = along(noisy[cells] - better[cells], change, low, np.maximum(low, high))
            times[low > high] = 0
            better[cells] += change[:, None] * times
            moved |= bool(times.any())
            if time.monotonic() > deadline:
                return better
        if not moved or len(moves) == 1:
            break
    return better


def _moves(basis: Any, rng: np.random.Generator) -> list[Move]:
    """The columns of a sparse basis, and sums and differences of two that are not longer."""
    dense = basis.toarray()
    gram = (basis.T @ basis).tocoo()
    pairs = np.flatnonzero(gram.row < gram.col)
    chosen = rng.permutation(pairs)[:PAIRS]
    lengths = np.abs(dense).sum(axis=0)
    moves = [_move(column) for column in dense.T]
    for i, j, dot in zip(gram.row[chosen], gram.col[chosen], gram.data[chosen], strict=True):
        both = dense[:, i] - np.sign(dot) * dense[:, j]
        if np.abs(both).sum() <= max(lengths[i], lengths[j]):
            moves.append(_move(both))
    return moves


def _median(points: Reals, weights: Integers) -> Reals:
    """The middle of all points at which the weighted sum of distances is least."""
    if (weights == weights[0]).all():
        return np.asarray(np.median(points, axis=0))
    order = np.argsort(points, axis=0)
    ordered = np.take_along_axis(points, order, 0)
    doubled = 2 * np.cumsum(weights[order], axis=0)
    first = np.argmax(doubled >= doubled[-1] // 2, axis=0)
    last = np.argmax(doubled > doubled[-1] // 2, axis=0)
    trials = np.arange(points.shape[1])
    return np.asarray((ordered[first, trials] + ordered[last, trials]) / 2)


def _length(residual: Reals, change: Integers, times: Reals) -> Reals:
    return np.asarray(np.abs(residual - change[:, None] * times).sum(axis=0))


def _move(column: Integers) -> Move:
    cells = np.flatnonzero(column)
    return cells, column[cells]
