"""Released answers that no table can have given are named, and answers of a table never are."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "priors" / "solver"))
from examined import system_of
from literal import Public, tables
from shaped import margins, sides

from adomnia.priors.solver.errors import Contradiction
from adomnia.priors.solver.tables.contradiction import check

CONTRADICTIONS = {
    "a total and its parts": ([[1, 1, 1], [1, 1, 0], [0, 0, 1]], [5, 2, 2], {0, 1, 2}),
    "the same with two totals": ([[1, 1, 0], [1, 1, 0], [0, 1, 1]], [5, 4, 9], {0, 1}),
    "a part above its total": ([[1, 1, 1], [0, 1, 1], [1, 0, 0]], [2, 3, 0], {0, 1}),
    "less than nobody": ([[1, 1], [1, 0]], [-1, 0], {0}),
    "half a person": ([[2, 2], [1, 1]], [3, None], {0}),
    "pairs with an odd sum": ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1], {0, 1, 2}),
    "only fractions fit": ([[0, 3, 3, 2], [2, 2, 2, 1]], [1, 2], {0}),
    "sides of different totals": (sides(2, 2), [3, 3, 3, 4], {0, 1, 2, 3}),
    "sides by pairs": (
        margins((2, 2, 2), [(0, 1), (1, 2), (0, 2)]),
        [1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0],
        None,
    ),
    "rounded apart": ([[1, 1, 1], [1, 1, 0], [0, 0, 1]], [(10, 12), (3, 4), (3, 4)], {0, 1, 2}),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictory_answers_are_named(name):
    """No table agrees with the rows that are named, and with any fewer there is one."""
    rows, values, expected = CONTRADICTIONS[name]
    public = Public.of(rows, values)
    with pytest.raises(Contradiction) as caught:
        check(system_of(public))
    named = sorted(caught.value.rows)
    assert expected is None or set(named) == expected
    assert not tables(some_of(public, named), most=20)
    for row in named:
        assert tables(some_of(public, [r for r in named if r != row]), most=20)


def some_of(public: Public, rows: list[int]) -> Public:
    """What a few of the rows say."""
    values = [public.values[row] for row in rows]
    return Public.of(public.rows[rows].reshape(-1, public.cells), values, public.forbidden)


def test_answers_of_a_table_never_contradict():
    chance = np.random.default_rng(11)
    for _ in range(60):
        rows = chance.integers(0, 3, size=(chance.integers(1, 5), 6))
        exact = rows @ chance.integers(0, 1000, size=6)
        rounded = [(int(v) // 10 * 10, int(v) // 10 * 10 + 9) for v in exact]
        assert check(system_of(Public.of(rows, exact.tolist()))) is None
        assert check(system_of(Public.of(rows, rounded))) is None
