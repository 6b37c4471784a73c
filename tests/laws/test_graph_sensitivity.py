"""The law of sensitivity for graphs: no neighbours differ by more, some by as much as is said.

All graphs of up to five nodes (four if edges have a direction), and all their neighbours.
"""

from __future__ import annotations

import itertools
import random
from functools import cache

import numpy as np
import pytest
from small_graphs import World

from adomnia.errors import PolicyError, QuestionError
from adomnia.mechanisms.graphs.counts import count
from adomnia.mechanisms.graphs.degree_bound import add_edges
from adomnia.privacy.graphs import graph_sensitivity
from adomnia.queries.graphs.subgraphs import (
    CumulativeDegrees,
    DegreeHistogram,
    DegreeSequence,
    Edges,
    GroupEdges,
    NodesByAttribute,
    Stars,
    Triangles,
    WithinBetween,
)

UNDIRECTED = [
    Edges(),
    WithinBetween("party"),
    GroupEdges("party"),
    DegreeHistogram(4),
    DegreeHistogram(1),
    CumulativeDegrees(4),
    CumulativeDegrees(1),
    DegreeSequence(),
    NodesByAttribute("party"),
]
DIRECTED = [
    *UNDIRECTED,
    DegreeHistogram(3, "out"),
    DegreeHistogram(3, "in"),
    CumulativeDegrees(3, "out"),
    DegreeSequence("out"),
    DegreeSequence("in"),
]
BY_NODE = [
    Edges(),
    WithinBetween("party"),
    GroupEdges("party"),
    DegreeHistogram(4),
    CumulativeDegrees(4),
]
STARS = [Stars(1), Stars(2), Stars(3)]


def farthest(pairs, answer):
    """The largest distance of the answers to two neighbours: L1, and L2 squared."""
    ones, others = zip(*pairs, strict=True)
    apart = np.abs(np.stack([*map(answer, ones)]) - np.stack([*map(answer, others)]))
    return int(apart.sum(axis=1).max()), int((apart * apart).sum(axis=1).max())


@cache
def node_neighbors(size, directed=False):
    """All pairs of node neighbours of a world."""
    return list(World(size, directed).node_neighbors())


@cache
def five_nodes(offset, codes):
    """A world of five nodes whose graphs are made once."""
    world = World(5, offset=offset, codes=codes)
    world.graph = cache(world.graph)
    return world


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("question", UNDIRECTED, ids=repr)
def test_edge_neighbors(question, size):
    world = World(size)
    found = farthest(world.edge_neighbors(), cache(lambda mask: count(world.graph(mask), question)))
    said = graph_sensitivity(question, world.schema, "edge")
    assert found[0] <= said.l1
    assert found[1] <= said.l2_squared
    if size == 5 and said.exact:
        assert found == (said.l1, said.l2_squared)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("question", DIRECTED, ids=repr)
def test_directed_edge_neighbors(question, size):
    world = World(size, directed=True)
    found = farthest(world.edge_neighbors(), cache(lambda mask: count(world.graph(mask), question)))
    said = graph_sensitivity(question, world.schema, "edge")
    assert found[0] <= said.l1
    assert found[1] <= said.l2_squared
    if size == 4 and said.exact:
        assert found == (said.l1, said.l2_squared)


def bounded_answer(world, question, bound):
    """The answer on the bounded graph, and that bounded it is."""

    @cache
    def answer(key):
        graph = world.graph(*key)
        kept = add_edges(graph, question, bound)
        if not isinstance(question, WithinBetween | GroupEdges):
            assert kept.degrees().max(initial=0) <= bound
            if graph.degrees().max(initial=0) <= bound:
                assert len(kept.edges) == len(graph.edges)
        return count(kept, question)

    return answer


@pytest.mark.parametrize("bound", [1, 2, 3])
@pytest.mark.parametrize(
    "question", [*BY_NODE, *STARS, DegreeHistogram(1), CumulativeDegrees(2)], ids=repr
)
def test_node_neighbors(question, bound):
    worst = (0, 0)
    for offset, codes in [(0, None), (977, (0, 0, 1, 1, 0)), (-31, (0, 1, 1, 1, 2))]:
        world = five_nodes(offset, codes)
        answer = bounded_answer(world, question, bound)
        found = farthest(node_neighbors(5), answer)
        worst = max(worst[0], found[0]), max(worst[1], found[1])
    said = graph_sensitivity(question, world.schema, "node", bound)
    assert worst[0] <= said.l1
    assert worst[1] <= said.l2_squared
    room = {WithinBetween: 2, GroupEdges: 1}.get(type(question), 3)  # for so many edges in a cell
    if bound <= room and not (isinstance(question, Stars) and question.k > bound):
        assert said.exact
        assert worst == (said.l1, said.l2_squared)


