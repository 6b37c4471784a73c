"""Randomized response: its law, estimates without bias, margins that hold, edges."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.counts.randomized_response import (
    Response,
    estimate,
    estimate_margin,
    respond,
)


@pytest.mark.parametrize("values", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_the_law_costs_epsilon_and_is_followed(values, epsilon):
    response = Response(epsilon, values)
    assert response.truth / response.other == pytest.approx(math.exp(epsilon))
    assert response.truth + (values - 1) * response.other == pytest.approx(1)
    assert response.spread == pytest.approx(response.truth - response.other)
    told = respond(np.full(20_000, 1), response, SeededBits(1))
    law = np.full(values, response.other)
    law[1] = response.truth
    counts = np.bincount(told, minlength=values)
    assert stats.chisquare(counts, law * 20_000).pvalue > 1e-4


def test_warners_coin():
    """Truth with probability 3/4 is epsilon = log 3."""
    assert Response(Fraction(math.log(3))).truth == pytest.approx(0.75)


@pytest.mark.parametrize("values", [2, 5])
def test_estimates_have_no_bias_and_keep_their_margin(values):
    response, bits = Response(Fraction(1), values), SeededBits(2)
    truth = np.array([700, 200, 60, 30, 10][:values])
    rows = np.repeat(np.arange(values), truth)
    runs = [
        estimate(np.bincount(respond(rows, response, bits), minlength=values), response)
        for _ in range(400)
    ]
    errors = np.array(runs) - truth
    spread = errors.std(axis=0)
    assert (np.abs(errors.mean(axis=0)) < 4.5 * spread / 20).all()
    margin = estimate_margin(rows.size, response, 0.9)
    assert (np.abs(errors).max(axis=1) <= margin).mean() >= 0.9
    assert margin < 6 * spread.max()
    assert np.allclose([run.sum() for run in runs], rows.size)


def test_edges():
    response = Response(Fraction(2000), 3)
    assert respond(np.array([-5, 0, 2, 9]), response).tolist() == [0, 0, 2, 2]
    assert respond(np.array([], np.int64), response).tolist() == []
    assert estimate(np.array([5, 0, 1]), response).tolist() == [5, 0, 1]
    assert estimate_margin(0, response, 0.9) >= 0
    quiet = Response(Fraction(1, 10**9))
    assert quiet.spread == pytest.approx(5e-10)
    assert estimate_margin(100, quiet, 0.9) > 10**9
    assert set(respond(np.zeros(200, int), quiet, SeededBits(3))) == {0, 1}


def test_a_million_answers_are_quick():
    begun = time.process_time()
    told = respond(np.zeros(10**6, np.int64), Response(Fraction(1), 100), SeededBits(4))
    assert time.process_time() - begun < 60
    assert told.max() == 99


def test_wrong_input_is_refused():
    for epsilon, values in [(0, 2), (1, 1), (-1, 2)]:
        with pytest.raises(QuestionError, match="needs epsilon"):
            Response(Fraction(epsilon), values)
    with pytest.raises(QuestionError, match="whole numbers"):
        respond(np.array([0.0, math.nan]), Response(Fraction(1)))
    with pytest.raises(QuestionError, match="each value"):
        estimate(np.array([1, 2, 3]), Response(Fraction(1)))
    with pytest.raises(ValueError, match="confidence"):
        estimate_margin(5, Response(Fraction(1)), 0)
