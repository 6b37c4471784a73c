"""Correlated records: families, loose groups and chains, against brute force and the promise."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from adomnia.audit.correlation.correlation import (
    Chain,
    Groups,
    correlation,
    family_success,
    odds_factor,
)
from adomnia.errors import QuestionError


def brute(law, person, epsilon, answers):
    """Odds factors from all tables: `law` gives each its probability."""
    factors = {}
    for y in answers:
        parts = [0.0, 0.0]
        priors = [0.0, 0.0]
        for table, chance in law.items():
            priors[table[person]] += chance
            parts[table[person]] += chance * math.exp(-epsilon * abs(y - sum(table)))
        factors[y] = (parts[1] / priors[1]) / (parts[0] / priors[0])
    return factors


def chain_law(chain):
    law = {}
    for table in itertools.product((0, 1), repeat=chain.n):
        chance = chain.start if table[0] else 1 - chain.start
        for before, after in itertools.pairwise(table):
            up = chain.stay if before else chain.up
            chance *= up if after else 1 - up
        law[table] = chance
    return law


def groups_law(groups):
    law = {}
    p, together = groups.probability, groups.together
    for table in itertools.product((0, 1), repeat=sum(groups.sizes)):
        chance, start = 1.0, 0
        for size in groups.sizes:
            part = table[start : start + size]
            start += size
            apart = math.prod(p if one else 1 - p for one in part)
            same = (p if part[0] else 1 - p) * (len(set(part)) == 1)
            chance *= together * same + (1 - together) * apart
        law[table] = chance
    return law


def test_bobs_family():
    """Example 2.1: ten people, and an answer of 12 moves the odds by e^(10 epsilon)."""
    for epsilon in (0.01, 0.1, 1.0):
        assert odds_factor(Groups((10,)), 0, epsilon, 12) == pytest.approx(math.exp(10 * epsilon))
        found = correlation(Groups((10,)), 3, epsilon)
        assert found.details["factor"] == pytest.approx(math.exp(10 * epsilon))
        assert found.details["group"] == pytest.approx(10)
        assert not found.covered
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize("c", [1, 2, 5, 10])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_the_success_of_a_family(c, epsilon):
    """1 - e^(-c eps/2)/2 for even c; for odd ones integer noise has no tie and tells a bit more."""
    found = correlation(Groups((c,)), 0, epsilon)
    odd = 1 - math.exp(-c * epsilon / 2) / (2 * math.cosh(epsilon / 2))
    assert found.success.value == pytest.approx(odd if c % 2 else family_success(c, epsilon))
    assert found.success.value >= family_success(c, epsilon) - 1e-12
    assert found.details["factor"] <= math.exp(c * epsilon) * (1 + 1e-9)


def test_the_family_formula_by_simulation():
    chance = np.random.default_rng(1)
    ill = chance.integers(0, 2, 200_000)
    noisy = 10 * ill + chance.laplace(0, 10, ill.size)
    assert ((noisy > 5) == ill).mean() == pytest.approx(family_success(10, 0.1), abs=0.004)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5])
def test_independent_records_keep_the_promise(p, epsilon):
    """Both ways of saying independent: groups of one, and groups that never move together."""
    for known in (Groups((1,) * 300, p), Groups((30,) * 10, p, together=0.0), Chain(300, p, p)):
        found = correlation(known, 7, epsilon)
        assert found.details["factor"] == pytest.approx(math.exp(epsilon))
        assert found.details["beyond"] == 0
        assert found.covered


CASES = [
    (Groups((3, 2, 1), 0.3), groups_law, 0),
    (Groups((3, 2, 1), 0.3, 0.6), groups_law, 4),
    (Groups((4, 1), 0.1, 0.2), groups_law, 2),
    (Chain(6, 0.2, 0.7), chain_law, 0),
    (Chain(6, 0.2, 0.7, first=0.9), chain_law, 3),
    (Chain(7, 0.05, 0.95), chain_law, 6),
    (Chain(4, 0.9, 0.1), chain_law, 1),
]


@pytest.mark.parametrize(("known", "law", "person"), CASES, ids=range(len(CASES)))
def test_factors_against_all_tables(known, law, person):
    n = len(next(iter(law(known))))
    for epsilon in (0.3, 1.5):
        expected = brute(law(known), person, epsilon, range(-3, n + 4))
        for y, factor in expected.items():
            assert odds_factor(known, person, epsilon, y) == pytest.approx(factor, rel=1e-9)
        found = correlation(known, person, epsilon)
        most = max(max(factor, 1 / factor) for factor in expected.values())
        assert found.details["factor"] == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize(("known", "law", "person"), CASES, ids=range(len(CASES)))
def test_success_and_what_passes_the_promise_against_all_tables(known, law, person):
    epsilon, table_law = 0.7, law(known)
    prior = sum(chance for table, chance in table_law.items() if table[person])
    success = beyond = 0.0
    for y in range(-60, 70):
        parts = [0.0, 0.0]
        for table, chance in table_law.items():
            parts[table[person]] += chance * math.exp(-epsilon * abs(y - sum(table)))
        parts = [part * math.tanh(epsilon / 2) for part in parts]
        success += max(parts)
        factor = (parts[1] / prior) / (parts[0] / (1 - prior))
        beyond += sum(parts) * (abs(math.log(factor)) > epsilon * (1 + 1e-9))
    found = correlation(known, person, epsilon)
    assert found.details["prior"] == pytest.approx(prior)
    assert found.success.value == pytest.approx(success, abs=1e-9)
    assert found.details["beyond"] == pytest.approx(beyond, abs=1e-9)
    assert found.success.value >= found.baseline - 1e-12


def test_groups_of_c_never_pass_their_bound():
    for sizes in ((5,) * 20, (5, 3, 3, 1)):
        for together in (0.2, 0.9, 1.0):
            loss = correlation(Groups(sizes, 0.2, together), 0, 0.4).details["loss"]
            assert 0.4 < loss <= 5 * 0.4 + 1e-9


def test_a_chain_with_a_longer_memory_tells_more():
    losses = [
        correlation(Chain(200, 1 - stay, stay), 100, 0.5).details["group"]
        for stay in (0.5, 0.7, 0.9, 0.99)
    ]
    assert losses == sorted(losses)
    assert losses[0] == pytest.approx(1)
    assert losses[-1] > 10
    opposite = correlation(Chain(200, 0.9, 0.1), 100, 0.5)  # neighbours that differ hide a person
    assert opposite.details["group"] < 1
    assert opposite.covered


def test_long_chains_do_not_underflow():
    found = correlation(Chain(2000, 0.05, 0.95), 1000, 2.0)
    assert math.isfinite(found.details["loss"])
    assert 1 < found.details["group"] < 2000
    assert "group" in found.remedy


def test_what_makes_no_sense_is_refused():
    for wrong in (
        lambda: Groups(()),
        lambda: Groups((0,)),
        lambda: Groups((2,), probability=1.0),
        lambda: Groups((2,), together=1.5),
        lambda: Chain(0, 0.5, 0.5),
        lambda: Chain(3, 0.5, 1.5),
        lambda: Chain(3, 0.5, 0.5).chance(3),
        lambda: Chain(3, 0.0, 1.0, first=0.0).chance(1),
        lambda: Groups((2,)).chance(2),
        lambda: correlation(Groups((2,)), 0, 0.0),
    ):
        with pytest.raises(QuestionError):
            wrong()
