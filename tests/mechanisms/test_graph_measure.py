"""Graphs measured: exact counts against networkx, noise off and on, edges of what may be asked."""

from __future__ import annotations

import itertools
import traceback
from fractions import Fraction
from math import comb

import networkx as nx
import numpy as np
import pytest
from seeded import SeededBits

from adomnia.errors import PolicyError, QuestionError
from adomnia.mechanisms.graphs.counts import count
from adomnia.mechanisms.graphs.kernels import common_neighbors, count_triangles, pool
from adomnia.mechanisms.graphs.ladder import Ladder
from adomnia.mechanisms.graphs.measure import fit_ascending, measure
from adomnia.mechanisms.graphs.rungs import local_sensitivity, triangle_base
from adomnia.mechanisms.margins.margin import Noise
from adomnia.privacy import events
from adomnia.privacy.graphs import GraphTerms, graph_event
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
    labels,
)
from adomnia.schema.domain import Categories
from adomnia.schema.graph import GraphSchema, build, id_keys
from adomnia.schema.sealed import Sealed

SCHEMA = GraphSchema(False, {"club": Categories(("x", "y"), other="z")})
ONE = Fraction(1)
SURE = Fraction(10**6)
QUESTIONS = [
    Edges(),
    WithinBetween("club"),
    GroupEdges("club"),
    DegreeHistogram(9),
    CumulativeDegrees(9),
    DegreeSequence(),
    Triangles(),
    Stars(1),
    Stars(2),
    Stars(3),
    NodesByAttribute("club"),
]


def graph_of(network, schema=SCHEMA):
    nodes = network.number_of_nodes()
    return build(
        schema, id_keys(np.arange(nodes)), {"club": np.arange(nodes) % 3}, list(network.edges)
    )


