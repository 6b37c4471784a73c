"""Removal distances: against all vertices of the dual, one step for one unit, and certificates that
no proposal can fool."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import MachineryError
from adomnia.mechanisms.joins import removal_distance as module
from adomnia.mechanisms.joins.indexed_pairs import indexed
from adomnia.mechanisms.joins.removal_certificate import Proposal, lower_bound, upper_bound
from adomnia.mechanisms.joins.removal_distance import (
    FALL,
    RISE,
    RemovalScores,
    removal_distance,
)
from adomnia.mechanisms.joins.removal_program import _exact, proposals
from adomnia.schema.unit_amounts import PairAmounts

ENDLESS = 10**9


def pairs(rows, alike=False):
    left, right, amounts = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return indexed(PairAmounts(left, right, amounts, alike), 10**12)


def solved(matrix, right):
    """The point where these equations meet, in fractions; None where they do not in one."""
    rows = [
        [*map(Fraction, row), Fraction(value)] for row, value in zip(matrix, right, strict=True)
    ]
    for at in range(len(rows)):
        pivot = next((i for i in range(at, len(rows)) if rows[i][at]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[at]:
                rows[i] = [a - row[at] * b for a, b in zip(row, rows[at], strict=True)]
    return [row[-1] for row in rows]


def by_vertices(made, bound):
    """The largest dual value over all vertices: multipliers of all units, then of all rows."""
    units, rows = made.units, made.amounts.size
    width = units + rows
    ends = [{a, b} - {units} for a, b in zip(made.first, made.second, strict=True)]
    limits = [([-int(i == j) for j in range(width)], 0) for i in range(width)]
    for u in range(units):
        row = [-bound * int(j == u) for j in range(units)]
        limits.append(([*row, *(int(u in end) for end in ends)], 1))
    for r, (end, amount) in enumerate(zip(ends, made.amounts.tolist(), strict=True)):
        row = [-amount * int(u in end) for u in range(units)]
        limits.append(([*row, *(int(r == j) for j in range(rows))], 0))
    best, gains = Fraction(0), [-bound] * units + [1] * rows
    for tight in itertools.combinations(limits, width):
        point = solved([row for row, _ in tight], [value for _, value in tight])
        if point is None:
            continue
        inside = all(sum(a * x for a, x in zip(row, point, strict=True)) <= v for row, v in limits)
        if inside:
            best = max(best, sum(g * x for g, x in zip(gains, point, strict=True)))
    return best


def exactly(made, bound):
    """The distance, from the exact method, which the vertices check."""
    near, over = made.around(bound)
    return Fraction(sum(_exact(near, over, bound).removed.tolist()))


def drawn(chance, alike, units, size):
    every = list(itertools.product(range(units), repeat=2))
    some = chance.sample(every, min(size, len(every)))
    return [(a, b, chance.choice((1, 2, 3, 9))) for a, b in some]


@pytest.mark.parametrize("alike", [False, True])
def test_it_is_the_best_of_all_vertices(alike):
    chance = random.Random(3)
    for _ in range(8):
        made = pairs(drawn(chance, alike, 2, chance.randint(1, 3)), alike)
        for bound in (1, 4):
            best = by_vertices(made, bound)
            assert exactly(made, bound) == best
            assert 100 * best <= removal_distance(made, bound, ENDLESS) < 100 * best + 2


@pytest.mark.parametrize("alike", [False, True])
def test_one_unit_is_one_step_and_never_back(alike):
    chance, steps = random.Random(4), set()
    for _ in range(120):
        rows, bound = drawn(chance, alike, 5, chance.randint(2, 12)), chance.choice((1, 2, 5))
        unit, side = chance.randrange(5), chance.randrange(2)
        fewer = [row for row in rows if unit not in (row[:2] if alike else row[side : side + 1])]
        if not fewer:
            continue
        here, there = exactly(pairs(fewer, alike), bound), exactly(pairs(rows, alike), bound)
        assert here <= there <= here + 1
        steps.add(there - here)
        scores = [removal_distance(pairs(some, alike), bound, 300) for some in (fewer, rows)]
        assert -FALL <= scores[1] - scores[0] <= RISE
    assert {0, 1} < steps


def test_no_proposal_can_fool_the_certificates():
    chance, draws = random.Random(5), np.random.default_rng(5)
    for _ in range(150):
        bound = chance.choice((1, 2, 5))
        near, over = pairs(drawn(chance, True, 5, 9), True).around(bound)
        if not over.any():
            continue
        true = Fraction(sum(_exact(near, over, bound).removed.tolist()))
        for scale in (0.01, 1.0, 1e9, 1e300):
            removed = draws.normal(size=near.units + 1) * scale
            units, rows = (
                np.abs(draws.normal(size=n)) * scale for n in (near.units + 1, over.size)
            )
            rows = np.resize(rows, near.amounts.size)
            removed[0] = np.nan
            units[-1], rows[0] = np.inf, -np.inf
            for forged in (Proposal(removed, units, rows), Proposal(-removed, units)):
                assert lower_bound(near, bound, forged) <= true
                assert upper_bound(near, over, bound, forged) >= true


def test_a_solver_that_lies_is_overruled(monkeypatch):
    made, bound = pairs([(a, b, 1 + (a + b) % 3) for a in range(4) for b in range(4)]), 4
    near, over = made.around(bound)
    true = exactly(made, bound)
    nothing = Proposal(np.zeros(near.units + 1), np.zeros(near.units + 1))
    last = _exact(near, over, bound)
    monkeypatch.setattr(module, "proposals", lambda *_: iter([nothing, last]))
    assert 100 * true <= removal_distance(made, bound, ENDLESS) < 100 * true + 2
    monkeypatch.setattr(module, "proposals", lambda *_: iter([nothing]))
    with pytest.raises(MachineryError):
        removal_distance(made, bound, ENDLESS)


def test_cheap_proposals_are_enough_on_larger_rows():
    draws = np.random.default_rng(6)
    left, right = draws.integers(0, 400, 6000), (draws.pareto(1.0, 6000) * 3).astype(np.int64) % 90
    made = indexed(PairAmounts(left, right, draws.integers(1, 9, 6000)), 10**6)
    near, over = made.around(400)
    lowest, highest = Fraction(0), Fraction(ENDLESS)
    for proposal in itertools.islice(proposals(near, over, 400), 20):
        lowest = max(lowest, lower_bound(near, 400, proposal))
        highest = min(highest, upper_bound(near, over, 400, proposal))
        if highest - lowest < Fraction(1, 100):
            break
    assert 0 < lowest <= highest < lowest + Fraction(1, 100)


def test_scores_fall_and_stay_below_the_cap():
    made = pairs([(a, b, 1 + a) for a in range(12) for b in range(6)])
    grid = (1, 5, 10, 20, 40, 60, 80, 10**6)
    scores = [int(score) for score in RemovalScores(made, grid, 450)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 450
    assert scores[-2:] == [0, 0]
    assert 0 < removal_distance(made, 60, ENDLESS) <= 600


def test_comparisons_are_those_of_scores_whatever_was_asked_before():
    draws = np.random.default_rng(8)
    grid = (1, 2, 3, 5, 8, 12, 18, 27, 40, 10**6)
    for alike in (False, True):
        rows = draws.integers(0, 9, (40, 2)).tolist()
        made = pairs([(a, b, int(draws.integers(1, 6))) for a, b in rows], alike)
        scores = [int(score) for score in RemovalScores(made, grid, 450)]
        near = {score + move for score in scores for move in (-101, -2, -1, 0, 1, 2)}
        asked = [(place, level) for place in range(len(grid)) for level in (-1, *near, 10**6)]
        draws.shuffle(asked)
        found = RemovalScores(made, grid, 450)
        assert all((found[i] <= level) == (scores[i] <= level) for i, level in asked)


def test_money_in_fine_steps_is_no_other_distance():
    rows = [(a, b, 1 + (7 * a + b) % 5) for a in range(9) for b in range(7)]
    plain = removal_distance(pairs(rows), 12, ENDLESS)
    fine = removal_distance(pairs([(a, b, w * 10**10) for a, b, w in rows]), 12 * 10**10, ENDLESS)
    assert abs(plain - fine) <= 1


def test_units_above_a_bound_are_no_score():
    """One customer lifts as many suppliers as it has; in the distance it counts once."""
    many, bound = 30, 10
    rows = [(1 + s, s, bound) for s in range(many)]
    lifted = [*rows, *((0, s, 1) for s in range(many))]
    above = [int((pairs(some).totals > bound).sum()) for some in (rows, lifted)]
    assert above[1] - above[0] >= many
    assert removal_distance(pairs(rows), bound, ENDLESS) == 0
    assert removal_distance(pairs(lifted), bound, ENDLESS) <= RISE


def test_without_rows_that_end_at_nothing_the_distance_would_fall():
    """Less than nothing left of a row: one giant unit would cover everybody else."""
    from scipy.optimize import linprog

    def linear(rows, bound):
        totals = {}
        for _, b, w in rows:
            totals[b] = totals.get(b, 0) + w
        lefts = sorted({a for a, _, _ in rows})
        over = [b for b, t in totals.items() if t > bound]
        matrix = np.zeros((len(over), len(over) + len(lefts)))
        for i, b in enumerate(over):
            matrix[i, i] = totals[b] - bound
            for a, other, w in rows:
                if other == b:
                    matrix[i, len(over) + lefts.index(a)] += w
        need = [totals[b] - bound for b in over]
        return linprog(np.ones(matrix.shape[1]), -matrix, -np.array(need, float)).fun

    rows = [(10 * s + i, s, 5) for s in range(1, 9) for i in range(6)]
    giant = [*rows, *((0, s, 10**6) for s in range(1, 9))]
    assert linear(rows, 10) - linear(giant, 10) > 5
    assert removal_distance(pairs(giant), 10, ENDLESS) >= removal_distance(pairs(rows), 10, ENDLESS)
