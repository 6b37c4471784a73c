"""The models against plain ones written on networkx, and against exact figures in tiny cases."""

from __future__ import annotations

import importlib.util
import math
import random
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from adomnia.audit.networks.growth.models import settle

BENCHMARK = Path(__file__).parents[3] / "benchmarks/influence.py"
spec = importlib.util.spec_from_file_location("benchmark_influence", BENCHMARK)
plain = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plain)


def pairs(model: str, runs: int, reading: str = "literal", **parameters: float) -> np.ndarray:
    return settle(model, reading, parameters).pairs(11, 0, runs)


def agree(ours: np.ndarray, theirs: list[int]) -> bool:
    """Whether the means lie within five standard errors, and the laws are not told apart."""
    error = math.hypot(ours.std() / math.sqrt(ours.size), np.std(theirs) / math.sqrt(len(theirs)))
    same = stats.ks_2samp(ours, theirs).pvalue > 1e-5
    return bool(abs(ours.mean() - np.mean(theirs)) <= 5 * error and same)


@pytest.mark.parametrize("reading", ["literal", "any-link", "at-least-one"])
@pytest.mark.parametrize("edge", [0, 1])
def test_forest_fire_as_the_plain_one(reading, edge):
    sizes, rates = (16, 6, 2), (0.37, 0.32, 0.3)
    names = dict(
        zip(["nodes", "start", "links", "forward", "backward", "q"], sizes + rates, strict=True)
    )
    chance = random.Random(edge)
    theirs = [
        plain.plain_forest_fire(chance, bool(edge), sizes, rates, reading) for _ in range(600)
    ]
    ours = pairs("forest-fire", 20_000, reading, **names)[edge]
    assert agree(ours, theirs)


def exact_fire(links: tuple, queue: tuple, reached: frozenset, rule: tuple) -> dict:
    """The law of what one arrival reaches, by following every outcome of every draw."""
    if not queue:
        return {reached: 1}
    out, into = links
    forward, backward, least, fresh = rule
    law: dict = {}
    for mid, later, p in spread(out[queue[0]], queue[1:], reached, (forward, 0, fresh), 1):
        told = (backward, least, fresh)
        for end, last, r in spread(into[queue[0]], later, mid, told, 1):
            for found, s in exact_fire(links, last, end, rule).items():
                law[found] = law.get(found, 0) + p * r * s
    return law


def spread(links: frozenset, queue: tuple, reached: frozenset, rule: tuple, weight) -> list:
    """Every way to follow a geometric number of links, with its probability."""
    p, least, fresh = rule
    open_links = links - reached if fresh else links
    if not open_links:
        return [(reached, queue, weight)]
    go_on = Fraction(1) if least else p
    ways = [(reached, queue, weight * (1 - go_on))] if go_on < 1 else []
    for node in open_links:
        more = queue if node in reached else (*queue, node)
        rest = links - {node}
        told = (p, 0, fresh)
        part = weight * go_on / len(open_links)
        ways += spread(rest, more, reached | {node}, told, part)
    return ways


@pytest.mark.parametrize(("least", "fresh"), [(0, True), (0, False), (1, False)])
def test_one_arrival_exactly(least, fresh):
    """Four nodes, 0 and 1 linked both ways, 2 and 3 too, Bob's edge from 0 to 2, one arrival."""
    reading = {(0, True): "literal", (0, False): "any-link", (1, False): "at-least-one"}
    out = tuple(map(frozenset, [{1, 2}, {0}, {3}, {2}]))
    into = tuple(map(frozenset, [{1}, {0}, {0, 3}, {2}]))
    forward, backward, q = Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)
    law: dict[int, Fraction] = {}
    for ambassador in range(4):
        rule = (forward, backward, least, fresh)
        found = exact_fire((out, into), (ambassador,), frozenset({ambassador}), rule)
        for reached, p in found.items():
            for extra, part in [(None, 1 - q), *((node, q / 4) for node in range(4))]:
                whole = reached if extra is None else reached | {extra}
                crossing = 1 + sum((node > 1) != (ambassador > 1) for node in whole)
                law[crossing] = law.get(crossing, 0) + p * part / 4
    assert sum(law.values()) == 1
    runs = 40_000
    numbers = {"forward": 0.5, "backward": 0.25, "q": 0.125, "start": 4, "links": 1, "nodes": 5}
    ours = pairs("forest-fire", runs, reading[least, fresh], **numbers)[1]
    assert set(np.unique(ours)) == set(law)
    seen = [int((ours == crossing).sum()) for crossing in law]
    assert stats.chisquare(seen, [float(p) * runs for p in law.values()]).pvalue > 1e-6


def test_a_fire_that_never_spreads():
    ours = pairs("forest-fire", 500, forward=0, backward=0, q=0)
    assert (ours[0] == 0).all()
    assert (ours[1] == 1).all()


def expected_copies(nodes: int, start: int, links: int, p: Fraction) -> tuple[Fraction, Fraction]:
    """The recursion of `growth.md`: expected cross edges without and with Bob's edge."""
    half = Fraction(start, 2)
    unlike, without, with_edge = half * half, Fraction(0), Fraction(1)
    for n in range(start, nodes):
        random_links = p * links * 2 * unlike / n**2
        without += (1 - p) * without / n + random_links
        with_edge += (1 - p) * with_edge / n + random_links
        unlike *= 1 + Fraction(2, n)
    return without, with_edge


