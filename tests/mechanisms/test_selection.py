"""The threshold for unknown keys: smallest, safe, and private on every small pair of tables."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adomnia.mechanisms.counts.selection import threshold
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.noise.exponential import first


def shown(scale, count, tau):
    """P(count + noise >= tau), in many digits."""
    q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    gap = tau - count
    return q**gap / (1 + q) if gap > 0 else 1 - q ** (1 - gap) / (1 + q)


def worst(scale, tau, rows, keys):
    """The largest expected number of own keys shown, over every way to spread the rows."""
    splits = (
        split
        for k in range(1, min(rows, keys) + 1)
        for split in itertools.combinations_with_replacement(range(1, rows + 1), k)
        if sum(split) <= rows
    )
    return max(sum(shown(scale, count, tau) for count in split) for split in splits)


@settings(deadline=None, max_examples=60)
@given(
    some.fractions(Fraction(1, 10), 50, max_denominator=20),
    some.sampled_from([Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**30)]),
    some.integers(1, 6),
    some.integers(1, 6),
)
def test_the_threshold_is_safe_and_smallest(scale, delta, rows, keys):
    tau = threshold(scale, delta, rows, keys)
    with mpmath.workdps(80):
        exact = mpmath.mpf(delta.numerator) / delta.denominator
        assert worst(scale, tau, rows, keys) <= exact
        assert tau == rows + 1 or worst(scale, tau - 1, rows, keys) > exact


def test_thresholds_at_the_extremes():
    assert threshold(Fraction(0), Fraction(1, 10**9), 3, 3) == 4
    assert threshold(Fraction(1, 10**9), Fraction(1, 10**9), 3, 3) == 4
    wide = threshold(Fraction(10**6), Fraction(1, 10**30), 10**6, 10**6)
    assert 10**6 * 69 < wide < 10**6 * 84
    assert threshold(Fraction(10**40), Fraction(1, 10**6), 1, 1) > 10**41


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_impossible_deltas_are_refused(delta):
    with pytest.raises(ValueError, match="0 < delta < 1"):
        threshold(Fraction(1), delta, 1, 1)


@given(some.integers(0, 10**6), some.integers(0, 10**6), some.integers(0, 100))
def test_first_finds_the_turning_point_from_any_guess(turn, guess, least):
    assert first(lambda x: x >= turn, least, guess) == max(turn, least)


def outcomes(counts, scale, tau, reach):
    """Law of what is shown: for each key its noisy count, or None when it is not shown."""
    law = {(): 1.0}
    for count in counts:
        column = {None: 1.0}
        if count:
            column = {y: laplace.probability(scale, y - count) for y in range(tau, tau + reach)}
            column[None] = 1 - sum(column.values())
        law = {(*seen, y): p * r for seen, p in law.items() for y, r in column.items()}
    return law


def divergence(one, other, epsilon):
    """The smallest delta for which (epsilon, delta) holds from `one` to `other`."""
    return sum(max(0.0, p - np.exp(epsilon) * other.get(y, 0.0)) for y, p in one.items())


@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 1000)])
def test_adding_or_removing_a_row_is_epsilon_delta_private(delta):
    epsilon = Fraction(1)
    scale = 1 / epsilon
    tau = threshold(scale, delta, 1, 1)
    for a, b in itertools.product(range(4), repeat=2):
        near = outcomes((a + 1, b), scale, tau, 40)
        here = outcomes((a, b), scale, tau, 40)
        for pair in ((here, near), (near, here)):
            assert divergence(*pair, 1.0) <= float(delta) + 1e-9


@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 1000)])
def test_changing_a_row_is_epsilon_delta_private(delta):
    epsilon = Fraction(1)
    scale = 2 / epsilon
    tau = threshold(scale, delta, 1, 1)
    for a, b in itertools.product(range(4), repeat=2):
        here = outcomes((a + 1, b), scale, tau, 60)
        near = outcomes((a, b + 1), scale, tau, 60)
        for pair in ((here, near), (near, here)):
            assert divergence(*pair, 1.0) <= float(delta) + 1e-9


def test_a_person_with_several_rows_is_protected():
    rows, delta = 3, Fraction(1, 50)
    scale = Fraction(rows)
    tau = threshold(scale, delta, rows, rows)
    for added in ((3, 0), (2, 1), (1, 2), (1, 1), (0, 3)):
        for base in ((0, 0), (0, 2), (5, 0), (4, 4)):
            here = outcomes(base, scale, tau, 80)
            near = outcomes(np.add(base, added).tolist(), scale, tau, 80)
            for pair in ((here, near), (near, here)):
                assert divergence(*pair, 1.0) <= float(delta) + 1e-9
