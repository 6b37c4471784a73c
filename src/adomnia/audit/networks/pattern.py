"""Copies of a group in a network without names, found by degrees and inner edges alone."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adomnia.errors import QuestionError

__all__ = ["AdjacencyLists", "Nodes", "Pattern", "find"]

Ints = NDArray[np.int64]
Nodes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AdjacencyLists:
    """An undirected network without loops: for each node, from 0 on, who its neighbours are.

    >>> AdjacencyLists.of([(0, 1), (1, 2)]).neighbors
    [{1}, {0, 2}, {1}]
    """

    neighbors: Sequence[set[int]]

    @classmethod
    def of(cls, edges: ArrayLike, nodes: int | None = None) -> AdjacencyLists:
        """From pairs of nodes; directions, loops and repetitions are dropped.

        Without `nodes` the labels that occur are numbered in their order.

        Raises a QuestionError where an edge leads to no node.
        """
        pairs = np.asarray(edges, np.int64).reshape(-1, 2)
        if nodes is None:
            labels, numbered = np.unique(pairs, return_inverse=True)
            nodes, pairs = labels.size, numbered.reshape(-1, 2)
        if pairs.size and not 0 <= pairs.min() <= pairs.max() < nodes:
            raise QuestionError("an edge leads to no node", "number the nodes from 0 on")
        neighbors: list[set[int]] = [set() for _ in range(nodes)]
        for one, other in pairs.tolist():
            if one != other:
                neighbors[one].add(other)
                neighbors[other].add(one)
        return cls(neighbors)

    def edges(self) -> Ints:
        """Each edge once, the smaller node first."""
        pairs = [(at, to) for at, own in enumerate(self.neighbors) for to in own if at < to]
        return np.array(sorted(pairs), np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Pattern:
    """What a group remembers of itself, in its order: degrees, and who knows whom of the earlier.

    Each but the first knows an earlier one.
    """

    degrees: Nodes
    knows: tuple[Nodes, ...]

    @classmethod
    def of(cls, network: AdjacencyLists, members: Sequence[int]) -> Pattern:
        """The pattern of these nodes in a network."""
        near = [network.neighbors[member] for member in members]
        knows = tuple(
            tuple(j for j in range(i) if members[j] in near[i]) for i in range(len(members))
        )
        return cls(tuple(map(len, near)), knows)


def find(
    network: AdjacencyLists, pattern: Pattern, most: int = 2, end: float = math.inf
) -> tuple[list[Nodes], bool]:
    """Copies of the pattern, at most `most`, and whether the search ended before the clock."""
    near = network.neighbors
    degree = [len(own) for own in near]
    want, knows = pattern.degrees, pattern.knows
    through = [min(earlier, key=want.__getitem__, default=0) for earlier in knows]
    found: list[Nodes] = []
    late = False

    def extend(members: Nodes) -> None:
        nonlocal late
        late = late or time.monotonic() > end
        i = len(members)
        if i == len(want):
            found.append(members)
            return
        for node in near[members[through[i]]]:
            if late or len(found) >= most:
                return
            if degree[node] != want[i] or node in members:
                continue
            if tuple([j for j, one in enumerate(members) if one in near[node]]) == knows[i]:
                extend((*members, node))

    for start, many in enumerate(degree):
        if late or len(found) >= most:
            break
        if many == want[0]:
            extend((start,))
    return found, not late
