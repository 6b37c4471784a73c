"""Quantiles: groups, penalties, the privacy bound by brute force, and the public rank margin."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.quantiles.quantile import (
    Rank,
    Share,
    penalties,
    quantile,
    rank_margin,
    runs,
    sensitivity,
)

LOW, HIGH = 0, 4
TARGETS = [
    Share(Fraction(1, 2)),
    Share(Fraction(1, 3)),
    Share(Fraction(9, 10)),
    Share(Fraction(0)),
    Share(Fraction(1)),
    Rank(1),
    Rank(2),
    Rank(1, from_top=True),
    Rank(3, from_top=True),
]


def tally(rows):
    values, counts = np.unique(np.array(sorted(rows), np.int64), return_counts=True)
    return values, counts.astype(np.int64)


def penalty(rows, o, target):
    """The definition of the note, row by row."""
    below, upto, n = sum(x < o for x in rows), sum(x <= o for x in rows), len(rows)
    if isinstance(target, Share):
        a, b = target.q.numerator, target.q.denominator
        return max(0, a * n - b * upto, b * below - a * n)
    if target.from_top:
        below, upto = n - upto, n - below
    return max(0, target.r - upto, below - (target.r - 1))


def spread(rows, target):
    """Penalty of every grid point, by way of the groups."""
    starts, sizes, below, upto = runs(*tally(rows), (LOW, HIGH))
    grouped = penalties(below, upto, len(rows), target)
    assert sizes.min() > 0
    assert sizes.sum() == HIGH - LOW + 1
    return [int(s) for s, size in zip(grouped, sizes, strict=True) for _ in range(size)], starts


def all_rows(most):
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(range(LOW, HIGH + 1), n)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_groups_give_every_point_its_penalty(target):
    for rows in all_rows(4):
        found, _ = spread(rows, target)
        assert found == [penalty(rows, o, target) for o in range(LOW, HIGH + 1)]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_table_has_a_point_that_meets_the_target(target):
    for rows in all_rows(4):
        least = min(spread(rows, target)[0])
        missing = max(0, target.r - len(rows)) if isinstance(target, Rank) else 0
        assert least == missing


def law(rows, target, eta):
    weights = np.exp(-float(eta) * np.array(spread(rows, target)[0]))
    return weights / weights.sum()


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_one_row_more_changes_no_probability_beyond_epsilon(target):
    epsilon = Fraction(4, 5)
    eta = epsilon / (2 * sensitivity(target))
    worst = 0.0
    for rows in all_rows(3):
        for extra in range(LOW, HIGH + 1):
            ratio = law(rows, target, eta) / law((*rows, extra), target, eta)
            worst = max(worst, float(np.abs(np.log(ratio)).max()))
    assert 0.2 < worst <= float(epsilon) + 1e-12


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_one_row_changed_changes_no_probability_beyond_epsilon(target):
    epsilon = Fraction(4, 5)
    eta = epsilon / (2 * sensitivity(target, changed=True))
    worst = 0.0
    for rows in all_rows(3):
        for place, other in itertools.product(range(len(rows)), range(LOW, HIGH + 1)):
            changed = (*rows[:place], other, *rows[place + 1 :])
            ratio = law(rows, target, eta) / law(changed, target, eta)
            worst = max(worst, float(np.abs(np.log(ratio)).max()))
    assert 0.2 < worst <= float(epsilon) + 1e-12


def test_the_sensitivities_are_reached():
    for target, changed in itertools.product(TARGETS, (False, True)):
        worst = 0
        for rows in all_rows(3):
            for other in range(LOW, HIGH + 1):
                near = (*rows[1:], other) if changed else (*rows, other)
                if changed and not rows:
                    continue
                pairs = zip(spread(rows, target)[0], spread(near, target)[0], strict=True)
                worst = max(worst, *(abs(a - b) for a, b in pairs))
        assert worst == sensitivity(target, changed)


@pytest.mark.parametrize("target", TARGETS[:3] + TARGETS[5:7], ids=str)
def test_draws_follow_the_law(target):
    rows, eta, bits = (0, 1, 1, 3, 3, 3), Fraction(1, 3), SeededBits(1)
    values, counts = tally(rows)
    drawn = [quantile(values, counts, LOW, HIGH, target, eta, bits) for _ in range(5000)]
    found = np.bincount(drawn, minlength=HIGH - LOW + 1)
    assert stats.chisquare(found, law(rows, target, eta) * 5000).pvalue > 1e-4


def test_no_rows_is_uniform_on_the_grid():
    nothing, bits = np.zeros(0, np.int64), SeededBits(2)
    drawn = [quantile(nothing, nothing, -5, 4, TARGETS[0], Fraction(1), bits) for _ in range(3000)]
    assert stats.chisquare(np.bincount(np.array(drawn) + 5, minlength=10)).pvalue > 1e-4


def test_heavy_ties_are_no_obstacle():
    values, counts = np.array([10, 20, 30]), np.array([10, 100, 90])
    target = Share(Fraction(1, 2))
    drawn = {
        quantile(values, counts, 0, 100, target, Fraction(5), SeededBits(k)) for k in range(30)
    }
    assert drawn == {20}


@pytest.mark.parametrize(("low", "high"), [(0, 10**30), (-(10**40), 10**40), (-(2**63), 2**63)])
def test_wide_grids(low, high):
    values, counts = np.array([5, 10**18], object), np.array([1, 1])
    found = quantile(values, counts, low, high, Rank(1), Fraction(10**3), SeededBits(3))
    assert low <= found <= high
    heavy = np.array([10**6, 1])
    median = quantile(values, heavy, low, high, Share(Fraction(1, 2)), Fraction(1), SeededBits(3))
    assert median == 5


def test_shares_with_large_denominators_do_not_overflow():
    target = Share(Fraction(10**18 - 1, 10**18))
    values, counts = np.arange(100), np.full(100, 10**6)
    eta = Fraction(1, 10**18)
    assert quantile(values, counts, 0, 99, target, eta, SeededBits(4)) == 99


def test_a_million_values_are_quick():
    values, counts = np.arange(10**6) * 3, np.ones(10**6, np.int64)
    begun = time.process_time()
    found = quantile(values, counts, 0, 10**7, TARGETS[0], Fraction(1, 100), SeededBits(5))
    assert time.process_time() - begun < 60
    assert abs(found - 1_500_000) < 5000


@settings(deadline=None, max_examples=60)
@given(
    some.lists(some.integers(LOW, HIGH), max_size=12),
    some.sampled_from(TARGETS),
    some.fractions(Fraction(1, 20), 2, max_denominator=20),
    some.sampled_from([0.5, 0.8, 0.95]),
)
def test_the_rank_margin_holds_on_any_data(rows, target, eta, confidence):
    m = rank_margin(HIGH - LOW + 1, eta, target, confidence)
    unit = target.q.denominator if isinstance(target, Share) else 1
    found = np.array(spread(rows, target)[0])
    errors = (found - found.min()) / unit
    assert law(rows, target, eta)[errors <= m].sum() >= confidence - 1e-12


def test_rank_margins_at_the_extremes():
    assert rank_margin(1, Fraction(1), Rank(1), 0.95) == 0
    assert rank_margin(2, Fraction(1), Rank(1), 0.5) == 0
    wide = rank_margin(10**300, Fraction(1, 10**6), Share(Fraction(1, 2)), 0.95)
    assert wide == pytest.approx((math.log(10**300) + math.log(19)) * 10**6 / 2, rel=1e-6)
    assert rank_margin(10, Fraction(10**9), Rank(1), 0.95) == 0


def test_impossible_targets_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        Share(Fraction(3, 2))
    with pytest.raises(ValueError, match="begin at 1"):
        Rank(0)
