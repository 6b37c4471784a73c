"""The forest fire model for any number of nodes: sets of nodes are rows of machine words.

The same draws in the same order as in `forest_fire.py`, so both grow the same network.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.bitsets import Row, add, bits, has, take
from adomnia.audit.networks.growth.compiled import compiled
from adomnia.audit.networks.growth.randomness import SIZE, State, below, coin, open_stream
from adomnia.audit.networks.growth.start import INTO, OUT, START, Graph, bob_meets, link_communities

__all__ = ["large_fire"]

Ints = NDArray[np.int64]
Fire = tuple[Row, Row, Ints]  # what is reached, the links to follow, the nodes in their order


@compiled
def _reach(node: int, reached: Row, queue: Ints, many: int) -> int:
    """Set the node on fire unless it burns already; how many burn."""
    if has(reached, node):
        return many
    add(reached, node)
    queue[many] = node
    return many + 1


@compiled
def _spread(
    chance: State,
    links: NDArray[np.uint64],
    node: int,
    fire: Fire,
    many: int,
    rule: tuple[float, int, bool],
) -> int:
    """Follow a geometric number of the node's links, and `least` more: how many burn."""
    reached, candidates, queue = fire
    p, least, fresh = rule
    left, tried = 0, 0
    for word in range(candidates.size):
        candidates[word] = links[node, word] & ~reached[word] if fresh else links[node, word]
        left += bits(candidates[word])
    while left > 0 and (tried < least or coin(chance, p)):
        many = _reach(take(candidates, left, chance), reached, queue, many)
        left -= 1
        tried += 1
    return many


@compiled
def _arrive(
    chance: State,
    graph: Graph,
    community: Ints,
    new: int,
    fire: Fire,
    rule: tuple[float, float, float, int, bool],
) -> int:
    """One new node: its community, its links; how many of them cross."""
    out, into = graph[OUT], graph[INTO]
    reached, _, queue = fire
    forward, backward, extra, least, fresh = rule
    reached[:] = np.uint64(0)
    ambassador = below(chance, new)
    community[new] = community[ambassador]
    many, burnt = _reach(ambassador, reached, queue, 0), 0
    while burnt < many:
        node = queue[burnt]
        many = _spread(chance, out, node, fire, many, (forward, 0, fresh))
        many = _spread(chance, into, node, fire, many, (backward, least, fresh))
        burnt += 1
    if coin(chance, extra):
        many = _reach(below(chance, new), reached, queue, many)
    out[new] = reached
    crossing = 0
    for i in range(many):
        add(into[queue[i]], new)
        crossing += community[queue[i]] != community[new]
    return crossing


@compiled
def large_fire(
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
    community = np.empty(nodes, np.int64)
    fire = np.empty(words, np.uint64), np.empty(words, np.uint64), np.empty(nodes, np.int64)
    for run in range(runs[1]):
        for world in range(2):
            open_stream(chance, seed, runs[0] + run, START)
            link_communities(chance, graph, community, (start, links))
            if world:
                crossing[1, run] = bob_meets(graph, start // 2)
            open_stream(chance, seed, runs[0] + run, START + 1 + world)
            for new in range(start, nodes):
                crossing[world, run] += _arrive(chance, graph, community, new, fire, rule)
    return crossing
