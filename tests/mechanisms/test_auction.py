"""The auction: revenue point by point, sensitivity, truthfulness and the margin by brute force."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flips import law
from hypothesis import given, settings
from hypothesis import strategies as some
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.auction import revenue, revenue_margin, sell

PRICES = (1, 2, 4)
bids_of = some.lists(some.integers(-3, 9), max_size=8)


def prices_law(bids, epsilon):
    """The exact probability of every price."""
    return revenues_law(tuple(revenue(np.array(bids, np.int64), PRICES)), epsilon)


@functools.cache
def revenues_law(brought, epsilon):
    return law(brought, Fraction(epsilon) / PRICES[-1])


@given(bids_of, some.integers(-3, 9))
def test_a_bidder_moves_all_revenues_one_way_by_the_price_at_most(bids, bid):
    here = revenue(np.array(bids, np.int64), PRICES)
    assert here.tolist() == [price * sum(b >= price for b in bids) for price in PRICES]
    step = revenue(np.array([*bids, bid], np.int64), PRICES) - here
    assert ((step >= 0) & (step <= PRICES)).all()
    if bids:
        other = revenue(np.array([bid, *bids[1:]], np.int64), PRICES) - here
        assert (other >= 0).all() or (other <= 0).all()
        assert (abs(other) <= PRICES).all()


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(2)])
def test_nobody_gains_more_than_the_factor_by_a_lie(epsilon):
    worst = 0.0
    for others in itertools.combinations_with_replacement(range(6), 2):
        for value in range(6):
            worth = np.maximum(value - np.array(PRICES), 0)
            honest = prices_law([value, *others], epsilon)
            for lie in range(6):
                told = prices_law([lie, *others], epsilon)
                assert (told / honest).max() <= math.exp(epsilon) * (1 + 1e-9)
                bought = np.where(lie >= np.array(PRICES), value - np.array(PRICES), 0)
                assert told @ bought <= math.exp(epsilon) * (honest @ worth) + 1e-12
                worst = max(worst, (told / honest).max())
    assert worst > math.exp(epsilon / 4)


@settings(deadline=None, max_examples=60)
@given(bids_of, some.sampled_from([Fraction(1, 2), Fraction(3)]), some.sampled_from([0.6, 0.95]))
def test_the_margin_of_the_revenue_holds_on_any_bids(bids, epsilon, confidence):
    brought = revenue(np.array(bids, np.int64), PRICES)
    short = float(revenue_margin(PRICES, epsilon, confidence))
    assert prices_law(bids, epsilon)[brought >= brought.max() - short].sum() >= confidence - 1e-12


def test_a_good_price_is_found():
    bids = np.array([10] * 500 + [30] * 400 + [90] * 20)
    assert sell(bids, range(1, 101), 5, SeededBits(1)) in range(25, 31)
    assert sell(bids, [7], 1) == 7
    assert sell(np.array([], np.int64), PRICES, 1, SeededBits(2)) in PRICES
    wide = [10**30, 2 * 10**30]
    assert revenue(np.array([2**62, 3]), wide).tolist() == [0, 0]
    assert revenue(np.array([2**64 - 1], np.uint64), [2**60, 2**61]).tolist() == [2**60, 2**61]


@pytest.mark.parametrize("prices", [[], [0, 1], [2, 1], [1, 1], [1.5], [-1]])
def test_impossible_prices_are_refused(prices):
    with pytest.raises(QuestionError, match="price"):
        sell(np.array([1]), prices, 1)


def test_bids_are_whole_numbers():
    with pytest.raises(QuestionError, match="whole numbers"):
        sell(np.array([1.0, np.nan]), PRICES, 1)
