"""Views for pure epsilon: few full tables that hold all wanted marginals (`views.md`).

Laplace budgets add up linearly and precisions quadratically, so a few large overlapping tables
tell more than many small ones. Which ones follows from the public domain alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.basis import SubsetGroup, closure, grouped, masks
from adomnia.marginals.core.cost import WHOLE, SubsetShares
from adomnia.marginals.core.planner import allot, importance
from adomnia.marginals.workload import Subset, Workload

__all__ = [
    "MOST_CELLS", "candidates", "greedy_cover", "incidence", "steiner_cover", "view_parts",
]  # fmt: skip

MOST_CELLS = 1 << 20
"""The largest table that is measured as a view."""

MOST_MARGINALS = 4000
"""Above this many wanted sets no covering is searched."""

ROUNDS = 40
FEW = 3


def view_parts(workload: Workload) -> list[tuple[SubsetShares, ...]]:
    """Covers of the workload by views, each with its best shares of the budget.

    The few that are best with even shares are weighed out, with and without tables of the
    single attributes beside them.
    """
    ranked = sorted(candidates(workload), key=lambda views: _even_error(workload, views))[:FEW]
    singles = tuple((place,) for place, size in enumerate(workload.sizes) if size > 1)
    more = [tuple(dict.fromkeys(views + singles)) for views in ranked]
    return [_shared(workload, views) for views in dict.fromkeys(ranked + more)]


def _even_error(workload: Workload, views: tuple[Subset, ...]) -> float:
    """The objective when every view gets the same share."""
    _, value, pairs = _problem(workload, views)
    precision = np.bincount(pairs[1], 1 / pairs[2], len(value))
    return float((value / precision).sum()) * len(views) ** 2


def candidates(workload: Workload) -> list[tuple[Subset, ...]]:
    """Sets of views to compare: the marginals themselves, greedy covers, doubled designs."""
    wanted = _maximal(workload.marginals)
    found = [tuple(wanted)]
    live = tuple(place for place, size in enumerate(workload.sizes) if size > 1)
    used = tuple(place for place in live if any(place in subset for subset in wanted))
    if used and workload.cells(used) <= MOST_CELLS:
        found.append((used,))
    if len(wanted) > MOST_MARGINALS or not used:
        return found
    limit = 4 * max(workload.cells(subset) for subset in wanted)
    most = min(MOST_CELLS, workload.cells(used))
    smallest = min(workload.cells(subset) for subset in wanted)
    cap = max(4, 2 * smallest)
    while cap <= min(most, max(limit, 1 << 13)):
        found.append(greedy_cover(workload, wanted, cap))
        cap *= 2
    found += steiner_cover(workload, used, wanted)
    return list(dict.fromkeys(found))


def _maximal(subsets: Iterable[Subset]) -> list[Subset]:
    """The subsets that no other one holds."""
    ordered = sorted(set(subsets), key=len, reverse=True)
    if len(ordered) > MOST_MARGINALS and len(ordered[0]) == len(ordered[-1]):
        return ordered
    kept: list[Subset] = []
    beneath: set[Subset] = set()
    for subset in ordered:
        if subset in beneath:
            continue
        kept.append(subset)
        beneath.update(part for size in range(len(subset)) for part in combinations(subset, size))
    return sorted(kept)


def greedy_cover(workload: Workload, wanted: Sequence[Subset], cap: int) -> tuple[Subset, ...]:
    """Views of at most `cap` cells (or one wanted set) that hold every wanted set.

    Each view starts from the largest set not yet held and takes in the attribute with which it
    holds most further sets for its number of values, until nothing fits.
    """
    attributes = len(workload.sizes)
    member = np.zeros((len(wanted), attributes), bool)
    for row, subset in enumerate(wanted):
        member[row, list(subset)] = True
    size = np.array([workload.cells(subset) for subset in wanted], np.float64)
    open_ = np.ones(len(wanted), bool)
    views: list[Subset] = []
    while open_.any():
        start = int(np.argmax(np.where(open_, size, 0)))
        view = member[start].copy()
        cells = int(size[start])
        while True:
            place = _next(view, member[open_], workload.sizes, cap / cells)
            if place is None:
                break
            view[place] = True
            cells *= workload.sizes[place]
        views.append(tuple(np.flatnonzero(view).tolist()))
        open_ &= (member & ~view).any(axis=1)
    return tuple(_maximal(views))


def _next(
    view: NDArray[np.bool_], member: NDArray[np.bool_], sizes: tuple[int, ...], room: float
) -> int | None:
    """The attribute that brings the most open sets closer, per value it adds; None if none fits."""
    missing = (member & ~view).sum(axis=1)
    nearness = np.where(missing > 0, 16.0 ** -missing.clip(0, 6), 0.0)
    gains = nearness @ (member & ~view)
    best, found = 0.0, None
    for place in np.flatnonzero(gains > 0).tolist():
        gain = float(gains[place]) / float(np.log(max(sizes[place], 1.5)))
        if sizes[place] <= room and gain > best:
            best, found = gain, place
    return found


def steiner_cover(
    workload: Workload, used: Subset, wanted: Sequence[Subset]
) -> Iterator[tuple[Subset, ...]]:
    """Boolean quadruple systems with every point standing for several attributes.

    On 2^m points the blocks {a, b, c, a^b^c} hold each three points exactly once; with lines
    {a, b, a^b} each two. Attributes are dealt to the points so that blocks come out alike.
    """
    order = max(len(subset) for subset in wanted)
    by_size = sorted(used, key=lambda place: workload.sizes[place], reverse=True)
    for bits in (2, 3, 4):
        points = 1 << bits
        if order > 3 or len(used) <= points // 2 or len(used) > 6 * points:
            continue
        dealt = [tuple(by_size[point::points]) for point in range(points)]
        for blocks in ({3: _quadruples(points), 2: _planes(points)}).values():
            views = [tuple(sorted(sum((dealt[p] for p in block), ()))) for block in blocks]
            if max(map(workload.cells, views)) <= MOST_CELLS and _holds(views, wanted):
                yield tuple(_maximal(views))


def _quadruples(points: int) -> list[tuple[int, ...]]:
    return sorted(
        {tuple(sorted({a, b, c, a ^ b ^ c})) for a, b, c in combinations(range(points), 3)}
    )


def _planes(points: int) -> list[tuple[int, ...]]:
    """The lines through each two points of the projective space (0 stands apart in each)."""
    return sorted({tuple(sorted({a, b, a ^ b, 0})) for a, b in combinations(range(1, points), 2)})


def _holds(views: Sequence[Subset], wanted: Sequence[Subset]) -> bool:
    sets = [frozenset(view) for view in views]
    return all(any(one.issuperset(subset) for one in sets) for subset in wanted)


def _shared(workload: Workload, views: tuple[Subset, ...]) -> tuple[SubsetShares, ...]:
    """Shares theta of the budget that lessen sum v_S Var_S, by a few multiplicative steps.

    Var_S = 1 / sum over views v holding S of theta_v^2 / (2 prod of sizes of v without S).
    """
    groups, value, pairs = _problem(workload, views)
    theta = np.full(sum(len(group.places) for group in groups), 1.0)
    theta /= theta.sum()
    for _ in range(ROUNDS if len(theta) > 1 else 0):
        precision = np.bincount(pairs[1], theta[pairs[0]] ** 2 / pairs[2], len(value))
        pull = (value / precision**2)[pairs[1]] * theta[pairs[0]] ** 2 / pairs[2]
        theta = np.bincount(pairs[0], pull, len(theta)) ** (1 / 3) * theta ** (1 / 3)
        theta /= theta.sum()
    ends = np.cumsum([len(group.places) for group in groups])[:-1]
    shares = allot(np.split(_tidied(theta), ends), 1.0)
    return tuple(SubsetShares(group, share) for group, share in zip(groups, shares, strict=True))


def _problem(workload: Workload, views: tuple[Subset, ...]) -> tuple[Any, Any, Any]:
    """The views by shape, the importance of each block of the workload, and which view holds it."""
    groups = grouped(views, workload.sizes)
    wanted = grouped(workload.marginals, workload.sizes)
    blocks = closure(wanted, workload.sizes)
    ones = [np.ones(len(group.places)) for group in wanted]
    value = np.concatenate(importance(workload, blocks, ones))
    return groups, value, incidence(workload, groups, blocks)


def _tidied(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares on a grid of sixteenths of octaves, so that few noises differ; none below 1/WHOLE."""
    return np.exp2(np.round(np.log2(np.maximum(theta, 4 / WHOLE)) * 16) / 16)


def incidence(
    workload: Workload, groups: Sequence[SubsetGroup], blocks: Sequence[SubsetGroup]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """For each view and each block in it: their numbers, and the cells summed over."""
    starts = np.cumsum([0, *(len(block.places) for block in blocks)])
    shapes = {block.shape: number for number, block in enumerate(blocks)}
    view_of, block_of, rest_of, first = [], [], [], 0
    for group in groups:
        for mask in masks(len(group.shape)):
            kept = tuple(group.shape[position] for position in mask)
            if kept not in shapes:
                continue
            block = blocks[shapes[kept]]
            wanted = group.places[:, list(mask)]
            where = np.minimum(block.find(wanted, len(workload.sizes)), len(block.places) - 1)
            here = np.flatnonzero((block.places[where] == wanted).all(axis=1))
            view_of.append(first + here)
            block_of.append(starts[shapes[kept]] + where[here])
            rest = prod(size for p, size in enumerate(group.shape) if p not in mask)
            rest_of.append(np.full(len(here), float(rest)))
        first += len(group.places)
    return np.concatenate(view_of), np.concatenate(block_of), np.concatenate(rest_of)