@pytest.mark.parametrize("p", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("nodes", [10, 11, 50, 200])
def test_copying_has_the_exact_expectation(p, nodes):
    runs = 20_000 if nodes < 200 else 5000
    ours = pairs("copying", runs, p=p, nodes=nodes)
    for crossing, exact in zip(ours, expected_copies(nodes, 10, 3, Fraction(p)), strict=True):
        error = crossing.std() / math.sqrt(runs)
        assert abs(crossing.mean() - float(exact)) <= 5 * error + 1e-12


def test_the_difference_of_copying_is_a_product():
    without, with_edge = expected_copies(50, 10, 3, Fraction(1, 20))
    product = math.prod(1 + Fraction(19, 20) / n for n in range(10, 50))
    assert with_edge - without == product
    assert expected_copies(50, 10, 3, Fraction(0))[1] == 5


def plain_copying(chance: random.Random, edge: int, p: float, added: bool) -> int:
    graph, start, links = nx.MultiDiGraph(plain.begin(chance, 6, 2)), 6, 2
    if edge:
        if not added:
            graph.remove_edge(0, chance.choice(list(graph.successors(0))))
        graph.add_edge(0, start // 2)
    for new in range(start, 14):
        prototype = chance.randrange(new)
        graph.add_node(new, community=graph.nodes[prototype]["community"])
        for _, target in list(graph.out_edges(prototype)):
            graph.add_edge(new, chance.randrange(new) if chance.random() < p else target)
    assert added or all(degree == links for _, degree in graph.out_degree())
    community = graph.nodes(data="community")
    return sum(community[one] != community[other] for one, other in graph.edges())


@pytest.mark.parametrize("reading", ["literal", "added"])
@pytest.mark.parametrize("edge", [0, 1])
def test_copying_as_the_plain_one(reading, edge):
    chance = random.Random(edge)
    theirs = [plain_copying(chance, edge, 0.3, reading == "added") for _ in range(1500)]
    assert agree(pairs("copying", 20_000, reading, p=0.3, start=6, links=2, nodes=14)[edge], theirs)


def plain_mvs(chance: random.Random, edge: int, rates: tuple, steps: int, ring: bool) -> int:
    eta, xi, lam = rates
    nodes, half = 10, 5
    graph = nx.Graph()
    for low in (0, half):
        community = range(low, low + half)
        if ring:
            graph.add_edges_from(nx.cycle_graph(community).edges)
        else:
            for node in community:
                others = [n for n in community if n != node]
                graph.add_edges_from((node, other) for other in chance.sample(others, 2))
    if edge:
        graph.add_edge(0, half)
    poisson = np.random.default_rng(chance.getrandbits(32)).poisson(lam, steps)
    for deleted in poisson:
        if chance.random() < eta:
            graph.add_edge(*chance.sample(range(nodes), 2))
        if chance.random() < xi:
            asking = chance.randrange(nodes)
            friends = list(graph[asking])
            if friends:
                met = [n for n in graph[chance.choice(friends)] if n != asking]
                if met:
                    graph.add_edge(asking, chance.choice(met))
        gone = chance.sample(list(graph.edges), min(int(deleted), graph.number_of_edges()))
        graph.remove_edges_from(gone)
    return sum((one < half) != (other < half) for one, other in graph.edges)


@pytest.mark.parametrize("reading", ["literal", "picked"])
@pytest.mark.parametrize("edge", [0, 1])
def test_mvs_as_the_plain_one(reading, edge):
    chance, rates = random.Random(edge), (0.2, 0.7, 0.4)
    theirs = [plain_mvs(chance, edge, rates, 25, reading == "literal") for _ in range(1200)]
    eta, xi, lam = rates
    ours = pairs("mvs", 20_000, reading, nodes=10, steps=25, eta=eta, xi=xi, lam=lam)[edge]
    assert agree(ours, theirs)


def test_one_step_of_mvs_exactly():
    """Two pairs of friends and Bob's edge: of four who ask, two meet a stranger, two half."""
    told = {"nodes": 4, "links": 1, "steps": 1}
    runs = 20_000
    asked = pairs("mvs", runs, "picked", eta=0, xi=1, lam=0, **told)
    assert (asked[0] == 0).all()
    assert stats.binomtest(int((asked[1] == 2).sum()), runs, 0.75).pvalue > 1e-6
    linked = pairs("mvs", runs, "picked", eta=1, xi=0, lam=0, **told)
    assert stats.binomtest(int(linked[0].sum()), runs, 4 / 6).pvalue > 1e-6
    assert stats.binomtest(int((linked[1] == 2).sum()), runs, 3 / 6).pvalue > 1e-6
    survives = sum(stats.poisson.pmf(k, 1.5) * (1 - k / 3) for k in range(4))
    deleted = pairs("mvs", runs, "picked", eta=0, xi=0, lam=1.5, **told)
    assert stats.binomtest(int(deleted[1].sum()), runs, survives).pvalue > 1e-6


def test_mvs_forgets():
    """Near its steady state the edge of the start makes no difference any more."""
    early = pairs("mvs", 3000, xi=1.0, steps=100)
    late = pairs("mvs", 3000, xi=1.0, steps=1500)
    gap = late[1] - late[0]
    assert (early[1] - early[0]).mean() > 1
    assert abs(gap.mean()) < 5 * gap.std() / math.sqrt(gap.size)
