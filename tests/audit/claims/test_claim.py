"""Claims of epsilon: broken mechanisms are refuted, and only what is broken about them."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.audit.claims.broken_mechanisms import BROKEN_MECHANISMS, broken_mechanism
from adomnia.audit.claims.claim import TRIED, reach, refute, refute_all
from adomnia.audit.clopper_pearson import clopper_pearson
from adomnia.errors import QuestionError

SIZES = {"reseeded": 2_000}
SHOWN = {  # what each must be shown to lose at least, where it claims 1
    "half_noise": 1.8,
    "floating_point": 5.0,
    "reseeded": 4.0,
    "few_seeds": 6.0,
    "shared_noise": 6.0,
    "sparse_vector_bare": 4.0,
    "sparse_vector_endless": 1.4,
    "parallel": 4.0,
}


def integer_laplace(chance, scale):
    """Integer Laplace noise of a test's own: the difference of two geometric numbers."""
    return lambda size: np.subtract(*chance.geometric(-math.expm1(-1 / scale), (2, size)))


@pytest.mark.parametrize("name", BROKEN_MECHANISMS)
def test_every_broken_mechanism_is_caught(name):
    found = refute(broken_mechanism(name, seed=3), SIZES.get(name, 40_000))
    assert found.details["verdict"] == "violated"
    assert found.success.low > SHOWN[name]
    assert found.success.low <= found.success.value <= found.success.high
    assert found.complete
    json.dumps(found.to_json(), allow_nan=False)


def test_every_broken_mechanism_is_listed_and_documented():
    assert set(SHOWN) == set(BROKEN_MECHANISMS)
    assert all(name in broken_mechanism.__doc__ for name in BROKEN_MECHANISMS)
    with pytest.raises(QuestionError, match="no broken mechanism"):
        broken_mechanism("laplace")


def test_low_bits_can_be_left_out():
    """Apart from its bits the noise is right: nothing else accuses it."""
    found = refute(broken_mechanism("floating_point"), 40_000, low_bits=False)
    assert found.details["verdict"] == "not refuted"
    assert 0.85 < found.success.low < 1
    assert "lowest bit" in refute(broken_mechanism("floating_point"), 40_000).details["event"]


def test_the_bound_of_a_known_epsilon_is_close_and_below():
    chance = np.random.default_rng(1)
    noise = integer_laplace(chance, 2.0)
    true = AuditTarget("known", lambda count, size: count + noise(size), 0, 1, 0.5)
    found = refute(true, 400_000)
    assert 0.47 < found.success.low < 0.5
    assert found.success.value == pytest.approx(0.5, abs=0.02)
    assert found.details["verdict"] == "not refuted"


def test_symbols_and_missing_values_are_compared():
    """Randomised response in words: right three times of four is epsilon ln 3."""
    chance = np.random.default_rng(2)

    def respond(truth):
        return truth if chance.random() < 0.75 else {"yes": "no", "no": "yes"}[truth]

    kept = refute(AuditTarget.of(respond, "yes", "no", math.log(3)), 20_000)
    broken = refute(AuditTarget.of(respond, "yes", "no", 0.9), 20_000)
    assert (kept.details["verdict"], broken.details["verdict"]) == ("not refuted", "violated")
    assert kept.details["mechanism"] == "respond"

    def hide(present):
        return 7 if present and chance.random() < 0.5 else None

    shown = refute(AuditTarget.of(hide, True, False, 1.0), 2_000)
    assert shown.details["verdict"] == "violated"
    assert shown.details["rare"]["value"] == 0


def test_unhashable_and_ragged_outputs_are_compared():
    chance = np.random.default_rng(3)
    ragged = AuditTarget.of(lambda n: [1] * (n + int(chance.random() < 0.5)), 1, 2, 1.0)
    assert refute(ragged, 2_000).details["verdict"] == "violated"
    sets = AuditTarget.of(lambda n: {n: "shown"}, 1, 2, 1.0)
    assert refute(sets, 2_000).details["verdict"] == "violated"


def test_the_classifier_finds_what_no_coordinate_shows():
    """Twenty-four counts, each of which moves by little: together they lose six times the claim."""
    chance = np.random.default_rng(4)
    noise = integer_laplace(chance, 4.0)
    signs = np.tile([1, -1], 12)

    def sample(counts, size):
        return counts + noise(size * 24).reshape(size, 24)

    found = refute(AuditTarget("spread out", sample, np.zeros(24, int), signs, 1.0), 40_000)
    assert found.details["verdict"] == "violated"
    assert found.success.low > 2
    assert "classifier" in found.details["event"]


