"""Intervals of quantiles: penalties by the definition, privacy by brute force, coverage exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms.quantiles import value_margin
from adomnia.mechanisms.quantiles.quantile import MAX_RANK, Rank, Share, sensitivity
from adomnia.mechanisms.quantiles.value_margin import (
    Around,
    Beyond,
    extreme_rank,
    interval_rows,
)

LOW, HIGH = 0, 4
SHARES = [Share(Fraction(q)) for q in ("1/2", "1/3", "9/10", "0", "1")]


def tally(rows):
    values, counts = np.unique(np.array(sorted(rows), np.int64), return_counts=True)
    return values, counts.astype(np.int64)


def all_rows(most):
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(range(LOW, HIGH + 1), n)


def by_definition(rows, share, ranks, upper):
    """The penalties of the note, row by row."""
    a, b, n = share.q.numerator, share.q.denominator, len(rows)
    found = []
    for o in range(LOW, HIGH + 1):
        below, upto = sum(x < o for x in rows), sum(x <= o for x in rows)
        if upper:
            sides = ((o < HIGH) * (a * n + b * ranks - b * upto), b * below - a * n - b * ranks)
        else:
            sides = (a * n - b * ranks - b * upto, (o > LOW) * (b * below - a * n + b * ranks))
        found.append(max(0, *sides))
    return found


@pytest.fixture
def laws(monkeypatch):
    """What every choice was made from: its penalties point by point, and its rate."""
    seen = []

    def choose(penalties, sizes, eta, bits):
        seen.append(
            ([int(p) for p, n in zip(penalties, sizes, strict=True) for _ in range(n)], eta)
        )
        return int(np.argmin(penalties))

    monkeypatch.setattr(value_margin, "choose", choose)
    monkeypatch.setattr("adomnia.mechanisms.quantiles.quantile.choose", choose)
    return seen


def drawn(around, rows, laws):
    laws.clear()
    around.draw(*tally(rows), (LOW, HIGH), SeededBits(1))
    return list(laws)


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_ends_have_the_penalties_of_the_note(share, ranks, laws):
    around = Around(share, Fraction(1), Fraction(1, 2), ranks)
    for rows in all_rows(4):
        _, low, high = drawn(around, rows, laws)
        assert low == (by_definition(rows, share, ranks, upper=False), Fraction(1, 2))
        assert high == (by_definition(rows, share, ranks, upper=True), Fraction(1, 2))
        assert 0 in low[0]  # however few rows there are
        assert 0 in high[0]


def neighbours(rows):
    """The table with one row more, and with one row changed."""
    for value in range(LOW, HIGH + 1):
        yield sorted([*rows, value]), False
        for place in range(len(rows)):
            yield sorted([*rows[:place], value, *rows[place + 1 :]]), True


def worst_ratio(one, other):
    """The greatest log ratio of two exponential laws over the same points."""
    logs = []
    for penalties, eta in (one, other):
        weights = [-float(eta) * p for p in penalties]
        total = math.log(math.fsum(map(math.exp, weights)))
        logs.append([weight - total for weight in weights])
    return max(abs(x - y) for x, y in zip(*logs, strict=True))


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("share", SHARES, ids=str)
def test_the_three_choices_cost_what_their_rates_say(share, changed, laws):
    each = sensitivity(share, changed)
    around = Around(share, Fraction(1, 2 * each), Fraction(1, 4 * each), 2)
    for rows in all_rows(3):
        mine = drawn(around, rows, laws)
        for other, is_changed in neighbours(rows):
            if is_changed == changed:
                pairs = zip(mine, drawn(around, other, laws), strict=True)
                assert sum(worst_ratio(a, b) for a, b in pairs) <= 2 + 1e-9


@pytest.mark.parametrize("from_top", [False, True])
def test_an_extreme_costs_one_choice(from_top, laws):
    beyond = Beyond(Rank(3, from_top), Fraction(1, 2))
    assert beyond.rates == (Fraction(1, 2),)
    for rows in all_rows(3):
        (mine,) = drawn(beyond, rows, laws)
        assert 0 in mine[0]
        for other, _ in neighbours(rows):
            assert worst_ratio(mine, *drawn(beyond, other, laws)) <= 1 + 1e-9


def failing(law, wrong):
    """The exact probability that a choice is one of the wrong points."""
    penalties, eta = law
    weights = [math.exp(-float(eta) * p) for p in penalties]
    return math.fsum(w for o, w in enumerate(weights) if wrong(o)) / math.fsum(weights)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("share", SHARES, ids=str)
def test_every_table_is_covered_by_the_exact_law(share, confidence, laws):
    eta, half = Fraction(1, 4), (1 - confidence) / 2
    ranks = interval_rows(HIGH - LOW + 1, eta, share, confidence)
    around = Around(share, eta, eta, ranks)
    for rows in itertools.chain(all_rows(4), [[0] * 9 + [4] * 10, [0] * 40 + [4] * 39, [2] * 60]):
        ordered, at = [LOW, *sorted(rows), HIGH, HIGH], share.q * len(rows)
        least, most = ordered[max(0, math.ceil(at) - 1)], ordered[math.floor(at) + 2]
        _, low, high = drawn(around, rows, laws)
        assert failing(low, lambda o, least=least: o > least) <= half
        assert failing(high, lambda o, most=most: o < most) <= half


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_every_extreme_is_covered_by_the_exact_law(confidence, laws):
    eta = Fraction(1, 4)
    rank = extreme_rank(HIGH - LOW + 1, eta, confidence)
    for rows in itertools.chain(all_rows(4), [[0] + [4] * 50, [2] * 60]):
        if rows:
            for from_top, wrong in (
                (False, lambda o, rows=rows: o < min(rows)),
                (True, lambda o, rows=rows: o > max(rows)),
            ):
                (law,) = drawn(Beyond(Rank(rank, from_top), eta), rows, laws)
                assert failing(law, wrong) <= 1 - confidence


@pytest.mark.parametrize("low", [0, -(10**6), 10**25])
def test_the_point_lies_in_its_interval(low):
    grid, bits = (low, low + 1000), SeededBits(3)
    values = np.array([low + 3 * x for x in range(50)], object)
    counts = np.ones(50, np.int64)
    share = Share(Fraction(1, 2))
    for ranks in (1, 30, MAX_RANK):
        around = Around(share, Fraction(1), Fraction(1), ranks)
        for rows in (50, 1, 0):
            point, least, most = around.draw(values[:rows], counts[:rows], grid, bits)
            assert grid[0] <= least <= point <= most <= grid[1]
    assert (least, most) == grid  # no number of rows is enough


def test_an_extreme_reaches_to_the_end_of_the_grid():
    table, bits = tally([10] * 100 + [20] * 100), SeededBits(4)
    assert Beyond(Rank(20), Fraction(5)).draw(*table, (0, 99), bits) == (10, 0, 10)
    assert Beyond(Rank(20, True), Fraction(5)).draw(*table, (0, 99), bits) == (20, 20, 99)
    assert Beyond(Rank(MAX_RANK), Fraction(5)).draw(*table, (0, 99), bits)[1:] == (0, 99)


def test_one_point_needs_no_rows():
    assert interval_rows(1, Fraction(1), SHARES[0], 0.95) == 1
    assert extreme_rank(1, Fraction(1), 0.95) == 1
    assert interval_rows(10**9, Fraction(1, 10**30), SHARES[0], 0.95) == MAX_RANK
