"""Shares of noise follow their law, and sum to integer Laplace noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.noise import laplace, shares

SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(50), Fraction(3000)]


def difference_law(scale, part, reach):
    """P(G - H = x) for |x| <= reach, G and H Polya: by convolution of the exact formula."""
    q = math.exp(-1 / scale)
    places = np.arange(int(60 * scale) + 60)
    polya = stats.nbinom.pmf(places, float(part), 1 - q)
    half = [float(np.dot(polya[: places.size - x], polya[x:])) for x in range(reach + 1)]
    return np.array([*half[:0:-1], *half])


def p_value(draws, law, reach):
    """Chi-square of the draws against probabilities on -reach..reach, the rest joined."""
    inside = draws[np.abs(draws) <= reach] + reach
    observed = np.append(np.bincount(inside, minlength=law.size), draws.size - inside.size)
    expected = np.append(law, max(0.0, 1 - law.sum())) * draws.size
    common = expected > 8
    cells = np.append(observed[common], observed[~common].sum())
    hoped = np.append(expected[common], expected[~common].sum())
    if hoped[-1] < 8:
        assert cells[-1] < 40
        cells, hoped = cells[:-1], hoped[:-1]
    return stats.chisquare(cells, hoped * cells.sum() / hoped.sum()).pvalue


@pytest.mark.parametrize("part", [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 20)])
@pytest.mark.parametrize("scale", SCALES[:4], ids=str)
def test_a_share_is_a_difference_of_polya_variables(scale, part):
    draws = shares.sample(scale, part, 150_000, SeededBits(11))
    reach = int(12 * scale) + 3
    assert p_value(draws, difference_law(scale, part, reach), reach) > 1e-4


@pytest.mark.parametrize("holders", [2, 3, 10])
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_shares_sum_to_the_whole_noise(scale, holders):
    bits = SeededBits(12)
    part = Fraction(1, holders)
    total = sum(shares.sample(scale, part, 100_000, bits) for _ in range(holders))
    cuts = np.unique((np.linspace(-6, 6, 49) * float(scale)).astype(int))
    above = [laplace.tail(scale, m) / 2 if m >= 0 else 1 - laplace.tail(scale, -m - 1) / 2
             for m in cuts.tolist()]  # fmt: skip
    expected = -np.diff([1.0, *above, 0.0]) * total.size
    observed = np.bincount(np.searchsorted(cuts, total), minlength=cuts.size + 1)
    common = expected > 8
    cells = np.append(observed[common], observed[~common].sum())
    hoped = np.append(expected[common], max(expected[~common].sum(), 1e-9))
    if hoped[-1] < 8:
        assert cells[-1] < 40
        cells, hoped = cells[:-1], hoped[:-1]
    assert stats.chisquare(cells, hoped * cells.sum() / hoped.sum()).pvalue > 1e-4


@pytest.mark.parametrize("holders", [2, 3, 7])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(4)], ids=str)
def test_the_laws_convolve_to_laplace(scale, holders):
    """No chance at all: the law of a share, convolved with itself, is the law of the noise."""
    reach = int(40 * scale) + 20
    one = difference_law(scale, Fraction(1, holders), reach)
    whole = one
    for _ in range(holders - 1):
        whole = np.convolve(whole, one)
    middle = whole.size // 2
    for x in range(int(10 * scale) + 2):
        assert whole[middle + x] == pytest.approx(laplace.probability(scale, x), rel=1e-6)


@pytest.mark.parametrize("scale", [Fraction(10**6), Fraction(123_456_789, 7), Fraction(1 << 50)])
def test_wide_shares_have_the_right_spread_and_low_digits(scale):
    draws = shares.sample(scale, Fraction(1, 3), 60_000, SeededBits(13))
    spread = np.mean((draws / float(scale)) ** 2)
    assert spread == pytest.approx(2 / 3, rel=0.06)
    large = draws[np.abs(draws) > 1000]
    for modulus in (2, 16, 37):
        counts = np.bincount(large % modulus, minlength=modulus)
        assert stats.chisquare(counts).pvalue > 1e-4


def test_honest_shares_alone_hold_the_full_noise():
    """Five holders of whom two tell everything: the other three sum to the whole noise."""
    bits, scale = SeededBits(14), Fraction(9)
    honest = sum(shares.sample(scale, Fraction(1, 5 - 2), 200_000, bits) for _ in range(3))
    reach = 100
    law = np.array([laplace.probability(scale, x) for x in range(-reach, reach + 1)])
    assert p_value(honest, law, reach) > 1e-4
