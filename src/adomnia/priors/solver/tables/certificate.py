"""Certificates: what a linear solver suggests, proven or thrown away in whole numbers (`fibre.md`).

A solver's floats only choose multipliers; every claim is evaluated anew without rounding, so a
wrong float makes a bound loose or missing, never wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint

from adomnia.priors.solver.effort import Effort, Limit
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice.region import ENDLESS, Region, enumerate_points, tighten
from adomnia.priors.solver.linear_programs import propose, propose_whole

__all__ = ["empty_by", "find_point", "is_empty", "largest"]

Integers = NDArray[np.int64]
DENOMINATORS = (1, 2, 60, 1 << 20)
SAFE = float(1 << 60)
SEARCHED = 3_000_000


def largest(found: Region, objective: Integers, effort: Effort | None = None) -> int | None:
    """A proven upper bound of objective * t over the whole points; None if nothing was proven."""
    guess = _solved(found, objective, effort or Effort())
    proven = [_weigh(found, objective, np.zeros(len(found.low)), 1)]
    if guess is not None:
        proven += [_weigh(found, objective, guess, below) for below in DENOMINATORS]
    return min((bound for bound in proven if bound is not None), default=None)


def empty_by(found: Region, effort: Effort | None = None) -> Integers | None:
    """Multipliers of the rows that prove the region empty (Farkas), or None.

    Their sum is a row which no point within the cell bounds can have in its interval.
    """
    guess = _phase_one(found, effort or Effort())
    if guess is None:
        return None
    nothing = np.zeros(len(found.lower), np.int64)
    for below in DENOMINATORS:
        bound = _weigh(found, nothing, guess, below, rounded=False)
        if bound is not None and bound < 0:
            return _rounded(guess, below)
    return None


def find_point(
    found: Region, effort: Effort | None = None, objective: NDArray[np.float64] | None = None
) -> Integers | None:
    """A whole point of the region, checked exactly; None says nothing.

    With an objective the solver is asked for a point where it is small.
    """
    if objective is None and found.holds(found.lower):
        return found.lower
    cells = len(found.lower)
    for aim in (np.zeros(cells), np.ones(cells)) if objective is None else (objective,):
        point = _suggested(found, aim, effort or Effort())
        if point is not None and found.holds(point):
            return point
    return None


def _suggested(found: Region, aim: NDArray[np.float64], effort: Effort) -> Integers | None:
    """The solver's point, rounded; its status is not asked."""
    ceiling = np.where(found.upper >= ENDLESS, np.inf, found.upper.astype(float))
    rows = LinearConstraint(found.matrix.astype(float), found.low, found.high)
    proposed = propose_whole(
        aim,
        effort,
        constraints=(rows,) if len(found.low) else (),
        bounds=Bounds(found.lower, ceiling),
        integrality=np.ones(len(aim)),
    )
    if proposed is None or not np.abs(proposed).max(initial=0) < SAFE:
        return None
    point: Integers = np.rint(proposed).astype(np.int64)
    return point


def is_empty(found: Region, effort: Effort | None = None) -> bool | None:
    """Whether the region has no whole point: proven either way, or None."""
    effort, tight = effort or Effort(), tighten(found)
    if tight is None:
        return True
    if find_point(tight, effort) is not None:
        return False
    if empty_by(tight, effort) is not None:
        return True
    try:
        for _ in enumerate_points(tight, Limit(SEARCHED, effort)):
            return False
    except TooLarge:
        return None
    return True


def _solved(found: Region, objective: Integers, effort: Effort) -> NDArray[np.float64] | None:
    """The solver's multipliers of the rows for the largest objective."""
    both = sparse.vstack([found.matrix, -found.matrix]).astype(float)
    limits = np.concatenate([found.high, -found.low]).astype(float)
    answer = propose(
        -objective.astype(float),
        effort,
        A_ub=both if len(limits) else None,
        b_ub=limits if len(limits) else None,
        bounds=_bounds(found),
    )
    return _multipliers(answer, len(found.low))


def _phase_one(found: Region, effort: Effort) -> NDArray[np.float64] | None:
    """Multipliers from: how far do the rows have to give until there is a point?"""
    rows, cells = found.matrix.shape
    if not rows:
        return None
    unit = sparse.identity(rows, format="csr")
    both = sparse.vstack(
        [
            sparse.hstack([found.matrix, -unit, 0 * unit]),
            sparse.hstack([-found.matrix, 0 * unit, -unit]),
        ]
    ).astype(float)
    answer = propose(
        np.concatenate([np.zeros(cells), np.ones(2 * rows)]),
        effort,
        A_ub=sparse.csr_array(both),
        b_ub=np.concatenate([found.high, -found.low]).astype(float),
        bounds=np.vstack([_bounds(found), np.tile([0.0, np.inf], (2 * rows, 1))]),
    )
    return _multipliers(answer, rows)


def _bounds(found: Region) -> NDArray[np.float64]:
    ceiling = np.where(found.upper >= ENDLESS, np.inf, found.upper.astype(float))
    return np.column_stack([found.lower.astype(float), ceiling])


def _multipliers(answer: Any, rows: int) -> NDArray[np.float64] | None:
    if answer is None or not rows:
        return None
    slopes = -np.asarray(answer.ineqlin.marginals, dtype=float)
    guess: NDArray[np.float64] = slopes[:rows] - slopes[rows:]
    return guess if np.isfinite(guess).all() and np.abs(guess).max() < 1e6 else None


def _rounded(guess: NDArray[np.float64], below: int) -> Integers:
    found: Integers = np.rint(guess * below).astype(np.int64)
    return found


def _weigh(
    found: Region,
    objective: Integers,
    guess: NDArray[np.float64],
    below: int,
    rounded: bool = True,
) -> int | None:
    """The bound that multipliers prove: y b + (c - y A) t at its largest, in whole numbers.

    With `rounded` it is divided by the common denominator and rounded down, for the objective has
    whole values; without, it is left multiplied.
    """
    weights = _rounded(guess, below)
    reach = abs(found.matrix).T.astype(float) @ np.abs(weights.astype(float))
    if (reach + np.abs(objective.astype(float)) * below >= SAFE).any():
        return None
    left = objective * below - found.matrix.T @ weights
    if (left[found.upper >= ENDLESS] > 0).any():
        return None
    best = np.where(left > 0, found.upper, found.lower)
    totals = np.where(weights > 0, found.high, found.low)
    bound = _dot(weights, totals) + _dot(left, best)
    return bound // below if rounded else bound


def _dot(left: Integers, right: Integers) -> int:
    """The exact product: in 64 bits where it fits, else in Python integers."""
    if float(np.abs(left.astype(float)) @ np.abs(right.astype(float))) < SAFE:
        return int(left @ right)
    return sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))
