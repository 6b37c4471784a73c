"""Random subset sums: the linear program against another solver, and what is recovered."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from scipy.optimize import linprog

from adomnia.audit.reconstruction.least_absolute import least_absolute
from adomnia.audit.reconstruction.subset_sums import (
    SimulatedNoise,
    majority,
    recovery,
    subset_sums,
    subset_sums_curve,
)
from adomnia.errors import QuestionError


def instance(n, many, noise, seed):
    chance = np.random.default_rng(seed)
    secret = chance.integers(0, 2, n)
    asked = chance.integers(0, 2, (many, n)).astype(float)
    return asked, asked @ secret + chance.uniform(-noise, noise, many), secret


def by_highs(asked, answers):
    """The same linear program, written out with an error variable for each answer."""
    many, n = asked.shape
    unit = np.eye(many)
    found = linprog(
        np.r_[np.zeros(n), np.ones(many)],
        A_ub=np.block([[asked, -unit], [-asked, -unit]]),
        b_ub=np.r_[answers, -answers],
        bounds=[(0, 1)] * n + [(0, None)] * many,
    )
    return found.fun


@pytest.mark.parametrize(("n", "many", "noise"), [(20, 80, 0.0), (20, 10, 1.0), (30, 90, 6.0)])
def test_the_distance_is_the_least(n, many, noise):
    for seed in range(3):
        asked, answers, _ = instance(n, many, noise, seed)
        found = least_absolute(asked, answers, tolerance=1e-6)
        assert found.finished
        assert found.bound <= found.distance <= found.bound + 1e-5 * max(1, found.distance)
        assert found.distance == pytest.approx(by_highs(asked, answers), abs=1e-4)
        assert found.point.min() >= 0
        assert found.point.max() <= 1


def test_answers_that_no_column_has_given():
    asked, answers, _ = instance(20, 60, 0.0, 1)
    found = least_absolute(asked, answers - 1000)
    assert found.finished
    assert not found.point.round().any()


def test_no_questions_and_no_time_give_what_there_is():
    none = least_absolute(np.zeros((0, 5)), np.zeros(0))
    assert none.distance == none.bound == 0
    asked, answers, _ = instance(20, 60, 1.0, 1)
    late = least_absolute(asked, answers, time_limit=0.0)
    assert not late.finished
    assert late.bound <= late.distance
    assert not subset_sums(64, 256, 1.0, time_limit=0.0).complete


def test_too_much_at_once_is_refused():
    with pytest.raises(QuestionError, match="too many at once"):
        least_absolute(np.broadcast_to(np.zeros(1), (1 << 20, 1 << 10)), np.zeros(1))


@pytest.mark.parametrize(
    ("factor", "wrong", "slack"),
    [(0.1, 0, 0), (0.25, 0.026, 0.02), (0.5, 0.148, 0.04), (1, 0.294, 0.05)],
)
def test_known_outcomes(factor, wrong, slack):
    """n = 128, four questions a person: the share of wrong bits, measured independently."""
    found = [subset_sums(128, 512, factor * 128**0.5, seed) for seed in range(6)]
    assert all(one.complete for one in found)
    assert np.mean([1 - one.success.value for one in found]) == pytest.approx(wrong, abs=slack)
    assert {one.baseline for one in found} == {0.5}


def test_the_curve_falls_with_noise_and_rises_with_questions():
    found = subset_sums_curve(64, [16, 64, 512], [1, 8, 64], seed=2)
    share = {(row["noise"], row["questions"]): row["recovered"] for row in found.details["curve"]}
    assert found.complete
    assert len(share) == 9
    assert share[1, 512] == 1.0 == found.success.value
    assert share[1, 512] > share[1, 16]
    assert share[1, 512] > share[64, 512]
    json.dumps(found.to_json())


def test_laplace_noise_and_a_given_column():
    truth = [1] * 48 + [0] * 16
    found = subset_sums(64, 512, SimulatedNoise("laplace", 1.0), seed=3, truth=truth)
    assert found.success.value == 1
    assert found.baseline == majority(truth) == 0.75
    assert found.details["guess"] == truth


def test_a_door_is_asked_and_the_truth_only_scores():
    truth = np.random.default_rng(4).integers(0, 2, 40)
    asked = []

    def ask(weights):
        asked.append(weights)
        return float(weights @ truth)

    found = subset_sums(40, 160, ask, seed=5)
    assert len(asked) == 160
    assert found.details["guess"] == truth.tolist()
    assert (found.success.low, found.success.high) == (0, 1)
    assert not found.details["scored"]
    assert subset_sums(40, 160, ask, seed=5, truth=truth).success.value == 1


def test_wrong_requests():
    with pytest.raises(QuestionError, match="needs people"):
        subset_sums(0, 5, 1.0)
    with pytest.raises(QuestionError, match="one bit for each person"):
        recovery(np.zeros(3, np.int64), [0, 1, 2])
    with pytest.raises(QuestionError, match="nothing to attack"):
        subset_sums_curve(5, [], [1.0])


@pytest.mark.slow
def test_two_thousand_people_in_a_minute():
    start = time.process_time()
    found = subset_sums(2000, 8000, 5.0, seed=1, time_limit=500)
    assert found.success.value == 1
    assert found.complete
    assert time.process_time() - start < 300
