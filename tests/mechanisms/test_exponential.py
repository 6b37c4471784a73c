"""exp(-x) enclosed, coins, and the exponential mechanism's choice, ratio by ratio."""

from __future__ import annotations

import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats
from seeded import DictatedBits, SeededBits

from adomnia.mechanisms.noise import exponential
from adomnia.mechanisms.noise.exponential import _filter, choose, coin, enclose, exponentials, under
from adomnia.mechanisms.randomness import resolve

positive = some.fractions(0, 300, max_denominator=10**12)


def true_exp(x, precision):
    with mpmath.workprec(precision + 80):
        return mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** precision


@given(positive, some.integers(1, 400))
def test_enclosures_hold_the_truth_tightly(x, precision):
    low, high = enclose(x, precision)
    with mpmath.workprec(precision + 80):
        assert low <= true_exp(x, precision) <= high
    assert high - low <= 2


def test_enclosures_of_the_extremes():
    assert enclose(Fraction(0), 64) == (1 << 64, 1 << 64)
    assert enclose(Fraction(10**300), 64) == (0, 1)
    low, high = enclose(Fraction(1, 10**300), 64)
    assert low <= high == 1 << 64


@given(some.integers(0, 700 * 10**6), some.sampled_from([1, 10**3, 10**6]))
def test_float_exponentials_keep_their_promise(gap, below):
    x = min(Fraction(gap, below), Fraction(700))
    value = exponentials(np.array([gap]), Fraction(1, below))[0]
    with mpmath.workprec(200):
        truth = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
        assert abs(mpmath.mpf(float(value)) / truth - 1) < 1e-12


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 3), (1, 1), (5, 2), (40, 1)])
def test_coins_fall_as_they_should(above, below):
    bits = SeededBits(1)
    heads = sum(coin(above, below, bits) for _ in range(20_000))
    assert stats.binomtest(heads, 20_000, float(np.exp(-above / below))).pvalue > 1e-4


def test_a_draw_on_the_edge_of_exp_is_settled_by_more_bits():
    edge = enclose(Fraction(1), 64)[0]
    with mpmath.workprec(300):
        next_bits = int((true_exp(Fraction(1), 64) - edge) * 2**64)
    assert under(edge, 64, Fraction(1), DictatedBits(next_bits - 1)) is True
    assert under(edge, 64, Fraction(1), DictatedBits(next_bits + 1)) is False
    assert under(edge - 1, 64, Fraction(1), DictatedBits()) is True
    assert under(edge + 1, 64, Fraction(1), DictatedBits()) is False


@settings(deadline=None, max_examples=200)
@given(
    some.lists(
        some.tuples(some.integers(0, 50), some.integers(1, 10**18)), min_size=1, max_size=40
    ),
    some.fractions(Fraction(1, 1000), 5, max_denominator=1000),
    some.integers(0, 2**64 - 1),
)
def test_the_filter_decides_as_exact_numbers_do(entries, eta, drawn):
    gaps, many = np.array([e[0] for e in entries]), np.array([e[1] for e in entries])
    gaps -= gaps.min()
    found = _filter(gaps, many, eta, drawn)
    exact = resolve(
        lambda p: (exponential._weights(gaps, many, eta, p), 0), drawn, 64, SeededBits(0)
    )
    assert found in (None, exact)


def test_the_filter_doubts_at_every_boundary_and_the_choice_is_exact():
    gaps, many, eta = np.array([0, 1, 2]), np.array([3, 5, 7]), Fraction(1, 2)
    with mpmath.workprec(300):
        parts = [m * mpmath.exp(-mpmath.mpf(int(g)) / 2) for g, m in zip(gaps, many, strict=True)]
        edge = int(mpmath.floor(parts[0] / sum(parts) * 2**64))
        more = int(mpmath.floor((parts[0] / sum(parts) * 2**64 - edge) * 2**64))
    assert _filter(gaps, many, eta, edge) is None
    assert choose(gaps, many, eta, DictatedBits(edge - 1)) == 0
    assert choose(gaps, many, eta, DictatedBits(edge + 1)) == 1
    assert choose(gaps, many, eta, DictatedBits(edge, more - 1)) == 0
    assert choose(gaps, many, eta, DictatedBits(edge, more + 1)) == 1


@pytest.mark.parametrize("kind", [np.int64, object])
def test_choices_follow_their_weights(kind):
    penalties, many = np.array([4, 2, 3, 9], kind), np.array([1, 2, 3, 1000], kind)
    eta, bits = Fraction(3, 4), SeededBits(2)
    counts = np.bincount([choose(penalties, many, eta, bits) for _ in range(20_000)], minlength=4)
    law = many.astype(float) * np.exp(-0.75 * penalties.astype(float))
    assert stats.chisquare(counts, law / law.sum() * 20_000).pvalue > 1e-4


def test_nothing_underflows_or_overflows():
    far = np.array([10**6, 10**6 + 1], np.int64)
    assert {choose(far, np.array([1, 1]), Fraction(1, 1000), SeededBits(k)) for k in range(40)} == {
        0,
        1,
    }
    huge = np.array([10**300, 10**300 + 1], object)
    assert choose(huge, np.array([1, 1]), Fraction(1000), SeededBits(3)) == 0
    many = np.array([1, 10**320], object)
    assert choose(np.array([0, 735]), many, Fraction(1), SeededBits(4)) == 1
    assert choose(np.array([0, 745]), many, Fraction(1), SeededBits(4)) == 0
    assert choose(np.array([0, 1]), np.array([1, 1]), Fraction(10**400), SeededBits(5)) == 0
    tiny = [
        choose(np.array([0, 9]), np.array([1, 1]), Fraction(1, 10**400), SeededBits(k))
        for k in range(40)
    ]
    assert set(tiny) == {0, 1}


def test_one_candidate_is_certain():
    assert choose(np.array([7]), np.array([1]), Fraction(1), SeededBits(0)) == 0


def test_choices_across_chunks():
    size = 3 * exponential.CHUNK + 17
    penalties, many = np.zeros(size, np.int64), np.ones(size, np.int64)
    bits = SeededBits(6)
    found = [choose(penalties, many, Fraction(1), bits) for _ in range(600)]
    counts = np.histogram(found, bins=6, range=(0, size))[0]
    assert stats.chisquare(counts).pvalue > 1e-4
    last = choose(penalties, many, Fraction(1), DictatedBits((1 << 64) - 1))
    assert last == size - 1


def test_a_million_candidates_are_quick():
    penalties = np.abs(np.arange(10**6) - 400_000)
    many = np.full(10**6, 3)
    begun = time.process_time()
    found = choose(penalties, many, Fraction(1, 100), SeededBits(7))
    assert time.process_time() - begun < 60
    assert abs(found - 400_000) < 5000
