"""Splits: where a noisy table of counts is best cut in two, and a tree of such cuts.

The measure is ID3's information gain, less what noise alone would show (`decision_tree.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from adomnia.mining.parts.arrays import Floats

__all__ = ["TreeNode", "best_cut", "ends_of", "full", "grow", "shares_of"]

TINY = 1e-9


@dataclass(frozen=True)
class TreeNode:
    """Counts by class, and below it one child for each part of an axis, which begin at `ends`.

    >>> TreeNode(np.array([3.0, 1.0])).depth
    0
    """

    counts: Floats
    axis: int | None = None
    ends: tuple[int, ...] = ()
    children: tuple[TreeNode, ...] = ()

    @property
    def depth(self) -> int:
        """The longest way down."""
        return 1 + max(child.depth for child in self.children) if self.children else 0


def best_cut(counts: Floats, variance: float) -> tuple[float, int] | None:
    """The cut of an ordered axis (groups × classes) with the highest gain, and that gain.

    `variance` is that of the noise in one entry. None where no cut shows more than noise would:
    each side must outweigh its own noise, and the gain be twice what noise is expected to add.
    """
    size, classes = counts.shape
    if size < 2:
        return None
    left = np.cumsum(counts, axis=0)[:-1]
    sides = [np.maximum(left, 0.0), np.maximum(counts.sum(axis=0) - left, 0.0)]
    spans = [np.arange(1, size) * variance, np.arange(size - 1, 0, -1) * variance]
    gain = _purity(sides[0]) + _purity(sides[1]) - _purity(sides[0] + sides[1])
    excess, enough = np.zeros(size - 1), np.ones(size - 1, bool)
    for side, span in zip(sides, spans, strict=True):
        rows = side.sum(axis=1)
        excess += classes * (classes - 1) / 2 * span / np.maximum(rows, TINY)
        enough &= rows > np.sqrt(classes * span)
    net = np.where(enough & (gain > 2 * excess + 1), gain - excess, -np.inf)
    best = int(np.argmax(net))
    return (float(net[best]), best + 1) if np.isfinite(net[best]) else None


def _purity(counts: Floats) -> Floats:
    """The sum of n_c log n_c, less n log n: minus the rows' entropy in nats."""
    out: Floats = _n_log_n(counts).sum(axis=-1) - _n_log_n(counts.sum(axis=-1))
    return out


def _n_log_n(counts: Floats) -> Floats:
    out: Floats = counts * np.log(np.maximum(counts, TINY))
    return out


def grow(table: Floats, variance: float, depth: int) -> TreeNode:
    """A tree of cuts over a noisy table (one axis per attribute, the classes last)."""
    counts = table.reshape(-1, table.shape[-1]).sum(axis=0)
    found = _best_axis(table, variance) if depth > 0 else None
    if found is None:
        return TreeNode(counts)
    axis, end = found
    parts = np.split(table, [end], axis=axis)
    children = tuple(grow(part, variance, depth - 1) for part in parts)
    return TreeNode(counts, axis, (end,), children)


def _best_axis(table: Floats, variance: float) -> tuple[int, int] | None:
    axes = range(table.ndim - 1)
    best: tuple[float, int, int] | None = None
    for axis in axes:
        margin = table.sum(axis=tuple(other for other in axes if other != axis))
        summed = prod(table.shape[:-1]) // table.shape[axis]
        cut = best_cut(margin, variance * summed)
        if cut is not None and (best is None or cut[0] > best[0]):
            best = (cut[0], axis, cut[1])
    return None if best is None else best[1:]


def full(table: Floats, depth: int, axis: int = 0) -> TreeNode:
    """The tree that takes the axes in turn and all their groups apart, whatever is counted."""
    counts = table.reshape(-1, table.shape[-1]).sum(axis=0)
    if depth == 0 or axis == table.ndim - 1:
        return TreeNode(counts)
    ends = range(1, table.shape[axis])
    parts = np.split(table, list(ends), axis=axis)
    return TreeNode(
        counts, axis, tuple(ends), tuple(full(part, depth - 1, axis + 1) for part in parts)
    )


def ends_of(node: TreeNode) -> list[int]:
    """Where the groups of a tree over one axis begin, the first one left out."""
    if not node.children:
        return []
    (end,) = node.ends
    low, high = node.children
    return [*ends_of(low), end, *(end + other for other in ends_of(high))]


def shares_of(counts: Floats) -> Floats:
    """The classes' shares, along the last axis; where noise has left nothing, the largest has all.

    Counts below zero count as none.
    """
    kept = np.maximum(counts, 0.0)
    none = kept.sum(axis=-1, keepdims=True) <= 0
    kept = np.where(none, counts == counts.max(axis=-1, keepdims=True), kept)
    out: Floats = kept / kept.sum(axis=-1, keepdims=True)
    return out
