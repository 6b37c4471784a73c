"""A share with its mask: what leaves, what is refused, and the decisions that floats leave open."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from seeded import DictatedBits, SeededBits

from adomnia.mechanisms.noise import shares
from adomnia.mechanisms.noise.shares import add_share, sample
from adomnia.schema.sealed import Sealed


def masks(rng, holders, shape):
    """Words that sum to zero modulo 2^64."""
    made = [rng.integers(0, 2**64, shape, np.uint64) for _ in range(holders - 1)]
    return [*made, np.uint64(0) - np.sum(made, axis=0, dtype=np.uint64)]


@pytest.mark.parametrize("colluding", [0, 1, 3])
def test_masked_words_sum_to_the_truth_and_its_noise(colluding):
    rng, holders = np.random.default_rng(3), 4
    parts = [rng.integers(-(10**9), 10**9, (50, 3)) for _ in range(holders)]
    words = [
        add_share(Sealed(part), Fraction(2), holders, mask, SeededBits(i), colluding)
        for i, (part, mask) in enumerate(zip(parts, masks(rng, holders, (50, 3)), strict=True))
    ]
    total = np.sum(words, axis=0, dtype=np.uint64).view(np.int64)
    assert all(word.dtype == np.uint64 for word in words)
    assert np.abs(total - sum(parts)).max() < 100
    assert (total != sum(parts)).any()


def test_no_noise_where_the_scale_is_zero():
    mask = np.array([2**64 - 1, 0], np.uint64)
    words = add_share(Sealed(np.array([7, -7])), Fraction(0), 2, mask)
    assert words.tolist() == [6, 2**64 - 7]


def test_values_past_a_word_are_moved_inside_and_stay_neighbours():
    far = np.array([10**30, -(10**30), 5], object)
    words = add_share(Sealed(far), Fraction(0), 4, np.zeros(3, np.uint64)).view(np.int64)
    assert words.tolist() == [2**60, -(2**60), 5]


def test_small_unsigned_values_are_taken():
    values = np.array([3, 4], np.uint16)
    assert add_share(Sealed(values), Fraction(0), 2, np.zeros(2, np.uint64)).tolist() == [3, 4]


def test_nothing_is_opened_for_a_wrong_call():
    values, mask = Sealed(np.array([1, 2])), np.zeros(2, np.uint64)
    with pytest.raises(TypeError, match="integers"):
        add_share(Sealed(np.array([0.5])), Fraction(1), 2, mask)
    with pytest.raises(ValueError, match="mask"):
        add_share(values, Fraction(1), 2, np.zeros(3, np.uint64))
    with pytest.raises(ValueError, match="mask"):
        add_share(values, Fraction(1), 2, np.zeros(2, np.int64))
    for colluding in (-1, 2):
        with pytest.raises(ValueError, match="honest"):
            add_share(values, Fraction(1), 2, mask, colluding=colluding)


@pytest.mark.parametrize(
    ("scale", "part"),
    [(-1, 1), (shares.WIDEST + 1, 1), (1, 0), (1, Fraction(3, 2)), (1, -1)],
)
def test_a_wrong_scale_or_part_is_refused(scale, part):
    with pytest.raises(ValueError, match="scale"):
        sample(Fraction(scale), Fraction(part), 3)


@pytest.mark.parametrize("size", [0, 1, shares.CHUNK + 1])
def test_every_size_is_served(size):
    drawn = sample(Fraction(3), Fraction(1, 3), size, SeededBits(4))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


def test_tiny_and_huge_scales_are_served():
    assert not sample(Fraction(1, 10**400), Fraction(1, 2), 1000).any()
    assert np.abs(sample(shares.WIDEST, Fraction(1), 1000)).max() < 1 << 57


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(1000), Fraction(10**7, 3)], ids=str)
@pytest.mark.parametrize(("size", "start", "zeros"), [(1, 1, 0), (700, 512, 0), (9000, 4096, 2)])
def test_a_tie_is_decided_by_further_bits(scale, size, start, zeros):
    """The first 53 bits fall on the boundary: the next 64 lie just below it, or just above."""
    with mpmath.workdps(80):
        chance = mpmath.mpf(start) / size * mpmath.exp(-mpmath.mpf(size) / (scale + mpmath.mpf(0)))
        chance *= mpmath.mpf(2) ** zeros
        drawn = int(mpmath.floor(chance * 2**53))
        more = int(mpmath.floor((chance * 2**53 - drawn) * 2**64))
    for further, kept in ((more - 1, True), (more + 1, False)):
        bits = DictatedBits(further)
        assert shares._is_kept((size, start), scale, drawn, zeros, bits) is kept


def test_a_long_run_of_tails_is_counted_on():
    """The first word is zero: 64 tails, and the run goes on in the next word."""
    assert shares._runs(1, DictatedBits(0, 0b1000)).tolist() == [64 + 4]
    assert shares._runs(3, DictatedBits(1, 2, 1 << 63)).tolist() == [1, 2, 64]
