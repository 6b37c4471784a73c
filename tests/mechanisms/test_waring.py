"""Waring's noise: probabilities as fractions, tails, means, draws on an edge."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some
from seeded import DictatedBits, SeededBits

from adomnia.mechanisms.noise import waring

scales = some.fractions(Fraction(1, 100), 50, max_denominator=100)


@given(scales, some.integers(0, 30))
def test_probabilities_and_tails_agree_and_add_up_to_one(scale, m):
    inner = sum(waring.probability(scale, z) for z in range(-m, m + 1))
    assert inner + waring.tail(scale, m) == 1
    size = m
    weight = 1 / ((scale + size) * (scale + size + 1) * (scale + size + 2) * (scale + size + 3))
    zero = 1 / (scale * (scale + 1) * (scale + 2) * (scale + 3))
    ratio = waring.probability(scale, -m) / waring.probability(scale, 0)
    assert ratio == weight / zero
    assert waring.probability(scale, 0) == 3 / (2 * scale + 3)


@given(scales, some.sampled_from([0.01, 0.5, 0.95, 0.999]))
def test_a_margin_is_the_smallest(scale, confidence):
    doubt = 1 - Fraction(str(confidence))
    m = waring.margin(scale, confidence)
    assert waring.tail(scale, m) <= doubt
    assert m == 0 or waring.tail(scale, m - 1) > doubt


@given(scales, some.integers(0, 40))
def test_the_mean_size_is_the_sum_of_the_tails(scale, most):
    expected = sum(waring.tail(scale, k) for k in range(most))
    assert waring.mean_size(float(scale), most) == pytest.approx(float(expected))


def test_a_draw_on_an_edge_is_settled_by_more_bits():
    """For scale 1, P(G >= 1) = 1/4: the word just below it, and at it, decide at once."""
    assert waring.draw(Fraction(1), DictatedBits(2**62, 0)) == 0
    assert waring.draw(Fraction(1), DictatedBits(2**62 - 1, 0)) == 1
    assert waring.draw(Fraction(1), DictatedBits(2**62 - 1, 1)) == -1
    third = 2**64 // 10  # P(G >= 2) = 1/10 lies inside this word
    assert waring.draw(Fraction(1), DictatedBits(third, 0, 0)) == 2
    assert waring.draw(Fraction(1), DictatedBits(third, 2**64 - 1, 0)) == 1


def test_zero_bits_draw_on_and_a_negative_zero_draws_again():
    assert waring.draw(Fraction(1), DictatedBits(0, 2**63, 0)) > 10**6
    assert waring.draw(Fraction(1), DictatedBits(2**63, 1, 2**62 - 1, 0)) == 1


def test_extremes():
    assert waring.draw(Fraction(1, 10**30), SeededBits(1)) == 0
    assert abs(waring.draw(Fraction(10**40), SeededBits(1))) > 10**35
    for scale in (Fraction(0), Fraction(-1)):
        with pytest.raises(ValueError, match="positive"):
            waring.draw(scale)
    with pytest.raises(ValueError, match="confidence"):
        waring.margin(Fraction(1), 1)
