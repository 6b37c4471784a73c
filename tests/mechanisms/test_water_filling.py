"""Ordered water-filling: one unit moves the total by no more than the bound; what looks alike
does not."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from adomnia.mechanisms.joins.indexed_pairs import indexed
from adomnia.mechanisms.joins.water_filling import water_filling
from adomnia.schema.unit_amounts import PairAmounts

MOST = 10**6


def pairs(rows, alike=False):
    left, right, amounts = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return indexed(PairAmounts(left, right, amounts, alike), MOST)


def slowly(rows, bound, alike):
    """The rule, row by row, in the same order."""
    room, total, made = {}, 0, pairs(rows, alike).in_order()
    for a, b, w in zip(*(key.tolist() for key in made.keys), made.amounts.tolist(), strict=True):
        ends = {("one", a), ("one" if alike else "other", b)}
        take = min(w, *(room.get(end, bound) for end in ends))
        for end in ends:
            room[end] = room.get(end, bound) - take
        total += take
    return total


def drawn(chance, alike, units=6):
    # each pair once, in any order
    every = list(itertools.product(range(units), repeat=2))
    if alike:
        every = [(a, b) for a, b in every if a <= b]
    some = chance.sample(every, chance.randint(1, len(every)))
    return [(a, b, chance.choice((0, 1, 1, 2, 5))) for a, b in some]


def without(rows, unit, side, alike):
    return [row for row in rows if unit not in (row[:2] if alike else row[side : side + 1])]


@pytest.mark.parametrize("alike", [False, True])
def test_a_unit_moves_the_total_by_no_more_than_the_bound(alike):
    chance, reached = random.Random(5), set()
    for _ in range(1500):
        rows, bound = drawn(chance, alike), chance.choice((1, 2, 3, 7))
        fewer = without(rows, chance.randrange(6), chance.randrange(2), alike)
        total = water_filling(pairs(rows, alike), bound)
        rest = water_filling(pairs(fewer, alike), bound) if fewer else 0
        assert 0 <= total - rest <= bound
        assert total == slowly(rows, bound, alike)
        reached.add((total - rest) / bound)
    assert {0.0, 1.0} <= reached


def test_a_unit_in_the_place_of_another_moves_it_no_further():
    chance = random.Random(6)
    for _ in range(800):
        rest = [row for row in drawn(chance, False) if row[0]]
        one, other = ([(0, b, chance.randint(0, 4)) for b in range(6)] for _ in range(2))
        bound = chance.choice((1, 2, 5))
        moved = water_filling(pairs(rest + one), bound) - water_filling(pairs(rest + other), bound)
        assert abs(moved) <= bound


def test_where_one_side_binds_it_is_the_sum_of_what_is_cut():
    chance = random.Random(7)
    for _ in range(300):
        rows = [(a, b, 1) for a in range(40) for b in range(5) if chance.random() < 0.3]
        totals = np.bincount([b for _, b, _ in rows], minlength=5)
        made = pairs(rows)
        assert water_filling(made, 8) == np.minimum(totals, 8).sum() == slowly(rows, 8, False)


def test_the_order_of_two_rows_is_theirs_alone():
    rows = [(a, b, 1) for a in range(30) for b in range(30)]
    order = [*zip(*(key.tolist() for key in pairs(rows).in_order().keys), strict=True)]
    some = [row for row in rows if row[0] % 3 and row[1] % 4]
    fewer = [*zip(*(key.tolist() for key in pairs(some[::-1]).in_order().keys), strict=True)]
    assert fewer == [pair for pair in order if pair[0] % 3 and pair[1] % 4]
    assert order != sorted(order)


def test_equal_pairs_share_their_rooms_in_any_order():
    rows = [(1, 2, 3), (1, 2, 5), (2, 1, 4), (3, 2, 6)]
    for some in itertools.permutations(rows):
        assert water_filling(pairs(some, alike=True), 7) == 7


def test_a_row_that_meets_a_unit_twice_counts_once():
    assert water_filling(pairs([(4, 4, 3)], alike=True), 10) == 3
    assert water_filling(pairs([(4, 4, 30), (4, 5, 1)], alike=True), 10) == 10
    assert pairs([(4, 4, 3)], alike=True).totals.tolist() == [3, 0]


def test_amounts_are_brought_between_nothing_and_what_was_declared():
    assert water_filling(pairs([(1, 2, -5), (1, 3, 4)]), 10) == 4
    assert water_filling(pairs([(1, 2, 2**62), (2, 3, 2**62)]), MOST) == 2 * MOST
    assert water_filling(pairs([(1, 2, 1)][:0]), 3) == 0


def test_totals_past_64_bits_are_exact():
    many, most = 4096, 10**15
    keys = np.arange(many)
    made = indexed(PairAmounts(keys, keys * 0, np.full(many, 2**62)), most)
    assert int(made.totals[many]) == many * most
    wide = indexed(PairAmounts(keys, keys, np.full(many, 2**62)), most)
    assert water_filling(wide, most) == many * most


# What does not do, though it looks as if it did


def test_scaled_by_both_totals_one_unit_moves_many():
    """A star: many customers buy tau of s and tau of a supplier of their own."""
    tau, many = 10, 50
    star = [(c, 0, tau) for c in range(many)] + [(c, c + 1, tau) for c in range(many)]

    def total(rows):
        lefts, rights = {}, {}
        for a, b, w in rows:
            lefts[a], rights[b] = lefts.get(a, 0) + w, rights.get(b, 0) + w
        return sum(w * min(1, tau / lefts[a], tau / rights[b]) for a, b, w in rows)

    assert total(without(star, 0, 1, False)) - total(star) > 20 * tau
    moved = water_filling(pairs(star), tau) - water_filling(pairs(without(star, 0, 1, False)), tau)
    assert 0 <= moved <= tau


def test_the_first_rows_of_each_side_made_apart_move_with_many():
    k, many = 2, 50
    others = [(c, s, 1) for s in range(many) for c in range(1 + 2 * s, 3 + 2 * s)]
    rows = [(0, s, 1) for s in range(many)] + others

    def kept(rows):
        found = set(range(len(rows)))
        for side in (0, 1):
            seen = {}
            for place, row in enumerate(rows):
                seen.setdefault(row[side], []).append(place)
            found &= {place for places in seen.values() for place in places[:k]}
        return len(found)

    assert abs(kept(rows) - kept(without(rows, 0, 0, False))) >= 40


def test_three_units_to_a_row_are_too_many():
    def total(rows):
        room, found = {}, 0
        for row in rows:
            take = min(room.get(end, 1) for end in row)
            for end in row:
                room[end] = room.get(end, 1) - take
            found += take
        return found

    # with v the second row is refused, and that frees both of the others
    rows = [("v", "a", "b"), ("a", "c", "d"), ("c", "e", "f"), ("d", "g", "h")]
    assert (total(rows), total(rows[1:])) == (3, 1)
