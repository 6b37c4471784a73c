"""What is public changes nowhere, at any size; the rest of a question is what can change."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.lattice.kernel import kernel
from adomnia.priors.solver.lattice.vanishing import vanishing
from adomnia.priors.solver.reduction.unknown_part import unknown_part
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System

PAIRS = [(1, 0), (2, 0), (2, 1)]


@pytest.mark.parametrize("sizes", [(4, 5, 8), (8, 20, 38)])
@pytest.mark.parametrize("asked", [[(1, 0)], [(0, 1)], PAIRS, [(0,)], [()]])
@pytest.mark.parametrize("norm", [1, 2])
def test_a_published_table_does_not_change(sizes, asked, norm):
    found = solve(System.of(margins(sizes, PAIRS)), margins(sizes, asked), norm)
    assert found.upper == found.lower == 0
    assert found.argument == "determined by what is public"


def test_half_of_a_question_is_public():
    rows = margins((6, 6), [(0,), (1,)])
    asked = np.concatenate([rows.toarray(), np.eye(36, dtype=np.int64)])
    assert solve(System.of(rows), asked).upper == 12
    assert solve(System.of(rows), np.eye(36, dtype=np.int64)).upper == 12


def test_all_but_one_cell_is_that_cell():
    rows = margins((3, 4), [(0,), (1,), ()])
    everybody_else = np.ones((1, 12), np.int64)
    everybody_else[0, 5] = 0
    left = unknown_part(System.of(rows), everybody_else, list(range(rows.shape[0])))
    assert abs(left).sum() == 1
    assert solve(System.of(rows), everybody_else).upper == 1


def test_rounded_rows_determine_nothing():
    system = System.of(np.ones((1, 3), np.int64), [(8, 12)])
    assert solve(system, np.ones((1, 3), np.int64)).upper > 0


@pytest.mark.parametrize("seed", range(60))
def test_the_value_on_every_move_stays(seed):
    chance = np.random.default_rng(seed)
    rows = chance.integers(-1 if seed % 2 else 0, 2, (3, 7))
    asked = np.concatenate([
        chance.integers(-2, 3, (3, 7)),
        chance.integers(0, 2, (2, 7)),
        chance.integers(-2, 3, (2, 3)) @ rows,
    ])  # fmt: skip
    moves = kernel(rows)
    zero = np.flatnonzero(~(asked @ moves.T).any(axis=1)).tolist()
    assert vanishing(rows, asked) == zero
    left = unknown_part(System.of(rows), System.of(asked).matrix, [0, 1, 2])
    for move in moves:
        assert sorted(abs(left @ move)[abs(left @ move) > 0]) == sorted(
            abs(asked @ move)[abs(asked @ move) > 0]
        )
