"""The solver meets the values that are known in closed form, with a checked witness."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.shapes import chain, margins
from adomnia.priors.solver.system import System
from adomnia.priors.solver.witness import is_minimal_difference

TWO_WAY = [(0, 1), (0, 2), (1, 2)]
ONE_WAY = [(0,), (1,), (2,)]
WINDOWS = np.array([[i <= j < i + 5 for j in range(100)] for i in range(96)]).astype(int)


def every(rows):
    """The question about every cell."""
    return sparse.eye_array(rows.shape[1], dtype=np.int64)


def block(rows, columns, shape):
    """The cells in the first rows and columns of a table."""
    return [r * shape[1] + c for r in range(rows) for c in range(columns)]


def met(rows, asked, expected, norm=1, values=None, steps=100 * STEPS):
    """The bound, after it was compared with what is expected and its witness with the rows."""
    system = System.of(rows, values)
    found = solve(system, asked, norm, effort=Effort(steps))
    assert (found.lower, found.upper) == (expected, expected), found.argument
    assert found.exact
    if expected:
        assert found.witness is not None
        assert is_minimal_difference(system.matrix, found.witness)
    return found


ALL_CELLS = {
    "nothing": (np.zeros((0, 5), int), 1, 1),
    "total": (np.ones((1, 6), int), 2, 2),
    "a total of one cell": (np.ones((1, 1), int), 0, 0),
    "groups": (margins((4, 5), [(0,)]), 2, 2),
    "laminar": (margins((3, 4, 5), [(), (0,), (0, 1)]), 2, 2),
    "2 x 2": (margins((2, 2), [(0,), (1,)]), 4, 4),
    "3 x 5": (margins((3, 5), [(0,), (1,)]), 6, 6),
    "5 x 5": (margins((5, 5), [(0,), (1,)]), 10, 10),
    "1 x 4": (margins((1, 4), [(0,), (1,)]), 0, 0),
    "4 x 1": (margins((4, 1), [(0,), (1,)]), 0, 0),
    "chain": (chain(7), 7, 7),
    "windows": (WINDOWS, 40, 40),
    "2 x 3 x 4": (margins((2, 3, 4), TWO_WAY), 12, 12),
    "3 x 3 x 3": (margins((3, 3, 3), TWO_WAY), 24, 32),
    "2 x 20 x 30": (margins((2, 20, 30), TWO_WAY), 80, 80),
    "AB and BC": (margins((4, 5, 6), [(0, 1), (1, 2)]), 8, 8),
    "A and B": (margins((4, 5, 6), [(0,), (1,)]), 8, 8),
    "A and B, many in a cell": (margins((4, 5, 100), [(0,), (1,)]), 8, 8),
    "three histograms": (margins((2, 3, 3), ONE_WAY), 12, 24),
    "four chained": (margins((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3)]), 10, 12),
}


@pytest.mark.parametrize("name", ALL_CELLS)
def test_all_cells(name):
    rows, one, two = ALL_CELLS[name]
    met(rows, every(rows), one, norm=1)
    met(rows, every(rows), two, norm=2)


@pytest.mark.parametrize(("sizes", "expected"), [((2, 10, 3), 16), ((2, 2, 20), 8)])
def test_histograms_whose_moves_are_not_listed(sizes, expected):
    rows = margins(sizes, ONE_WAY)
    assert met(rows, every(rows), expected).argument == "n-fold bound over bricks"


@pytest.mark.parametrize("top", [2, 3, 5, 8, 40])
def test_a_public_sum(top):
    weights = np.arange(1, top + 1)[None]
    met(weights, np.eye(top, dtype=int), 2 * top - 1)
    if top > 2:
        met(np.vstack([np.ones_like(weights), weights]), np.eye(top, dtype=int), 2 * (top - 1))


def test_questions_about_some_cells():
    table = margins((6, 8), [(0,), (1,)])
    cells = np.eye(48, dtype=int)
    met(table, cells[7:8], 1)
    met(table, cells[:3], 2)
    met(table, cells[block(3, 4, (6, 8))], 6)
    met(table, cells[block(2, 5, (6, 8))], 4)
    met(chain(7), np.eye(7, dtype=int)[3:4], 1)


@pytest.mark.parametrize("norm", [1, 2])
def test_questions_that_add_up_cells(norm):
    margin = margins((4, 5, 6), [(0,), (1,)])
    met(margin, margins((4, 5, 6), [(0, 2)]), 8, norm)
    table = margins((5, 6), [(0,), (1,)])
    met(table, margins((5, 6), [(0,)]), 0, norm)
    one = np.zeros((1, 100), int)
    one[0, block(3, 3, (10, 10))] = 1
    met(margins((10, 10), [(0,), (1,)]), one, 3 if norm == 1 else 9, norm)


def test_one_count_over_a_quarter_of_a_table():
    asked = (np.random.default_rng(0).random((1, 400)) < 0.25).astype(int)
    met(margins((20, 20), [(0,), (1,)]), asked, 20)


def test_a_question_about_nothing():
    assert met(chain(4), np.zeros((0, 4), int), 0).argument == "determined by what is public"
    assert solve(System.of(np.ones((1, 3), int), None, None, [0, 1, 2]), np.eye(3)).upper == 0


def test_arguments_are_for_people():
    table = margins((5, 5), [(0,), (1,)])
    assert solve(System.of(table), every(table)).argument == (
        "row and column sums of a complete 5 x 5 table (Lemma 4.1)"
    )
    moves = margins((3, 3, 3), TWO_WAY)
    assert solve(System.of(moves), every(moves)).argument == "Graver basis of 795 moves"
    assert solve(System.of(np.zeros((0, 2), int)), np.eye(2)).argument == "nothing known"
    assert solve(System.of(np.ones((1, 3))), np.eye(3)).argument == "disjoint groups"
    assert solve(System.of(chain(5)), np.eye(5)).argument == "a chain"


def test_values_that_leave_less_room():
    table = margins((3, 3), [(0,), (1,)])
    met(table, every(table), 4, values=[2, 2, 0, 1, 1, 2])
    met(table, every(table), 0, values=[3, 0, 0, 1, 1, 1])
    met(table, every(table), 6, values=[2, 2, 2, 2, 2, 2])


def test_a_part_that_takes_all_of_a_total_empties_the_rest():
    rows = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    assert met(rows, np.eye(4, dtype=int)[2:], 0, values=[5, 5]).exact
    assert met(rows, np.eye(4, dtype=int), 2, values=[5, 5]).exact


def test_rounded_groups_hold_nobody_back():
    groups, weights = margins((3, 4), [(0,)]), np.arange(1, 6)[None]
    cases = [(groups, [(5, 15)] * 3), (groups, [(0, 1)] * 3), (weights, [(20, 28)])]
    for rows, values in cases:
        found = solve(System.of(rows, values), every(rows))
        assert found.lower == found.upper == 1
        assert len(found.witness) == 1
    assert solve(System.of(weights, [(20, 27)]), every(weights)).upper > 1


def test_rounded_rows_that_overlap_are_bounded_on_both_sides():
    rows = margins((3, 3), [(0,), (1,)])
    found = solve(System.of(rows, [(5, 15)] * 6), np.eye(9, dtype=int))
    assert 1 <= found.lower <= found.upper <= 6
    assert found.witness is not None
    assert max(found.witness) < 9


def test_wrong_questions_are_refused():
    with pytest.raises(ValueError, match="3 cells of 4"):
        solve(System.of(chain(4)), np.eye(3))
    with pytest.raises(ValueError, match="norm"):
        solve(System.of(chain(4)), np.eye(4), 3)


TIMES = {
    "50 x 50": (margins((50, 50), [(0,), (1,)]), 100, 1.5),
    "counties": (margins((50, 60, 2), [(0,), (0, 1)]), 2, 4),
    "counties and sexes": (margins((50, 60, 2), [(0,), (0, 1), (2,)]), 4, 4),
    "a long chain": (chain(1000), 1000, 3),
    "60,000 cells": (margins((100, 60, 10), [(0,), (0, 1)]), 2, 8),
    "many equal tables": (margins((3000, 4, 5), [(0, 1), (0, 2)]), 8, 10),
    "200 x 200": (margins((200, 200), [(0,), (1,)]), 400, 15),
}


@pytest.mark.parametrize("name", TIMES)
def test_large_tables_are_quick(name):
    """Processor time, with room for a machine twenty times as slow."""
    rows, expected, seconds = TIMES[name]
    start = time.process_time()
    found = solve(System.of(rows), every(rows), effort=Effort(100 * STEPS))
    assert time.process_time() - start < 20 * seconds
    assert found.exact
    assert found.upper == expected


@pytest.mark.slow
def test_long_lists_of_moves():
    rows = margins((3, 3, 4), TWO_WAY)
    met(rows, every(rows), 36)
    met(rows, every(rows), 60, norm=2)


def test_the_same_question_has_the_same_answer():
    chance = np.random.default_rng(3)
    rows = margins((12, 12), [(0,), (1,)])
    asked = chance.integers(-2, 3, (3, 144))
    first, second = (solve(System.of(rows), asked, 1) for _ in range(2))
    assert first == second
    assert 0 < first.lower <= first.upper
