"""Margins: exact for one noise, between exact and a part in a thousand above for several."""

from __future__ import annotations

import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from seeded import SeededBits

from adomnia.mechanisms.margins import margin as margins
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.noise import gaussian, laplace


def lap(scale):
    return Noise("laplace", Fraction(scale))


def gau(variance):
    return Noise("gaussian", Fraction(variance))


def law(noise, weight, step, reach):
    """Probabilities of weight * noise on the lattice of `step`, index `reach` being zero."""
    of = laplace.probability if noise.kind == "laplace" else gaussian.probability
    probabilities = np.zeros(2 * reach + 1)
    stride = round(weight / step)
    for x in range(-(reach // stride), reach // stride + 1):
        probabilities[reach + stride * x] = of(noise.parameter, x)
    return probabilities


def brute(terms, confidence, step, reach):
    """The smallest margin by plain convolution."""
    total = np.zeros(2 * reach + 1)
    total[reach] = 1
    for weight, noise in terms:
        total = np.convolve(total, law(noise, weight, step, reach))[reach : 3 * reach + 1]
    within = total[reach:].cumsum() * 2 - total[reach]
    return float(np.searchsorted(within, confidence) * step)


@settings(deadline=None)
@given(
    some.fractions(Fraction(1, 50), 2000, max_denominator=100),
    some.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_one_laplace_is_the_smallest_integer(scale, confidence):
    m = margin([(1, lap(scale))], confidence)
    assert laplace.tail(scale, int(m)) <= (1 - confidence) * (1 + 1e-9)
    assert m == 0 or laplace.tail(scale, int(m) - 1) > (1 - confidence) * (1 - 1e-9)


@settings(deadline=None)
@given(
    some.fractions(Fraction(1, 50), 500, max_denominator=100),
    some.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_one_gaussian_is_the_smallest_integer(variance, confidence):
    m = int(margin([(1, gau(variance))], confidence))
    inside = sum(gaussian.probability(variance, x) for x in range(-m, m + 1))
    fewer = inside - 2 * gaussian.probability(variance, m) if m else 0
    assert inside >= confidence - 1e-9
    assert fewer < confidence + 1e-9


def test_the_two_gaussian_ways_meet():
    below, above = gau(10**6 - Fraction(1, 10**6)), gau(10**6 + Fraction(1, 10**6))
    for confidence in (0.5, 0.9, 0.95, 0.99, 0.999999):
        gap = margin([(1, above)], confidence) - margin([(1, below)], confidence)
        assert 0 <= gap <= 1


@pytest.mark.parametrize("scale", [10**15, 10**40, 10**300])
def test_huge_laplace_scales_are_exact(scale):
    m = margin([(1, lap(scale))], 0.95)
    assert isinstance(m, int)
    with mpmath.workdps(700):
        q = mpmath.exp(-1 / mpmath.mpf(scale))
        assert 2 * q ** (m + 1) / (1 + q) <= 1 - mpmath.mpf("0.95")
        assert 2 * q**m / (1 + q) > 1 - mpmath.mpf("0.95")


def test_tiny_scales_and_no_noise():
    assert margin([(1, lap(Fraction(1, 10**9)))], 0.95) == 0
    assert margin([(1, gau(Fraction(1, 10**9)))], 0.95) == 0
    assert margin([(1, lap(0)), (3, gau(0)), (0, lap(5))], 0.95) == 0
    assert margin([], 0.95) == 0
    assert margin([(1, lap(Fraction(1, 10**9)))] * 2, 0.95) == 0
    assert margin([(1, lap(Fraction(1, 10**9))), (1, lap(3))], 0.95) == margin([(1, lap(3))], 0.95)


def test_weights_scale_the_margin_and_whole_ones_keep_it_whole():
    one = margin([(1, lap(10))], 0.95)
    assert margin([(-3, lap(10))], 0.95) == 3 * one
    assert isinstance(margin([(3.0, lap(10))], 0.95), int)
    assert margin([(0.25, lap(10))], 0.95) == one / 4
    assert margin([(0.5, lap(10**300))], 0.95) > 10**299


CASES = [
    ([(1, lap(3)), (1, lap(3))], 1.0),
    ([(1, lap(3)), (2, lap(1)), (1, gau(4))], 1.0),
    ([(0.5, lap(2)), (0.3, lap(1))], 0.1),
    ([(1, gau(Fraction(1, 2)))] * 5, 1.0),
    ([(1, lap(Fraction(1, 2))), (3, lap(Fraction(1, 3)))], 1.0),
    ([(1, lap(2))] * 12, 1.0),
]


@pytest.mark.parametrize(("terms", "step"), CASES)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_lattice_sums_equal_the_convolution(terms, step, confidence):
    assert margin(terms, confidence) == pytest.approx(brute(terms, confidence, step, 600))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_smooth_sums_are_never_below_and_hardly_above(confidence):
    terms = [(1, lap(300)), (0.731, lap(500)), (0.377, gau(10_000))]
    exact = fine(terms, confidence)
    m = margin(terms, confidence)
    assert exact * (1 - 1e-4) <= m <= exact * 1.002


def fine(terms, confidence):
    """The margin of the continuous sum, by convolution on a fine grid."""
    step, reach = 0.5, 20_000
    x = np.arange(-reach, reach + 1) * step
    total = None
    for weight, noise in terms:
        if noise.kind == "laplace":
            density = np.exp(-np.abs(x) / (weight * float(noise.parameter)))
        else:
            density = np.exp(-(x**2) / (2 * weight**2 * float(noise.parameter)))
        density /= density.sum()
        wave = np.fft.fft(np.fft.ifftshift(density))
        total = wave if total is None else total * wave
    sums = np.fft.fftshift(np.fft.ifft(total).real)[reach:]
    within = np.cumsum(sums) * 2 - sums[0]
    return float(np.interp(confidence, within, x[reach:] + step / 2))


@pytest.mark.parametrize("scale", [1, 50, 1000, 10**6, 10**200])
def test_a_million_equal_terms_are_quick(scale):
    begun = time.process_time()
    m = margin([(1, lap(scale))], 0.95, repeats=[10**6])
    assert time.process_time() - begun < 10
    spread = 1 / (2 * mpmath.sinh(mpmath.mpf(1) / (2 * scale)) ** 2)
    normal = 1.959964 * float(mpmath.sqrt(spread * 10**6))
    assert normal * 0.999 <= m <= normal * 1.002


def test_repeats_are_the_same_as_repetition():
    assert margin([(1, lap(4))] * 7, 0.9) == margin([(1, lap(4))], 0.9, repeats=[7])
    assert margin([(1, lap(4)), (-1, lap(4))], 0.9) == margin([(1, lap(4))], 0.9, repeats=[2])


def test_many_different_terms_are_rounded_up():
    terms = [(1 + k / 997, lap(10)) for k in range(200)]
    m, bits = margin(terms, 0.95), SeededBits(1)
    draws = sum(w * laplace.sample(n.parameter, 40_000, bits).astype(float) for w, n in terms)
    exact = float(np.quantile(np.abs(draws), 0.95))
    assert exact * 0.98 < m < exact * 1.03


def test_confidences_close_to_one_fall_back_on_a_bound():
    terms = [(1, lap(10)), (1, lap(10))]
    assert margin(terms, 1 - 1e-9) >= margin(terms, 1 - 1e-6) > margin(terms, 0.99)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2])
def test_impossible_confidences_are_refused(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        margin([(1, lap(1))], confidence)


@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(1, 20), Fraction(1, 50), Fraction(1, 10**6)]
)
@pytest.mark.parametrize("weights", [(1, 1), (0.5, 0.25), (0.5, 1 / 3, 0.1)])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_sums_of_very_small_noise_have_a_margin(scale, weights, kind):
    found = margin([(weight, Noise(kind, scale)) for weight in weights], 0.95)
    assert 0 <= found <= 4 * sum(weights)
    if scale <= Fraction(1, 20):
        assert found == 0


WIDTHS = [Fraction(10) ** power for power in range(-9, 10)]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999, 1 - 1e-12])
def test_margins_of_sums_are_there_for_every_width_of_noise(kind, confidence):
    """Small noise is 0 or a few steps; wider noise never has a smaller margin."""
    weights = [(0.5**k * 1.1, 1 + k * k) for k in range(40)]
    before = 0.0
    for width in WIDTHS:
        noise = Noise(kind, width)
        found = margin(
            [(w, noise) for w, _ in weights], confidence, [n for _, n in weights], 1 << 17
        )
        assert np.isfinite(found)
        assert found >= before * 0.98
        before = float(found)
    assert before > 0


