"""What is said of measured numbers is as seldom wrong as it claims, and can come out either way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from experiments.measured import FALSE_ALARM, Measured, combined, exponent, mean, share

LEVEL, TIMES = 0.02, 2000


def missed(intervals, truth):
    """How often the true number lay outside."""
    return share(sum(not low <= truth <= high for low, high in intervals), TIMES)


@pytest.mark.parametrize("runs", [2, 6, 40])
def test_a_mean_of_few_runs_is_off_as_often_as_said(runs):
    draws = np.random.default_rng(runs).normal(5, 3, (TIMES, runs))
    found = missed([mean(few).interval(LEVEL) for few in draws], 5)
    assert found.near(LEVEL)


def test_a_mean_of_thousands_of_skewed_squares_is_off_about_as_often_as_said():
    squares = np.square(np.random.default_rng(1).laplace(size=(TIMES, 2000)))
    found = missed([mean(many).interval(LEVEL) for many in squares], 2)
    assert found.below(2 * LEVEL, 1e-3)


@pytest.mark.parametrize("runs", [(4, 4), (3, 30), (12, 5)])
def test_a_sum_of_means_is_not_off_more_often_than_said(runs):
    chance = np.random.default_rng(runs)
    sides = [chance.normal(0, spread, (TIMES, n)) for spread, n in zip((1, 4), runs, strict=True)]
    sums = [combined([2, -1], [mean(one), mean(other)]) for one, other in zip(*sides, strict=True)]
    found = missed([one.interval(LEVEL) for one in sums], 0)
    assert not found.above(LEVEL, 1e-3)


@pytest.mark.parametrize("level", [LEVEL, FALSE_ALARM])
@pytest.mark.parametrize("rate", [0.0, 1e-4, 0.05, 0.5, 0.97, 1.0])
def test_a_share_is_never_off_more_often_than_said(rate, level):
    runs = 60
    chances = stats.binom.pmf(np.arange(runs + 1), runs, rate)
    outside = [not share(hits, runs).near(rate, level) for hits in range(runs + 1)]
    assert chances @ outside <= level * (1 + 1e-6)


@pytest.mark.parametrize(("hits", "runs"), [(1, 20), (300, 400), (99_000, 200_000)])
def test_the_ends_of_a_share_are_where_its_tails_are_as_rare_as_said(hits, runs):
    low, high = share(hits, runs).interval()
    assert stats.binom.sf(hits - 1, runs, low) == pytest.approx(FALSE_ALARM / 2, rel=1e-4)
    assert stats.binom.cdf(hits, runs, high) == pytest.approx(FALSE_ALARM / 2, rel=1e-4)


def test_a_share_of_none_or_all_has_an_error_and_a_certain_end():
    none, every = share(0, 30), share(30, 30)
    assert min(none.se, every.se) > 0
    assert none.interval()[0] == 0
    assert every.interval()[1] == 1
    assert every.above(0.4)
    assert not every.above(0.6)
    assert none.below(0.6)


def test_few_runs_say_little_and_many_say_more():
    chance = np.random.default_rng(2)
    few, many = mean(chance.normal(1, 0.1, 3)), mean(chance.normal(1, 0.1, 300))
    assert few.near(0)
    assert not many.near(0)
    assert many.near(1)
    assert many.above(0.9)
    assert many.below(1.1)
    assert not many.below(1)


def test_exact_numbers_are_near_themselves_alone():
    assert Measured(3.0).near(3 + 1e-12)
    assert not Measured(3.0).near(3.001)
    assert Measured(3.0).below(3.001)
    assert str(Measured(3.0)) == "3"


def test_a_sum_has_the_least_freedom_of_its_parts():
    found = combined([3, -4], [Measured(2, 1.0, 5), Measured(1, 1.0, 500)])
    assert (found.value, found.se, found.freedom) == (2, 5, 5)
    assert combined([1, 1], [Measured(1), Measured(2)]).freedom == math.inf


def test_a_logarithm_keeps_the_relative_error():
    found = Measured(100.0, 2.0, 7).log()
    assert (found.value, found.se, found.freedom) == (math.log(100), 0.02, 7)


def test_the_exponent_of_a_power_law_is_found_with_its_error():
    places = (1, 10, 100)
    exact = exponent(places, [Measured(7 * place**1.5) for place in places])
    assert exact.near(1.5)
    assert exact.se == 0
    found = exponent(places, [Measured(place, 0.1 * place, 9) for place in places])
    assert found.near(1)
    assert found.se == pytest.approx(0.1 * math.sqrt(2) / math.log(100))


def test_one_run_is_not_a_mean():
    with pytest.raises(ValueError, match="one run"):
        mean([1.0])
