"""Draws of the threshold scan against its exact law, by chi-square, and how often its bound on
those above holds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.choices.threshold_scan import ScanPlan, geometric_grid, scan

DRAWS = 6_000


def scan_law(above, plan):
    """P(stop at i), summed over the noise that is drawn once."""
    once, each = math.exp(-plan.once), math.exp(-plan.each)
    found = np.zeros(len(above))
    for drawn in range(int(60 / plan.once) + 1):
        rest = (1 - once) * once**drawn
        for place, count in enumerate(above):
            short = max(0, count - (plan.threshold - drawn))
            stops = each**short if place < len(above) - 1 else 1.0
            found[place] += rest * stops
            rest *= 1 - stops
    return found


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1)])
def test_it_stops_as_its_law_says(epsilon):
    plan, bits = ScanPlan(epsilon, (1, 2, 3, 4, 5, 6)), SeededBits(1)
    above = (40, 21, 12, 6, 3, 0)
    odds = scan_law(above, plan)
    assert odds.sum() == pytest.approx(1)
    counts = np.bincount([scan(above, plan, bits) for _ in range(DRAWS)], minlength=len(above))
    assert stats.chisquare(counts, odds / odds.sum() * DRAWS).pvalue > 1e-4


def test_no_more_are_above_the_bound_than_is_said():
    chance, bits = np.random.default_rng(3), SeededBits(4)
    sizes = np.floor(chance.pareto(1.5, 20_000) + 1).astype(np.int64)
    plan = ScanPlan(Fraction(1, 5), geometric_grid(5, 10**6))
    above = [int((sizes > bound).sum()) for bound in plan.grid]
    said = plan.most_above(plan.grid[0], 0.1)
    many = [above[scan(above, plan, bits)] for _ in range(400)]
    assert np.median(many) > plan.threshold  # the threshold itself is no bound
    assert np.mean([n <= said for n in many]) > 0.9
