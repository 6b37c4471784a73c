"""Edges of the integer Laplace and Gaussian samplers; their laws are tested in `tests/chance`."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms import gaussian, laplace
from adomnia.mechanisms.randomness import Table

SAMPLERS = [laplace.sample, gaussian.sample]


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("size", [0, 1, 10, 1000])
def test_no_noise_where_the_scale_is_zero(sample, size):
    drawn = sample(Fraction(0), size)
    assert drawn.size == size
    assert not drawn.any()


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("size", [0, 1, 63, 255, 256, 1000])
@pytest.mark.parametrize("scale", [Fraction(1, 10**9), Fraction(5, 2), Fraction(10**13)])
def test_sizes_and_types(sample, size, scale):
    drawn = sample(scale, size, SeededBits(1))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("sample", SAMPLERS)
def test_tiny_scales_give_zeros(sample):
    assert not sample(Fraction(1, 10**9), 10_000, SeededBits(2)).any()
    assert not sample(Fraction(1, 10**9), 10, SeededBits(2)).any()


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("size", [5, 300])
def test_huge_scales_give_python_integers(sample, size):
    drawn = sample(Fraction(10**300), size, SeededBits(3))
    assert drawn.dtype == object
    assert all(type(each) is int for each in drawn)
    assert max(abs(each) for each in drawn) > 10**140
    assert {each > 0 for each in drawn} == {True, False}


@pytest.mark.parametrize("sample", SAMPLERS)
def test_negative_scales_are_refused(sample):
    with pytest.raises(ValueError, match="not negative"):
        sample(Fraction(-1), 3)


@pytest.mark.parametrize("sample", SAMPLERS)
def test_the_largest_scales_of_the_fast_way(sample):
    scale = Fraction(laplace.LARGEST) if sample is laplace.sample else Fraction(gaussian.LARGEST)
    spread = float(scale) * math.sqrt(2) if sample is laplace.sample else math.sqrt(scale)
    drawn = sample(scale, 100_000, SeededBits(4))
    assert drawn.dtype == np.int64
    assert abs(drawn.astype(float).std() / spread - 1) < 0.02


def test_different_draws_of_the_system_differ():
    assert (
        laplace.sample(Fraction(10**6), 500).tolist()
        != laplace.sample(Fraction(10**6), 500).tolist()
    )


def far(index):
    """A table that always answers `index`."""

    class Far(Table):
        def __init__(self) -> None:
            pass

        def draw(self, size, bits):
            return np.full(size, index, np.int64)

    return Far()


def test_laplace_past_62_bits_becomes_python_integers(monkeypatch):
    monkeypatch.setattr(laplace, "_tables", lambda scale: (50, far(2 * 2**40 + 1), ()))
    drawn = laplace.sample(Fraction(7), 300, SeededBits(5))
    assert drawn.dtype == object
    assert set(drawn) == {~(2**90)}


def test_gaussian_past_62_bits_becomes_python_integers(monkeypatch):
    monkeypatch.setattr(gaussian, "_table", lambda variance: (40, far(2 * 2**40 + 1)))
    drawn = gaussian.sample(Fraction(2**200), 3, SeededBits(6))
    assert drawn.dtype == object
    drawn = gaussian._many(Fraction(2**200), 100, SeededBits(6))
    assert drawn.size == 100
    assert all(-(2**80) - 2**40 <= each < -(2**80) for each in drawn)


def test_slow_and_fast_candidates_are_thinned_alike():
    variance, shift, bits = Fraction(10**6), 4, SeededBits(7)
    index = 2 * 150 + 1  # a block at 2.4 deviations
    slow = [gaussian._candidate(variance, shift, index, bits) for _ in range(5000)]
    fast = gaussian._candidates(variance, shift, np.full(5000, index), bits)
    kept = [each for each in slow if each is not None]
    assert abs(len(kept) - fast.size) < 150
    assert set(kept) == set(fast.tolist()) == {-(2400 + k) - 1 for k in range(16)}


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(40)])
def test_probabilities_sum_to_one(scale):
    reach = int(40 * scale) + 40
    law = math.fsum(laplace.probability(scale, x) for x in range(-reach, reach + 1))
    assert law == pytest.approx(1, abs=1e-12)
    inner = math.fsum(laplace.probability(scale, x) for x in range(-5, 6))
    assert laplace.tail(scale, 5) == pytest.approx(1 - inner, abs=1e-12)
    law = math.fsum(gaussian.probability(scale, x) for x in range(-reach, reach + 1))
    assert law == pytest.approx(1, abs=1e-12)


def test_probabilities_at_the_extremes():
    assert laplace.probability(Fraction(0), 0) == 1.0
    assert laplace.probability(Fraction(1, 10**400), 1) == 0.0
    assert laplace.tail(Fraction(10**300), 10**300) == pytest.approx(math.exp(-1))
    assert laplace.tail(Fraction(0), 0) == 0.0
    assert gaussian.probability(Fraction(0), 1) == 0.0
