"""How wide the rungs of a graph's ladder are (`triangles.md`)."""

from __future__ import annotations

from math import comb

import numpy as np

from adomnia.mechanisms.graphs.kernels import Integers
from adomnia.mechanisms.graphs.ladder import Rung
from adomnia.schema.graph import Graph

__all__ = [
    "local_sensitivity",
    "star_rung",
    "triangle_base",
    "triangle_rung",
    "triangle_rungs",
    "truncated_rungs",
]


def local_sensitivity(best: Integers, nodes: int, steps: int) -> Integers:
    """Of the number of triangles, for s = 0 … steps-1: the most that one edge can change it by in
    any graph at most s edges away.

    `best` as from `common_neighbors`. The largest min(a + floor((s + min(s, b)) / 2), nodes - 2)
    of all pairs of nodes.
    """
    s = np.arange(steps)
    widest = np.zeros(steps, np.int64)
    for a, b in _frontier(best):
        np.maximum(widest, a + (s + np.minimum(s, b)) // 2, out=widest)
    return np.minimum(widest, max(nodes - 2, 0))


def _frontier(best: Integers) -> list[tuple[int, int]]:
    """The pairs (a, b) that no other pair is as large as in a and in 2 a + b."""
    kept, highest = [], -1
    for a in range(best.size - 1, -1, -1):
        b = int(best[a])
        if b >= 0 and 2 * a + b > highest:
            highest = 2 * a + b
            kept.append((a, b))
    return kept


def triangle_base(best: Integers) -> int:
    """The most common neighbours that two nodes have; one edge changes it by at most one."""
    return int(np.flatnonzero(best >= 0).max(initial=0))


def triangle_rungs(best: Integers, nodes: int, steps: int) -> list[int]:
    """Rungs for triangles and edge neighbours; at least 1 wide."""
    widths: list[int] = np.maximum(local_sensitivity(best, nodes, steps), 1).tolist()
    return widths


def triangle_rung(nodes: int) -> Rung:
    """A bound of these rungs, from the base plus the rung's place."""
    return lambda base: max(1, min(base, nodes - 2))


def star_rung(nodes: int, k: int) -> Rung:
    """Rungs for k-stars and edge neighbours, from the highest degree plus the rung's place."""
    return lambda base: max(1, 2 * comb(max(min(base, nodes - 2), 0), k - 1))


def truncated_rungs(graph: Graph, bound: int, steps: int) -> list[int]:
    """Rungs for the triangles among nodes of bounded degree, and node neighbours."""
    degrees = np.sort(graph.degrees())
    s = np.arange(steps)
    high = np.searchsorted(degrees, bound + s + 1, "right")
    near = high - np.searchsorted(degrees, bound - s, "left")
    wide: list[int] = np.maximum(near + s, 1).tolist()
    return [max(1, number * comb(bound, 2)) for number in wide]
