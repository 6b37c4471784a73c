"""Smooth quantiles: edges, clamping, draws around the quantile, and the window's cost."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.quantiles.quantile import Rank, Share
from adomnia.mechanisms.quantiles.smooth import (
    FLOOR,
    exact_quantile,
    rank_of,
    smooth_quantile,
    smooth_sensitivity,
)

MEDIAN = Share(Fraction(1, 2))
PURE = SmoothWaring(Fraction(1))
BOTH = [PURE, SmoothLaplace(Fraction(1), Fraction(1, 10**6))]


def tally(rows, kind=np.int64):
    values, counts = np.unique(np.array(rows, kind), return_counts=True)
    return values, counts


def test_ranks_rise_by_nothing_or_one_with_a_row():
    for target in (MEDIAN, Share(Fraction(0)), Share(Fraction(1)), Rank(3), Rank(2, True)):
        ranks = [rank_of(target, n) for n in range(40)]
        assert set(np.diff(ranks)) <= {0, 1}
    assert rank_of(Share(Fraction(0)), 9) == 1
    assert rank_of(Share(Fraction(1)), 9) == 9
    assert rank_of(MEDIAN, 9) == 5


@pytest.mark.parametrize("noise", BOTH)
def test_answers_are_near_where_rows_are_many(noise):
    rows = np.random.default_rng(1).integers(0, 10_000, 100_000)
    bits = SeededBits(1)
    for target, truth in [(MEDIAN, 5000), (Rank(1), 0), (Rank(1, from_top=True), 9999)]:
        found = [smooth_quantile(*tally(rows), (0, 10_000), target, noise, bits) for _ in range(9)]
        assert abs(np.median(found) - truth) < 100


@pytest.mark.parametrize("noise", BOTH)
def test_few_rows_one_row_none_and_one_value(noise):
    bits, grid = SeededBits(2), (-3, 7)
    for rows in ([], [2], [2, 2, 2], [-3, 7]):
        found = smooth_quantile(*tally(rows), grid, MEDIAN, noise, bits)
        assert -3 <= found <= 7
    same = tally([4] * 2000)
    assert {smooth_quantile(*same, grid, MEDIAN, noise, bits) for _ in range(20)} == {4}
    assert smooth_sensitivity(*same, grid, MEDIAN, noise.beta) == FLOOR
    assert smooth_quantile(*tally([9, 1]), (5, 5), MEDIAN, noise, bits) == 5


def test_values_outside_the_grid_count_as_its_ends():
    inside = tally([0, 0, 3, 5, 5])
    outside = tally([-9, -8, 3, 6, 10**9])
    for target in (MEDIAN, Rank(1), Rank(1, from_top=True)):
        assert exact_quantile(*inside, (0, 5), target) == exact_quantile(*outside, (0, 5), target)
        for beta in (Fraction(1, 10), Fraction(1)):
            one = smooth_sensitivity(*inside, (0, 5), target, beta)
            assert smooth_sensitivity(*outside, (0, 5), target, beta) == one


def test_numbers_past_sixty_four_bits():
    rows = np.array([0, 10**30, 10**30 + 5, 2 * 10**30], object)
    found = smooth_sensitivity(rows, np.ones(4, int), (0, 3 * 10**30), MEDIAN, Fraction(1, 2))
    assert 10**30 < found < 10**31
    drawn = smooth_quantile(rows, np.ones(4, int), (0, 3 * 10**30), MEDIAN, PURE, SeededBits(3))
    assert 0 <= drawn <= 3 * 10**30


def test_a_steep_beta_is_the_local_sensitivity():
    rows = tally([0, 1, 5, 7, 20])
    assert float(smooth_sensitivity(*rows, (0, 20), MEDIAN, Fraction(10**6))) == pytest.approx(4)


def test_only_what_is_within_reach_costs_time():
    values = np.arange(10**6)
    begun = time.process_time()
    found = smooth_sensitivity(values, np.ones(10**6, int), (0, 10**6), MEDIAN, Fraction(1, 60))
    assert time.process_time() - begun < 30
    assert float(found) == pytest.approx(60 / np.e * np.exp(1 / 60), rel=0.01)


def test_wrong_input_is_refused():
    values, counts = tally([1, 2])
    with pytest.raises(QuestionError, match="low to a high"):
        smooth_quantile(values, counts, (3, 2), MEDIAN, PURE)
    with pytest.raises(QuestionError, match="whole numbers"):
        smooth_quantile(np.array([1.5, np.nan]), counts, (0, 3), MEDIAN, PURE)
    with pytest.raises(QuestionError, match="beta"):
        smooth_sensitivity(values, counts, (0, 3), MEDIAN, Fraction(0))
