"""Smooth sensitivity by brute force: every small table, every neighbour, every distance."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adomnia.mechanisms.quantiles.quantile import Rank, Share
from adomnia.mechanisms.quantiles.smooth import (
    FLOOR,
    exact_quantile,
    rank_of,
    smooth_sensitivity,
)

HALF = Share(Fraction(1, 2))
TARGETS = [
    HALF,
    Share(Fraction(1, 4)),
    Share(Fraction(9, 10)),
    Share(Fraction(0)),
    Share(Fraction(1)),
    Rank(1),
    Rank(2),
    Rank(1, from_top=True),
    Rank(2, from_top=True),
]
BETAS = [Fraction(1, 10), Fraction(1, 2), Fraction(3)]
SHAPES = [(1, 5), (2, 5), (3, 5), (4, 4), (5, 3), (6, 3)]
"""Rows, and the largest value of a grid from 0."""
CASES = [(*shape, t) for shape in SHAPES for t in TARGETS if 1 <= rank_of(t, shape[0]) <= shape[0]]


def tally(rows):
    values, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return values, counts.astype(np.int64)


def answer(rows, high, target):
    """The quantile from its definition: the value of its rank among low.., rows, ..high."""
    rank = rank_of(target, len(rows))
    if rank < 1 or rank > len(rows):
        return 0 if rank < 1 else high
    return sorted(rows)[rank - 1]


def changed(rows, high):
    """All tables with one row changed."""
    for place, value in itertools.product(range(len(rows)), range(high + 1)):
        yield tuple(sorted((*rows[:place], value, *rows[place + 1 :])))


def moved(rows, high):
    """All tables with one row more or less."""
    for value in range(high + 1):
        yield tuple(sorted((*rows, value)))
    for place in range(len(rows)):
        yield (*rows[:place], *rows[place + 1 :])


def distances(start, tables, neighbors):
    """How many steps from one table to each of the others."""
    found, frontier = {start: 0}, [start]
    for step in itertools.count(1):
        frontier = {n for rows in frontier for n in neighbors[rows] if n in tables} - found.keys()
        if not frontier:
            return found
        found |= dict.fromkeys(frontier, step)


@functools.cache
def graph(n, high):
    """The tables of n rows, their neighbours by a changed row, and how far each is from each."""
    tables = set(itertools.combinations_with_replacement(range(high + 1), n))
    neighbors = {rows: set(changed(rows, high)) for rows in tables}
    return neighbors, {rows: distances(rows, tables, neighbors) for rows in tables}


def smallest(n, high, target, beta):
    """The least beta-smooth upper bound of the local sensitivity, from its definition."""
    neighbors, far = graph(n, high)
    value = {rows: answer(rows, high, target) for rows in far}
    local = {rows: max(abs(value[rows] - value[o]) for o in neighbors[rows]) for rows in far}
    decay = [math.exp(-beta * step) for step in range(n + 1)]
    for start in far:
        yield start, max(local[rows] * decay[step] for rows, step in far[start].items())


@pytest.mark.parametrize(("n", "high", "target"), CASES, ids=str)
def test_it_is_the_smallest_smooth_bound_for_changed_rows(n, high, target):
    for beta in BETAS:
        for rows, expected in smallest(n, high, target, beta):
            found = smooth_sensitivity(*tally(rows), (0, high), target, beta)
            assert float(found) == pytest.approx(max(expected, FLOOR), rel=1e-9), rows
            assert found >= expected * (1 - 1e-9)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("neighbors", [changed, moved])
def test_it_is_smooth_and_above_the_local_sensitivity(target, neighbors):
    high, beta = 3, Fraction(1, 5)
    tables = [
        rows
        for n in range(6)
        for rows in itertools.combinations_with_replacement(range(high + 1), n)
    ]
    found = {rows: smooth_sensitivity(*tally(rows), (0, high), target, beta) for rows in tables}
    for rows in tables:
        for other in neighbors(rows, high):
            if other in found:
                step = abs(answer(rows, high, target) - answer(other, high, target))
                assert step <= found[rows]
                assert float(found[other] / found[rows]) <= math.exp(beta)


@settings(deadline=None, max_examples=100)
@given(
    some.lists(some.integers(-5, 10**6 + 5), max_size=80),
    some.sampled_from([*TARGETS, Rank(40), Rank(30, from_top=True)]),
    some.fractions(Fraction(1, 100), 2, max_denominator=100),
)
def test_divide_and_conquer_finds_the_largest_pair(rows, target, beta):
    high = 10**6
    ordered = sorted(min(high, max(0, value)) for value in rows)
    rank = rank_of(target, len(rows))
    reach = len(rows) + abs(rank) + 1

    def at(index):
        if index < 1 or index > len(ordered):
            return 0 if index < 1 else high
        return ordered[index - 1]

    pairs = ((i, j) for i in range(rank - reach, rank + 1) for j in range(rank, rank + reach + 1))
    best = max((at(j) - at(i)) * math.exp(-beta * (j - i - 1)) for i, j in pairs if j > i)
    values, counts = tally(rows)
    assert exact_quantile(values, counts, (0, high), target) == at(rank)
    found = smooth_sensitivity(values, counts, (0, high), target, beta)
    assert float(found) == pytest.approx(max(best, FLOOR), rel=1e-8)
