"""Random tables that agree with what is public, found from public facts alone.

Not uniform, and not meant to be: tables to try things on, as different as moves make them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.projection import nearest

__all__ = ["ENDLESS", "Move", "ranges", "sample"]

Integers = NDArray[np.int64]
Move = tuple[Integers, Integers]
"""A change that no released row notices: its cells, and how many rows come to each."""

ENDLESS = 2**40
SMALL = 10
SWEEPS = 10
WANDERED = 20_000
STARTS = 8
SCALINGS = 100
STEP = 20
"""Steps that an entry of a move is counted as."""


def sample(
    system: System, moves: list[Move], count: int, rng: np.random.Generator, effort: Effort
) -> Integers:
    """Tables (cells by count) that agree with the exact values given, by chance.

    Without any value given: small random counts. Otherwise tables near random ones, from which
    each walks along moves that no row notices; an even number of them where the effort allows, so
    that tables at even and odd places began differently. Raises `TooLarge` if none was found.
    """
    if all(value is None for value in system.values):
        counts = rng.integers(0, SMALL, (system.cells, count))
        counts[sorted(system.forbidden)] = 0
        return counts
    starts = _starts(system, min(count, STARTS), rng, effort)
    tables = np.stack([starts[i % len(starts)] for i in range(count)], axis=1)
    for _ in range(max(1, min(SWEEPS, WANDERED // max(1, len(moves))))):
        for i in rng.permutation(len(moves)):
            _wander(tables, moves[i], rng)
            effort.spend(STEP * count * len(moves[i][0]))
        if effort.is_spent:
            break
    return tables


def ranges(counts: Integers, change: Integers) -> tuple[Integers, Integers]:
    """The least and the greatest number of times the change leaves no count below zero."""
    trials = counts.shape[1]
    low, high = np.full(trials, -ENDLESS), np.full(trials, ENDLESS)
    if (more := change > 0).any():
        low = -(counts[more] // change[more, None]).min(axis=0)
    if (less := change < 0).any():
        high = (counts[less] // -change[less, None]).min(axis=0)
    return low, high


def _starts(system: System, count: int, rng: np.random.Generator, effort: Effort) -> list[Integers]:
    """Tables that give the values, each near random positive numbers that nearly do."""
    starts: list[Integers] = []
    enough = effort.left * 3 // 4  # two starts may take what there is, more leave it to the walks
    while len(starts) < count and (len(starts) < 2 or effort.left > enough):
        table = nearest(system, _scaled(system, rng), effort=effort)
        if table is None and len(starts) < 2:
            raise TooLarge("no table was found with this effort")
        if table is None:
            break
        starts.append(table)
    return starts[: len(starts) // 2 * 2] or starts


def _scaled(system: System, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random positive numbers, scaled by rows without negative coefficients towards the values.

    All rows at once, each cell by the geometric mean of what its rows ask for.
    """
    known = [(row, value[0]) for row, value in enumerate(system.values) if value is not None]
    given = sparse.csr_array(system.matrix)[[row for row, _ in known]]
    plain = np.flatnonzero(np.asarray(given.min(axis=1).todense()).reshape(-1) >= 0)
    rows, values = given[plain, :].astype(float), np.array([v for _, v in known])[plain]
    numbers: NDArray[np.float64] = rng.exponential(size=system.cells)
    numbers[rows.T @ (values == 0) > 0] = 0
    step = max(1.0, float(rows.sum(axis=0).max(initial=0.0)))
    for _ in range(SCALINGS):
        sums = rows @ numbers
        asked = np.log(np.divide(values, sums, out=np.ones(len(sums)), where=sums * values > 0))
        numbers *= np.exp(rows.T @ asked / step)
    return numbers


def _wander(tables: Integers, move: Move, rng: np.random.Generator) -> None:
    """A uniform step along the line of the move, inside the tables that have no negative count."""
    cells, change = move
    low, high = ranges(tables[cells], change)
    # Where a line has no end on one side, it is walked near the other.
    high = np.where(high >= ENDLESS, low + SMALL, high)
    low = np.where(low <= -ENDLESS, high - SMALL, low)
    tables[cells] += change[:, None] * rng.integers(low, high + 1)
