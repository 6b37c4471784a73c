"""The check of witnesses agrees with the oracle, on what is minimal and on what is not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles import graver

from adomnia.priors.solver.shapes import chain, margins
from adomnia.priors.solver.system import whole
from adomnia.priors.solver.witness import is_minimal_difference


def as_cells(move):
    return {cell: int(units) for cell, units in enumerate(move) if units}


@pytest.mark.parametrize("seed", range(6))
def test_minimal_moves_pass_and_their_sums_do_not(seed):
    chance = np.random.default_rng(seed)
    rows = chance.integers(0, 3, (3, 7)) if seed % 2 else margins((2, 2, 2), [(0,), (1,), (2,)])
    matrix = whole(rows)
    moves = graver(matrix.toarray())
    assert all(is_minimal_difference(matrix, as_cells(move)) for move in moves)
    known = {tuple(move) for move in moves.tolist()}
    for one, other in itertools.islice(itertools.combinations(moves, 2), 300):
        total = one + other
        assert is_minimal_difference(matrix, as_cells(total)) == (tuple(total.tolist()) in known)


def test_what_rows_see_is_no_difference():
    matrix = whole(chain(4))
    assert is_minimal_difference(matrix, {0: 1, 1: -1, 2: 1, 3: -1})
    assert not is_minimal_difference(matrix, {0: 1, 1: -1, 2: 1})
    assert not is_minimal_difference(matrix, {0: 2, 1: -2, 2: 2, 3: -2})
    assert not is_minimal_difference(matrix, {})


def test_free_cells_come_one_at_a_time():
    matrix = whole(np.zeros((0, 3), int))
    assert is_minimal_difference(matrix, {1: -1})
    assert not is_minimal_difference(matrix, {1: 2})
    assert not is_minimal_difference(matrix, {0: 1, 1: 1})


def test_long_cycles_are_checked_quickly():
    matrix = whole(margins((300, 300), [(), (0,), (1,)]))
    cycle = {i * 300 + i: 1 for i in range(300)} | {i * 300 + (i + 1) % 300: -1 for i in range(300)}
    assert is_minimal_difference(matrix, cycle)
    two = {0: 1, 1: -1, 300: -1, 301: 1, 602: 1, 603: -1, 902: -1, 903: 1}
    assert not is_minimal_difference(matrix, two)
