"""Permute-and-flip: its exact law, its loss by brute force, its edges, and its time."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from flips import law
from hypothesis import given, settings
from hypothesis import strategies as some
from seeded import DictatedBits, SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.select import (
    _heads,
    best_split,
    lattice,
    most_frequent,
    permute_and_flip,
    rate,
    score_margin,
    select,
    split_scores,
)


def moves(scores, steps):
    """The scores of every neighbour."""
    for step in itertools.product(steps, repeat=len(scores)):
        yield [score + move for score, move in zip(scores, step, strict=True)]


@pytest.mark.parametrize("scores", [[3, 3, 3], [0, 1, 5], [7, 2, 6, 6]])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_every_ratio_stays_within_epsilon(scores, epsilon):
    here = law(scores, rate(1, epsilon))
    assert here.sum() == pytest.approx(1)
    for other in moves(scores, (-1, 0, 1)):
        assert (here / law(other, rate(1, epsilon))).max() <= math.exp(epsilon) * (1 + 1e-9)
    eta = rate(1, epsilon, monotone=True)
    worst = 0
    for other in moves(scores, (0, 1)):
        ratio = law(scores, eta) / law(other, eta)
        worst = max(worst, ratio.max(), 1 / ratio.min())
    assert worst <= math.exp(epsilon) * (1 + 1e-9)


@settings(deadline=None, max_examples=80)
@given(
    some.lists(some.integers(0, 20), min_size=1, max_size=9),
    some.fractions(Fraction(1, 20), 3, max_denominator=20),
    some.sampled_from([0.5, 0.8, 0.95]),
)
def test_it_is_never_worse_than_the_exponential_mechanism_and_keeps_its_margin(
    scores, eta, confidence
):
    gaps = max(scores) - np.array(scores)
    ours = law(scores, eta)
    theirs = np.exp(-float(eta) * gaps) / np.exp(-float(eta) * gaps).sum()
    for t in range(21):
        assert ours[gaps > t].sum() <= theirs[gaps > t].sum() + 1e-12
    margin = score_margin(len(scores), 1, 2 * eta, confidence)
    assert ours[gaps <= margin].sum() >= confidence - 1e-12


@pytest.mark.parametrize("gap", [0, 1, 7, 10**6])
def test_coins_are_settled_by_more_bits_where_the_first_leave_a_doubt(gap):
    """The word whose interval holds exp(-x): the next bits decide, and decide rightly."""
    eta = Fraction(1, 5)
    odds = math.exp(-gap / 5)
    edge = min(int(odds * 2**16), 2**16 - 1)
    more = int((odds * 2**16 - edge) * 2**64)
    low = DictatedBits(edge, max(0, more - 2**30))
    assert _heads(np.array([gap]), eta, low).size == (1 if gap < 10**6 else 0)
    if 0 < gap < 10**6:
        assert not _heads(np.array([gap]), eta, DictatedBits(edge, more + 2**30)).size
        assert _heads(np.array([gap]), eta, DictatedBits(edge - 1)).size
        assert not _heads(np.array([gap]), eta, DictatedBits(edge + 1)).size


def test_nothing_underflows():
    far = np.array([10**300, 0, 10**301], object)
    assert permute_and_flip(far, Fraction(1000), SeededBits(0)) == 1
    tiny = [permute_and_flip(far, Fraction(1, 10**400), SeededBits(k)) for k in range(40)]
    assert set(tiny) == {0, 1, 2}
    assert select("ab", [10**30, 10**30 + 1], 1, 100, SeededBits(1)) == "b"


def test_fractions_are_scores_and_floats_are_not():
    whole, step = lattice([Fraction(1, 2), 3, Fraction(-2, 3)])
    assert (whole.tolist(), step) == ([3, 18, -4], Fraction(1, 6))
    assert select("abc", [Fraction(1, 2), 3, Fraction(-2, 3)], 1, 1000, SeededBits(2)) == "b"
    assert select([1, 5, 3], lambda x: -abs(x - 4) * 2 + x, 1, 1000, SeededBits(2)) == 5
    for wrong in ([math.nan, 1.0], np.array([0.5, 1.0]), [1, math.inf], ["a", "b"]):
        with pytest.raises(QuestionError, match="whole numbers or fractions"):
            select("ab", wrong, 1, 1)


def test_wrong_input_is_refused():
    with pytest.raises(QuestionError, match="empty"):
        select([], [], 1, 1)
    with pytest.raises(QuestionError, match="one score"):
        select("abc", [1, 2], 1, 1)
    for sensitivity, epsilon in [(0, 1), (-1, 1), (math.nan, 1), (1, 0), (1, math.inf)]:
        with pytest.raises(QuestionError, match="above zero"):
            select("ab", [1, 2], sensitivity, epsilon)
    with pytest.raises(ValueError, match="confidence"):
        score_margin(3, 1, 1, 1.0)
    with pytest.raises(ValueError, match="candidate"):
        score_margin(0, 1, 1, 0.9)


def test_one_candidate_is_certain_and_equal_ones_are_equally_likely():
    assert select(["only"], [-(10**30)], 1, "0.001") == "only"
    assert score_margin(1, 1, 1, 0.95) == 0
    bits = SeededBits(3)
    found = [select(range(4), [5, 5, 5, 5], 1, 1, bits) for _ in range(4000)]
    assert min(np.bincount(found)) > 850


def test_the_mode_of_a_domain():
    counts = np.array([10, 900, 30, 0])
    assert most_frequent("abcd", counts, "0.1", SeededBits(4)) == "b"
    assert most_frequent("abcd", counts, "0.1", SeededBits(4), changed=True) == "b"
    assert most_frequent("abcd", np.zeros(4, int), 1, SeededBits(4)) in "abcd"


@settings(deadline=None, max_examples=50)
@given(
    some.lists(some.tuples(some.integers(0, 4), some.integers(0, 2)), max_size=12),
    some.tuples(some.integers(0, 4), some.integers(0, 2)),
)
def test_the_scores_of_splits_move_by_one_at_most_and_together(rows, new):
    def table(rows):
        counts = np.zeros((5, 3), np.int64)
        for value, label in rows:
            counts[value, label] += 1
        return counts

    here = split_scores(table(rows))
    step = split_scores(table([*rows, new])) - here
    assert set(step) <= {0, 1}
    right = [
        sum(
            max((sum((v < t) == side and k == label for v, k in rows)) for label in range(3))
            for side in (True, False)
        )
        for t in range(1, 5)
    ]
    assert here.tolist() == right


def test_a_split_parts_what_can_be_parted():
    counts = np.array([[90, 1], [80, 2], [3, 70], [1, 60]])
    assert best_split(counts, 1, SeededBits(5)) == 2
    for wrong in (np.zeros((1, 2), int), np.zeros(4, int), np.zeros((4, 0), int)):
        with pytest.raises(QuestionError, match="split"):
            best_split(wrong, 1)


def test_a_million_candidates_are_quick():
    scores = -np.abs(np.arange(10**6) - 400_000)
    begun = time.process_time()
    found = select(range(10**6), scores, 1, Fraction(1, 50), SeededBits(7))
    assert time.process_time() - begun < 60
    assert abs(found - 400_000) < 5000
