"""Which coefficients are measured how well: closed forms, from the public domain alone.

The optimum for each loss is derived in `planner.md`; views are in `views.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.basis import SubsetGroup, closure, grouped, masks, share_of_one
from adomnia.marginals.core.cost import WHOLE, SubsetShares, laplace_spread, row_sum
from adomnia.marginals.workload import Subset, Workload

__all__ = [
    "USUAL",
    "Objective",
    "Spread",
    "allot",
    "importance",
    "residual_parts",
    "shown",
    "variances_of",
]

Floats = NDArray[np.float64]
Objective = Literal["mean", "sum", "max"]
"""`mean`: each marginal counts alike; `sum`: each cell does; `max`: the worst marginal counts."""

ROUNDS = 60
USUAL = math.sqrt(2 / math.pi)
"""The mean absolute value of a normal draw, in deviations."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Subsets of one shape and one number for each."""

    group: SubsetGroup
    values: Floats


def importance(
    workload: Workload, blocks: Sequence[SubsetGroup], weights: Sequence[Floats]
) -> list[Floats]:
    """For each block S: v_S, the weight of the variance of its coefficients in the objective.

    `weights` has one array for each group of marginals: the weight of each marginal's mean
    variance.
    """
    shapes = {group.shape: place for place, group in enumerate(blocks)}
    found = [np.zeros(len(group.places)) for group in blocks]
    attributes = len(workload.sizes)
    for group, weight in zip(_marginals(workload), weights, strict=True):
        order = len(group.shape)
        if _every(group, attributes) and np.ptp(weight) == 0:  # then it is the same for all S
            for size in range(order + 1):
                if (kept := group.shape[:size]) in shapes:
                    above = math.comb(attributes - size, order - size)
                    scale = shown(group.shape, tuple(range(size)))
                    found[shapes[kept]] += scale * above * float(weight[0])
            continue
        for mask in masks(order):
            kept = tuple(group.shape[position] for position in mask)
            if kept not in shapes:
                continue
            block = blocks[shapes[kept]]
            where = block.find(group.places[:, list(mask)], attributes)
            scale = shown(group.shape, mask)
            found[shapes[kept]] += scale * np.bincount(where, weight, len(block.places))
    return found


@lru_cache(maxsize=8)
def _marginals(workload: Workload) -> tuple[SubsetGroup, ...]:
    """What `grouped` says; found without sorting where it is all subsets of alike attributes."""
    sizes, found = workload.sizes, []
    if len(set(sizes)) == 1:
        runs = groupby(workload.marginals, len)
        found = [_alike(order, list(members), sizes) for order, members in runs]
    orders = [len(group.shape) for group in found if group]
    if found and len(orders) == len(found) and orders == sorted(set(orders)):
        return tuple(group for group in found if group)
    return grouped(workload.marginals, sizes)


def _alike(order: int, members: list[Subset], sizes: tuple[int, ...]) -> SubsetGroup | None:
    """Subsets of attributes that all have as many values, if they are in ascending order."""
    many = len(members)
    places = np.fromiter(chain.from_iterable(members), np.int64, many * order).reshape(many, order)
    larger = np.zeros(many - 1, bool)
    for column in places.T[::-1]:
        step = np.diff(column)
        larger = (step > 0) | ((step == 0) & larger)
    return SubsetGroup(sizes[:order], places) if larger.all() else None


def _every(group: SubsetGroup, attributes: int) -> bool:
    """Whether the group holds every subset of its order, all attributes having as many values."""
    alike = len(set(group.shape)) <= 1
    return alike and len(group.places) == math.comb(attributes, len(group.shape))


def _blocks(groups: Sequence[SubsetGroup], sizes: tuple[int, ...]) -> tuple[SubsetGroup, ...]:
    """The downward closure; nothing has to be added to all subsets of all orders up to some."""
    orders = [len(group.shape) for group in groups]
    first = min(orders[0], 1)
    whole = 1 not in sizes and orders == list(range(first, first + len(orders)))
    if not whole or not all(_every(group, len(sizes)) for group in groups):
        return closure(groups, sizes)
    nothing = SubsetGroup((), np.empty((1, 0), np.int64))
    return (nothing, *groups) if first else tuple(groups)