def test_the_work_of_a_margin_is_bounded(monkeypatch):
    """Values of characteristic functions are counted: none takes more than its work."""
    taken = []
    plain = margins._Group.wave
    monkeypatch.setattr(
        margins._Group, "wave", lambda self, t: (taken.append(t.size), plain(self, t))[1]
    )
    for scale in (Fraction(1, 60), Fraction(1, 10), Fraction(1, 3), 1, 7, 1000, 10**9):
        for confidence in (0.5, 0.95, 0.99999):
            taken.clear()
            terms = [(1 / (1 + k) ** 0.5, lap(scale * (1 + k))) for k in range(60)]
            margin(terms, confidence, [1 + 3 * k for k in range(60)], work=1 << 18)
            assert sum(taken) <= (1 << 18) + 100 * 64


@pytest.mark.parametrize("scale", [Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), 1])
def test_rare_steps_of_many_sizes_are_covered(scale):
    """Far from normal: the sum of few steps of different heights, against its exact law."""
    weights = [10, 7, 5, 3, 2, 1] * 9
    terms = [(weight * 0.1 + 1e-9 * place, lap(scale)) for place, weight in enumerate(weights)]
    for confidence in (0.9, 0.99, 0.999):
        exact = brute([(w, lap(scale)) for w in weights], confidence, 1.0, 3000) / 10
        found = margin(terms, confidence)
        assert exact - 0.05 <= found <= exact * 1.01 + 1e-3  # the small steps are merged


def test_sums_of_noise_past_the_floats_are_whole_numbers():
    one = margin([(1, lap(10**400)), (1, lap(10**400))], 0.95)
    assert isinstance(one, int)
    small = margin([(1, lap(10**40)), (1, lap(10**40))], 0.95)
    assert one / 10**360 == pytest.approx(float(small), rel=1e-6)
    assert isinstance(margin([(1, gau(10**700))] * 3, 0.95), int)
