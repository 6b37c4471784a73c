"""Loops over edges that numba compiles at their first use; arrays in, whole numbers out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.compiled import compiled

__all__ = ["adjacency", "common_neighbors", "count_triangles", "fill", "pool"]

Integers = NDArray[np.int64]
Lists = tuple[Integers, Integers]
"""Neighbours of all nodes in one array, each node's sorted, and where each node's begin."""


def adjacency(nodes: int, sources: Integers, targets: Integers) -> Lists:
    """For every node the targets of its edges, ascending."""
    order = np.argsort(sources * max(nodes, 1) + targets, kind="stable")
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=nodes), out=starts[1:])
    return targets[order], starts


def count_triangles(nodes: int, edges: Integers) -> int:
    """The number of triangles: each edge points to its end of higher degree, lists are merged."""
    if len(edges) < 3:
        return 0
    rank = _ranks(nodes, edges)
    ends = np.sort(rank[edges], axis=1)
    return int(compiled(_triangles)(*adjacency(nodes, ends[:, 0], ends[:, 1])))


def _ranks(nodes: int, edges: Integers) -> Integers:
    """The place of each node by ascending degree."""
    degrees = np.bincount(edges.reshape(-1), minlength=nodes)
    rank = np.empty(nodes, np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(nodes)
    return rank


def _triangles(targets: Integers, starts: Integers) -> int:
    total = 0
    for node in range(starts.size - 1):
        for place in range(starts[node], starts[node + 1]):
            left, right = place + 1, starts[targets[place]]
            end_left, end_right = starts[node + 1], starts[targets[place] + 1]
            while left < end_left and right < end_right:
                if targets[left] < targets[right]:
                    left += 1
                elif targets[left] > targets[right]:
                    right += 1
                else:
                    total += 1
                    left += 1
                    right += 1
    return total


def common_neighbors(nodes: int, edges: Integers) -> Integers:
    """For a = 0, 1, …: the largest b of the pairs with a common neighbours, -1 if there are none.

    b counts the nodes that are neighbours of exactly one of the two; the pair itself is left out.
    Pairs of two nodes with degrees up to the largest a are left out (`triangles.md`, claim 2).
    Takes time in the order of the sum of squared degrees, and memory in the order of the edges.
    """
    rank = nodes - 1 - _ranks(nodes, edges)
    ends = rank[edges]
    both = np.concatenate([ends, ends[:, ::-1]])
    targets, starts = adjacency(nodes, both[:, 0], both[:, 1])
    highest = int(np.diff(starts).max(initial=0))
    best = np.full(highest + 1, -1, np.int64)
    compiled(_pairs)(targets, starts, best)
    return best


def _pairs(targets: Integers, starts: Integers, best: Integers) -> None:
    # Nodes come by descending degree: the first j > i without a common neighbour is the best.
    nodes = starts.size - 1
    common = np.zeros(nodes, np.int32)
    joined = np.zeros(nodes, np.int8)
    touched = np.empty(nodes, np.int64)
    most = 0
    for i in range(nodes):
        degree = starts[i + 1] - starts[i]
        if 0 < degree <= most:
            break
        count = 0
        for place in range(starts[i], starts[i + 1]):
            k = targets[place]
            joined[k] = 1
            for other in range(starts[k + 1] - 1, starts[k] - 1, -1):
                j = targets[other]
                if j <= i:
                    break
                if common[j] == 0:
                    touched[count] = j
                    count += 1
                common[j] += 1
        for j in range(i + 1, nodes):
            reach = degree + starts[j + 1] - starts[j]
            if reach <= best[0]:
                break
            if common[j] == 0:
                best[0] = max(best[0], reach - 2 * joined[j])
                if not joined[j]:
                    break
        for place in range(count):
            j = touched[place]
            a = common[j]
            b = degree + starts[j + 1] - starts[j] - 2 * a - 2 * joined[j]
            best[a] = max(best[a], b)
            most = max(most, a)
            common[j] = 0
        for place in range(starts[i], starts[i + 1]):
            joined[targets[place]] = 0


def fill(slots: int, left: Integers, right: Integers, bound: int) -> NDArray[np.bool_]:
    """Which edges are kept, taken in their order, if a slot holds at most `bound` of them."""
    kept = np.zeros(left.size, np.bool_)
    compiled(_fill)(np.zeros(slots, np.int64), left, right, bound, kept)
    return kept


def _fill(
    used: Integers, left: Integers, right: Integers, bound: int, kept: NDArray[np.bool_]
) -> None:
    for edge in range(left.size):
        if used[left[edge]] < bound and used[right[edge]] < bound:
            used[left[edge]] += 1
            used[right[edge]] += 1
            kept[edge] = True


def pool(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ascending sequence nearest to the values in least squares (pool adjacent violators)."""
    fitted = np.empty(values.size)
    if values.size:
        compiled(_pool)(values, fitted)
    return fitted


def _pool(values: NDArray[np.float64], fitted: NDArray[np.float64]) -> None:
    means = np.empty(values.size)
    sizes = np.empty(values.size, np.int64)
    blocks = 0
    for value in values:
        means[blocks], sizes[blocks] = value, 1
        blocks += 1
        while blocks > 1 and means[blocks - 2] >= means[blocks - 1]:
            size = sizes[blocks - 2] + sizes[blocks - 1]
            total = means[blocks - 2] * sizes[blocks - 2] + means[blocks - 1] * sizes[blocks - 1]
            means[blocks - 2], sizes[blocks - 2] = total / size, size
            blocks -= 1
    place = 0
    for block in range(blocks):
        fitted[place : place + sizes[block]] = means[block]
        place += sizes[block]
