"""Draws of permute-and-flip and of Waring's noise against their exact laws, by chi-square."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.choices.select import permute_and_flip
from adomnia.mechanisms.noise import waring

DRAWS = 8_000


def flips_law(gaps, eta, points=20_001):
    """The law of the note by Simpson's rule over x in [0, 1]."""
    odds = np.exp(-float(eta) * np.array(gaps, float))
    x = np.linspace(0, 1, points)
    factors = 1 - np.outer(odds, x)
    weights = np.full(points, 2.0)
    weights[1::2], weights[0], weights[-1] = 4, 1, 1
    return np.array(
        [
            p * (np.delete(factors, place, axis=0).prod(axis=0) @ weights) / (3 * (points - 1))
            for place, p in enumerate(odds)
        ]
    )


@pytest.mark.parametrize("kind", [np.int64, object])
@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(3, 4)])
def test_choices_follow_the_law(kind, eta):
    gaps, bits = np.array([4, 0, 3, 9, 0, 1], kind), SeededBits(1)
    law = flips_law(gaps.tolist(), eta)
    assert law.sum() == pytest.approx(1)
    found = [permute_and_flip(gaps, eta, bits) for _ in range(DRAWS)]
    counts = np.bincount(found, minlength=6)
    assert stats.chisquare(counts, law / law.sum() * DRAWS).pvalue > 1e-4


@pytest.mark.parametrize(
    "scale", [Fraction(1, 50), Fraction(1), Fraction(22, 7), Fraction(1000), Fraction(10**12)]
)
def test_waring_noise_follows_its_law(scale):
    bits, few = SeededBits(2), DRAWS // 2
    drawn = np.array([waring.draw(scale, bits) for _ in range(few)])
    edges = sorted({waring.margin(scale, c / 10) for c in range(1, 10)})
    upto = np.array([float(1 - waring.tail(scale, m)) for m in edges] + [1.0])
    counts = np.bincount(np.searchsorted(edges, np.abs(drawn)), minlength=len(upto))
    law = np.diff(upto, prepend=0) * few
    assert stats.chisquare(counts, law / law.sum() * few).pvalue > 1e-4
    signs = drawn[drawn != 0]
    assert stats.binomtest(int((signs > 0).sum()), signs.size).pvalue > 1e-4


def test_low_digits_of_wide_waring_noise_are_even():
    bits = SeededBits(3)
    drawn = np.array([waring.draw(Fraction(10**12, 7), bits) for _ in range(DRAWS // 2)])
    counts = np.bincount(np.abs(drawn) % 8, minlength=8)
    assert stats.chisquare(counts).pvalue > 1e-4
