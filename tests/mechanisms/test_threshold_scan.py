"""The threshold scan: the exact law of where it stops, its loss, and how many are above."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from mpmath import mp, mpf
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.scan_mechanisms import BoundScan, ExcessRows, FoundBound
from adomnia.mechanisms.choices.threshold_scan import ScanPlan, geometric_grid, scan
from adomnia.privacy.events import InTurn, ThresholdScan, loss
from adomnia.privacy.reads import UnitRows

mp.dps = 40
GRID = (1, 2, 3, 4)


def law(above, plan):
    """P(stop at i), summed over the noise that is drawn once, to 30 digits."""
    once, each = mp.exp(-_mpf(plan.once)), mp.exp(-_mpf(plan.each))
    found = [mpf(0)] * len(above)
    for drawn in range(int(80 / plan.once) + 1):
        rest = (1 - once) * once**drawn
        for place, count in enumerate(above):
            short = max(0, count - (plan.threshold - drawn))
            stops = each**short if place < len(above) - 1 else mpf(1)
            found[place] += rest * stops
            rest *= 1 - stops
    return found


def _mpf(number):
    return mpf(number.numerator) / number.denominator


def scores(sizes):
    return tuple(sum(size > bound for size in sizes) for bound in GRID)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_one_unit_that_comes_or_goes_costs_epsilon_at_most(epsilon):
    plan, worst = ScanPlan(epsilon, GRID), 0.0
    for here in itertools.combinations_with_replacement((0, 3, 9, 20), 4):
        falling = here[::-1]
        one = law(falling, plan)
        assert abs(sum(one) - 1) < mpf(10) ** -20
        for joined in range(len(GRID) + 1):  # a unit is above the first so many bounds
            other = law([n + (i < joined) for i, n in enumerate(falling)], plan)
            ratios = [mp.log(a / b) for a, b in zip(one, other, strict=True)]
            worst = max(worst, *(float(abs(ratio)) for ratio in ratios))
    assert 0.9 * float(epsilon) < worst <= float(epsilon) * (1 + 1e-15)


def test_a_unit_in_the_place_of_another_costs_no_more():
    plan, worst = ScanPlan(Fraction(1), GRID), 0.0
    others = (5,) * 6 + (2,) * 3
    for old, new in itertools.product(range(6), repeat=2):
        one, other = law(scores((*others, old)), plan), law(scores((*others, new)), plan)
        worst = max(worst, *(float(abs(mp.log(a / b))) for a, b in zip(one, other, strict=True)))
    assert 0.1 < worst <= 1 + 1e-15


def test_scores_that_move_both_ways_would_cost_more():
    """What the claim rests on: sizes of one unit move all scores in one direction."""
    plan = ScanPlan(Fraction(1), GRID)
    one, other = law((9, 9, 9, 8), plan), law((10, 8, 10, 8), plan)
    assert max(float(abs(mp.log(a / b))) for a, b in zip(one, other, strict=True)) > 0.2


def test_noise_is_split_and_the_threshold_is_whole():
    plan = ScanPlan(Fraction(1, 5), GRID)
    assert (plan.once, plan.each) == (Fraction(4, 25), Fraction(1, 25))
    assert plan.once + plan.each == plan.epsilon
    assert plan.threshold == 15
    # T + ln(K / beta) / e2 with K = 4, beta = 0.05: 15 + 109.55
    assert plan.most_above(2, 0.05) == 15 + 110
    assert plan.most_above(4, 0.05) is None
    assert ScanPlan(Fraction(7), GRID).threshold == 1


def test_with_little_noise_it_stops_where_nobody_is_above():
    plan, bits = ScanPlan(Fraction(1000), GRID), SeededBits(5)
    assert scan((50, 9, 0, 0), plan, bits) == 2
    assert scan((50, 50, 50, 50), plan, bits) == 3


@pytest.mark.parametrize(("first", "last"), [(1, 1), (5, 10**9), (19, 23), (3, 100)])
def test_the_grid_rises_by_a_twentieth_to_its_end(first, last):
    grid = geometric_grid(first, last)
    assert (grid[0], grid[-1]) == (first, last)
    pairs = list(itertools.pairwise(grid))
    assert all(a < b <= max(a + 1, a * 21 / 20) for a, b in pairs)
    assert len(grid) < 500


def test_a_scan_that_cannot_be_is_refused():
    for grid in ((), (1, 1), (2, 1)):
        with pytest.raises(QuestionError):
            ScanPlan(Fraction(1), grid)
    with pytest.raises(QuestionError):
        ScanPlan(Fraction(10**16), GRID)


def test_mechanisms_are_priced_for_all_units_at_once():
    bound = BoundScan(UnitRows(GRID), Fraction(1, 2), units=3)
    assert bound.event == ThresholdScan(Fraction(1, 2), Fraction(3))
    assert bound.plan.epsilon == Fraction(1, 6)
    assert bound.covers(3)
    assert not bound.covers(4)
    rows = ExcessRows(5, 100, Fraction(1, 2), units=2)
    assert rows.event == InTurn(Fraction(1, 2), Fraction(0), Fraction(2))
    assert loss(rows.event).epsilon == Fraction(1, 2)
    assert rows.covers(2)
    assert not rows.covers(3)
    assert rows.noise(9).parameter == 4 * 8
    assert rows.noise(5).parameter == 0
    assert rows.recalled(FoundBound(9, -3).to_json()) == FoundBound(9, -3)
