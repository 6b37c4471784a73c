"""Generalised least squares in the residual space: unbiased tables that agree (`residuals.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.basis import (
    DENSE,
    SubsetGroup,
    closure,
    comparisons,
    grouped,
    masks,
    norms,
    unitary,
)
from adomnia.marginals.core.measure import NoisySubsets
from adomnia.marginals.core.planner import Spread, variances_of
from adomnia.marginals.workload import Subset, Workload

__all__ = ["Residuals", "combine", "tables", "turn", "variances"]

Floats = NDArray[Any]
CHUNK = 1 << 18
"""Cells that are turned at a time: what a processor keeps at hand."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """Estimates of the coefficients of every residual block, uncorrelated, with variances."""

    sizes: tuple[int, ...]
    blocks: tuple[NoisySubsets, ...]

    @cached_property
    def by_shape(self) -> dict[tuple[int, ...], NoisySubsets]:
        """The blocks of one shape."""
        return {block.group.shape: block for block in self.blocks}

    def of(self, subset: Subset) -> tuple[Floats, float]:
        """The coefficients of one block, and their variance."""
        block = self.by_shape[tuple(self.sizes[place] for place in subset)]
        where = int(
            block.group.find(np.array([subset], np.int64).reshape(1, -1), len(self.sizes))[0]
        )
        return block.values[where], float(block.variances[where])

    @property
    def total(self) -> float:
        """The estimated number of rows."""
        return float(self.of(())[0])


def turn(values: Floats, shape: Sequence[int], inverse: bool = False) -> Floats:
    """The orthonormal transform, or its inverse, along all axes but the first."""
    for place, size in enumerate(shape, start=1):
        if size > DENSE:
            way = _from_comparisons if inverse else _to_comparisons
            values = np.moveaxis(way(np.moveaxis(values, place, -1)), -1, place)
            continue
        matrix = unitary(size).astype(values.dtype)
        before, after = prod(values.shape[:place]), prod(values.shape[place + 1 :])
        across = np.ascontiguousarray(matrix if inverse else matrix.T)
        # Table by table: on one tall, thin product the threads of BLAS only wait for each other.
        if after == 1:
            turned = values.reshape(values.shape[0], prod(values.shape[1:place]), size) @ across
        else:
            turned = np.ascontiguousarray(across.T) @ values.reshape(before, size, after)
        values = turned.reshape(values.shape)
    return values


def _to_comparisons(values: Floats) -> Floats:
    """The orthonormal transform along the last axis, without its matrix."""
    size = values.shape[-1]
    wide = values.astype(np.float64)
    whole = wide.sum(axis=-1, keepdims=True) / sqrt(size)
    found = comparisons(size).of(wide) / np.sqrt(norms(size))
    return np.concatenate([whole, found], axis=-1).astype(values.dtype)


def _from_comparisons(values: Floats) -> Floats:
    """Its inverse: every row adds a step up and a step down, and the steps are summed."""
    size = values.shape[-1]
    low, middle, high, up, down = comparisons(size)
    rows = np.moveaxis(values[..., 1:] / np.sqrt(norms(size)), -1, 0).astype(np.float64)
    shape = (-1,) + (1,) * (rows.ndim - 1)
    up, down = up.reshape(shape), down.reshape(shape)
    steps = np.zeros((size + 1, *rows.shape[1:]))
    np.add.at(steps, low, up * rows)
    np.add.at(steps, middle, -(up + down) * rows)
    np.add.at(steps, high, down * rows)
    found = np.moveaxis(np.cumsum(steps[:-1], axis=0), 0, -1) + values[..., :1] / sqrt(size)
    return found.astype(values.dtype)


def combine(
    measured: Sequence[NoisySubsets], workload: Workload, rows: int | None = None
) -> Residuals:
    """Views to residual blocks: every view's estimate of a block, weighted by its precision.

    Of the views' blocks only those of the workload are kept. `rows` is a public total.
    """
    blocks = closure(grouped(workload.marginals, workload.sizes), workload.sizes)
    sums = [np.zeros((len(b.places), *(size - 1 for size in b.shape))) for b in blocks]
    weights = [np.zeros(len(b.places)) for b in blocks]
    shapes = {block.shape: place for place, block in enumerate(blocks)}
    for view in measured:
        turned = turn(view.values, view.group.shape)
        for mask in masks(len(view.group.shape)):
            kept = tuple(view.group.shape[position] for position in mask)
            if kept not in shapes:
                continue
            place = shapes[kept]
            _gather(view, turned, mask, blocks[place], (sums[place], weights[place]), workload)
    if rows is not None:
        sums[0][:], weights[0][:] = rows, 1
    found = []
    for block, total, weight in zip(blocks, sums, weights, strict=True):
        values = total / weight.reshape(-1, *(1,) * len(block.shape))
        public = rows is not None and not block.shape
        found.append(NoisySubsets(block, values, np.zeros(1) if public else 1 / weight))
    return Residuals(workload.sizes, tuple(found))


def _gather(
    view: NoisySubsets,
    turned: Floats,
    mask: tuple[int, ...],
    block: SubsetGroup,
    into: tuple[Floats, Floats],
    workload: Workload,
) -> None:
    """One block of all views of a shape, added up with weights 1/variance."""
    attributes = len(workload.sizes)
    wanted = view.group.places[:, list(mask)]
    where = np.minimum(block.find(wanted, attributes), len(block.places) - 1)
    here = (block.places[where] == wanted).all(axis=1)
    slot = tuple(slice(1, None) if p in mask else 0 for p in range(len(view.group.shape)))
    rest = prod(size for p, size in enumerate(view.group.shape) if p not in mask)
    precision = 1 / (view.variances[here] * rest)
    values = turned[(here, *slot)] * sqrt(rest)
    np.add.at(into[0], where[here], values * precision.reshape(-1, *(1,) * len(mask)))
    np.add.at(into[1], where[here], precision)


def tables(
    residuals: Residuals, groups: Sequence[SubsetGroup], consume: bool = False
) -> dict[Subset, Floats]:
    """The tables of the marginals given; their common sub-marginals are the same.

    With `consume` the tables of the highest order take the place of the residuals' own values.
    """
    found: dict[Subset, Floats] = {}
    for group in groups:
        most = max(1, CHUNK // prod(group.shape))
        whole = _room(residuals, group) if consume else None
        if whole is None:
            whole = np.empty((len(group.places), *group.shape), residuals.blocks[-1].values.dtype)
        for start in range(0, len(group.places), most):
            part = SubsetGroup(group.shape, group.places[start : start + most])
            whole[start : start + most] = _tables(residuals, part)
        found.update(zip(group.subsets, whole, strict=True))
    return found


def _room(residuals: Residuals, group: SubsetGroup) -> Floats | None:
    """The room that the group's own blocks stand in, if no other table needs them."""
    block = residuals.by_shape.get(group.shape)
    highest = max(len(other.group.shape) for other in residuals.blocks)
    if block is None or block.room is None or len(group.shape) < highest:
        return None
    return block.room if np.array_equal(block.group.places, group.places) else None


def _tables(residuals: Residuals, group: SubsetGroup) -> Floats:
    """Tables of one shape: the blocks beneath each put in their slots, and turned back."""
    dtype = residuals.blocks[-1].values.dtype
    slots = np.zeros((len(group.places), *group.shape), dtype)
    for mask in masks(len(group.shape)):
        kept = tuple(group.shape[position] for position in mask)
        block = residuals.by_shape.get(kept)
        if block is None:
            continue
        where = block.group.find(group.places[:, list(mask)], len(residuals.sizes))
        slot = tuple(slice(1, None) if p in mask else 0 for p in range(len(group.shape)))
        rest = prod(size for p, size in enumerate(group.shape) if p not in mask)
        slots[(slice(None), *slot)] = block.values[where] * dtype.type(1 / sqrt(rest))
    return turn(slots, group.shape, inverse=True)


def variances(residuals: Residuals, workload: Workload) -> list[Spread]:
    """The variance of a cell of each marginal."""
    return variances_of(
        workload,
        [block.group for block in residuals.blocks],
        [block.variances for block in residuals.blocks],
    )
