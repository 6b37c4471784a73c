"""Contradictions by name: the smallest set of released rows that cannot all be true."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.errors import QuestionError
from adomnia.priors import consistency
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import Contradiction
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables import contradiction
from adomnia.priors.solver.tables.contradiction import check


def said(rows, values, names=None, forbidden=()):
    with pytest.raises(Contradiction) as caught:
        check(System.of(np.array(rows), values, names, forbidden))
    return caught.value


@pytest.mark.parametrize(
    ("rows", "values", "contradicting", "reason"),
    [
        ([[1, 1]], [-1], (0,), "no counts"),
        ([[0, 0], [1, 1]], [1, 5], (0,), "no counts"),
        ([[2, 4], [1, 1]], [3, 9], (0,), "no counts"),
        ([[2, 4]], [(3, 3)], (0,), "no counts"),
        ([[2, 3]], [1], (0,), "no counts"),
        ([[1, 1]], [(4, 3)], (0,), "no counts"),
        ([[1, 1], [0, 1], [1, 1]], [3, 1, 4], (0, 2), "two totals"),
        ([[1, 1], [2, 2]], [(0, 2), (6, 8)], (0, 1), "two totals"),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], [2, 4, 7], (2, 0, 1), "parts"),
        ([[1, 1, 0], [1, 1, 1]], [5, 3], (1, 0), "parts"),
        ([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], [(2, 3), 4, (9, 10)], (2, 0, 1), "parts"),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1], (0, 1, 2), "whole numbers"),
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [9, 1, 1], (0, 1, 2), None),
        ([[1, -1, 0], [1, 1, 1], [0, 0, 1]], [5, 6, 3], (0, 1, 2), None),
    ],
)
def test_the_contradicting_rows_are_named(rows, values, contradicting, reason):
    problem = said(rows, values)
    assert problem.rows == contradicting
    assert reason is None or reason in str(problem)


def test_the_message_has_names_and_values_and_a_way_out():
    system = System.of(np.array([[1, 1], [1, 1]]), [(3, 4), 7], ["beds", "beds again"])
    with pytest.raises(QuestionError) as caught:
        consistency.check(system)
    problem = caught.value
    assert "beds = 3 to 4" in problem.message
    assert "beds again = 7" in problem.message
    assert problem.hint
    assert problem.exit_code == 2
    with pytest.raises(Contradiction, match="beds = 3 to 4; beds again = 7"):
        check(system)


def test_forbidden_cells_count():
    assert said([[1, 1, 0], [0, 0, 1]], [2, 1], None, [0, 1]).rows == (0,)


def test_sums_of_rows_and_columns_that_differ():
    grid = np.vstack([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))])
    problem = said(grid.astype(int), [2, 2, 2, 1, 2, 4])
    assert problem.rows == (0, 1, 2, 3, 4, 5)
    assert "sums" in str(problem)


def test_other_rows_are_left_out():
    rows = np.zeros((12, 24), np.int64)
    for place in range(12):
        rows[place, 2 * place : 2 * place + 2] = 1
    extra = np.zeros((3, 24), np.int64)
    extra[0, [0, 2]] = extra[1, [2, 4]] = extra[2, [0, 4]] = 1
    problem = said(np.vstack([rows, extra]), [9] * 12 + [3, 3, 5])
    assert problem.rows == (12, 13, 14)


def test_fractions_would_do_but_no_whole_table():
    """29 is the largest number that 6, 10 and 15 do not make: found by search only."""
    problem = said([[6, 10, 15]], [29])
    assert problem.rows == (0,)
    assert "whole counts" in str(problem)
    check(System.of(np.array([[6, 10, 15]]), [30]))


def test_a_system_on_which_a_solver_gave_up():
    assert said([[0, 3, 3, 2], [2, 2, 2, 1]], [1, 2]).rows == (0,)


@pytest.mark.parametrize("finder", [contradiction._by_multipliers, contradiction._by_search])
def test_the_last_reasons_prove_on_their_own(finder):
    tables = contradiction.region(System.of([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [5, 1, 1]))
    assert finder(tables, Effort()) == (0, 1, 2)
    fine = contradiction.region(System.of([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [2, 2, 2]))
    assert finder(fine, Effort()) is None


def test_what_holds_passes():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (20, 60))
    values = (rows @ rng.integers(0, 9, 60)).tolist()
    check(System.of(rows, values))
    check(System.of(rows, [(value - 1, value + 1) for value in values]))
    check(System.of(rows, [None] * 20))
