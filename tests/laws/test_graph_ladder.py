"""The law of ladders: rungs bound all that can happen so many steps away, penalties move by one.

All graphs of up to five nodes, and all their neighbours.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from small_graphs import World

from adomnia.mechanisms.graphs.counts import count
from adomnia.mechanisms.graphs.degree_bound import drop_nodes
from adomnia.mechanisms.graphs.kernels import common_neighbors
from adomnia.mechanisms.graphs.rungs import (
    local_sensitivity,
    star_rung,
    triangle_base,
    triangle_rung,
    triangle_rungs,
    truncated_rungs,
)
from adomnia.queries.graphs.subgraphs import Stars, Triangles

STEPS = 14


def best_of(graph):
    return common_neighbors(graph.nodes, graph.edges)


def at_distance(world, question):
    """For every graph and s: the most one edge changes the answer in any graph s edges away."""
    truth = np.array([int(count(world.graph(mask), question)[0]) for mask in world.masks])
    masks = np.arange(truth.size)
    turned = [masks ^ 1 << bit for bit in range(len(world.places))]
    local = np.max([np.abs(truth - truth[other]) for other in turned], axis=0)
    rows = [local]
    for _ in range(STEPS - 1):
        rows.append(np.max([rows[-1], *(rows[-1][other] for other in turned)], axis=0))
    return np.stack(rows, axis=1)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_formula_for_triangles_is_exact(size):
    """Nissim, Raskhodnikova, Smith: against the definition, for every graph and distance."""
    world = World(size)
    expected = at_distance(world, Triangles())
    for mask in world.masks:
        found = local_sensitivity(best_of(world.graph(mask)), size, STEPS)
        assert found.tolist() == expected[mask].tolist()


def test_common_neighbors_by_definition():
    world = World(5)
    for mask in world.masks:
        graph = world.graph(mask)
        near = [{*()} for _ in range(5)]
        for left, right in graph.edges.tolist():
            near[left].add(right)
            near[right].add(left)
        best = {}
        for left in range(5):
            for right in range(left + 1, 5):
                a = len(near[left] & near[right])
                b = len((near[left] ^ near[right]) - {left, right})
                best[a] = max(best.get(a, -1), b)
        found = {a: int(b) for a, b in enumerate(best_of(graph)) if b >= 0}
        assert all(best[a] >= b for a, b in found.items())
        for a, b in best.items():
            assert any(c >= a and 2 * c + d >= 2 * a + b for c, d in found.items())
        assert triangle_base(best_of(graph)) == max(best)


def triangle_ladder(graph):
    return int(count(graph, Triangles())[0]), triangle_rungs(best_of(graph), graph.nodes, STEPS)


def star_ladder(k):
    def ladder(graph):
        base, rung = int(graph.degrees().max(initial=0)), star_rung(graph.nodes, k)
        return int(count(graph, Stars(k))[0]), [rung(base + step) for step in range(STEPS)]

    return ladder


def truncated_ladder(bound):
    def ladder(graph):
        truth = int(count(drop_nodes(graph, bound), Triangles())[0])
        return truth, truncated_rungs(graph, bound, STEPS)

    return ladder


@cache
def edge_pairs(size):
    world = World(size)
    graph = cache(world.graph)
    return [(graph(one), graph(other)) for one, other in world.edge_neighbors()]


@cache
def node_pairs(size):
    world = World(size)
    graph = cache(lambda key: world.graph(*key))
    return [(graph(one), graph(other)) for one, other in world.node_neighbors()]


@cache
def isolated_pairs(size):
    world = World(size, public=True)
    graph = cache(world.graph)
    return [(graph(one), graph(other)) for one, other in world.isolated_neighbors()]


CASES = {
    "triangles": (triangle_ladder, edge_pairs),
    "1-stars": (star_ladder(1), edge_pairs),
    "2-stars": (star_ladder(2), edge_pairs),
    "3-stars": (star_ladder(3), edge_pairs),
    "bounded-1": (truncated_ladder(1), node_pairs),
    "bounded-2": (truncated_ladder(2), node_pairs),
    "bounded-3": (truncated_ladder(3), node_pairs),
    "bounded-4": (truncated_ladder(4), node_pairs),
    "isolated-2": (truncated_ladder(2), isolated_pairs),
    "isolated-3": (truncated_ladder(3), isolated_pairs),
}


def penalties(truth, rungs, candidates, height):
    """The rung of each candidate by definition, at most height + 1."""
    ends = np.concatenate([[0], np.cumsum(rungs[:height])])
    return np.searchsorted(ends, np.abs(candidates - truth), "left")


@pytest.mark.parametrize("size", [2, 4, 5])
@pytest.mark.parametrize("name", CASES)
def test_rungs_hold_both_conditions(name, size):
    ladder, pairs = cache(CASES[name][0]), CASES[name][1]
    for one, other in pairs(size):
        (truth, rungs), (moved, theirs) = ladder(one), ladder(other)
        assert abs(truth - moved) <= min(rungs[0], theirs[0])
        assert all(a <= b for a, b in zip(rungs, theirs[1:], strict=False))
        assert all(a <= b for a, b in zip(theirs, rungs[1:], strict=False))


@pytest.mark.parametrize("name", CASES)
def test_a_penalty_moves_by_one_and_the_loss_by_epsilon(name):
    """Also where the ladder is cut: the probabilities of every candidate, by definition."""
    ladder, pairs = cache(CASES[name][0]), CASES[name][1]
    candidates = np.arange(-40, 41)
    epsilon = 0.7
    worst = 0.0
    for one, other in pairs(4):
        for height in (1, 3, STEPS):
            mine, theirs = (penalties(*ladder(g), candidates, height) for g in (one, other))
            assert np.abs(mine - theirs).max() <= 1
            logs = [-epsilon / 2 * p for p in (mine, theirs)]
            laws = [log - math.log(np.exp(log).sum()) for log in logs]
            worst = max(worst, float(np.abs(laws[0] - laws[1]).max()))
    assert worst <= epsilon + 1e-12
    assert (worst > 0) == (name != "bounded-1")  # without edges that meet, nothing can vary


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_public_bound_of_rungs(size):
    """What a margin rests on: no rung is wider than base plus place, and none grows by two."""
    world = World(size)
    for mask in world.masks:
        best = best_of(world.graph(mask))
        rungs = triangle_rungs(best, size, STEPS)
        public = [triangle_rung(size)(triangle_base(best) + step) for step in range(STEPS)]
        assert all(a <= b for a, b in zip(rungs, public, strict=True))
        assert all(0 <= b - a <= 1 for a, b in itertools.pairwise(rungs))
        assert rungs[0] == public[0]
    assert rungs[-1] == max(size - 2, 1)
