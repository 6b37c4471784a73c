"""The house's own mechanisms are not accused: false alarms, counted."""

from __future__ import annotations

import pytest

from adomnia.audit.claims.claim import refute
from adomnia.audit.claims.reference_mechanisms import REFERENCE_MECHANISMS, reference_mechanism
from tests.chance.seeded import seed_system

RUNS = {"laplace": (200, 1_000, 1), "gaussian": (150, 1_000, 1)}
LONG = {"laplace": (1_000, 4_000, 1), "gaussian": (1_000, 2_000, 1)}
# The others are drawn one by one: fewer samples, and an epsilon at which these show something.


@pytest.fixture(autouse=True)
def _seeded(monkeypatch):
    """An audit may accuse an honest mechanism once in a hundred times."""
    seed_system(monkeypatch.setattr)


def bounds(name, runs, samples, epsilon):
    """The lower bounds of so many audits, and the claim."""
    subject = reference_mechanism(name, epsilon)
    return [refute(subject, samples).success.low for _ in range(runs)], subject.epsilon


@pytest.mark.parametrize("name", REFERENCE_MECHANISMS)
def test_no_false_alarm(name):
    lows, claimed = bounds(name, *RUNS.get(name, (12, 300, 4)))
    assert sum(low > claimed for low in lows) <= len(lows) // 50


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE_MECHANISMS)
def test_false_alarms_stay_under_one_in_a_hundred(name):
    lows, claimed = bounds(name, *LONG.get(name, (1_000, 300, 4)))
    assert sum(low > claimed for low in lows) < len(lows) / 100
    assert max(lows) > 0 or name == "selection"


@pytest.mark.parametrize("epsilon", ["1/10", 1, 3])
def test_integer_laplace_keeps_its_claim_and_uses_it_up(epsilon):
    found = refute(reference_mechanism("laplace", epsilon), 300_000)
    assert found.details["verdict"] == "not refuted"
    assert 0.6 * found.baseline < found.success.low <= found.baseline


def test_the_gaussian_is_looser_than_its_claim():
    found = refute("gaussian", 200_000)
    assert found.baseline > 1
    assert 1 < found.success.low < found.baseline
    half = reference_mechanism("gaussian")
    broken = type(half)("g", half.sample, 0, 4, half.epsilon, half.delta)  # not neighbours
    assert refute(broken, 50_000).details["verdict"] == "violated"


def test_a_new_key_is_hidden_by_delta_only():
    """With the same noise and no threshold's delta the new key would be an open secret."""
    from adomnia.audit.claims.audit_target import AuditTarget

    given = reference_mechanism("selection", delta="1/10")
    assert refute(given, 3_000).details["verdict"] == "not refuted"
    pure = AuditTarget("no delta", given.sample, given.data, given.neighbour, given.epsilon)
    assert refute(pure, 3_000).details["verdict"] == "violated"
