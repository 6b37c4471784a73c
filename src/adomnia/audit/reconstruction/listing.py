"""All tables that agree with published statistics, by branch and bound (`table_reconstruction.md`).

Floats choose where to branch; a branch is cut, and a table listed, only with a proof in whole
numbers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from adomnia.audit.reconstruction.published_statistics import (
    UNLIMITED,
    CellLayout,
    LinearConstraint,
    Median,
    Statement,
)
from adomnia.priors.solver.lattice.region import ENDLESS, Region, tighten
from adomnia.priors.solver.tables import certificate

__all__ = ["Listing", "list_tables"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Listing:
    """Different tables, one in a row, each checked exactly; `whole` if it is proven that these
    are all; how many branches were looked at."""

    tables: Integers
    whole: bool
    looked: int


@dataclass(frozen=True, eq=False)
class _Branch:
    """What is fixed so far: bounds on cells, rows added, medians narrowed, a table inside."""

    region: Region
    medians: tuple[Median, ...]
    inside: Integers | None = None


def list_tables(
    cells: CellLayout,
    statements: Sequence[Statement],
    most: int = 1000,
    time_limit: float = 60.0,
    forbidden: Integers | None = None,
) -> Listing:
    """The tables that agree with every statement, up to `most` of them and until time ends."""
    end = time.monotonic() + time_limit
    medians = tuple(said for said in statements if isinstance(said, Median))
    rows = [r for said in statements if not isinstance(said, Median) for r in said.rows(cells)]
    upper = np.full(cells.many, ENDLESS, np.int64)
    if forbidden is not None:
        upper[forbidden] = 0
    start = _add(_nothing(cells, upper), rows)
    stack, looked = [_Branch(start, medians)], 0
    found: list[Integers] = []
    while stack and len(found) <= most and time.monotonic() < end:
        looked += 1
        branch = stack.pop()
        done, parts = _visit(cells, branch, end - time.monotonic())
        found += done
        stack += parts
    tables = np.array(found[:most], np.int64).reshape(-1, cells.many)
    return Listing(tables, not stack and len(found) <= most, looked)


def _nothing(cells: CellLayout, upper: Integers) -> Region:
    none = np.zeros(0, np.int64)
    matrix = sparse.csr_array((0, cells.many), dtype=np.int64)
    return Region(matrix, none, none, np.zeros(cells.many, np.int64), upper)


def _add(region: Region, rows: Sequence[LinearConstraint]) -> Region:
    if not rows:
        return region
    more = sparse.csr_array(np.array([row.factors for row in rows], np.int64))
    return replace(
        region,
        matrix=sparse.csr_array(sparse.vstack([region.matrix, more])),
        low=np.append(region.low, [row.low for row in rows]),
        high=np.append(region.high, [row.high for row in rows]),
    )


def _visit(
    cells: CellLayout, branch: _Branch, seconds: float
) -> tuple[list[Integers], list[_Branch]]:
    """The tables found for certain, and the branches that are left."""
    relaxed = _add(branch.region, [row for said in branch.medians for row in said.rows(cells)])
    tight = tighten(relaxed)
    if tight is None:
        return [], []
    is_open = [said for said in branch.medians if said.is_open(cells)]
    if not is_open and (tight.lower == tight.upper).all():
        return ([tight.lower] if tight.holds(tight.lower) else []), []
    bounded = replace(branch.region, lower=tight.lower, upper=tight.upper)
    branch = replace(branch, region=bounded)
    if branch.inside is not None:
        return [], _around(cells, branch, tight, seconds)
    point = _relaxation(tight, np.zeros(cells.many), seconds)
    if point is None and certificate.empty_by(tight) is not None:
        return [], []
    if is_open:
        return [], _narrowed(cells, branch, is_open)
    return [], _divided(cells, branch, tight, point, seconds)


def _divided(
    cells: CellLayout, branch: _Branch, tight: Region, point: Floats | None, seconds: float
) -> list[_Branch]:
    """The branches of one that may hold tables, by a point of it in fractions."""
    if point is None:
        return _halved(branch, tight)
    rounded = np.rint(point).astype(np.int64)
    if tight.holds(rounded):
        return _around(cells, replace(branch, inside=rounded), tight, seconds)
    return _separated(cells, branch, point) or _halved(branch, tight)


def _around(cells: CellLayout, branch: _Branch, tight: Region, seconds: float) -> list[_Branch]:
    """A table is known: prove that nothing else moves, or look for another far from it."""
    free = tight.lower < tight.upper
    resting = free & (branch.inside == tight.lower)
    if resting.any():
        bound = certificate.largest(tight, resting.astype(np.int64))
        if bound is not None and bound <= int(tight.lower[resting].sum()):
            fixed = replace(branch.region, upper=np.where(resting, tight.lower, tight.upper))
            return [replace(branch, region=fixed)]
    aim = -np.where(resting, 1.0, 0.0) if resting.any() else np.where(free, 1.0, 0.0)
    point = _relaxation(tight, aim, seconds)
    parts = [] if point is None else _separated(cells, branch, point)
    return parts or _halved(branch, tight)


def _relaxation(tight: Region, aim: Floats, seconds: float) -> Floats | None:
    """A point of the region in fractions, where the aim is small; a hint and no more."""
    ceiling = np.where(tight.upper >= ENDLESS, np.inf, tight.upper.astype(float))
    both = sparse.vstack([tight.matrix, -tight.matrix]).astype(float)
    limits = np.concatenate([tight.high, -tight.low]).astype(float)
    answer = linprog(
        aim,
        A_ub=both if len(limits) else None,
        b_ub=limits if len(limits) else None,
        bounds=np.column_stack([tight.lower.astype(float), ceiling]),
        options={"time_limit": max(seconds, 0.01)},
    )
    found: Any = answer.x
    return None if found is None else np.asarray(found, float)


def _narrowed(cells: CellLayout, branch: _Branch, is_open: list[Median]) -> list[_Branch]:
    """Two branches: the widest open median in the lower or the upper half of its range."""
    spans = [said.span(cells) for said in is_open]
    place = max(range(len(spans)), key=lambda i: spans[i][1] - spans[i][0])
    widest, (least, most) = is_open[place], spans[place]
    middle = (least + most) // 2
    parts = []
    for lower in ((least, middle), (middle + 1, most)):
        chosen = replace(widest, lower=lower)
        medians = tuple(chosen if said is widest else said for said in branch.medians)
        parts.append(replace(branch, medians=medians, inside=None))
    return parts


def _separated(cells: CellLayout, branch: _Branch, point: Floats) -> list[_Branch]:
    """Two branches by the number of people in some cells: a first few along the longest axis.

    With a table inside, the number in which it differs most from the point is chosen; without,
    the one that is furthest from whole. Nothing where there is no such number.
    """
    sums = _first_few(cells, point).reshape(-1)
    if branch.inside is None:
        here = np.floor(sums + NEAR)
        off = np.abs(sums - np.rint(sums))
    else:
        here = _first_few(cells, branch.inside.astype(float)).reshape(-1)
        off = np.abs(sums - here)
    place = int(off.argmax())
    if off[place] < NEAR:
        return []
    cut = int(here[place]) if sums[place] > here[place] else int(here[place]) - 1
    return _cut(branch, _group(cells, place), cut)


def _halved(branch: _Branch, tight: Region) -> list[_Branch]:
    """Two branches by the value of one cell that is not fixed yet."""
    width = np.where(tight.upper >= ENDLESS, ENDLESS, tight.upper - tight.lower)
    cell = int(width.argmax())
    table = branch.inside
    if table is not None:
        middle = int(table[cell]) if table[cell] < tight.upper[cell] else int(table[cell]) - 1
    else:
        middle = int(tight.lower[cell]) + min(int(width[cell]) // 2, 1 << 20)
    group = np.zeros(len(width), np.int64)
    group[cell] = 1
    return _cut(branch, group, middle)


def _cut(branch: _Branch, group: Integers, cut: int) -> list[_Branch]:
    """At most `cut` people in the group, or more."""
    below = replace(branch, region=_add(branch.region, [LinearConstraint(group, 0, cut)]))
    above = replace(
        branch, region=_add(branch.region, [LinearConstraint(group, cut + 1, UNLIMITED)])
    )
    if branch.inside is None:
        return [below, above]
    held = int(group @ branch.inside) <= cut
    return [
        replace(below, inside=branch.inside if held else None),
        replace(above, inside=None if held else branch.inside),
    ]


def _axis(cells: CellLayout) -> int:
    return int(np.argmax(cells.shape))


def _first_few(cells: CellLayout, table: Floats) -> Floats:
    """The sums of a table over the first 1, 2, … values of the longest axis, all else fixed."""
    return np.cumsum(table.reshape(cells.shape), axis=_axis(cells))


def _group(cells: CellLayout, place: int) -> Integers:
    """The cells that are summed at this place of `_first_few`."""
    at = np.unravel_index(place, cells.shape)
    axis = _axis(cells)
    inside = np.zeros(cells.shape, np.int64)
    inside[tuple(slice(0, p + 1) if i == axis else p for i, p in enumerate(at))] = 1
    return inside.reshape(-1)
