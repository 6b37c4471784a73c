"""The closeness probability under three kinds of noise."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from adomnia.audit.disclosure.closeness import (
    closeness_probability,
    gaussian_closeness,
    integer_closeness,
)
from adomnia.audit.disclosure.ratio import gaussian_ratio, laplace_ratio
from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.laplace import sample

sys.path.insert(0, str(Path(__file__).parents[2] / "chance"))
from seeded import SeededBits

MANY = 200_000


def close_share(x, y, phi, theta, tau):
    """The share of draws whose ratio is close, by the definition."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.abs(y / x - theta / phi) <= tau * theta / phi))


def within_three_errors(seen, true):
    return abs(seen - true) <= 3 * np.sqrt(true * (1 - true) / MANY) + 1e-9


@pytest.mark.parametrize("tau", [0.1, 0.2, 0.3, 0.99, 1.0, 1.5])
def test_corollary_1_is_the_difference_of_two_values_of_the_law(tau):
    """Table II of the paper, with its sensitivity of 25; tau of 1 and more pass zero."""
    for phi, share, epsilon in product([100, 1000, 2000], [0.5, 0.7, 0.9], [2, 1, 0.5, 0.1, 0.01]):
        theta, scale = share * phi, 25 / epsilon
        ends = np.array([(1 - tau) * share, (1 + tau) * share])
        for found, law in [
            (closeness_probability(phi, theta, tau, scale), laplace_ratio),
            (gaussian_closeness(phi, theta, tau, scale), gaussian_ratio),
        ]:
            low, high = law(ends, phi, theta, scale)
            assert float(found) == pytest.approx(high - low, abs=1e-12)


def test_simulation_agrees_within_three_standard_errors():
    chance = np.random.default_rng(5)
    for phi, theta, tau, (over, under) in [
        (100, 70, 0.2, (50, 50)),
        (1000, 700, 0.2, (50, 50)),
        (20, 3, 0.5, (4, 1)),
        (20, 3, 1.5, (1, 4)),
    ]:
        for found, draw in [
            (closeness_probability, chance.laplace),
            (gaussian_closeness, chance.normal),
        ]:
            x, y = draw(phi, over, MANY), draw(theta, under, MANY)
            true = float(found(phi, theta, tau, (over, under)))
            assert within_three_errors(close_share(x, y, phi, theta, tau), true)


def test_the_mechanisms_own_noise_agrees_with_the_lattice():
    for phi, theta, scale in [(10, 4, 3), (60, 40, 12), (5, 5, 1)]:
        noise = sample(Fraction(scale), 2 * MANY, SeededBits(phi))
        x, y = phi + noise[:MANY], theta + noise[MANY:]
        between = np.abs(y * phi - theta * x) * 5 <= np.abs(x) * theta  # tau is 1/5, exactly
        true = integer_closeness(phi, theta, 0.2, scale)
        assert within_three_errors(np.mean(between & (x != 0)), true)


def test_ends_belong_to_it_and_tau_is_read_as_written():
    """Without noise to speak of Y/X is 5/10; with a shift of one it is 6/10, exactly 20 % off."""
    scale = 0.2
    exact = integer_closeness(10, 5, Fraction(1, 5), scale)
    assert integer_closeness(10, 5, 0.2, scale) == exact
    less = integer_closeness(10, 5, Fraction(1, 5) - Fraction(1, 10**30), scale)
    assert exact - less > 0.01


def test_large_groups_are_learned_whatever_the_noise():
    """Theorem 1, second part."""
    sizes = np.logspace(1, 9, 60)
    for found in (closeness_probability, gaussian_closeness):
        close = found(sizes, 0.3 * sizes, 0.2, 2400)
        assert np.all(np.diff(close) > -1e-12)
        assert close[0] < 0.05
        assert close[-1] > 1 - 1e-12


def test_integer_and_continuous_noise_differ_little_where_noise_is_wide():
    for phi, theta in [(300, 100), (5000, 3000)]:
        wide = integer_closeness(phi, theta, 0.2, 240)
        assert wide == pytest.approx(float(closeness_probability(phi, theta, 0.2, 240)), abs=2e-3)


def test_arrays_are_broadcast():
    found = closeness_probability(np.full((3, 1), 50), np.array([1, 10]), 0.2, 12)
    assert found.shape == (3, 2)
    assert float(closeness_probability(50, 10, 0.2, 12)) == found[0, 1]
    assert closeness_probability([], [], 0.2, 12).size == 0


def test_a_value_nobody_has_is_never_close_but_on_the_lattice():
    assert float(closeness_probability(50, 0, 0.2, 12)) == 0
    assert float(gaussian_closeness(50, 0, 0.2, 12)) == 0
    assert integer_closeness(50, 0, 0.2, 0.5) == pytest.approx(np.tanh(1), abs=1e-12)


@pytest.mark.parametrize("tau", [0, -0.1, float("nan"), float("inf")])
def test_tau_is_positive(tau):
    for found in (closeness_probability, gaussian_closeness, integer_closeness):
        with pytest.raises(QuestionError, match="tau"):
            found(10, 5, tau, 1)


def test_an_empty_group_has_no_confidence():
    for found in (closeness_probability, gaussian_closeness, integer_closeness):
        with pytest.raises(QuestionError, match="at least one row"):
            found(0, 0, 0.2, 1)
