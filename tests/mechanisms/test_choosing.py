"""The law of choices by counts: on all small tables and neighbours, no choice is told apart by more
than epsilon. The laws are exact, by the formulas of the notes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms.choices.choosing import (
    choose_largest,
    choose_modes,
    choose_price,
    mode_margin,
    tell_above,
)
from adomnia.mechanisms.choices.noisy_max import noisy_max_margin
from adomnia.mechanisms.choices.sparse_vector import SparseVector
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

VALUES, CELLS, MOST = 2, 2, 3
PLACES = VALUES * CELLS
RELATIONS = [
    Neighbors(),
    Neighbors("bounded"),
    Neighbors("unbounded", group=2),
    Neighbors("bounded", rows=2),
    Neighbors("free-lunch", most=2),
]


def every_table(most=MOST):
    """Tables of up to `most` rows as counts by cell and value."""
    picks = (
        pick
        for size in range(most + 1)
        for pick in itertools.combinations_with_replacement(range(PLACES), size)
    )
    return [tuple(pick.count(place) for place in range(PLACES)) for pick in picks]


def are_near(neighbors, first, second):
    """Whether two tables of counts are neighbours: by the rows that come and go."""
    apart = sum(abs(a - b) for a, b in zip(first, second, strict=True))
    if neighbors.most is not None:
        return max(sum(first), sum(second)) <= neighbors.most
    if neighbors.replaces and neighbors.rows is None:
        return sum(first) == sum(second) and apart <= neighbors.moves
    return apart <= neighbors.moves


def flip_law(counts, eta):
    """Permute-and-flip's law, claim 1 of its note, by exact integration of polynomials."""
    odds = [math.exp(-eta * (max(counts) - count)) for count in counts]
    law = []
    for place, own in enumerate(odds):
        product = np.polynomial.Polynomial([1.0])
        for other, odd in enumerate(odds):
            if other != place:
                product *= np.polynomial.Polynomial([1.0, -odd])
        law.append(own * product.integ()(1.0))
    return law


def modes_law(table, eta):
    """The law of the modes of all cells together."""
    cells = np.array(table).reshape(CELLS, VALUES).tolist()
    laws = [flip_law(cell, eta) for cell in cells]
    return [math.prod(part) for part in itertools.product(*laws)]


def max_law(table, eta, far=200):
    """The law of the largest count plus geometric noise, ties shared, by convolution."""
    q = math.exp(-eta)
    law = np.zeros(len(table))
    for level in range(far):
        below = [max(0.0, 1 - q ** max(0, level - s)) for s in table]
        at = [(1 - q) * q ** (level - s) if level >= s else 0.0 for s in table]
        for tied in itertools.product([0, 1], repeat=len(table)):
            if sum(tied):
                chance = math.prod(a if t else b for t, a, b in zip(tied, at, below, strict=True))
                law += chance * np.array(tied) / sum(tied)
    return law.tolist()


@pytest.mark.parametrize("neighbors", RELATIONS, ids=str)
@pytest.mark.parametrize("law", [modes_law, max_law], ids=["modes", "largest"])
def test_neighbours_change_no_probability_by_more_than_epsilon(neighbors, law):
    epsilon = 1.0
    laws = {table: law(table, epsilon / neighbors.moves) for table in every_table()}
    worst = 0.0
    for first, second in itertools.permutations(laws, 2):
        if are_near(neighbors, first, second):
            ratios = [a / b for a, b in zip(laws[first], laws[second], strict=True)]
            worst = max(worst, *(math.log(ratio) for ratio in ratios))
    assert 0 < worst <= epsilon * (1 + 1e-9)


def price_law(bids, prices, epsilon):
    counts = [sum(bid is not None and bid >= price for bid in bids) for price in prices]
    brought = [price * count for price, count in zip(prices, counts, strict=True)]
    return flip_law(brought, epsilon / prices[-1])


@pytest.mark.parametrize("touched", [1, 2])
def test_a_price_hides_bids_that_come_go_or_change(touched):
    prices, bids = (1, 3, 4), (None, 0, 1, 3, 5)
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement(bids, n)]
    laws = {table: price_law(table, prices, 1.0 / touched) for table in tables}
    for first, second in itertools.permutations(tables, 2):
        longer, shorter = sorted((list(first), list(second)), key=len, reverse=True)
        for bid in list(shorter):
            if bid in longer:
                longer.remove(bid)
                shorter.remove(bid)
        if len(longer) <= touched:  # the others come, go or change
            pairs = zip(laws[first], laws[second], strict=True)
            assert max(abs(math.log(a / b)) for a, b in pairs) <= 1 + 1e-9


def test_what_is_drawn_has_these_laws():
    counts, eta, draws = np.array([[3], [1], [9], [0], [2], [9]]), Fraction(1, 2), 4000
    bits = SeededBits(4)
    drawn = [tuple(choose_modes(Sealed(counts), 2, 2, eta, bits).tolist()) for _ in range(draws)]
    law = [math.prod(p) for p in itertools.product(flip_law([3, 1], 0.5), flip_law([0, 2], 0.5))]
    for outcome, chance in zip(itertools.product((0, 1), repeat=2), law, strict=True):
        spread = 5 * math.sqrt(chance * (1 - chance) / draws)
        assert abs(drawn.count(outcome) / draws - chance) < spread
    places = [choose_largest(Sealed(counts[:2]), eta, bits) for _ in range(draws)]
    assert abs(places.count(0) / draws - max_law((3, 1), 0.5)[0]) < 0.04


def test_margins_hold_on_the_worst_counts():
    for values, eta in itertools.product((2, 5, 40), (Fraction(1, 4), Fraction(2))):
        off = mode_margin(values, eta, 0.9)
        law = flip_law([off + 1] + [0] * (values - 1), float(eta))
        assert 1 - law[0] <= 0.1 + 1e-9
    for values, eta in itertools.product((2, 4), (Fraction(1, 2), Fraction(2))):
        off = noisy_max_margin(values, eta, 0.9)
        law = max_law([off + 1] + [0] * (values - 1), float(eta))
        assert 1 - law[0] <= 0.1 + 1e-9
    assert mode_margin(1, Fraction(1, 9), 0.95) == 0
    assert noisy_max_margin(1, Fraction(1, 9), 0.95) == 0


def test_ties_no_rows_and_one_value():
    bits = SeededBits(7)
    nothing = Sealed(np.zeros((4, 1), np.int64))  # three values, and NULL
    seen = {int(choose_modes(nothing, 1, 3, Fraction(5), bits)[0]) for _ in range(100)}
    assert seen == {0, 1, 2}
    many_null = Sealed(np.array([[0], [1], [10**9]]))
    assert choose_modes(many_null, 1, 2, Fraction(50), bits).tolist() == [1]
    assert choose_modes(Sealed(np.array([[7]])), 1, 1, Fraction(1), bits).tolist() == [0]
    assert choose_price(Sealed(np.array([[2], [2]])), [1, 5], Fraction(500), bits) == 5


def test_verdicts_end_with_the_cutoff():
    counts = Sealed(np.array([[0], [1000], [0], [1000], [1000]]))
    plan = SparseVector(Fraction(50), 1, 2, monotone=True)
    told = tell_above(counts, 500, plan, SeededBits(1))
    assert told == [False, True, False, True]