NETWORKS = {
    "karate": nx.karate_club_graph(),
    "random": nx.gnp_random_graph(60, 0.2, seed=1),
    "scale-free": nx.barabasi_albert_graph(80, 4, seed=2),
    "star": nx.star_graph(20),
    "complete": nx.complete_graph(9),
    "empty": nx.empty_graph(5),
    "nothing": nx.empty_graph(0),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_exact_counts(name):
    network = NETWORKS[name]
    graph = graph_of(network)
    degrees = sorted(degree for _, degree in network.degree)
    crossing = [tuple(sorted((left % 3, right % 3))) for left, right in network.edges]
    within = sum(left == right for left, right in crossing)
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    expected = {
        Edges(): [network.number_of_edges()],
        WithinBetween("club"): [within, len(crossing) - within],
        GroupEdges("club"): [crossing.count(pair) for pair in pairs],
        DegreeHistogram(9): [
            *(degrees.count(degree) for degree in range(9)),
            sum(degree >= 9 for degree in degrees),
        ],
        CumulativeDegrees(9): [
            *(sum(d <= degree for d in degrees) for degree in range(9)),
            len(degrees),
        ],
        DegreeSequence(): degrees,
        Triangles(): [sum(nx.triangles(network).values()) // 3],
        **{Stars(k): [sum(comb(degree, k) for degree in degrees)] for k in (1, 2, 3)},
        NodesByAttribute("club"): [sum(n % 3 == code for n in network.nodes) for code in range(3)],
    }
    for question in QUESTIONS:
        assert count(graph, question).tolist() == expected[question]
        assert len(expected[question]) == len(labels(question, SCHEMA, graph.nodes))


def test_directed_counts():
    network = nx.gnp_random_graph(30, 0.2, seed=4, directed=True)
    graph = graph_of(network, GraphSchema(True, SCHEMA.attributes))
    assert count(graph, Edges()) == network.number_of_edges()
    for direction, degrees in (("out", network.out_degree), ("in", network.in_degree)):
        expected = sorted(degree for _, degree in degrees)
        assert count(graph, DegreeSequence(direction)).tolist() == expected
    cells = count(graph, GroupEdges("club")).reshape(3, 3)
    assert cells[0, 1] == sum(a % 3 == 0 and b % 3 == 1 for a, b in network.edges)
    assert cells.sum() == network.number_of_edges()


@pytest.mark.parametrize("neighbors", ["edge", "node"])
@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
def test_with_hardly_any_noise_the_answer_is_exact(question, neighbors):
    graph = graph_of(NETWORKS["karate"])
    terms = GraphTerms(neighbors, epsilon=SURE, degree_bound=17)  # the highest degree is 17
    if neighbors == "node" and isinstance(question, DegreeSequence):
        with pytest.raises(QuestionError):
            measure(Sealed(graph), question, terms)
        return
    noisy = measure(Sealed(graph), question, terms, SeededBits(1))
    assert noisy.values.tolist() == count(graph, question).tolist()
    assert len(noisy.labels) == len(noisy.values)
    assert noisy.event == graph_event(question, SCHEMA, terms)


def test_public_nodes_allow_a_sequence():
    schema = GraphSchema(False, SCHEMA.attributes, public_nodes=True)
    graph = graph_of(NETWORKS["karate"], schema)
    terms = GraphTerms("node", epsilon=SURE, degree_bound=17)
    for question in (DegreeSequence(), NodesByAttribute("club")):
        noisy = measure(Sealed(graph), question, terms)
        assert noisy.values.tolist() == count(graph, question).tolist()


def test_the_noise_is_the_event():
    graph = Sealed(graph_of(NETWORKS["karate"]))
    edge, node = (
        GraphTerms("edge", epsilon=ONE / 2),
        GraphTerms("node", epsilon=ONE / 2, degree_bound=4),
    )
    assert measure(graph, Edges(), edge).noise == Noise("laplace", Fraction(2))
    assert measure(graph, Edges(), node).noise == Noise("laplace", Fraction(8))
    assert measure(graph, DegreeHistogram(5), node).event == events.Laplace(ONE / 2, Fraction(9))
    assert measure(graph, Edges(), edge).margin(0.95) == 6
    gaussian = measure(graph, DegreeHistogram(5), GraphTerms("edge", rho=ONE / 2))
    assert isinstance(gaussian.event, events.Gaussian)
    assert gaussian.noise.kind == "gaussian"
    assert 8 <= gaussian.noise.parameter < 8 + Fraction(1, 10**20)
    public = measure(graph, NodesByAttribute("club"), edge)
    assert public.event == events.Free()
    assert public.margin(0.95) == 0


def test_what_a_ladder_costs():
    climbed = graph_event(Triangles(), SCHEMA, GraphTerms("edge", epsilon=ONE))
    assert events.loss(climbed).epsilon == 1
    assert events.loss(climbed).delta == 0
    alone = graph_event(Triangles(), SCHEMA, GraphTerms("node", epsilon=ONE, degree_bound=5))
    assert alone == events.Exponential(ONE, ONE)
    assert events.from_json(events.to_json(climbed)) == climbed
    for terms in (GraphTerms("edge", rho=ONE), GraphTerms("edge", epsilon=Fraction(1, 10**6))):
        with pytest.raises(QuestionError):
            graph_event(Triangles(), SCHEMA, terms)


def test_what_cannot_be_promised_is_refused():
    for wrong in ({}, {"epsilon": ONE, "rho": ONE}, {"epsilon": -ONE}, {"rho": Fraction(0)}):
        with pytest.raises(QuestionError):
            GraphTerms("edge", **wrong)
    with pytest.raises(PolicyError):
        GraphTerms("vertex", epsilon=ONE)
    for bound in (0, -3, 2.5, True):
        with pytest.raises(PolicyError):
            GraphTerms("node", epsilon=ONE, degree_bound=bound)
    for k in (0, -1, 1.5, True, 1000):
        with pytest.raises(QuestionError):
            Stars(k)
    for highest in (0, -1, 2.0, 10**9):
        for question in (DegreeHistogram, CumulativeDegrees):
            with pytest.raises(QuestionError):
                question(highest)
    with pytest.raises(QuestionError):
        DegreeSequence("sideways")


@pytest.mark.parametrize("question", [WithinBetween("age"), Stars(2), DegreeHistogram(3, "in")])
def test_a_refusal_says_nothing_of_the_data(question):
    schema = GraphSchema(isinstance(question, Stars), {})
    said = set()
    for network in (NETWORKS["nothing"], NETWORKS["complete"]):
        with pytest.raises(QuestionError) as caught:
            measure(Sealed(graph_of(network, schema)), question, GraphTerms("edge", epsilon=ONE))
        said.add("".join(traceback.format_exception_only(caught.value)))
    assert len(said) == 1


@pytest.mark.parametrize("neighbors", ["edge", "node"])
@pytest.mark.parametrize("question", QUESTIONS, ids=repr)
def test_an_empty_graph_is_answered(question, neighbors):
    if neighbors == "node" and isinstance(question, DegreeSequence):
        return
    for nodes in (0, 1, 2):
        graph = graph_of(nx.empty_graph(nodes))
        terms = GraphTerms(neighbors, epsilon=ONE, degree_bound=1)
        noisy = measure(Sealed(graph), question, terms, SeededBits(nodes))
        assert len(noisy.values) == len(labels(question, SCHEMA, nodes))


def test_a_graph_is_built_by_its_rules():
    pairs = [(0, 1), (1, 0), (0, 1), (2, 2), (0, -1), (1, 99), (3, 2)]
    codes = {"club": [0, 1, 7, -1]}
    keys = id_keys(range(4))
    graph = build(SCHEMA, keys, codes, pairs)
    assert graph.edges.tolist() == [[0, 1], [2, 3]]
    assert graph.codes["club"].tolist() == [0, 1, 2, 2]
    directed = build(GraphSchema(True, SCHEMA.attributes), keys, codes, pairs)
    assert directed.edges.tolist() == [[0, 1], [1, 0], [3, 2]]
    inside = GraphSchema(False, {"club": Categories(("x", "y"), other="x")})
    assert build(inside, keys, codes, []).codes["club"].tolist() == [0, 1, 0, 0]
    without = GraphSchema(False, {"club": Categories(("x", "y"))})
    assert without.groups("club") == ("x", "y", None)
    assert build(without, keys, {}, []).codes["club"].tolist() == [2] * 4
    with pytest.raises(ValueError, match="one code"):
        build(SCHEMA, keys, {"club": [0]}, [])


def test_isotonic_fit_is_the_nearest_ascending_sequence():
    from scipy.optimize import isotonic_regression

    chance = np.random.default_rng(0)
    for size in (0, 1, 2, 50, 1000):
        values = chance.normal(size=size) + np.arange(size) / 100
        expected = isotonic_regression(values).x if size else values
        assert np.allclose(pool(values), expected)
    assert fit_ascending(np.array([-5, 3, 1, 99]), 4).tolist() == [0.0, 2.0, 2.0, 4.0]


def test_common_neighbors_of_larger_graphs():
    for seed, density in ((1, 0.05), (2, 0.3), (3, 0.8)):
        network = nx.gnp_random_graph(70, density, seed=seed)
        best = {}
        for left in range(70):
            for right in range(left):
                a = len({*network[left]} & {*network[right]})
                b = len(({*network[left]} ^ {*network[right]}) - {left, right})
                best[a] = max(best.get(a, -1), b)
        full = np.array([best.get(a, -1) for a in range(70)])
        found = common_neighbors(70, graph_of(network).edges)
        assert triangle_base(found) == max(best)
        s = np.arange(200)
        widest = np.max([a + (s + np.minimum(s, b)) // 2 for a, b in best.items()], axis=0)
        for table in (found, full):
            assert (local_sensitivity(table, 70, 200) == np.minimum(widest, 68)).all()
        triangles = sum(nx.triangles(network).values()) // 3
        assert count_triangles(70, graph_of(network).edges) == triangles


def test_no_margin_where_nobody_may_know_it():
    noisy = measure(
        Sealed(graph_of(NETWORKS["karate"])),
        Triangles(),
        GraphTerms("node", epsilon=ONE, degree_bound=20),
    )
    assert isinstance(noisy.noise, Ladder)
    assert noisy.margin(0.95) is None


def test_margins_from_the_smallest_to_the_largest_epsilon():
    graph = Sealed(graph_of(NETWORKS["karate"]))
    for question in (Triangles(), Stars(2), Stars(20)):
        margins = [
            measure(graph, question, GraphTerms("edge", epsilon=Fraction(e)), SeededBits(5)).margin(
                0.95
            )
            for e in ("1/1000", "1/10", "1", "10", "1000", str(SURE))
        ]
        assert margins[-1] == margins[-2] == 0
        assert all(one >= other for one, other in itertools.pairwise(margins))
    with pytest.raises(ValueError, match="confidence"):
        measure(graph, Triangles(), GraphTerms("edge", epsilon=ONE)).margin(1.0)
