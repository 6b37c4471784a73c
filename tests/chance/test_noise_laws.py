"""The samplers follow their laws: chi-square against exact probabilities, and against OpenDP."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.noise import gaussian, laplace

SCALES = [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(10)]
LARGE = [Fraction(1000), Fraction(10**6), Fraction(123_456_789, 7)]
SIZE = 400_000


def laplace_tail(scale, m):
    """P(X > m) for any integer m."""
    return laplace.tail(scale, m) / 2 if m >= 0 else 1 - laplace.tail(scale, -m - 1) / 2


def gaussian_above(variance, m):
    """P(X > m): the sum for small variances, the midpoint integral for large ones."""
    if variance > 10_000:
        return float(stats.norm.sf((m + 0.5) / math.sqrt(variance)))
    reach = int(20 * math.sqrt(variance)) + 20
    return math.fsum(gaussian.probability(variance, x) for x in range(m + 1, max(m, 0) + reach))


def fits(draws, above, bounds):
    """The p-value of the draws' counts between the bounds, rare cells joined."""
    edges = [-math.inf, *bounds, math.inf]
    tails = np.array([1.0, *(above(bound) for bound in bounds), 0.0])
    expected = -np.diff(tails) * draws.size
    observed = np.array([np.sum((draws > low) & (draws <= high)) for low, high in pairwise(edges)])
    common = expected > 8
    assert not observed[expected < 1e-9].any()
    cells = np.append(observed[common], observed[~common].sum())
    law = np.append(expected[common], expected[~common].sum())
    if law[-1] < 8:
        assert cells[-1] < 40
        cells, law = cells[:-1], law[:-1]
    if cells.size < 2:
        return 1.0
    return stats.chisquare(cells, law * cells.sum() / law.sum()).pvalue


def cuts(spread):
    """Every integer for narrow laws, forty quantile-like cuts for wide ones."""
    if spread < 20:
        return list(range(-int(12 * spread) - 3, int(12 * spread) + 3))
    return sorted({int(spread * place / 5) for place in range(-25, 26)})


@pytest.mark.parametrize("scale", SCALES + LARGE, ids=str)
def test_many_laplace_draws_follow_the_law(scale):
    draws = laplace.sample(scale, SIZE, SeededBits(1))
    assert draws.dtype == np.int64
    assert fits(draws, lambda m: laplace_tail(scale, m), cuts(float(scale))) > 1e-4


@pytest.mark.parametrize("scale", SCALES[1:] + LARGE[:1], ids=str)
def test_few_laplace_draws_follow_the_law(scale):
    bits = SeededBits(2)
    draws = np.concatenate([laplace.sample(scale, 200, bits) for _ in range(75)])
    assert fits(draws, lambda m: laplace_tail(scale, m), cuts(float(scale))) > 1e-4


@pytest.mark.parametrize("scale", SCALES + LARGE, ids=str)
def test_many_gaussian_draws_follow_the_law(scale):
    variance = scale * scale
    draws = gaussian.sample(variance, SIZE, SeededBits(3))
    assert draws.dtype == np.int64
    assert fits(draws, lambda m: gaussian_above(variance, m), cuts(float(scale))) > 1e-4


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(1000)], ids=str)
def test_few_gaussian_draws_follow_the_law(scale):
    variance, bits = scale * scale, SeededBits(4)
    draws = np.concatenate([gaussian.sample(variance, 50, bits) for _ in range(200)])
    assert fits(draws, lambda m: gaussian_above(variance, m), cuts(float(scale))) > 1e-4


@pytest.mark.parametrize("scale", LARGE, ids=str)
@pytest.mark.parametrize("sampler", [laplace.sample, gaussian.sample])
def test_low_digits_of_wide_noise_are_uniform(scale, sampler):
    draws = sampler(scale * scale if sampler is gaussian.sample else scale, SIZE, SeededBits(5))
    for modulus in (2, 16, 37):
        counts = np.bincount(draws % modulus, minlength=modulus)
        assert stats.chisquare(counts).pvalue > 1e-4


def opendp_draws(make, distance, scale, size):
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), distance
    return np.array(make(*space, scale=float(scale))([0] * size))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 2), Fraction(1000)], ids=str)
def test_laplace_agrees_with_opendp(scale):
    theirs = opendp_draws(dp.m.make_laplace, dp.l1_distance(T=int), scale, 40_000)
    assert same_law(laplace.sample(scale, 40_000, SeededBits(6)), theirs)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 2), Fraction(1000)], ids=str)
def test_gaussian_agrees_with_opendp(scale):
    theirs = opendp_draws(dp.m.make_gaussian, dp.l2_distance(T=float), scale, 20_000)
    assert same_law(gaussian.sample(scale * scale, 20_000, SeededBits(7)), theirs)


def same_law(ours, theirs):
    """Two-sample chi-square; the bar is low because OpenDP's bits cannot be seeded."""
    bounds = np.unique(np.quantile(np.concatenate([ours, theirs]), np.linspace(0, 1, 25)[1:-1]))
    table = [np.bincount(np.searchsorted(bounds, draws), minlength=30) for draws in (ours, theirs)]
    table = np.array(table)[:, np.sum(table, axis=0) > 10]
    return stats.chi2_contingency(table).pvalue > 1e-7
