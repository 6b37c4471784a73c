"""Noise that follows the data is private: exact probabilities on every small pair of tables."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adomnia.errors import QuestionError
from adomnia.mechanisms.noise import laplace, waring
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.quantiles.quantile import Rank, Share
from adomnia.mechanisms.quantiles.smooth import exact_quantile, smooth_sensitivity

HIGH = 3
TABLES = [
    rows for n in range(5) for rows in itertools.combinations_with_replacement(range(HIGH + 1), n)
]
TARGETS = [Share(Fraction(1, 2)), Share(Fraction(3, 4)), Rank(1), Rank(1, from_top=True)]


def tally(rows):
    values, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return values, counts.astype(np.int64)


def is_near(rows, other):
    """Whether one row is more, less or changed."""
    if len(rows) > len(other):
        rows, other = other, rows
    lost = sum(max(0, rows.count(v) - other.count(v)) for v in range(HIGH + 1))
    return rows != other and len(other) - len(rows) <= 1 and lost <= (len(rows) == len(other))


def settled(rows, target, noise):
    """Centre and scale of the noise on a table."""
    table = tally(rows)
    smooth = smooth_sensitivity(*table, (0, HIGH), target, noise.beta)
    return exact_quantile(*table, (0, HIGH), target), noise.scale(smooth)


def pairs(target, noise):
    """The different pairs of centres and scales that neighbours lead to."""
    laws = {rows: settled(rows, target, noise) for rows in TABLES}
    near = ((a, b) for a, b in itertools.permutations(TABLES, 2) if is_near(a, b))
    return {(laws[a], laws[b]) for a, b in near if laws[a] != laws[b]}


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
def test_waring_noise_keeps_every_ratio_within_epsilon(target, epsilon):
    worst, outcomes = 0.0, [*range(-12, 16), 10**3, 10**6, 10**12, -(10**12)]
    for (center, scale), (other, stretched) in pairs(target, SmoothWaring(epsilon)):
        for z in outcomes:
            one = waring.probability(scale, z - center)
            two = waring.probability(stretched, z - other)
            worst = max(worst, float(one / two))
    assert math.exp(float(epsilon) / 4) < worst <= math.exp(epsilon)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_laplace_noise_keeps_all_but_delta_within_epsilon(target, delta, epsilon):
    factor = math.exp(epsilon)
    for (center, scale), (other, stretched) in pairs(target, SmoothLaplace(epsilon, delta)):
        reach = math.ceil(60 * max(scale, stretched)) + 10
        z = np.arange(-reach, reach + 1)
        one, two = law(scale, z - center), law(stretched, z - other)
        assert np.maximum(one - factor * two, 0).sum() <= delta


def law(scale, x):
    rate = float(1 / scale)
    return math.tanh(rate / 2) * np.exp(-np.abs(x) * rate)


@settings(deadline=None, max_examples=150)
@given(
    some.fractions(Fraction(1, 100), 1000, max_denominator=1000),
    some.fractions(1, 20, max_denominator=1000),
    some.integers(0, 10**6),
    some.integers(0, 10**4),
)
def test_warings_law_slides_and_stretches_as_the_note_says(scale, ratio, z, shift):
    here = waring.probability(scale, z)
    wider = waring.probability(scale * ratio, z)
    assert 1 / ratio <= wider / here <= ratio**waring.TAIL
    moved = waring.probability(scale, z + shift)
    assert moved <= here <= moved * (1 + shift / scale) ** (waring.TAIL + 1)


@settings(deadline=None, max_examples=60)
@given(
    some.fractions(Fraction(1, 50), 4, max_denominator=50),
    some.integers(2, 9),
    some.fractions(Fraction(1, 20), 300, max_denominator=20),
)
def test_a_stretch_of_laplace_noise_is_hidden_up_to_delta(epsilon, zeros, scale):
    delta = Fraction(1, 10**zeros)
    ratio = math.exp(SmoothLaplace(epsilon, delta).beta)
    reach = math.ceil(80 * scale * ratio) + 10
    x = np.arange(-reach, reach + 1)
    narrow, wide = law(scale, x), law(scale * ratio, x)
    factor = math.exp(epsilon / 2)
    assert np.maximum(wide - factor * narrow, 0).sum() <= delta
    assert (narrow <= factor * wide).all()
    assert laplace.probability(scale, 3) == pytest.approx(float(law(scale, 3)))


def test_a_delta_that_is_paid_is_used():
    """Half as much again would be too much of a stretch: the bound is not idle."""
    noise = SmoothLaplace(Fraction(1), Fraction(1, 10**6))
    ratio, x = math.exp(noise.beta * 3 / 2), np.arange(-200_000, 200_001)
    over = law(5000 * ratio, x) - math.exp(0.5) * law(5000, x)
    assert np.maximum(over, 0).sum() > 1e-6


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10**9), Fraction(-1)])
def test_an_epsilon_too_small_is_refused(epsilon):
    with pytest.raises(QuestionError, match="too small"):
        SmoothWaring(epsilon)
    with pytest.raises(QuestionError, match="too small"):
        SmoothLaplace(epsilon, Fraction(1, 100))


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_a_delta_lies_between_zero_and_one(delta):
    with pytest.raises(QuestionError, match="between 0 and 1"):
        SmoothLaplace(Fraction(1), delta)
