"""The forest fire model for at most 64 nodes: a set of nodes is one machine word (`growth.md`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.bitsets import bits, lowest, place, single
from adomnia.audit.networks.growth.compiled import compiled
from adomnia.audit.networks.growth.randomness import SIZE, State, below, coin, open_stream
from adomnia.audit.networks.growth.start import INTO, OUT, START, Graph, bob_meets, link_communities

__all__ = ["forest_fire"]

Ints = NDArray[np.int64]
ZERO = np.uint64(0)


@compiled
def _spread(
    chance: State, links: np.uint64, queue: Ints, fire: tuple[np.uint64, int], p: float, least: int
) -> tuple[np.uint64, int]:
    """Follow a geometric number of links, and `least` more: all that is reached, how many burn."""
    reached, many = fire
    left, tried = bits(links), 0
    while left > 0 and (tried < least or coin(chance, p)):
        bit = lowest(links, below(chance, left))
        links ^= bit
        left -= 1
        tried += 1
        queue[many] = place(bit)  # kept only if it is new: no branch to guess wrong
        many += (reached & bit) == ZERO
        reached |= bit
    return reached, many


@compiled
def _burn(
    chance: State, graph: Graph, queue: Ints, rule: tuple[float, float, float, int, bool]
) -> tuple[np.uint64, int]:
    """The fire that starts at the queue's first node, until it dies: what it reached."""
    forward, backward, _, least, fresh = rule
    reached, many, burnt = single(queue[0]), 1, 0
    while burnt < many:
        node = queue[burnt]
        seen = reached if fresh else ZERO
        links = graph[OUT, node, 0] & ~seen
        reached, many = _spread(chance, links, queue, (reached, many), forward, 0)
        seen = reached if fresh else ZERO
        links = graph[INTO, node, 0] & ~seen
        reached, many = _spread(chance, links, queue, (reached, many), backward, least)
        burnt += 1
    return reached, many


@compiled
def _arrive(
    chance: State,
    graph: Graph,
    community: Ints,
    new: int,
    queue: Ints,
    rule: tuple[float, float, float, int, bool],
) -> int:
    """One new node: its community, its links; how many of them cross."""
    queue[0] = below(chance, new)
    community[new] = community[queue[0]]
    reached, many = _burn(chance, graph, queue, rule)
    if coin(chance, rule[2]):
        node = below(chance, new)
        if not reached & single(node):
            reached |= single(node)
            queue[many] = node
            many += 1
    graph[OUT, new, 0] = reached
    crossing = 0
    for i in range(many):
        graph[INTO, queue[i], 0] |= single(new)
        crossing += community[queue[i]] != community[new]
    return crossing


@compiled
def forest_fire(
    seed: np.uint64,
    runs: tuple[int, int],
    words: int,
    sizes: tuple[int, int, int],
    rule: tuple[float, float, float, int, bool],
) -> Ints:
    """Cross-community edges at the end of each run: without Bob's edge, and with it."""
    nodes, start, links = sizes
    crossing = np.zeros((2, runs[1]), np.int64)
    chance = np.empty(SIZE, np.uint64)
    graph = np.empty((2, nodes, words), np.uint64)
    community, queue = np.empty(nodes, np.int64), np.empty(nodes + 1, np.int64)
    for run in range(runs[1]):
        for world in range(2):
            open_stream(chance, seed, runs[0] + run, START)
            link_communities(chance, graph, community, (start, links))
            if world:
                crossing[1, run] = bob_meets(graph, start // 2)
            open_stream(chance, seed, runs[0] + run, START + 1 + world)
            for new in range(start, nodes):
                crossing[world, run] += _arrive(chance, graph, community, new, queue, rule)
    return crossing
