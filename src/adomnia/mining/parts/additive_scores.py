"""Additive models on the cells of a table: their scores, and sums over the cells of each step.

A step is "this axis's group, or one past it". The cells of a step, and those of two steps of two
axes, are sums of one-way and two-way margins from a group on, so nothing is multiplied out: the
work grows with cells times pairs of axes, and not with cells times squared steps.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from adomnia.mining.parts.arrays import Floats

__all__ = ["curvature", "scores", "step_sums"]


def scores(weights: Floats, sizes: tuple[int, ...]) -> Floats:
    """The score of each cell and class, classes last: the intercept and all steps up to the cell.

    `weights` have a row for each class; the intercept comes first, then the steps of each axis.
    """
    out = np.broadcast_to(weights[:, 0], (*sizes, len(weights)))
    for axis, own in enumerate(_places(sizes)):
        climbed = np.zeros((sizes[axis], len(weights)))
        np.cumsum(weights[:, own].T, axis=0, out=climbed[1:])
        shape = [1] * len(sizes)
        shape[axis] = sizes[axis]
        out = out + climbed.reshape(*shape, len(weights))
    return out


def step_sums(table: Floats) -> Floats:
    """The sum of a table over all cells, then over those of each step; a row for each of the last
    axis's entries."""
    axes = range(table.ndim - 1)
    parts = [table.sum(axis=tuple(axes))[None]]
    parts += [_onwards(_margin(table, (axis,)), (0,)) for axis in axes]
    return np.concatenate(parts).T


def curvature(table: Floats) -> Floats:
    """The sums of a table over the cells that two steps share, for each of the last axis's
    entries; the first row and column stand for all cells."""
    sizes, many = table.shape[:-1], table.shape[-1]
    single, places = step_sums(table), _places(sizes)
    out = np.empty((many, single.shape[1], single.shape[1]))
    out[:, 0, :] = out[:, :, 0] = single
    for own in places:
        later = np.arange(own.start, own.stop)
        out[:, own, own] = single[:, np.maximum.outer(later, later)]
    for i, j in combinations(range(len(sizes)), 2):
        both = np.moveaxis(_onwards(_margin(table, (i, j)), (0, 1)), 2, 0)
        out[:, places[i], places[j]] = both
        out[:, places[j], places[i]] = both.transpose(0, 2, 1)
    return out


def _places(sizes: tuple[int, ...]) -> list[slice]:
    """Where the steps of each axis stand; an axis has one less than groups."""
    ends = np.cumsum([1, *(size - 1 for size in sizes)]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def _margin(table: Floats, kept: tuple[int, ...]) -> Floats:
    out: Floats = table.sum(axis=tuple(a for a in range(table.ndim - 1) if a not in kept))
    return out


def _onwards(margin: Floats, axes: tuple[int, ...]) -> Floats:
    """The sums from each group but the first to the last one, along these axes."""
    for axis in axes:
        summed = np.flip(np.cumsum(np.flip(margin, axis), axis), axis)
        margin = np.delete(summed, 0, axis)
    return margin
