"""Sparse vector: the exact law of every transcript, its loss, its cutoff, its margin."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.sparse_vector import SparseVector, above_threshold, sparse_answers

REACH = 400
X = np.arange(-REACH, REACH + 1)


def laplace_law(scale):
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(X)


def transcripts(answers, plan):
    """P(transcript) for every one that can occur, threshold 0, summed over the noise on it."""
    bar, noise = laplace_law(float(plan.threshold_scale)), laplace_law(float(plan.answer_scale))
    at_least = np.cumsum(noise[::-1])[::-1]
    found = {}
    for said in itertools.product([False, True], repeat=len(answers)):
        ends = (
            list(itertools.accumulate(said)).index(plan.cutoff) + 1
            if (sum(said) >= plan.cutoff)
            else len(said)
        )
        shown = said[:ends]
        if shown in found:
            continue
        odds = bar.copy()
        for answer, is_above in zip(answers, shown, strict=False):
            above = at_least[np.clip(X - answer + REACH, 0, X.size - 1)]
            odds *= above if is_above else 1 - above
        found[shown] = odds.sum()
    return found


@pytest.mark.parametrize("cutoff", [1, 2])
@pytest.mark.parametrize(("monotone", "steps"), [(False, (-1, 0, 1)), (True, (0, 1))])
def test_every_transcript_costs_epsilon_at_most(cutoff, monotone, steps):
    plan = SparseVector(Fraction(1), 1, cutoff, monotone)
    answers = (0, 1, -1, 0)
    here, worst = transcripts(answers, plan), 0.0
    assert sum(here.values()) == pytest.approx(1, abs=1e-6)
    for step in itertools.product(steps, repeat=4):
        moved = tuple(a + b for a, b in zip(answers, step, strict=True))
        other = transcripts(moved, plan)
        ratios = [here[said] / other[said] for said in here]
        worst = max(worst, *ratios, *(1 / ratio for ratio in ratios))
    assert math.exp(0.3) < worst <= math.exp(1) + 1e-6


def test_what_is_paid_adds_up():
    for plan in (
        SparseVector(Fraction(2), 3, 5),
        SparseVector(Fraction(1, 10), 1, 1, True),
        SparseVector(Fraction(1), 2, 4, False, Fraction(1, 3)),
    ):
        compared = (1 if plan.monotone else 2) * plan.cutoff * plan.sensitivity
        paid = plan.sensitivity / plan.threshold_scale + compared / plan.answer_scale
        if plan.value_scale is not None:
            paid += plan.cutoff * plan.sensitivity / plan.value_scale
        assert paid == plan.epsilon


def test_it_stops_after_the_cutoff_and_asks_no_further():
    asked = []

    def ask():
        for answer in [-1000, 1000, -1000, 1000, 1000, 1000]:
            asked.append(answer)
            yield answer

    plan = SparseVector(Fraction(2), cutoff=2)
    assert list(above_threshold(ask(), 0, plan, SeededBits(1))) == [False, True, False, True]
    assert len(asked) == 4
    assert list(above_threshold([], 0, plan)) == []
    assert list(above_threshold([-(10**6)] * 50, 0, plan)) == [False] * 50


def test_values_come_with_fresh_noise_of_their_own():
    plan = SparseVector(Fraction(4), cutoff=2, numeric=Fraction(2))
    shown = list(sparse_answers([0, 5000, 0, 7000, 9000], 2500, plan, SeededBits(2)))
    assert [value is None for value in shown] == [True, False, True, False]
    assert abs(shown[1] - 5000) < 40
    assert abs(shown[3] - 7000) < 40


def test_the_margin_holds():
    plan, bits = SparseVector(Fraction(1), cutoff=1), SeededBits(3)
    m = plan.margin(20, 0.9)
    quiet = sum(not any(above_threshold([-m - 1] * 20, 0, plan, bits)) for _ in range(300))
    heard = sum(next(above_threshold([m], 0, plan, bits)) for _ in range(300))
    assert min(quiet, heard) > 270 - 15
    assert SparseVector(Fraction(1)).margin(1000, 0.9) > m
    with pytest.raises(ValueError, match="question"):
        plan.margin(0, 0.9)


def test_impossible_plans_are_refused():
    for wrong in ({"sensitivity": 0}, {"cutoff": 0}):
        with pytest.raises(QuestionError, match="at least 1"):
            SparseVector(Fraction(1), **wrong)
    for epsilon, numeric in [(0, 0), (1, 1), (1, -1)]:
        with pytest.raises(QuestionError, match="less than epsilon"):
            SparseVector(Fraction(epsilon), numeric=Fraction(numeric))
    with pytest.raises(QuestionError, match="numeric"):
        next(sparse_answers([1], 0, SparseVector(Fraction(1))))
    for answer in (math.nan, 1.5, 2.0):
        with pytest.raises(QuestionError, match="whole numbers"):
            next(above_threshold([answer], 0, SparseVector(Fraction(1))))
