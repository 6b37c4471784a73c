"""Averaging succeeds against fresh noise without a budget, and ends where the budget does."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from adomnia.audit.reconstruction.averaging import averaging, family, repeats_needed
from adomnia.errors import BudgetError, MachineryError


def noisy(truth, epsilon, seed, budget=math.inf):
    """Fresh noise for every answer, until the budget is spent."""
    rng = np.random.default_rng(seed)
    left = [budget]

    def ask(condition):
        assert condition == "age > 90"
        if left[0] < epsilon:
            raise BudgetError("nothing is left")
        left[0] -= epsilon
        return truth + rng.laplace(0, 1 / epsilon)

    return ask


def test_the_number_of_repeats():
    assert repeats_needed(1.0) == 31
    assert repeats_needed(0.1) == pytest.approx(30.7 / 0.01, rel=0.002)
    assert repeats_needed(0.1, margin=1.0) == pytest.approx(repeats_needed(0.1) / 4, abs=1)


def test_without_a_budget_the_mean_is_right_in_95_of_100():
    runs = [averaging(noisy(17, 0.5, seed), "age > 90", 0.5, truth=17) for seed in range(300)]
    assert all(run.complete for run in runs)
    assert np.mean([run.success.value for run in runs]) == pytest.approx(0.95, abs=0.045)


def test_the_attacker_knows_how_sure_to_be():
    found = averaging(noisy(17, 0.5, 1), "age > 90", 0.5)
    assert found.success.low < 0.95 < found.success.high
    assert round(found.details["mean"]) == 17
    few = averaging(noisy(17, 0.5, 1), "age > 90", 0.5, repeats=4)
    assert few.success.value < found.success.value


def test_a_budget_ends_it():
    runs = [
        averaging(noisy(17, 0.1, seed, budget=1.0), "age > 90", 0.1, truth=17)
        for seed in range(200)
    ]
    assert not any(run.complete for run in runs)
    assert {run.details["answers"] for run in runs} <= {9, 10}
    assert np.mean([run.success.value for run in runs]) < 0.2


def test_no_answer_at_all_teaches_nothing():
    found = averaging(noisy(17, 1.0, 1, budget=0.5), "age > 90", 1.0)
    assert (found.success.value, found.details["mean"], found.complete) == (0, None, False)
    scored = averaging(noisy(17, 1.0, 1, budget=0.5), "age > 90", 1.0, truth=17)
    assert scored.success.high == 0


def test_the_same_answer_again_and_again_averages_to_itself():
    found = averaging(lambda _: 21.4, "age > 90", 1.0)
    assert (found.success.low, found.success.value, found.success.high) == (0, 0, 1)
    assert averaging(lambda _: 21.4, "age > 90", 1.0, truth=17).success.value == 0
    assert averaging(lambda _: 17, "age > 90", 1.0, truth=17).success.value == 1


def test_what_is_no_refusal_is_not_swallowed():
    def broken(condition):
        raise MachineryError(condition)

    with pytest.raises(MachineryError):
        averaging(broken, "age > 90", 1.0)
    with pytest.raises(ValueError, match="once"):
        averaging(broken, "age > 90", 1.0, repeats=0)


@pytest.mark.parametrize(("c", "epsilon"), [(1, 0.1), (5, 0.5), (20, 0.1), (100, 0.1), (10, 200)])
def test_a_family_is_found_as_the_formula_says(c, epsilon):
    found = family(c, epsilon, trials=40_000, seed=3)
    assert found.success.value == pytest.approx(found.details["formula"], abs=0.012)
    assert found.details["formula"] == pytest.approx(1 - math.exp(-c * epsilon / 2) / 2)
    odds = found.details["formula"] / max(1e-300, 1 - found.details["formula"])
    assert odds <= found.details["odds_at_most"]
    assert found.covered == (c == 1)
    json.dumps(found.to_json(), allow_nan=False)


def test_wrong_families_are_refused():
    with pytest.raises(ValueError, match="family"):
        family(0, 1.0)
