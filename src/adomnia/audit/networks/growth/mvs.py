"""The model of Marsili, Vega-Redondo and Slanina in steps: links come and go (`growth.md`).

Undirected: each link stands once in the list, and in the rows of both its nodes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.networks.growth.bitsets import Row, add, bits, discard, has, take
from adomnia.audit.networks.growth.compiled import compiled
from adomnia.audit.networks.growth.randomness import SIZE, State, below, coin, open_stream, unit
from adomnia.audit.networks.growth.start import BOB, START, others

__all__ = ["mvs"]

Ints = NDArray[np.int64]
Graph = tuple[Row, Ints, Row]  # the rows, the list of links, and one row to work with


@compiled
def _link(graph: Graph, one: int, other: int, many: int) -> int:
    """Link two nodes unless they are one or linked already; how many links there are."""
    near, listed, _ = graph
    if one == other or has(near[one], other):
        return many
    add(near[one], other)
    add(near[other], one)
    listed[many, 0], listed[many, 1] = one, other
    return many + 1


@compiled
def _unlink(chance: State, graph: Graph, many: int) -> int:
    """Delete one link at random; how many are left."""
    near, listed, _ = graph
    gone = below(chance, many)
    one, other = listed[gone, 0], listed[gone, 1]
    discard(near[one], other)
    discard(near[other], one)
    listed[gone, 0], listed[gone, 1] = listed[many - 1, 0], listed[many - 1, 1]
    return many - 1


@compiled
def _neighbour(chance: State, graph: Graph, node: int, asking: int) -> int:
    """One of the node's neighbours at random, never the one who asks; -1 if there is none."""
    near, _, row = graph
    row[:] = near[node]
    discard(row, asking)
    inside = 0
    for word in row:
        inside += bits(word)
    return take(row, inside, chance) if inside else -1


@compiled
def _step(
    chance: State, graph: Graph, nodes: int, many: int, rates: tuple[float, float, float]
) -> int:
    """One step: a random link, an introduction, then deletions; how many links there are."""
    eta, xi, lam = rates
    if coin(chance, eta):
        one, shift = below(chance, nodes), 1 + below(chance, nodes - 1)
        many = _link(graph, one, (one + shift) % nodes, many)
    if coin(chance, xi):
        asking = below(chance, nodes)
        friend = _neighbour(chance, graph, asking, asking)
        if friend >= 0:
            met = _neighbour(chance, graph, friend, asking)
            if met >= 0:
                many = _link(graph, asking, met, many)
    clock = -math.log(unit(chance))  # arrivals within the time lam are Poisson
    while clock <= lam and many > 0:
        many = _unlink(chance, graph, many)
        clock -= math.log(unit(chance))
    return many


@compiled
def _begin(chance: State, graph: Graph, nodes: int, links: int, ring: bool) -> int:
    """Link the communities: a ring each with the nearest `links`, or `links` picked by each."""
    near, _, row = graph
    near[:] = np.uint64(0)
    half, many = nodes // 2, 0
    for node in range(nodes):
        if ring:
            low = 0 if node < half else half
            for shift in range(1, links // 2 + 1):
                many = _link(graph, node, low + (node - low + shift) % half, many)
        else:
            left = others(row, node, half)
            for picked in range(links):
                many = _link(graph, node, take(row, left - picked, chance), many)
    return many


@compiled
def _crossing(listed: Ints, many: int, half: int) -> int:
    crossing = 0
    for link in range(many):
        crossing += (listed[link, 0] < half) != (listed[link, 1] < half)
    return crossing


@compiled
def mvs(
    seed: np.uint64,
    runs: tuple[int, int],
    words: int,
    sizes: tuple[int, int, int],
    rule: tuple[float, float, float, bool],
) -> Ints:
    """Cross-community edges at the end of each run: without Bob's edge, and with it."""
    nodes, steps, links = sizes
    eta, xi, lam, ring = rule
    crossing = np.zeros((2, runs[1]), np.int64)
    chance = np.empty(SIZE, np.uint64)
    most = min(nodes * links + 1 + 2 * steps, nodes * (nodes - 1) // 2)
    listed = np.empty((most, 2), np.int64)
    graph = np.empty((nodes, words), np.uint64), listed, np.empty(words, np.uint64)
    for run in range(runs[1]):
        for world in range(2):
            open_stream(chance, seed, runs[0] + run, START)
            many = _begin(chance, graph, nodes, links, ring)
            if world:
                many = _link(graph, BOB, nodes // 2, many)
            open_stream(chance, seed, runs[0] + run, START + 1 + world)
            for _ in range(steps):
                many = _step(chance, graph, nodes, many, (eta, xi, lam))
            crossing[world, run] = _crossing(listed, many, nodes // 2)
    return crossing