def test_delta_pays_for_rare_disasters():
    """The truth comes out once in a hundred: refuted at delta 0.001, not at 0.02."""
    chance = np.random.default_rng(5)
    noise = integer_laplace(chance, 1.0)

    def sample(count, size):
        lost = chance.random(size) < 0.01
        return np.where(lost, 1000 + count, count + noise(size))

    small = refute(AuditTarget("leaky", sample, 0, 1, 1.0, 0.001), 60_000)
    large = refute(AuditTarget("leaky", sample, 0, 1, 1.0, 0.02), 60_000)
    assert (small.details["verdict"], large.details["verdict"]) == ("violated", "not refuted")
    assert 0.001 < small.details["delta_at_least"] < 0.011
    assert large.details["delta_at_least"] < 0.02


def test_a_constant_keeps_every_promise():
    found = refute(AuditTarget.of(lambda data: 4, 0, 1, 0.0), 2_000)
    assert found.details["verdict"] == "not refuted"
    assert found.success.low == 0


def test_what_few_samples_cannot_show_is_said():
    """An open secret, and yet 64 samples cannot tell it from epsilon 5."""
    found = refute(AuditTarget.of(lambda data: data, 0, 1, 5.0), 64)
    assert found.details["verdict"] == "out of reach"
    assert found.success.low <= found.details["reach"] < 5
    assert reach(10**6) > reach(10**4) > reach(100)
    assert (
        refute(AuditTarget.of(lambda data: data, 0, 1, 5.0), 20_000).details["verdict"]
        == "violated"
    )


def test_time_ends_it():
    slow = AuditTarget.of(lambda data: time.sleep(0.001) or data, 0, 1, 1.0)
    begin = time.monotonic()
    found = refute(slow, 10**6, time_limit=0.5)
    assert time.monotonic() - begin < 300
    assert not found.complete
    assert found.details["drawn"] < found.details["samples"] == 10**6


def test_several_pairs_share_the_doubt():
    """A mechanism that is right for small counts only: the pair that shows it is found."""
    chance = np.random.default_rng(6)
    noise = integer_laplace(chance, 1.0)

    def sample(count, size):
        return count + noise(size) * (count < 100)

    pairs = [AuditTarget("capped", sample, n, n + 1, 1.0) for n in (0, 50, 98, 99)]
    found = refute_all(pairs, 5_000)
    assert found.details["verdict"] == "violated"
    assert [low > 1 for low in found.details["pairs"]] == [False, False, False, True]
    assert found.success.confidence == pytest.approx(0.9975)
    assert refute_all(pairs[:2], 5_000).details["verdict"] == "not refuted"
    hurried = refute_all(pairs, 10**9, time_limit=0.3)
    assert not hurried.complete
    with pytest.raises(QuestionError):
        refute_all([])


def test_what_is_not_a_claim_is_refused():
    with pytest.raises(QuestionError):
        AuditTarget.of(lambda data: data, 0, 1, -1.0)
    with pytest.raises(QuestionError):
        AuditTarget.of(lambda data: data, 0, 1, 1.0, 1.0)
    with pytest.raises(QuestionError):
        refute(broken_mechanism("half_noise"), 3)
    with pytest.raises(QuestionError, match="no mechanism"):
        refute("nonesuch")


def test_clopper_pearson_holds_for_every_probability():
    """Exactly: the chance that an end misses, summed over all outcomes."""
    from scipy.stats import binom

    trials = 30
    rates = [clopper_pearson(hits, trials, 0.9) for hits in range(trials + 1)]
    for p in np.linspace(0.01, 0.99, 50):
        masses = binom.pmf(np.arange(trials + 1), trials, p)
        assert sum(m for m, rate in zip(masses, rates, strict=True) if rate.low > p) <= 0.05
        assert sum(m for m, rate in zip(masses, rates, strict=True) if rate.high < p) <= 0.05
    assert (clopper_pearson(0, 0, 0.9).low, clopper_pearson(0, 0, 0.9).high) == (0, 1)


def test_all_that_are_tried_share_the_doubt():
    found = refute(broken_mechanism("half_noise"), 10_000, confidence=0.95)
    assert found.details["likely"]["confidence"] == pytest.approx(1 - 0.05 / TRIED)
    assert found.success.confidence == 0.95
