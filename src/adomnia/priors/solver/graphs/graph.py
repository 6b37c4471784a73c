"""Graphs: systems in which each cell lies in at most two rows, and the blocks they fall into.

Rows are nodes, elements are edges between them; an element in one row only is an edge to the
ground. If the signs allow it, minimal differences are the simple cycles (`cycles.md`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.reduction.element import Element

__all__ = ["GraphBlock", "blocks", "orient"]

Arc = tuple[int, int]
GROUND = -1


@dataclass(frozen=True, eq=False)
class GraphBlock:
    """A biconnected graph: elements as arcs between the nodes 0, 1, 2, …

    One unit of an element adds 1 at its tail and takes 1 from its head.
    """

    arcs: tuple[Arc, ...]
    elements: tuple[Element, ...]

    @cached_property
    def nodes(self) -> int:
        """How many nodes there are."""
        return 1 + max(max(arc) for arc in self.arcs)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The arcs as an array: tails in the first row, heads in the second."""
        return np.array(self.arcs, np.int64).T

    @cached_property
    def neighbors(self) -> list[dict[int, tuple[int, int]]]:
        """For each node its neighbours, with the number of the edge and the sign of passing it."""
        found: list[dict[int, tuple[int, int]]] = [{} for _ in range(self.nodes)]
        for number, (tail, head) in enumerate(self.arcs):
            found[tail][head] = (number, 1)
            found[head][tail] = (number, -1)
        return found

    @cached_property
    def sides(self) -> tuple[list[int], list[int]] | None:
        """The two sides, if every edge joins one to the other."""
        side = {0: 0}
        queue = deque([0])
        while queue:
            node = queue.popleft()
            for other in self.neighbors[node]:
                if other not in side:
                    side[other] = 1 - side[node]
                    queue.append(other)
                elif side[other] == side[node]:
                    return None
        left, right = ([node for node, s in sorted(side.items()) if s == which] for which in (0, 1))
        return left, right

    def walk(self, cycle: Sequence[int]) -> list[tuple[int, Element]]:
        """The signed elements along a cycle of nodes."""
        steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        passed = [self.neighbors[node][other] for node, other in steps]
        return [(sign, self.elements[number]) for number, sign in passed]


def orient(members: Sequence[Element]) -> list[Arc] | None:
    """An arc for each element, or None where the system is not that of a directed graph.

    Rows may be multiplied by -1, so that each column has one 1 and one -1.
    """
    for one in members:
        if len(one.column) > 2 or any(abs(factor) != 1 for factor in one.column.values()):
            return None
    sign = _row_signs(members)
    if sign is None:
        return None
    arcs = []
    for one in members:
        (row, factor), *others = one.column.items()
        other = others[0][0] if others else GROUND
        arcs.append((row, other) if sign[row] * factor > 0 else (other, row))
    return arcs


def _row_signs(members: Sequence[Element]) -> dict[int, int] | None:
    near: dict[int, list[tuple[int, int]]] = {}
    for one in members:
        if len(one.column) == 2:
            (first, a), (second, b) = one.column.items()
            near.setdefault(first, []).append((second, -a * b))
            near.setdefault(second, []).append((first, -a * b))
        else:
            near.setdefault(next(iter(one.column)), [])
    sign: dict[int, int] = {}
    for start in near:
        if start in sign:
            continue
        sign[start] = 1
        stack = [start]
        while stack:
            row = stack.pop()
            for other, times in near[row]:
                wanted = times * sign[row]
                if other not in sign:
                    sign[other] = wanted
                    stack.append(other)
                elif sign[other] != wanted:
                    return None
    return sign


def blocks(members: Sequence[Element], arcs: Sequence[Arc]) -> list[GraphBlock]:
    """The biconnected components with at least one cycle, nodes renumbered in each."""
    found = []
    for numbers in _edge_blocks(arcs):
        if len(numbers) < 3:
            continue
        numbers.sort()
        names: dict[int, int] = {}
        own = []
        for number in numbers:
            tail, head = arcs[number]
            own.append((names.setdefault(tail, len(names)), names.setdefault(head, len(names))))
        found.append(GraphBlock(tuple(own), tuple(members[number] for number in numbers)))
    return found


def _edge_blocks(arcs: Sequence[Arc]) -> list[list[int]]:
    """Edges by biconnected component (Hopcroft and Tarjan, without recursion)."""
    near: dict[int, list[tuple[int, int]]] = {}
    for number, (tail, head) in enumerate(arcs):
        near.setdefault(tail, []).append((head, number))
        near.setdefault(head, []).append((tail, number))
    depth: dict[int, int] = {}
    found: list[list[int]] = []
    for start in near:
        if start not in depth:
            found += _search(start, near, depth)
    return found


def _search(
    start: int, near: dict[int, list[tuple[int, int]]], depth: dict[int, int]
) -> list[list[int]]:
    """A depth-first search; a block is complete where nothing below a node reaches above it."""
    found: list[list[int]] = []
    edges: list[int] = []
    depth[start] = 0
    low = {start: 0}
    stack = [(start, -1, 0, iter(near[start]))]
    while stack:
        node, came, first, options = stack[-1]
        for other, number in options:
            if number == came:
                continue
            if other not in depth:
                depth[other] = low[other] = depth[node] + 1
                stack.append((other, number, len(edges), iter(near[other])))
                edges.append(number)
                break
            if depth[other] < depth[node]:
                edges.append(number)
                low[node] = min(low[node], depth[other])
        else:
            stack.pop()
            if stack:
                above = stack[-1][0]
                low[above] = min(low[above], low[node])
                if low[node] >= depth[above]:
                    found.append(edges[first:])
                    del edges[first:]
    return found
