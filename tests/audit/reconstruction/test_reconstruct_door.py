"""Asking a door until it refuses: without a budget the column comes back, with one it does not."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.audit.reconstruction.reconstruct import ceiling, demonstrate, figures, reconstruct
from adomnia.errors import BudgetError, QuestionError
from adomnia.mechanisms.noise import laplace

sys.path.insert(0, str(Path(__file__).parents[2] / "chance"))
from seeded import SeededBits

PEOPLE = 128


class Curator:
    """Counts with exact Laplace noise, each paid for, until the budget ends (None: never)."""

    def __init__(self, truth, each, budget, seed):
        self.truth, self.each, self.left = truth, Fraction(each), budget
        self.bits = SeededBits(seed)

    def ask(self, chosen):
        if self.left is not None:
            if self.each > self.left:
                raise BudgetError("the budget is spent")
            self.left -= self.each
        return int(chosen @ self.truth) + int(laplace.sample(1 / self.each, 1, self.bits)[0])


def column(seed):
    return np.random.default_rng(seed).integers(0, 2, PEOPLE)


def test_without_a_budget_the_column_comes_back():
    truth = column(1)
    found = reconstruct(Curator(truth, 1, None, 1).ask, PEOPLE, most=768, truth=truth)
    assert found.success.value == 1
    assert found.baseline < 0.6
    assert not found.details["refused"]
    assert found.complete
    shares = {row["answers"]: row["recovered"] for row in found.details["curve"]}
    assert list(shares) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768]
    assert shares[768] > shares[32]


@pytest.mark.parametrize("many", [1, 16, 256])
def test_a_budget_keeps_the_attacker_near_the_baseline(many):
    """Epsilon 1 in all, spent at once or in small parts; never above what its loss allows."""
    shares, bases = [], []
    for seed in range(4):
        truth = column(seed)
        door = Curator(truth, Fraction(1, many), Fraction(1), seed)
        found = reconstruct(door.ask, PEOPLE, seed=seed, truth=truth)
        assert found.details["refused"]
        assert found.details["answered"] == many
        assert found.complete
        shares.append(found.success.value)
        bases.append(found.baseline)
    assert abs(np.mean(shares) - np.mean(bases)) < 0.09
    assert np.mean(shares) < ceiling(1)


def test_a_door_that_is_closed_gives_nothing():
    truth = column(3)
    found = reconstruct(Curator(truth, 1, Fraction(0), 1).ask, PEOPLE, truth=truth)
    assert found.details["answered"] == 0
    assert found.success.value == pytest.approx(0.5, abs=0.15)
    assert found.complete


def test_no_truth_no_score_and_time_ends():
    door = Curator(column(4), 1, Fraction(8), 1)
    found = reconstruct(door.ask, PEOPLE)
    assert (found.success.low, found.success.high) == (0, 1)
    assert found.details["curve"] == []
    late = reconstruct(Curator(column(4), 1, None, 1).ask, PEOPLE, time_limit=0.0)
    assert not late.complete
    with pytest.raises(QuestionError):
        reconstruct(door.ask, 0)


def test_other_errors_are_not_swallowed():
    def broken(chosen):
        raise RuntimeError("down")

    with pytest.raises(RuntimeError, match="down"):
        reconstruct(broken, 4)


def test_the_figures_of_the_command():
    printed = demonstrate(128, 1024, noise=2.5, seed=1)
    assert printed["recovered"] == 1.0
    assert printed["baseline"] == 0.5
    assert printed["questions"] == printed["answered"] == 1024
    assert demonstrate(128, 1024, noise=2.5, seed=1) == printed
    json.dumps(printed)
    door = Curator(column(5), 1, Fraction(2), 1)
    assert figures(reconstruct(door.ask, PEOPLE, truth=column(5)))["answered"] == 2


def test_the_ceiling_holds_for_one_bit():
    """One question about one fair bit, answered with epsilon: the best guess hits that often."""
    epsilon = Fraction(1)
    noise = laplace.sample(1 / epsilon, 40_000, SeededBits(6))
    bits = np.random.default_rng(6).integers(0, 2, noise.size)
    hits = ((bits + noise >= 1) == bits).mean()
    assert hits < ceiling(1) + 0.01
    assert ceiling(0) == 0.5
