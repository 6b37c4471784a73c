"""The law of the ratio of two noisy counts, against mpmath, sums by hand and simulation."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from adomnia.audit.disclosure.ratio import (
    gaussian_ratio,
    integer_between,
    integer_ratio,
    laplace_ratio,
)
from adomnia.errors import QuestionError

SIZES = [1e-300, 1e-12, 1e-5, 0.01, 0.3, 0.7, 0.999, 1 - 1e-9, 1 - 2**-53]
SIZES += [1 + 2**-52, 1 + 1e-7, 1.5, 7, 1e4, 1e12, 1e100]
POINTS = [sign * size for sign in (1, -1) for size in SIZES]
PHI = [1, 5, 100, 12345, 500_000, 10**9]
THETA = [0, 1, 3, 100, 5000, 400_000, 10**9]
SCALES = [0.01, 1, 12, 600, 6000, 1e7]


def lemma(z, phi, theta, b):
    """Lemma 1 of the paper as it is printed, in many digits."""
    z, phi, theta, b = (mpmath.mpf(part) for part in (z, phi, theta, b))
    e, square = mpmath.exp, z * z
    common = -e(-(theta + phi) / b) / (2 * (z + 1)) + e(-phi / b) / 2
    if z > theta / phi and z > 0:
        left = square / (2 * (1 - square)) * e((theta - z * phi) / (z * b))
        return 1 + left + common - e((theta - z * phi) / b) / (2 * (1 - square))
    right = e((z * phi - theta) / b) / (2 * (square - 1))
    if z < 0:
        return square / (2 * (1 - square)) * e((theta - z * phi) / (z * b)) + common - right
    return square / (2 * (square - 1)) * e((z * phi - theta) / (z * b)) + common - right


def by_definition(z, below, density, turns):
    """P(Y <= zX, X > 0) + P(Y >= zX, X < 0), integrated."""
    points = [-mpmath.inf, *sorted({mpmath.mpf(0), *map(mpmath.mpf, turns)}), mpmath.inf]

    def integrand(x):
        return density(x) * (below(z * x) if x > 0 else 1 - below(z * x))

    return float(mpmath.quad(integrand, points))


def test_lemma_1_on_a_grid_to_twelve_digits():
    with mpmath.workdps(80):
        for phi, theta, b in product(PHI, THETA, SCALES):
            found = laplace_ratio(POINTS, phi, theta, b)
            true = [float(lemma(z, phi, theta, b)) for z in POINTS]
            assert np.abs(found - true).max() < 1e-12, (phi, theta, b)


@pytest.mark.parametrize("z", [0, 1, -1])
def test_the_removable_points_are_the_limits_of_lemma_1(z):
    for phi, theta, b in product([1, 30, 10_000], [0, 1, 30, 9_999], [0.5, 12, 4000]):
        with mpmath.workdps(150):
            step = mpmath.mpf(10) ** -30
            around = (lemma(z + step, phi, theta, b) + lemma(z - step, phi, theta, b)) / 2
        assert float(laplace_ratio(z, phi, theta, b)) == pytest.approx(float(around), abs=1e-14)


def test_the_law_is_smooth_across_the_removable_points():
    for z in (-1, 0, 1):
        near = z + np.array([-1e-7, -1e-13, 0, 1e-13, 1e-7])
        found = laplace_ratio(near, 40, 30, 12)
        assert np.all(np.diff(found) >= -1e-16)
        assert np.ptp(found) < 1e-6


def test_large_exponents_neither_overflow_nor_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ends = laplace_ratio([-math.inf, -1e308, 1e308, math.inf], 10, 3, 2)
        far = laplace_ratio([-5, 0, 0.2, 5], 1e300, 3, 1e-300)
        sharp = laplace_ratio([-1, 0.29, 0.31, 1], 1000, 300, 1e-310)
        normal = gaussian_ratio([-math.inf, -1, 0, 0.2, 0.4, math.inf], 1e9, 3e8, 1e-3)
    assert ends == pytest.approx([0, 0, 1, 1], abs=1e-15)
    assert far.tolist() == [0, 0, 1, 1]
    assert sharp.tolist() == [0, 0, 1, 1]
    assert normal == pytest.approx([0, 0, 0, 0, 1, 1], abs=1e-15)


@pytest.mark.parametrize("law", [laplace_ratio, gaussian_ratio])
def test_it_is_a_distribution_function(law):
    z = np.concatenate([-np.logspace(6, -9, 400), [0], np.logspace(-9, 6, 400)])
    for phi, theta, scale in product([1, 10, 1000], [0, 1, 10, 700], [0.5, 8, (3, 200)]):
        found = law(z, phi, theta, scale)
        assert np.all((found > -1e-15) & (found < 1 + 1e-15))
        assert np.all(np.diff(found) > -1e-14)


CASES = [(10, 3, 2, 5), (10, 3, 5, 2), (4, 9, 1, 6), (5, 0, 3, 3), (1, 1, 4, 1)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("z", [-2, -1, -0.3, 0, 0.2, 0.3, 1, 1.7])
def test_two_scales_by_integration(z, case):
    phi, theta, over, under = case

    def below(y):
        tail = mpmath.exp(-abs(y - theta) / under) / 2
        return tail if y < theta else 1 - tail

    def density(x):
        return mpmath.exp(-abs(x - phi) / mpmath.mpf(over)) / (2 * over)

    turns = [phi, *([theta / mpmath.mpf(z)] if z else [])]
    true = by_definition(z, below, density, turns)
    assert float(laplace_ratio(z, phi, theta, (over, under))) == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("z", [-2, -0.3, 0, 0.2, 0.3, 1, 1.7])
def test_normal_noise_by_integration(z, case):
    phi, theta, over, under = case
    true = by_definition(
        z,
        lambda y: mpmath.ncdf((y - theta) / mpmath.mpf(under)),
        lambda x: mpmath.npdf(x, phi, over),
        [phi + step * over for step in (-10, -3, 0, 3, 10)],
    )
    assert float(gaussian_ratio(z, phi, theta, (over, under))) == pytest.approx(true, abs=1e-12)


def test_simulation_agrees_within_three_standard_errors():
    chance = np.random.default_rng(2)
    many = 200_000
    z = np.array([-1.5, -0.4, -0.05, 0.0, 0.1, 0.35, 0.5, 0.9, 1.0, 2.5])
    for phi, theta, (over, under) in [(40, 20, (12, 12)), (6, 1, (12, 12)), (30, 25, (5, 30))]:
        for law, draw in [(laplace_ratio, chance.laplace), (gaussian_ratio, chance.normal)]:
            ratio = draw(theta, under, many) / draw(phi, over, many)
            seen = (ratio[:, None] <= z).mean(axis=0)
            true = law(z, phi, theta, (over, under))
            error = np.sqrt(true * (1 - true) / many) + 1e-9
            assert np.all(np.abs(seen - true) <= 3 * error), (phi, theta, law)


def brute(low, high, phi, theta, scales):
    """The lattice summed pair by pair, with fractions."""
    noise = np.arange(-120, 121)
    over, under = (np.tanh(1 / (2 * scale)) * np.exp(-np.abs(noise) / scale) for scale in scales)
    total = 0.0
    for x, chance in zip((noise + phi).tolist(), over, strict=True):
        if x:
            ratios = [Fraction(y, x) for y in (noise + theta).tolist()]
            total += chance * under[[low <= ratio <= high for ratio in ratios]].sum()
    return total


@pytest.mark.parametrize("case", [(5, 2, 1, 1), (12, 8, 3, 1), (3, 3, 0.5, 2), (7, 0, 2, 2)])
def test_integer_noise_against_every_pair(case):
    phi, theta, *scales = case
    pair = (scales[0], scales[1])
    for low, high in [(Fraction(1, 4), Fraction(1, 2)), (Fraction(-1), Fraction(0))]:
        found = integer_between(low, high, phi, theta, pair)
        assert found == pytest.approx(brute(low, high, phi, theta, scales), abs=1e-13)
    found = integer_ratio(Fraction(2, 3), phi, theta, pair)
    assert found == pytest.approx(brute(-(10**9), Fraction(2, 3), phi, theta, scales), abs=1e-13)


def test_what_the_lattice_leaves_out_is_the_chance_of_a_group_of_none():
    """All ratios together have probability 1 - P(X = 0); nothing else is lost."""
    for phi, scale in [(1, 0.7), (5, 3), (40, 12), (3, 6000)]:
        nothing = math.tanh(1 / (2 * scale)) * math.exp(-phi / scale)
        found = integer_ratio(Fraction(10**12), phi, 1, scale)
        assert found == pytest.approx(1 - nothing, abs=1e-8 / scale)


def test_ends_are_exact_even_with_many_digits():
    """A hair below 1/2, and 1/2 itself: the point Y/X = 1/2 has mass."""
    half, hair = Fraction(1, 2), Fraction(1, 10**40)
    with_end = integer_ratio(half, 10, 5, 2)
    without = integer_ratio(half - hair, 10, 5, 2)
    assert with_end - without == pytest.approx(integer_between(half, half, 10, 5, 2), abs=1e-14)
    assert with_end - without > 0.01


def test_wide_integer_noise_tends_to_continuous_noise():
    found = integer_ratio(Fraction(2, 5), 3000, 1000, 500)
    assert found == pytest.approx(float(laplace_ratio(0.4, 3000, 1000, 500)), abs=1e-3)


@pytest.mark.parametrize(
    ("phi", "theta", "scale"), [(0, 0, 1), (-1, 0, 1), (5, -1, 1), (5, 1, 0), (5, 1, math.inf)]
)
def test_what_is_no_count_or_no_scale_is_refused(phi, theta, scale):
    for law in (laplace_ratio, gaussian_ratio):
        with pytest.raises(QuestionError):
            law(0.5, phi, theta, scale)
    with pytest.raises(QuestionError):
        integer_ratio(Fraction(1, 2), phi, theta, scale)


def test_the_point_is_a_number_and_lattice_scales_are_bounded():
    with pytest.raises(QuestionError):
        laplace_ratio(math.nan, 5, 1, 1)
    with pytest.raises(QuestionError, match="at most"):
        integer_ratio(Fraction(1, 2), 5, 1, 1e9)