@pytest.mark.parametrize("bound", [1, 3])
@pytest.mark.parametrize("question", BY_NODE, ids=repr)
def test_directed_node_neighbors(question, bound):
    world = World(4, directed=True, offset=5)
    found = farthest(node_neighbors(4, True), bounded_answer(world, question, bound))
    said = graph_sensitivity(question, world.schema, "node", bound)
    assert found[0] <= said.l1
    assert found[1] <= said.l2_squared


@pytest.mark.parametrize(("bound", "directed"), [(1, False), (2, False), (3, False), (2, True)])
@pytest.mark.parametrize("question", [*BY_NODE, DegreeHistogram(1), DegreeSequence()], ids=repr)
def test_public_nodes_that_lose_their_edges(question, bound, directed):
    world = World(4 if directed else 5, directed, offset=17, public=True)
    answer = bounded_answer(world, question, bound)
    found = farthest(world.isolated_neighbors(), lambda mask: answer((mask, None)))
    said = graph_sensitivity(question, world.schema, "node", bound)
    assert found[0] <= said.l1
    assert found[1] <= said.l2_squared
    if not isinstance(question, WithinBetween | GroupEdges):
        assert found[0] == said.l1
    assert graph_sensitivity(NodesByAttribute("party"), world.schema, "node").l1 == 0


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("question", [*BY_NODE, Stars(2)], ids=repr)
def test_node_neighbors_of_larger_graphs(question, directed):
    """Long chains of edges that push each other out need more nodes."""
    if directed and isinstance(question, Stars):
        return
    chance = random.Random(3)
    for trial in range(150):
        world = World(chance.choice([8, 14]), directed, offset=1000 * trial)
        bound = chance.choice([1, 2, 3])
        density = chance.choice([0.2, 0.5, 0.9])
        mask = sum(1 << bit for bit in range(len(world.places)) if chance.random() < density)
        answer = bounded_answer(world, question, bound)
        full = tuple(range(world.size))
        pairs = [((mask, full), (world.without(mask, v), full[:v] + full[v + 1 :])) for v in full]
        said = graph_sensitivity(question, world.schema, "node", bound)
        found = farthest(pairs, answer)
        assert found[0] <= said.l1
        assert found[1] <= said.l2_squared


def test_nodes_by_attribute():
    world = World(4)
    answer = cache(lambda key: count(world.graph(*key), NodesByAttribute("party")))
    said = graph_sensitivity(NodesByAttribute("party"), world.schema, "node")
    assert farthest(world.node_neighbors(), answer) == (said.l1, said.l2_squared) == (1, 1)
    assert graph_sensitivity(NodesByAttribute("party"), world.schema, "edge").l1 == 0


@pytest.mark.parametrize("question", [WithinBetween("party"), Triangles()], ids=repr)
def test_one_bound_for_all_cells_would_not_do(question):
    """Edges push each other out in long chains: kept edges as such are not stable, counts are."""
    chance = random.Random(1)
    worst = 0
    for trial in range(60):
        world = World(12, offset=1000 * trial, codes=[chance.randrange(2) for _ in range(12)])
        mask = sum(1 << bit for bit in range(len(world.places)) if chance.random() < 0.6)
        full = tuple(range(world.size))
        one, *others = (
            count(add_edges(world.graph(*key), Edges(), 2), question)
            for key in [(mask, full)]
            + [(world.without(mask, v), full[:v] + full[v + 1 :]) for v in full]
        )
        worst = max(worst, *(int(np.abs(one - other).sum()) for other in others))
    assert worst > 4 if isinstance(question, WithinBetween) else worst > 1


def test_what_has_no_bound_is_refused():
    undirected, directed = World(2).schema, World(2, directed=True).schema
    with pytest.raises(QuestionError, match="histogram"):
        graph_sensitivity(DegreeSequence(), undirected, "node", 3)
    with pytest.raises(QuestionError, match="total"):
        graph_sensitivity(DegreeHistogram(3, "out"), directed, "node", 3)
    with pytest.raises(QuestionError, match="total"):
        graph_sensitivity(CumulativeDegrees(3, "in"), directed, "node", 3)
    for question in (Triangles(), Stars(2)):
        with pytest.raises(QuestionError, match="without direction"):
            graph_sensitivity(question, directed, "edge")
    for bound, question in itertools.product((0, -1, True, 10**9), BY_NODE):
        with pytest.raises(PolicyError, match="degree_bound"):
            graph_sensitivity(question, undirected, "node", bound)
    with pytest.raises(PolicyError, match="degree_bound"):
        graph_sensitivity(Edges(), undirected, "node")
    with pytest.raises(PolicyError, match="neighbors"):
        graph_sensitivity(Edges(), undirected, "bounded")
    with pytest.raises(QuestionError, match="no attribute"):
        graph_sensitivity(WithinBetween("age"), undirected, "edge")
