"""Edges of the integer Laplace and Gaussian samplers; their laws are tested in `tests/chance`."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.randomness import InversionTable

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

    class Far(InversionTable):
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


@pytest.mark.parametrize(
    ("variance", "shift"),
    [(Fraction(4096), 1), (Fraction(10**6), 4), (Fraction(10**10, 7), 10), (Fraction(10**14), 18)],
)
def test_a_coin_below_its_limit_is_certain(variance, shift):
    limits, width = gaussian._limits(variance, shift), gaussian._word(shift)
    spare = gaussian._spare(shift)
    assert limits[-1] == 0, "blocks further out are never certain"
    assert 10 * math.sqrt(variance) < limits.size // 2 << shift
    for index, limit in enumerate(limits.tolist()[:-1]):
        coin, left = divmod(limit, 1 << width - spare)
        assert left == 0
        start, last = (index >> 1 << shift) + (index & 1), (1 << shift) - 1
        largest = last * (2 * start + last) / (2 * variance)
        least = mpmath.exp(-mpmath.mpf(largest.numerator) / largest.denominator)
        assert mpmath.mpf(coin) / (1 << spare) <= least
    assert (limits[:100] >= 0.8 * 2**width).all(), "and nearly all are, near the middle"


@pytest.mark.parametrize("index", [0, 1, 40, 41, 300, 301])
def test_every_word_is_kept_as_exact_numbers_say(index):
    variance, shift, block = Fraction(10**6), 4, 16
    words = np.arange(1 << 16, dtype=np.uint16)

    class Words(SeededBits):
        served = False

        def words(self, n):
            if self.served:
                return super().words(n)
            self.served = True
            return words.view(np.uint64)

    kept = gaussian._candidates(variance, shift, np.full(words.size, index), Words(8))
    start, negative = (index >> 1) * block, index & 1
    counts = np.bincount((kept ^ -negative) - start, minlength=block)
    for rest, count in enumerate(counts.tolist()):
        exponent = rest * (2 * (start + negative) + rest) / (2 * variance)
        share = 4096 * math.exp(-exponent)  # of 4096 coins all but one are decided by 12 bits
        assert math.floor(share) <= count <= math.ceil(share)


def test_compact_draws_are_the_same_in_fewer_bytes():
    for variance in (Fraction(5), Fraction(10**9)):
        short = gaussian.compact(variance, 1000, SeededBits(9))
        assert short.dtype == np.int32
        assert short.tolist() == gaussian.sample(variance, 1000, SeededBits(9)).tolist()
    assert gaussian.compact(Fraction(10**20), 1000, SeededBits(9)).dtype == np.int64


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
