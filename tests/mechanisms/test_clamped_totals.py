"""Totals at found bounds: exact laws of bound and total on neighbours, distances, prices."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.limits import MAX_UNIT_AMOUNT
from adomnia.mechanisms.choices.threshold_scan import ScanPlan
from adomnia.mechanisms.joins.clamped_totals import ClampedPairs, ClampedTotals
from adomnia.mechanisms.joins.indexed_pairs import indexed
from adomnia.mechanisms.joins.removal_distance import RemovalScores
from adomnia.mechanisms.joins.unit_scaling import unit_vectors
from adomnia.mechanisms.joins.water_filling import water_filling
from adomnia.privacy.events import InTurn, loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.unit_reads import PairSums, UnitSums
from adomnia.schema.sealed import Sealed
from adomnia.schema.unit_amounts import PairAmounts, UnitAmounts
from adomnia.testing import mechanisms as laws

TENTH = Fraction(1, 10)


class Rows:
    """Which rows: a name is enough here."""

    def to_json(self):
        return {"view": "sales"}


def totals(most=20, cells=1, **named):
    return ClampedTotals(UnitSums(Rows(), cells), most, **named)


def two(most=20, **named):
    return ClampedPairs(PairSums(Rows()), most, **named)


def law(scores, plan):
    """P(stop at i), summed over the noise that is drawn once; all terms are positive and none is
    a difference of near numbers, so that nothing is lost beyond the last digits.
    """
    once, each, threshold = _wide(plan.once), _wide(plan.each), plan.threshold
    drawn = np.arange(int(60 / plan.once) + 1)
    rest, found = -np.expm1(-once) * np.exp(-once * drawn), []
    for score in scores[:-1]:
        short = each * np.maximum(0, score - threshold + drawn)
        found.append((rest * np.exp(-short)).sum())
        rest = rest * -np.expm1(-short)
    return [*found, rest.sum()]


def _wide(number):
    return np.longdouble(number.numerator) / np.longdouble(number.denominator)


def entries(units, cells=1):
    """Vectors of units as an engine would give them."""
    rows = [(u, c, v) for u, vector in enumerate(units) for c, v in enumerate(vector)]
    return UnitAmounts(*(np.array([row[i] for row in rows], np.int64) for i in range(3)))


def worst_loss(mechanism, one, other):
    """The largest loss of any bound with any total, for Laplace noise."""
    (some, at), (others, there) = one, other
    plan, found = mechanism.plan, 0.0
    pairs = zip(law(some, plan), law(others, plan), at, there, plan.grid, strict=True)
    for p, q, here, else_, bound in pairs:
        apart = sum(abs(int(a) - int(b)) for a, b in zip(here, else_, strict=True))
        scale = mechanism.noise(bound).parameter
        found = max(found, float(abs(np.log(p / q)) + _wide(Fraction(apart) / scale)))
    return found


def of_units(mechanism, units):
    least = -mechanism.most if mechanism.signed else 0
    made = unit_vectors(entries(units), mechanism.reads.cells, least, mechanism.most)
    grid = mechanism.plan.grid
    return made.above(grid), [made.cut(bound, mechanism.reads.cells).tolist() for bound in grid]


def of_pairs(mechanism, rows, alike=False):
    given = PairAmounts(*(np.array([r[i] for r in rows], np.int64) for i in range(3)), alike)
    made, grid = indexed(given, mechanism.most), mechanism.plan.grid
    scores = [int(score) for score in RemovalScores(made, grid, mechanism.cap)]
    return scores, [[water_filling(made, bound)] for bound in grid]


@pytest.mark.parametrize(("cells", "signed"), [(1, False), (1, True), (3, False), (3, True)])
@pytest.mark.parametrize("replaced", [False, True])
def test_one_unit_costs_what_is_paid(cells, signed, replaced):
    chance, worst = random.Random(1), 0.0
    least = -9 if signed else 0
    mechanism = totals(12, cells, epsilon=Fraction(2), signed=signed, replaced=replaced)
    for _ in range(12):
        units = [[chance.randint(least, 9) for _ in range(cells)] for _ in range(4)]
        other = [[chance.choice((least, 0, 9)) for _ in range(cells)]] if replaced else []
        pair = (of_units(mechanism, some) for some in (units, units[1:] + other))
        worst = max(worst, worst_loss(mechanism, *pair))
    assert 0.5 < worst <= 2 * (1 + 1e-12)


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("replaced", [False, True])
def test_one_of_two_units_costs_what_is_paid(alike, replaced):
    chance, worst = random.Random(2), 0.0
    mechanism = two(9, epsilon=Fraction(8), replaced=replaced)
    for _ in range(6):
        every = [(a, b) for a, b in itertools.product(range(5), repeat=2) if a <= b or not alike]
        rows = [(*pair, chance.choice((1, 2, 5))) for pair in chance.sample(every, 9)]
        rest = [row for row in rows if 0 not in (row[:2] if alike else row[:1])] or rows[:1]
        new = [(0, b, chance.choice((1, 6))) for b in range(1, 5)] if replaced else []
        some = of_pairs(mechanism, rows, alike), of_pairs(mechanism, rest + new, alike)
        worst = max(worst, worst_loss(mechanism, *some))
    assert 0.5 < worst <= 8 * (1 + 1e-12)


def test_scores_that_move_both_ways_need_the_price_of_replaced_units():
    """What is planted: the scan of units that come or go, for scores that move both ways."""
    grid, wrong = (1, 2, 3), ScanPlan(Fraction(2, 5), (1, 2, 3), Fraction(7, 10))
    right = ScanPlan(Fraction(2, 5), grid, Fraction(7, 10), 1, 1)
    assert wrong.loss(1, 1) > wrong.epsilon == right.loss(1, 1)

    def lost(plan):
        some = itertools.product((3, 8, 12, 20), repeat=3)
        pairs = ((here, (here[0] + 1, here[1] - 1, here[2])) for here in some)
        ratios = (zip(law(a, plan), law(b, plan), strict=True) for a, b in pairs)
        return max(float(abs(np.log(p / q))) for pair in ratios for p, q in pair)

    assert lost(right) <= 0.4 * (1 + 1e-12) < lost(wrong)


def test_vectors_are_scaled_towards_nothing():
    chance = np.random.default_rng(3)
    units = chance.integers(-50, 50, (200, 4)).tolist()
    for bound in (1, 2, 17, 60, 400):
        for vector in units:
            made = unit_vectors(entries([vector]), 4, -100, 100).cut(bound, 4)
            assert np.abs(made).sum() <= bound or np.abs(vector).sum() <= bound
            assert all(abs(a) <= abs(b) and a * b >= 0 for a, b in zip(made, vector, strict=True))
    thirds = unit_vectors(entries([[2, 2, 2]]), 3, 0, 10)
    assert thirds.cut(2, 3).tolist() == [0, 0, 0]  # to the nearest it would be 1, 1, 1
    assert thirds.cut(5, 3).tolist() == [1, 1, 1]


def test_what_lies_outside_is_enforced():
    given = UnitAmounts(np.array([1, 1, 2, 2]), np.array([0, 5, -1, 1]), np.array([7, 9, 9, -4]))
    made = unit_vectors(given, 2, 0, 5)
    assert made.cut(100, 2).tolist() == [5, 0]
    assert unit_vectors(given, 2, -5, 5).cut(100, 2).tolist() == [5, -4]
    far = UnitAmounts(np.arange(3) * 2**60, np.zeros(3, np.int64), np.full(3, 2**62))
    wide = unit_vectors(far, 1, 0, MAX_UNIT_AMOUNT)
    assert wide.cut(MAX_UNIT_AMOUNT, 1).tolist() == [3 * MAX_UNIT_AMOUNT]
    assert wide.above((1, MAX_UNIT_AMOUNT)) == [3, 0]


def test_the_loss_is_split_and_priced():
    mechanism = totals(epsilon=Fraction(4, 5))
    assert mechanism.scanned == Fraction(1, 5)
    assert mechanism.plan.threshold == 15
    assert mechanism.noise(6).parameter == 10
    assert mechanism.event == InTurn(Fraction(4, 5), Fraction(0), Fraction(1))
    of_rho = totals(rho=Fraction(1, 2), cells=4, replaced=True)
    assert of_rho.scanned == Fraction(1, 2)
    assert of_rho.noise(3).parameter == Fraction(2 * 9, 2) / (Fraction(1, 2) - Fraction(1, 8))
    assert loss(of_rho.event).rho == Fraction(1, 2)
    assert two(epsilon=Fraction(4, 5)).plan.loss(101, 1) == Fraction(1, 5)
    assert two(epsilon=Fraction(4, 5)).cap * two(epsilon=Fraction(4, 5)).plan.each >= 18


UNITS = [Neighbors(rows=3), Neighbors(rows=3, group=2)]
OTHERS = [Neighbors("bounded", rows=3), Neighbors("bounded", rows=3, group=2)]


@pytest.mark.parametrize("make", [totals, two])
@pytest.mark.parametrize("paid", [{"epsilon": Fraction(3)}, {"rho": Fraction(2)}])
def test_it_covers_what_it_was_made_for(make, paid):
    plain = make(**paid)
    assert [plain.covers(some) for some in UNITS] == [True, False]
    assert [make(**paid, units=2).covers(some) for some in UNITS] == [True, True]
    replaced = make(**paid, replaced=True, units=2)
    assert [replaced.covers(some) for some in UNITS + OTHERS] == [True] * 4
    assert not plain.covers(Neighbors("attribute"))
    assert not plain.covers(Neighbors("free-lunch", most=9))
    # one unit to a row and one number: replaced costs no more; of two the scan does
    assert plain.covers(OTHERS[0]) is (make is totals)
    if make is totals:
        assert not totals(cells=2, **paid).covers(OTHERS[0])
        assert not totals(signed=True, **paid).covers(OTHERS[0])


def test_a_release_keeps_the_laws_of_mechanisms():
    units = entries([[9, 1], [3, 3], [0, 40]])
    rows = PairAmounts(*np.array([[1, 2, 9], [1, 3, 2], [4, 2, 6]]).T)
    made = [
        (totals(50, 2, epsilon=Fraction(3)), units),
        (totals(50, 2, rho=Fraction(3), signed=True), units),
        (two(50, epsilon=Fraction(3)), rows),
        (two(50, rho=Fraction(3), replaced=True), rows),
    ]
    for mechanism, exact in made:
        laws.says_plainly_what_it_is(mechanism)
        laws.is_read_back_as_it_was(mechanism, Sealed(exact))
        json.dumps(mechanism.record())
    nothing = np.zeros(0, np.int64)
    empty = totals(50, 2, epsilon=Fraction(3)), UnitAmounts(nothing, nothing, nothing)
    laws.is_read_back_as_it_was(empty[0], Sealed(empty[1]))
    laws.is_read_back_as_it_was(made[2][0], Sealed(PairAmounts(nothing, nothing, nothing)))


def test_with_little_noise_it_is_the_total_cut_at_a_bound():
    units = entries([[9], [3], [40]])
    released = totals(50, epsilon=Fraction(4000)).release(Sealed(units), SeededBits(1))
    assert released.bound in (9, 40, 41)
    assert int(released.noisy.values[0, 0]) == {9: 21}.get(released.bound, 52)
    rows = PairAmounts(*np.array([[1, 2, 9], [1, 3, 2], [4, 2, 6]]).T)
    of_two = two(50, epsilon=Fraction(4000)).release(Sealed(rows), SeededBits(1))
    assert of_two.bound <= 15
    assert 11 <= int(of_two.noisy.values[0, 0]) <= 17


def test_how_many_are_cut_off_is_told_with_its_doubt():
    mechanism = totals(epsilon=Fraction(4, 5))
    many = len(mechanism.plan.grid)
    assert mechanism.most_above(3, 0.05) == 15 + np.ceil(np.log(many / 0.05) / 0.04)
    assert mechanism.most_above(20, 0.05) is None
    assert 100 < two(epsilon=Fraction(4, 5)).most_above(3, 0.05) < 140


def test_what_cannot_be_is_refused_before_anything_is_read():
    for most in (0, MAX_UNIT_AMOUNT + 1):
        with pytest.raises(QuestionError, match="declared"):
            totals(most, epsilon=TENTH)
    for paid in ({}, {"epsilon": TENTH, "rho": TENTH}):
        with pytest.raises(QuestionError):
            two(**paid)
    assert two(epsilon=TENTH).cap <= 300_000
    with pytest.raises(QuestionError, match="too small"):
        two(epsilon=Fraction(1, 50))
