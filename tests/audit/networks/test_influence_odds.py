"""The attacker's odds: closed forms for two known counts, brute force for others, no bias."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adomnia.audit.networks.growth import odds as module
from adomnia.audit.networks.growth.odds import log_smooth, odds


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0])
def test_two_known_counts_one_apart(epsilon):
    """The promise itself: success 1/(1 + q), odds of exp(epsilon) and never beyond."""
    q = math.exp(-epsilon)
    found = odds(np.full(10, 3), np.full(10, 4), 1 / epsilon, epsilon)
    assert found.success.mean == pytest.approx(1 / (1 + q))
    assert found.log_odds_with.mean == pytest.approx(epsilon * (1 - q) / (1 + q))
    assert found.log_odds_without.mean == pytest.approx(epsilon * (1 - q) / (1 + q))
    assert found.beyond.mean == 0
    assert found.success.se == pytest.approx(0, abs=1e-7)


def brute(without, with_edge, scale, epsilon):
    """Sums over every answer within 60 scales of a count."""
    wide = math.ceil(60 * scale) + 2
    answers = np.arange(min(*without, *with_edge) - wide, max(*without, *with_edge) + wide)
    q = math.exp(-1 / scale)
    laws = [
        np.mean([(1 - q) / (1 + q) * q ** np.abs(answers - c) for c in world], axis=0)
        for world in (without, with_edge)
    ]
    ratio = np.log(laws[1]) - np.log(laws[0])
    return (
        np.maximum(*laws).sum() / 2,
        (laws[1] * ratio).sum(),
        -(laws[0] * ratio).sum(),
        sum((law * (np.abs(ratio) > epsilon)).sum() for law in laws) / 2,
    )


@pytest.mark.parametrize("scale", [0.7, 2.0, 9.0])
def test_as_by_brute_force(scale):
    """Both halves hold the same counts here, so what is learned is what is scored."""
    without, with_edge = [0, 0, 1, 4, 11], [2, 5, 5, 9, 30]
    twice = [np.repeat(world, 2) for world in (without, with_edge)]
    found = odds(*twice, scale, 1.0)
    means = (found.success, found.log_odds_with, found.log_odds_without, found.beyond)
    assert [one.mean for one in means] == pytest.approx(brute(without, with_edge, scale, 1.0))


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("scale", [0.2, 1.0, 30.0])
def test_smoothing_is_the_sum_it_says(scale, constant):
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    wide = 2000 if constant else 0
    spread = np.concatenate([[weights[0]] * wide, weights, [weights[-1]] * wide])
    places = np.arange(spread.size)
    sums = [(np.exp(-np.abs(places - wide - x) / scale) * spread).sum() for x in range(4)]
    with np.errstate(divide="ignore"):
        found = log_smooth(np.log(weights), scale, constant)
    assert np.exp(found) == pytest.approx(sums)


def test_far_apart_under_little_noise():
    """Nothing underflows: the worlds are told apart for certain, by odds of exp(a million)."""
    found = odds(np.zeros(10, int), np.full(10, 1000), 0.001, 1.0)
    assert found.success.mean == pytest.approx(1)
    assert found.log_odds_with.mean == pytest.approx(1e6)
    assert found.beyond.mean == pytest.approx(1)


def test_equal_worlds_are_not_told_apart():
    """Few runs of one law: the halves differ by chance, and the attacker gains nothing from it."""
    chance = np.random.default_rng(1)
    found = [odds(*chance.integers(0, 200, (2, 100)), 1.0, 1.0).success for _ in range(100)]
    assert np.mean([one.mean for one in found]) == pytest.approx(0.5, abs=0.02)
    same = odds(np.arange(10).repeat(2), np.arange(10).repeat(2), 1.0, 1.0)
    assert same.success.mean == pytest.approx(0.5)


def test_wide_counts_in_groups(monkeypatch):
    """Grouped neighbours tell a little less, never more than a little."""
    chance = np.random.default_rng(2)
    without, with_edge = chance.integers(0, 4000, 5000), chance.integers(1000, 5000, 5000)
    fine = odds(without, with_edge, 500.0, 1.0)
    monkeypatch.setattr(module, "MOST_CELLS", 128)
    coarse = odds(without, with_edge, 500.0, 1.0)
    assert coarse.success.mean == pytest.approx(fine.success.mean, abs=0.005)
