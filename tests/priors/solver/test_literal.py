"""The truth that the solver is measured with, measured itself.

The definition taken word for word, the faster search for tables in between, and the Graver basis
restricted to steps that some table allows must say the same wherever all three can be had.
"""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from literal import Public, are_neighbors, differences, fibres, neighbor_differences, tables
from oracles import (
    PROGRAM,
    circuits,
    completed,
    enough,
    from_4ti2,
    graver,
    is_minimal,
    possible_steps,
    vectors,
)


def some_rows(random: random.Random, cells: int, most: int = 1) -> np.ndarray:
    """A few random rows that have each cell in one of them at least."""
    rows = [[random.randint(0, most) for _ in range(cells)] for _ in range(random.randint(1, 3))]
    missing = [int(not any(column)) for column in zip(*rows, strict=True)]
    return np.array([*rows, missing] if any(missing) else rows)


def test_figure_6_of_the_paper():
    public = Public.of([[1, 1, 0, 0], [0, 0, 1, 1]], (9, 10))
    fibre = set(tables(public))
    a, b, c = (4, 5, 7, 3), (5, 4, 6, 4), (5, 4, 7, 3)
    assert {a, b, c} <= fibre
    assert not are_neighbors(fibre, a, b)
    assert are_neighbors(fibre, a, c)
    assert are_neighbors(fibre, b, c)
    assert not are_neighbors(fibre, a, a)


def test_tables_are_all_there():
    everything = itertools.product(range(6), repeat=4)
    rows = np.array([[1, 1, 0, 2], [0, 1, 1, 0]])
    expected = [t for t in everything if (rows @ t == (5, 3)).all()]
    assert tables(Public.of(rows, (5, 3))) == expected
    rounded = [t for t in itertools.product(range(6), repeat=4) if 4 <= rows[0] @ t <= 5]
    rounded = [t for t in rounded if rows[1] @ t == 3 and t[2] == 0]
    assert tables(Public.of(rows, ((4, 5), 3), forbidden=[2])) == rounded


def test_tables_without_end_are_refused():
    with pytest.raises(ValueError, match="infinitely many"):
        tables(Public.of([[1, 0]], (3,)))
    assert len(tables(Public.of([[1, 0]], (3,)), most=5)) == 3


@pytest.mark.parametrize("seed", range(12))
def test_in_between_is_the_same_as_every_part_of_the_moves(seed):
    chance = random.Random(seed)
    rows = some_rows(chance, 4, most=2)
    table = [chance.randint(0, 2) for _ in range(4)]
    values = [int(v) if chance.random() < 0.7 else (int(v), int(v) + 1) for v in rows @ table]
    for fibre in fibres(Public.of(rows, values)):
        listed = [tuple(map(int, table)) for table in fibre]
        word_for_word = {
            tuple(np.subtract(other, one).tolist())
            for one, other in itertools.permutations(listed, 2)
            if are_neighbors(set(listed), one, other)
        }
        assert differences(fibre) == word_for_word


@pytest.mark.parametrize("seed", range(25))
def test_neighbors_differ_by_steps_of_the_graver_basis_that_a_table_allows(seed):
    chance = random.Random(seed)
    rows = some_rows(chance, chance.randint(3, 6), most=1 if seed % 2 else 3)
    table = [chance.randint(0, 2) for _ in rows[0]]
    zeros = [c for c, count in enumerate(table) if not count and chance.random() < 0.3]
    public = Public.of(rows, [int(v) for v in rows @ table], zeros)
    assert neighbor_differences(public) == possible_steps(public)


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, 1]],
        [[1, 2, 3]],
        [[1, 2, 3], [1, 1, 1]],
        [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]],
        [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]],
        [[2, 3, 0, 1], [0, 1, 1, 1]],
    ],
)
def test_with_no_value_given_all_steps_are_seen_up_to_a_total(rows):
    public = Public.of(rows)
    seen = neighbor_differences(public, most=enough(public.rows))
    assert seen == vectors(graver(rows))


def test_a_larger_total_shows_nothing_new():
    public = Public.of([[1, 2, 3]])
    most = enough(public.rows)
    assert neighbor_differences(public, most) == neighbor_differences(public, most + 3)


def test_circuits_of_a_table_are_its_cycles():
    rows = np.vstack([np.kron(np.eye(2, dtype=int), [1, 1, 1]), np.kron([1, 1], np.eye(3))])
    found = circuits(rows.astype(np.int64))
    assert len(found) == 3
    assert {int(abs(step).sum()) for step in found} == {4}


@pytest.mark.skipif(not PROGRAM, reason="4ti2-graver is not installed")
@pytest.mark.parametrize("seed", range(30))
def test_completion_agrees_with_4ti2(seed):
    rows = some_rows(random.Random(seed), 3 + seed % 4, most=1 + seed % 3)
    assert vectors(completed(rows)) == vectors(from_4ti2(rows))


def test_minimal_steps_are_told_from_others():
    rows = np.array([[1, 2, 3, 3]])
    assert is_minimal(rows, [3, 0, -1, 0])
    assert not is_minimal(rows, [6, 0, -2, 0])
    assert not is_minimal(rows, [1, 1, -2, 1])
    assert not is_minimal(rows, [1, 0, 0, 0])
    assert not is_minimal(rows, [0, 0, 0, 0])
    basis = vectors(graver(rows))
    box = itertools.product(range(-3, 4), repeat=4)
    assert {step for step in box if is_minimal(rows, step)} == {
        step for step in basis if max(map(abs, step)) <= 3
    }
