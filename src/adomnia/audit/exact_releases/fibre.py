"""Tables that agree with the exact answers, found from public facts alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from adomnia.audit.exact_releases.nearest import nearest
from adomnia.audit.exact_releases.rebuild import ENDLESS, Move, ranges
from adomnia.priors.solver.system import System

__all__ = ["Exact", "determined", "draw", "exact_rows"]

Integers = NDArray[np.int64]
SMALL = 10
SWEEPS = 10
WANDERED = 20_000
STARTS = 8
SCALINGS = 100


@dataclass(frozen=True, eq=False)
class Exact:
    """The rows released exactly: all of them, those whose value is given, and the values."""

    matrix: Any
    given: Any
    values: Integers
    forbidden: frozenset[int]
    rounded: int

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self.matrix.shape[1])

    def allows(self, table: Integers) -> bool:
        """Whether a table has no negative count and gives the values that were released."""
        empty = not table[sorted(self.forbidden)].any()
        return bool((table >= 0).all() and empty and (self.given @ table == self.values).all())


def exact_rows(system: System) -> Exact:
    """The exact rows of a system. Rounded rows are left out, which only weakens the attacker."""
    lines = system.matrix.tocsr()
    exact = [i for i, v in enumerate(system.values) if v is None or v[0] == v[1]]
    known = [(i, v[0]) for i, v in enumerate(system.values) if v is not None and v[0] == v[1]]
    given = lines[[i for i, _ in known], :]
    values = np.array([value for _, value in known], np.int64)
    rounded = len(system.values) - len(exact)
    return Exact(lines[exact, :], given, values, system.forbidden, rounded)


def draw(
    exact: Exact, moves: list[Move], count: int, rng: np.random.Generator, deadline: float
) -> Integers:
    """Tables (cells by count) that agree with the values given, by chance.

    Without any value given: small random counts. Otherwise tables near random ones by integer
    programming, from which each walks along moves that no released row notices; an even number of
    them where there is time, so that tables at even and odd places began differently.
    """
    if not len(exact.values):
        counts = rng.integers(0, SMALL, (exact.cells, count))
        counts[sorted(exact.forbidden)] = 0
        return counts
    starts = _starts(exact, min(count, STARTS), rng, deadline)
    tables = np.stack([starts[i % len(starts)] for i in range(count)], axis=1)
    for _ in range(max(1, min(SWEEPS, WANDERED // max(1, len(moves))))):
        for i in rng.permutation(len(moves)):
            _wander(tables, moves[i], rng)
        if time.monotonic() > deadline:
            break
    return tables


def determined(exact: Exact, free: Any, tables: Integers, deadline: float) -> tuple[int, int]:
    """How many cells the exact answers determine alone, and how many were left undecided.

    `free` marks the cells that some move changes. Of these only such are tried, by linear
    programs, in which all the tables agree: the others were seen to differ.
    """
    fixed = int((~free).sum())
    if not len(exact.values):
        return fixed, 0
    same = np.flatnonzero(free & (tables == tables[:, :1]).all(axis=1))
    for tried, cell in enumerate(same):
        if time.monotonic() > deadline:
            return fixed, len(same) - tried
        fixed += _is_fixed(exact, int(cell), int(tables[cell, 0]))
    return fixed, 0


def _starts(exact: Exact, count: int, rng: np.random.Generator, deadline: float) -> list[Integers]:
    """Tables that give the values, each near random positive numbers that nearly do."""
    begun = time.monotonic()
    closed = sorted(exact.forbidden)
    starts: list[Integers] = []
    while len(starts) < count:
        now = time.monotonic()
        if len(starts) >= 2 and now - begun > (deadline - begun) / 4:
            break
        table = nearest(exact.given, exact.values, _scaled(exact, rng), closed, deadline - now)
        if table is None:
            raise TimeoutError
        starts.append(table)
    return starts[: len(starts) // 2 * 2] or starts


def _scaled(exact: Exact, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random positive numbers, scaled by rows without negative coefficients towards the values.

    All rows at once, each cell by the geometric mean of what its rows ask for.
    """
    plain = np.flatnonzero(np.asarray(exact.given.min(axis=1).todense()).reshape(-1) >= 0)
    rows, values = exact.given[plain, :].astype(float), exact.values[plain]
    numbers: NDArray[np.float64] = rng.exponential(size=exact.cells)
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


def _is_fixed(exact: Exact, cell: int, value: int) -> bool:
    cost = np.zeros(exact.cells)
    bounds = [(0, 0 if c in exact.forbidden else None) for c in range(exact.cells)]
    for sign in (1, -1):
        cost[cell] = sign
        found = optimize.linprog(cost, A_eq=exact.given, b_eq=exact.values, bounds=bounds)
        if found.status != 0 or abs(found.fun - sign * value) > 1 - 1e-6:
            return False
    return True
