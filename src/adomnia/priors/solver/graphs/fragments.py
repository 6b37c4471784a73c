"""Fragments: what a linear program proposes in place of a cycle, cut so that it can be strung."""

from __future__ import annotations

import numpy as np

from adomnia.priors.solver.graphs.graph import GraphBlock
from adomnia.priors.solver.graphs.matching import Floats

__all__ = ["Fragments", "cut"]

Fragments = dict[int, list[int]]
"""For the node at which a fragment begins, the nodes that follow."""


def cut(block: GraphBlock, proposed: Floats, chance: np.random.Generator) -> Fragments:
    """The proposed edges as disjoint paths; cycles are cut at one of their lightest edges.

    With one number for each edge the paths may be walked both ways and are given twice, with two
    (forwards and backwards) only in their direction.
    """
    directed = len(proposed) == 2 * len(block.arcs)
    near: list[list[int]] = [[] for _ in range(block.nodes)]
    entered = np.zeros(block.nodes, int)
    for number in np.flatnonzero(proposed > 0.5).tolist():
        tail, head = block.arcs[number % len(block.arcs)][:: 1 if number < len(block.arcs) else -1]
        near[tail].append(head)
        entered[head] += 1
        if not directed:
            near[head].append(tail)
            entered[tail] += 1
    ends = [v for v in range(block.nodes) if len(near[v]) == 1 and entered[v] <= 1 - directed]
    found: Fragments = {}
    visited: set[int] = set()
    for start in [*ends, *range(block.nodes)]:
        if start in visited or not near[start]:
            continue
        path = _follow(start, near, visited)
        if len(path) > 2 and start in near[path[-1]]:
            path = _opened(block, path, chance)
        found[path[0]] = path[1:]
        if not directed:
            found[path[-1]] = path[-2::-1]
    return found


def _follow(start: int, near: list[list[int]], visited: set[int]) -> list[int]:
    path = [start]
    visited.add(start)
    while more := [node for node in near[path[-1]] if node not in visited]:
        path.append(more[0])
        visited.add(more[0])
    return path


def _opened(block: GraphBlock, cycle: list[int], chance: np.random.Generator) -> list[int]:
    """The cycle without one of its lightest edges."""
    weights = [one.most for _, one in block.walk(cycle)]
    lightest = [place for place, weight in enumerate(weights) if weight == min(weights)]
    place = lightest[int(chance.integers(len(lightest)))] + 1
    return cycle[place:] + cycle[:place]
