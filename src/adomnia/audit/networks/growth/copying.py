"""The copying model: each new node takes a prototype's links, or random ones (`growth.md`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.bitsets import Row, take
from adomnia.audit.networks.growth.compiled import compiled
from adomnia.audit.networks.growth.randomness import SIZE, State, below, coin, open_stream
from adomnia.audit.networks.growth.start import BOB, START, others

__all__ = ["copying"]

Ints = NDArray[np.int64]


@compiled
def _begin(
    chance: State, targets: Ints, degree: Ints, community: Ints, row: Row, sizes: tuple[int, int]
) -> None:
    """Give each first node random outlinks, all different, within its community."""
    start, links = sizes
    for node in range(start):
        community[node] = node >= start // 2
        degree[node] = links
        left = others(row, node, start // 2)
        for place in range(links):
            targets[node, place] = take(row, left - place, chance)


@compiled
def _arrive(chance: State, targets: Ints, degree: Ints, community: Ints, new: int, p: float) -> int:
    """One new node: its community, its links; how many of them cross."""
    prototype = below(chance, new)
    community[new], degree[new] = community[prototype], degree[prototype]
    crossing = 0
    for place in range(degree[prototype]):
        target = below(chance, new) if coin(chance, p) else targets[prototype, place]
        targets[new, place] = target
        crossing += community[target] != community[new]
    return crossing


@compiled
def copying(
    seed: np.uint64,
    runs: tuple[int, int],
    words: int,
    sizes: tuple[int, int, int],
    rule: tuple[float, bool],
) -> Ints:
    """Cross-community edges at the end of each run: without Bob's edge, and with it."""
    nodes, start, links = sizes
    p, added = rule
    crossing = np.zeros((2, runs[1]), np.int64)
    chance, row = np.empty(SIZE, np.uint64), np.empty(words, np.uint64)
    targets = np.empty((nodes, links + 1), np.int64)
    community, degree = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for run in range(runs[1]):
        for world in range(2):
            open_stream(chance, seed, runs[0] + run, START)
            _begin(chance, targets, degree, community, row, (start, links))
            if world:
                degree[BOB] += added
                targets[BOB, degree[BOB] - 1] = start // 2
                crossing[1, run] = 1
            open_stream(chance, seed, runs[0] + run, START + 1 + world)
            for new in range(start, nodes):
                crossing[world, run] += _arrive(chance, targets, degree, community, new, p)
    return crossing
