"""Projection: the table of counts that agrees with what is public and lies near noisy answers.

Near in squares (`project`) or in absolute differences (`nearest`). Work on what has already been
released: it costs nothing and promises nothing (`projection.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.linear_programs import propose_whole
from adomnia.priors.solver.system import System, whole

__all__ = ["agrees", "fit", "nearest", "project"]

ROUNDS = 2000
CHECKED = 25
CLOSE = 1e-3
OVER = 1.6
EVEN = 1e-9
GAP, FINE = 1e-3, 1e-4
FITTED, TURN = 1_000_000_000, 20
"""Steps for a projection, and for each entry in a turn of the fit."""
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Known:
    """The rows whose values are given, with their ends, and the greatest count of each cell."""

    rows: Any
    low: Floats
    high: Floats
    most: Floats

    @classmethod
    def of(cls, system: System) -> _Known:
        given = [place for place, value in enumerate(system.values) if value is not None]
        ends = [value for value in system.values if value is not None]
        both = np.array(ends, np.float64).reshape(-1, 2)
        most = np.full(system.cells, np.inf)
        most[sorted(system.forbidden)] = 0
        return cls(sparse.csr_array(system.matrix)[given], both[:, 0], both[:, 1], most)


def project(
    system: System, rows: Any, noisy: NDArray[Any], effort: Effort | None = None
) -> Integers | None:
    """A table t of whole counts, A t = b, with rows @ t near the noisy answers.

    First the nearest table of real numbers, then whole numbers around it. None if none was found
    with this effort; what comes back was checked in whole numbers. Rows without a value bind
    nothing.
    """
    effort = effort or Effort(FITTED)
    measured = sparse.csr_array(whole(rows))
    target = np.asarray(noisy, dtype=np.float64)
    near = fit(system, measured, target, effort.part(2))
    if effort.is_spent:
        return None
    found = _around(_Known.of(system), measured, target, near, effort)
    if found is not None and agrees(system, found):
        return found
    return None if effort.is_spent else nearest(system, np.rint(measured @ near), measured, effort)


def nearest(
    system: System, aim: Floats, rows: Any = None, effort: Effort | None = None
) -> Integers | None:
    """The table of whole counts, A t = b, with the least sum of |rows @ t - aim|.

    The rows are the cells if left out; under equal Laplace noise it is then the maximum
    likelihood. None if none was found with this effort, or there is none; what comes back was
    checked in whole numbers.
    """
    effort = effort or Effort(FITTED)
    known, target = _Known.of(system), np.asarray(aim, np.float64)
    found = (
        _nearest_cells(known, target, effort)
        if rows is None
        else _nearest_sums(known, sparse.csr_array(whole(rows)), target, effort)
    )
    return found if found is not None and agrees(system, found) else None


def agrees(system: System, table: Integers) -> bool:
    """Whether the table has no negative or forbidden count and every value that was given."""
    made = system.matrix @ table
    return bool(
        (table >= 0).all()
        and not table[sorted(system.forbidden)].any()
        and all(
            value is None or value[0] <= int(sum_) <= value[1]
            for value, sum_ in zip(system.values, made, strict=True)
        )
    )


def fit(system: System, rows: Any, noisy: Floats, effort: Effort | None = None) -> Floats:
    """The table of real numbers t >= 0, A t = b, that minimises |rows @ t - noisy|^2, nearly.

    Alternating directions: a least-squares step among the tables with A t = b, factorised once,
    and a step into the bounds (of counts, and of values that were rounded).
    """
    known = _Known.of(system)
    exact = known.low == known.high
    loose = sparse.vstack(
        [known.rows[~exact], sparse.eye_array(system.cells, format="csr")], format="csr"
    )
    low = np.concatenate([known.low[~exact], np.zeros(system.cells)])
    high = np.concatenate([known.high[~exact], known.most])
    solve = _factorised(known.rows[exact], rows, loose)
    inside = np.clip(np.zeros(low.size), low, high)
    dual = np.zeros(low.size)
    pull, sums = rows.T @ noisy, known.low[exact]
    effort = effort or Effort(FITTED)
    each = TURN * (loose.nnz + known.rows.nnz + rows.nnz)
    for turn in range(1, ROUNDS + 1):
        before = inside
        effort.spend(each)
        made = loose @ solve(pull + loose.T @ (inside - dual), sums)
        over = OVER * made + (1 - OVER) * inside
        inside = np.clip(over + dual, low, high)
        dual += over - inside
        if turn % CHECKED == 0:
            moved = np.abs(inside - before).max(initial=0), np.abs(made - inside).max(initial=0)
            if max(moved) < CLOSE or effort.is_spent:
                break
    found: Floats = inside[low.size - system.cells :]
    return found


def _factorised(known: Any, rows: Any, loose: Any) -> Any:
    """Minimises |rows t|^2 + |loose t|^2 - 2 right t among known t = sums, all of it sparse."""
    cells, bounds, measured = known.shape[1], known.shape[0], rows.shape[0]
    system = sparse.block_array(
        [
            [loose.T @ loose, known.T, rows.T],
            [known, -EVEN * sparse.eye_array(bounds), None],
            [rows, None, -sparse.eye_array(measured)],
        ],
        format="csc",
    )
    factors = sparse.linalg.splu(system)
    zeros = np.zeros(measured)
    return lambda right, sums: factors.solve(np.concatenate([right, sums, zeros]))[:cells]


def _around(
    known: _Known, rows: Any, noisy: Floats, near: Floats, effort: Effort
) -> Integers | None:
    """Every count and every answer rounded up or down, so that the squares are least.

    Between two neighbouring whole numbers a square is linear. Where the matrix is totally
    unimodular the linear program has a whole solution, and the search ends at its first node.
    """
    least, floor = np.floor(near), np.floor(rows @ near)
    cost = rows.T @ (2 * (floor - noisy) + 1)
    bounds = optimize.Bounds(least, np.minimum(least + 1, known.most))
    limits = [optimize.LinearConstraint(known.rows, known.low, known.high)]
    if (np.diff(rows.indptr) > 1).any():
        limits.append(optimize.LinearConstraint(rows, floor, floor + 1))
    return _whole(cost, bounds, limits, near.size, effort)


def _nearest_cells(known: _Known, aim: Floats, effort: Effort) -> Integers | None:
    """The counts themselves are aimed at.

    A count is floor(aim) + step + up - down, with 0 <= step <= 1 and up, down >= 0: this is the
    distance between whole numbers exactly, and where the matrix is totally unimodular already the
    linear program has whole solutions.
    """
    base = np.minimum(np.maximum(np.floor(aim), 0), known.most)
    part = np.clip(aim - base, 0, 1)
    cost = np.concatenate([1 - 2 * part, np.ones(2 * aim.size)])
    top = np.concatenate([np.minimum(known.most, 1), known.most, base])
    moved, left = sparse.hstack([known.rows, known.rows, -known.rows]), known.rows @ base
    limits = [optimize.LinearConstraint(moved, known.low - left, known.high - left)]
    found = _whole(cost, optimize.Bounds(0, top), limits, cost.size, effort, FINE)
    if found is None:
        return None
    step, up, down = found.reshape(3, aim.size)
    table: Integers = base.astype(np.int64) + step + up - down
    return table


def _nearest_sums(known: _Known, rows: Any, aim: Floats, effort: Effort) -> Integers | None:
    """Sums of counts are aimed at: each is floor(aim) + step + up - down, as above."""
    base, cells, measured = np.floor(aim), known.most.size, aim.size
    cost = np.concatenate([np.zeros(cells), 1 - 2 * (aim - base), np.ones(2 * measured)])
    high = np.concatenate([known.most, aim > base, np.full(2 * measured, np.inf)])
    one = sparse.eye_array(measured)
    none = sparse.csr_array((known.rows.shape[0], 3 * measured))
    limits = [
        optimize.LinearConstraint(sparse.hstack([known.rows, none]), known.low, known.high),
        optimize.LinearConstraint(sparse.hstack([rows, -one, -one, one]), base, base),
    ]
    return _whole(cost, optimize.Bounds(0, high), limits, cells, effort)


def _whole(
    cost: Floats, bounds: Any, limits: list[Any], cells: int, effort: Effort, gap: float = GAP
) -> Integers | None:
    """The solver's best table, rounded; whether it holds is for the caller to check."""
    integral = np.zeros(cost.size)
    integral[:cells] = 1
    found = propose_whole(
        cost, effort, gap, integrality=integral, bounds=bounds, constraints=limits
    )
    return None if found is None else np.rint(found[:cells]).astype(np.int64)
