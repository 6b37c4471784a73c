"""Draws from a ladder follow its law, and margins of ladders hold as often as they say."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.graphs.counts import count
from adomnia.mechanisms.graphs.ladder import draw, height
from adomnia.mechanisms.graphs.measure import fit_ascending, measure
from adomnia.privacy.graphs import GraphTerms
from adomnia.queries.graphs.subgraphs import DegreeSequence, Stars, Triangles
from adomnia.schema.graph import GraphSchema, build, id_keys
from adomnia.schema.sealed import Sealed


def law(truth, rungs, epsilon, limit):
    """The probability of every candidate, by definition."""
    candidates = range(-limit, limit + 1)
    ends = np.concatenate([[0], np.cumsum(rungs)])
    away = np.abs(np.array(candidates) - truth)
    weights = np.exp(-float(epsilon) / 2 * np.searchsorted(ends, away, "left"))
    return dict(zip(candidates, weights / weights.sum(), strict=True))


@pytest.mark.parametrize(
    ("truth", "rungs", "epsilon", "digits"),
    [
        (3, [1, 2, 2, 3], Fraction(1, 2), 4),
        (-9, [2, 2], Fraction(2), 4),
        (16, [5] * 20, Fraction(1), 4),
        (0, [1] * 3, Fraction(1, 10), 3),
        (20, [2, 3, 4], Fraction(1), 4),
        (33, [1, 1], Fraction(1), 4),
    ],
)
def test_draws_follow_the_law(truth, rungs, epsilon, digits):
    """Also where rungs pass the ends of the range, or the truth lies outside."""
    limit = 1 << digits
    expected = law(truth, rungs, epsilon, limit)
    bits = SeededBits(7)
    size = 3000
    seen = Counter(draw(truth, rungs, epsilon, digits, bits) for _ in range(size))
    assert set(seen) <= set(expected)
    observed = [seen[candidate] for candidate in expected]
    test = stats.chisquare(observed, [size * share for share in expected.values()])
    assert test.pvalue > 1e-4


def test_what_lies_beyond_the_rungs_hardly_weighs():
    for digits, epsilon in ((60, Fraction(1, 10)), (90, Fraction(3)), (630, Fraction(1, 1000))):
        beyond = (digits + 2) * math.log(2) - float(epsilon / 2) * height(epsilon, digits)
        assert beyond < -60 * math.log(2)


NETWORKS = {
    "karate": nx.karate_club_graph(),
    "clustered": nx.powerlaw_cluster_graph(150, 6, 0.7, seed=1),
    "sparse": nx.gnm_random_graph(100, 60, seed=2),
    "dense": nx.gnp_random_graph(40, 0.7, seed=3),
}


def sealed(network):
    nodes = network.number_of_nodes()
    return build(GraphSchema(), id_keys(np.arange(nodes)), {}, list(network.edges))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("question", [Triangles(), Stars(2), Stars(3)], ids=repr)
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(2)], ids=str)
def test_margins_of_ladders_hold(name, question, epsilon):
    """At least nine times in ten, less what chance allows; where rungs are wide, not in vain."""
    graph = sealed(NETWORKS[name])
    truth = int(count(graph, question)[0])
    bits = SeededBits(11)
    hits, size = 0, 50
    errors, margins = [], []
    for _ in range(size):
        noisy = measure(Sealed(graph), question, GraphTerms("edge", epsilon=epsilon), bits)
        margins.append(noisy.margin(0.9))
        errors.append(abs(int(noisy.values[0]) - truth))
        hits += errors[-1] <= margins[-1]
    assert hits >= stats.binom.ppf(1e-5, size, 0.9)
    if name in ("clustered", "dense"):
        assert np.median(margins) < 40 * np.median(errors)


def test_fitted_degrees_are_nearer():
    """Hay et al.: where many nodes share a degree, the fit takes most of the noise away."""
    graph = sealed(nx.barabasi_albert_graph(3000, 3, seed=5))
    truth = np.sort(graph.degrees())
    noisy = measure(Sealed(graph), DegreeSequence(), GraphTerms("edge", epsilon=Fraction(1, 2)))
    raw = ((noisy.values - truth) ** 2).mean()
    fitted = ((fit_ascending(noisy.values, graph.nodes - 1) - truth) ** 2).mean()
    assert fitted < raw / 10
