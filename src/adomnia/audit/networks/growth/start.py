"""The network at the start: two communities with random links inside, and none between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.bitsets import Row, add, discard, take
from adomnia.audit.networks.growth.compiled import compiled
from adomnia.audit.networks.growth.randomness import State

__all__ = ["BOB", "INTO", "OUT", "START", "Graph", "bob_meets", "link_communities", "others"]

Ints = NDArray[np.int64]
Graph = NDArray[np.uint64]  # of each node the outlinks, and the inlinks, as a row of words
OUT, INTO = 0, 1
BOB = 0  # the nodes of a community are alike at the start, so he may be the first
START = 0  # the stream of the start; the worlds without and with the edge have the next two


@compiled
def others(row: Row, node: int, half: int) -> int:
    """Fill the row with the node's community, `half` of all, without itself; how many they are."""
    low = 0 if node < half else half
    row[:] = np.uint64(0)
    for other in range(low, low + half):
        add(row, other)
    discard(row, node)
    return half - 1


@compiled
def link_communities(chance: State, graph: Graph, community: Ints, sizes: tuple[int, int]) -> None:
    """Empty the network, and give each first node random outlinks, all different, inside."""
    start, links = sizes
    graph[:] = np.uint64(0)
    row = np.empty(graph.shape[2], np.uint64)
    for node in range(start):
        community[node] = node >= start // 2
        left = others(row, node, start // 2)
        for picked in range(links):
            other = take(row, left - picked, chance)
            add(graph[OUT, node], other)
            add(graph[INTO, other], node)


@compiled
def bob_meets(graph: Graph, charlie: int) -> int:
    """Link Bob to a node of the other community; the number of edges that cross by this."""
    add(graph[OUT, BOB], charlie)
    add(graph[INTO, charlie], BOB)
    return 1
