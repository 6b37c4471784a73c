"""The law of induced neighbours where the released values are given, rounded, large or many."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "priors" / "solver"))
from examined import complaints, examined, holds, system_of, truth
from literal import Public, neighbor_differences, sensitivity
from shaped import cells, chain, margins, sides

from adomnia.priors.solver.induced_sensitivity import solve

# Values that are given


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((2, 2, 0, 1, 1, 2), 4),
        ((3, 0, 0, 1, 1, 1), 0),
        ((1, 1, 1, 1, 1, 1), 6),
        ((2, 1, 1, 4, 0, 0), 0),
        ((2, 1, 1, 2, 2, 0), 4),
        ((5, 5, 5, 5, 5, 5), 6),
    ],
)
def test_small_values_leave_fewer_neighbors(values, expected):
    public = Public.of(sides(3, 3), values)
    if sum(values) < 20:
        assert sensitivity(public, cells(9)) == expected
    holds(public, cells(9), expected)
    holds(public, cells(9), expected, norm=2)


def test_a_total_of_nobody_leaves_nothing_to_ask():
    holds(Public.of([[1, 1, 1]], [0]), cells(3), 0)
    holds(Public.of([[1, 1, 1]], [1]), cells(3), 2)


def test_a_sum_of_very_many_is_no_burden():
    """A value far beyond what can be listed."""
    public, unknown = Public.of([[2, 3, 5]], [10**17]), Public.of([[2, 3, 5]])
    bound = solve(system_of(public), cells(3), 1)
    assert complaints(unknown, cells(3), 1, bound, truth(unknown, cells(3))) == []
    assert bound.upper == 8


def test_large_values_change_nothing():
    """They are too large to list, but with them every step is possible."""
    public, unknown = Public.of(sides(3, 3), [10**15] * 6), Public.of(sides(3, 3))
    bound = solve(system_of(public), cells(9), 1)
    assert complaints(unknown, cells(9), 1, bound, 6) == []
    assert (bound.upper, bound.lower) == (6, 6)


@pytest.mark.parametrize("values", [None, (2, 1, 2, 1, 3, 1)], ids=["unknown", "known"])
def test_upper_bounds_of_cells_add_no_differences(values):
    """Every cell holds at most one person (a unique key): the differences were there before."""
    rows = sides(3, 3)
    table = np.array([1, 0, 1, 0, 1, 0, 0, 0, 0])
    known = (rows @ table).tolist() if values else [None] * 6
    bounded = Public.of(np.vstack([rows, cells(9)]), [*known, *[(0, 1)] * 9])
    free = neighbor_differences(Public.of(rows, known), most=None if values else 3)
    assert neighbor_differences(bounded) <= free
    asked = cells(9)
    expected = truth(Public.of(rows, known), asked)
    bound = examined(bounded, asked)
    assert bound.upper == expected


# Rounded rows

ROUNDED = [
    ([[1, 1, 1]], [(0, 2)]),
    ([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], [(1, 2), (1, 2), (1, 2)]),
    ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]], [(2, 3), 2, (1, 3)]),
    ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], [2, 2, (1, 3), (1, 3)]),
    ([[1, 2, 3]], [(4, 5)]),
    ([[1, 1, 1, 1], [2, 2, 0, 0]], [3, (1, 4)]),
    ([[1, 1, 1], [1, 1, 1]], [(1, 3), (3, 5)]),
]


@pytest.mark.parametrize(("rows", "values"), ROUNDED)
@pytest.mark.parametrize("norm", [1, 2])
def test_rounded_rows_are_never_below_the_truth(rows, values, norm):
    public = Public.of(rows, values)
    true = sensitivity(public, cells(public.cells), norm)
    bound = examined(public, cells(public.cells), norm, true)
    assert bound.lower <= true <= bound.upper


# Many cells, large numbers

LARGE = {
    "20 x 20": (sides(20, 20), cells(400), 40),
    "10 x 10, a block": (sides(10, 10), np.kron([1] * 3 + [0] * 7, [1] * 3 + [0] * 7)[None], 3),
    "a chain of 150": (chain(150), cells(150), 150),
    "2 x 5 x 6, all pairs": (margins((2, 5, 6), [(0, 1), (1, 2), (0, 2)]), cells(60), 20),
    "states, counties, sex": (margins((6, 7, 2), [(0,), (0, 1)]), cells(84), 2),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_systems_have_closed_forms_with_witnesses(name):
    rows, asked, expected = LARGE[name]
    holds(Public.of(rows), asked, expected)


MANY = 2**20 - 1


def scaled_sides() -> np.ndarray:
    """3 x 3 sides, released so that the first cell can only move by so many at once."""
    rows = sides(3, 3)
    first = rows[:, 0] > 0
    rows[first] *= MANY
    rows[first, 0] = 1
    return rows


@pytest.mark.parametrize("times", [1, 3, 10, 40])
def test_numbers_beyond_64_bits_do_not_wrap_around(times):
    asked = np.zeros((times, 9), dtype=np.int64)
    asked[:, 0] = 1023
    holds(Public.of(scaled_sides()), asked, times * 1023 * MANY)
    holds(Public.of(scaled_sides()), asked, times * (1023 * MANY) ** 2, norm=2)