def shown(shape: tuple[int, ...], mask: tuple[int, ...]) -> float:
    """How much variance of block S shows in a cell of A: p_S prod over A without S of n^-2."""
    rest = (size for position, size in enumerate(shape) if position not in mask)
    return share_of_one(shape[position] for position in mask) / math.prod(rest) ** 2


def allot(costs: Sequence[Floats], power: float) -> list[NDArray[np.int64]]:
    """Shares of the budget proportional to costs^power, in whole parts of WHOLE, none above it.

    Whatever costs something gets a part at least.
    """
    raised = [np.power(cost, power) for cost in costs]
    total = sum(float(part.sum()) for part in raised)
    if total == 0:
        return [np.zeros(part.shape, np.int64) for part in raised]
    rate = (WHOLE - sum(part.size for part in raised)) * (1 - 1e-12) / total
    return [
        np.where(part > 0, np.maximum(np.floor(part * rate), 1), 0).astype(np.int64)
        for part in raised
    ]  # fmt: skip


def variances_of(
    workload: Workload, blocks: Sequence[SubsetGroup], variances: Sequence[Floats]
) -> list[Spread]:
    """The variance of a cell of each marginal, from those of the coefficients of each block."""
    shapes = {group.shape: place for place, group in enumerate(blocks)}
    found = []
    for group in _marginals(workload):
        total = np.zeros(len(group.places))
        for mask in masks(len(group.shape)):
            kept = tuple(group.shape[position] for position in mask)
            if kept not in shapes:
                continue
            known = variances[shapes[kept]]
            if np.ptp(known) != 0:
                wanted = group.places[:, list(mask)]
                known = known[blocks[shapes[kept]].find(wanted, len(workload.sizes))]
            else:
                known = known[:1]
            total += shown(group.shape, mask) * known
        found.append(Spread(group, total))
    return found


def residual_parts(
    workload: Workload, kind: str, objective: Objective, public_total: bool
) -> list[SubsetShares]:
    """The residual blocks with their optimal shares of the budget (`planner.md`)."""
    groups = _marginals(workload)
    blocks = _blocks(groups, workload.sizes)
    weights = [np.ones(len(group.places)) for group in groups]
    if objective == "sum":
        weights = [
            math.prod(group.shape) * weight for group, weight in zip(groups, weights, strict=True)
        ]

    def shares(weights: Sequence[Floats]) -> list[NDArray[np.int64]]:
        values = importance(workload, blocks, weights)
        return _shares(blocks, values, kind, public_total)

    if objective == "max":
        weights = _balanced(workload, blocks, weights, shares, kind)
    return [
        SubsetShares(block, share) for block, share in zip(blocks, shares(weights), strict=True)
    ]  # fmt: skip


def _shares(
    blocks: Sequence[SubsetGroup], values: Sequence[Floats], kind: str, public_total: bool
) -> list[NDArray[np.int64]]:
    """Cost of a block: sqrt(p v) under zCDP, cbrt(kappa^2 c v) under pure epsilon."""
    costs = []
    for block, value in zip(blocks, values, strict=True):
        one = share_of_one(block.shape)
        if kind == "laplace":
            one = float(row_sum(block.shape)) ** 2 * laplace_spread(block.shape)
        silent = public_total and not block.shape
        costs.append(np.zeros(value.shape) if silent else one * value)
    return allot(costs, 1 / 2 if kind == "gaussian" else 1 / 3)


def _balanced(
    workload: Workload,
    blocks: Sequence[SubsetGroup],
    weights: list[Floats],
    shares: Callable[[Sequence[Floats]], list[NDArray[np.int64]]],
    kind: str,
) -> list[Floats]:
    """Weights under which the largest variance is as small as it gets: worse ones weigh more."""
    power = 1 if kind == "gaussian" else 2
    for _ in range(ROUNDS):
        unit = [
            share_of_one(block.shape) * (WHOLE / np.maximum(share, 1)) ** power * (share > 0)
            for block, share in zip(blocks, shares(weights), strict=True)
        ]
        spread = variances_of(workload, blocks, unit)
        worst = max(float(part.values.max()) for part in spread)
        weights = [
            weight * np.sqrt(np.maximum(part.values / worst, 1e-12))
            for weight, part in zip(weights, spread, strict=True)
        ]
        top = max(float(weight.max()) for weight in weights)
        weights = [weight / top for weight in weights]
    return weights
