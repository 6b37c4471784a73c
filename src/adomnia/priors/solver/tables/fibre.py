"""The fibre: all tables that agree with what is public (`fibre.md`).

Rows that were released rounded mean low <= a t <= high throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.bound import Norm
from adomnia.priors.solver.effort import STEPS, Effort, Limit
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice.elimination import eliminate
from adomnia.priors.solver.lattice.region import Region, enumerate_points, region, tighten
from adomnia.priors.solver.lattice.vanishing import fixed
from adomnia.priors.solver.system import System, whole
from adomnia.priors.solver.tables import certificate

__all__ = ["determined", "is_realisable", "range_bound", "tables"]

Integers = NDArray[np.int64]
FEW, NARROW = 20_000, 400
LOOKED = 50


def tables(system: System, most: int = 1_000_000, effort: Effort | None = None) -> Integers:
    """All tables that agree with the known values, as rows; raises `TooLarge` above `most`."""
    limit = Limit(LOOKED * most + 1_000_000, Effort(10 * STEPS) if effort is None else effort)
    blocks, count = [np.zeros((0, system.cells), np.int64)], 0
    for block in enumerate_points(region(system), limit):
        count += len(block)
        if count > most:
            raise TooLarge(f"more than {most} tables")
        blocks.append(block)
    return np.concatenate(blocks)


def is_realisable(
    system: System, witness: Mapping[int, int], effort: Effort | None = None
) -> bool | None:
    """Whether some table that agrees with what is public stays so when the witness is added.

    None where that was neither proven nor refuted.
    """
    change = np.zeros(system.cells, np.int64)
    change[list(witness)] = [int(count) for count in witness.values()]
    if change[sorted(system.forbidden)].any():
        return False
    moved = system.matrix @ change
    for row, value in enumerate(system.values):
        if moved[row] and (value is None or value[0] == value[1]):
            return False
    known = [row for row, value in enumerate(system.values) if value is not None]
    try:
        return _is_possible(system, change, moved, known, effort or Effort())
    except OverflowError:
        return None  # numbers too large to be looked at


def _is_possible(
    system: System, change: Integers, moved: Integers, known: list[int], effort: Effort
) -> bool | None:
    found = region(system)
    found = replace(
        found,
        low=found.low - np.minimum(moved[known], 0),
        high=found.high - np.maximum(moved[known], 0),
        lower=np.maximum(-change, 0),
    )
    empty = certificate.is_empty(found, effort)
    return None if empty is None else not empty


def range_bound(
    system: System, asked: Any, norm: Norm, effort: Effort | None = None
) -> Fraction | None:
    """How far the question can differ between any two tables of the fibre, at most.

    In norm 2 the square. None where no finite bound was proven.
    """
    try:
        found = tighten(region(system))
    except OverflowError:
        return None  # numbers too large to be looked at
    if found is None:
        return Fraction(0)
    question, effort = sparse.csr_array(whole(asked)), effort or Effort()
    total = _twice_the_weight(found, question, effort)
    widths = _widths(found, question, effort)
    bounds = []
    if widths is not None:
        bounds.append(sum(widths) if norm == 1 else sum(width**2 for width in widths))
        if norm == 2:
            bounds.append(max(widths, default=0) * sum(widths))
    if total is not None:
        if norm == 1:
            bounds.append(total)
        else:
            bounds.append(total * (total if widths is None else max(widths, default=0)))
    return Fraction(min(bounds)) if bounds else None


def _widths(found: Region, question: Any, effort: Effort) -> list[int] | None:
    """For each output its proven range: by a certificate while steps are left, else by bounds."""
    widths: list[int] = []
    for row in range(question.shape[0]):
        aim = question[[row]].toarray()[0]
        high, low = _farthest(found, aim, effort), _farthest(found, -aim, effort)
        if high is None or low is None:
            return None
        widths.append(max(high + low, 0))
    return widths


def _farthest(found: Region, aim: Integers, effort: Effort) -> int | None:
    """A proven upper bound of the aim over the fibre."""
    if not effort.is_spent or not found.finite:
        return certificate.largest(found, aim, effort)
    return int(np.where(aim > 0, found.upper, found.lower) @ aim)


def _twice_the_weight(found: Region, question: Any, effort: Effort) -> int | None:
    """Both tables together: the sum of |q_i| (s_i + t_i) is at most twice its largest value."""
    weights = np.asarray(abs(question).sum(axis=0)).ravel().astype(np.int64)
    bound = certificate.largest(found, weights, effort)
    return None if bound is None else 2 * bound


def determined(
    system: System, effort: Effort | None = None, seen: Integers | None = None
) -> dict[int, int | None]:
    """The cells that what is public already fixes, with their value where it is known.

    Cells listed are fixed, provided that some table agrees with what is public; cells that only
    whole-number arguments could fix may be missing. With tables that agree as `seen` (one a row),
    cells in which these differ are not looked at.
    """
    found: dict[int, int | None] = dict.fromkeys(sorted(system.forbidden), 0)
    exact = system.exact
    known = [row for row in exact if system.values[row] is not None]
    if len(known) < len(exact):
        found |= dict.fromkeys(_fixed(system, exact), None)
    found |= _values(system, known)
    with suppress(OverflowError):  # numbers too large to be looked at
        found |= _forced(region(system), effort or Effort(), seen)
    return dict(sorted(found.items()))


def _fixed(system: System, rows: list[int]) -> list[int]:
    """Cells that no change unseen by these rows can move."""
    live = [cell for cell in range(system.cells) if cell not in system.forbidden]
    inner = sparse.csr_array(system.matrix)[rows][:, live]
    return [live[cell] for cell in fixed(inner)]


def _values(system: System, rows: list[int]) -> dict[int, int | None]:
    """The cells that exact rows with known values fix, with the value all solutions have."""
    settled = _fixed(system, rows)
    live = np.array([cell not in system.forbidden for cell in range(system.cells)])
    inner = sparse.csr_array(system.matrix)[rows][:, live]
    totals = [value[0] for row in rows if (value := system.values[row]) is not None]
    solved = eliminate(inner, totals)
    if not solved.solvable:
        return {}
    place = np.cumsum(live) - 1
    solution = solved.solution()
    return {cell: solution[place[cell]] for cell in settled}


def _forced(found: Region, effort: Effort, seen: Integers | None) -> dict[int, int | None]:
    """The cells that values and bounds fix: by listing all tables if they are few."""
    tight = tighten(found)
    if tight is None:
        return {}
    if seen is not None:
        return _squeezed(tight, effort, (seen != seen[:1]).any(axis=0))
    listed = _same_in_all(tight, effort.part(2)) if len(tight.lower) <= NARROW else None
    return _squeezed(tight, effort, _seen_to_move(tight, effort)) if listed is None else listed


def _same_in_all(tight: Region, effort: Effort) -> dict[int, int | None] | None:
    """The cells that have one value in all tables; None if the tables are too many."""
    first: Integers | None = None
    same = np.ones(len(tight.lower), bool)
    try:
        for block in enumerate_points(tight, Limit(LOOKED * FEW, effort)):
            first = block[0] if first is None else first
            same &= (block == first).all(axis=0)
            if not same.any():
                return {}
    except TooLarge:
        return None
    return {} if first is None else {c: int(first[c]) for c in np.flatnonzero(same).tolist()}


def _squeezed(tight: Region, effort: Effort, moving: NDArray[np.bool_]) -> dict[int, int | None]:
    """The cells whose proven least and greatest value agree, among those not seen to move."""
    single = tight.lower == tight.upper
    forced: dict[int, int | None] = {
        cell: int(tight.lower[cell]) for cell in np.flatnonzero(single).tolist()
    }
    for cell in np.flatnonzero(~(moving | single)).tolist():
        if effort.is_spent:
            break
        aim = np.zeros(len(tight.lower), np.int64)
        aim[cell] = 1
        high = certificate.largest(tight, aim, effort)
        low = certificate.largest(tight, -aim, effort)
        if high is not None and low is not None and high == -low:
            forced[cell] = high
    return forced


def _seen_to_move(tight: Region, effort: Effort) -> NDArray[np.bool_]:
    """Cells in which two tables that were found differ: they need no further look."""
    cells = len(tight.lower)
    moves: NDArray[np.bool_] = np.zeros(cells, bool)
    first = certificate.find_point(tight, effort)
    sign, idle = 1.0, 0
    while first is not None and idle < 2 and not effort.is_spent:
        # the cells that have not moved yet are pulled down together, then up together
        other = certificate.find_point(tight, effort, np.where(moves, 0.0, sign))
        fresh = np.zeros(cells, bool) if other is None else (other != first) & ~moves
        idle = 0 if fresh.any() else idle + 1
        moves |= fresh
        sign = -sign
    return moves
