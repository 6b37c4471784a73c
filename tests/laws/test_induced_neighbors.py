"""The law of induced neighbours: after exact releases, no neighbours differ by more than is said.

Each case is one whose sensitivity is known by a proof or by listing all tables (Definition 4.4
taken word for word, `tests/priors/solver/literal.py`), and the solver must say the same number,
with a witness that is a difference of two neighbours.
"""

from __future__ import annotations

import itertools
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "priors" / "solver"))
from examined import examined, holds, truth
from literal import Public, neighbor_differences, sensitivity
from oracles import PROGRAM, enough, possible_steps
from shaped import cells, chain, margins, sides

from adomnia.priors.solver import shapes
from adomnia.priors.solver.lattice import graver

needs_4ti2 = pytest.mark.skipif(not PROGRAM, reason="4ti2-graver is not installed")


# What is known, and what it costs to ask for all cells when its values are not given

NOTHING = np.zeros((0, 4), dtype=np.int64)
LAMINAR = [[1] * 6, [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0]]
SMALL = {
    "nothing": (NOTHING, 1, 1),
    "the total": ([[1, 1, 1, 1]], 2, 2),
    "a group by": (margins((2, 2), [(0,)]), 2, 2),
    "groups of one": (cells(3), 0, 0),
    "a hierarchy": (LAMINAR, 2, 2),
    "2 x 2": (sides(2, 2), 4, 4),
    "1 x 4": (sides(1, 4), 0, 0),
    "4 x 1": (sides(4, 1), 0, 0),
    "a chain of 3": (chain(3), 3, 3),
    "a chain of 5": (chain(5), 5, 5),
    "2 x 2 x 2, all pairs": (margins((2, 2, 2), [(0, 1), (1, 2), (0, 2)]), 8, 8),
    "a sum over 1..3": ([[1, 2, 3]], 5, 13),
    "a sum over 1..3 and the count": ([[1, 2, 3], [1, 1, 1]], 4, 6),
    "a sum over 1..4 and the count": ([[1, 2, 3, 4], [1, 1, 1, 1]], 6, 14),
    "twice the same": ([[1, 1, 1], [1, 1, 1], [2, 2, 2]], 2, 2),
    "a row of nothing": ([[0, 0, 0], [1, 1, 0]], 2, 2),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_systems_listed_in_full(name):
    """All tables up to a total that `enough` proves to be enough, and the solver beside them."""
    rows, first, second = SMALL[name]
    public = Public.of(rows)
    asked = cells(public.cells)
    if public.cells <= 4:
        most = enough(public.rows)
        assert sensitivity(public, asked, 1, most) == first
        assert sensitivity(public, asked, 2, most) == second
    assert (truth(public, asked, 1), truth(public, asked, 2)) == (first, second)
    holds(public, asked, first)
    holds(public, asked, second, norm=2)


@pytest.mark.parametrize("size", list(itertools.product(range(1, 5), repeat=2)), ids=str)
def test_row_and_column_sums(size):
    """Lemma 4.1 without its error: 2 min(r, c), but nothing when there is one row or one column."""
    public = Public.of(sides(*size))
    asked = cells(public.cells)
    expected = 2 * min(size) if min(size) > 1 else 0
    if PROGRAM or public.cells <= 9:
        assert truth(public, asked) == expected
    holds(public, asked, expected)
    holds(public, asked, expected, norm=2)


def test_row_and_column_sums_listed_in_full():
    """Where each row and column has one person, listing the tables already finds the most."""
    for count in (2, 3, 4):
        public = Public.of(sides(count, count), [1] * (2 * count))
        assert sensitivity(public, cells(count * count)) == 2 * count
        holds(public, cells(count * count), 2 * count)


@pytest.mark.parametrize("count", [2, 3, 6, 7, 40])
def test_a_chain_costs_its_length_and_a_cell_of_it_one(count):
    public = Public.of(chain(count))
    if count < 10:
        assert truth(public, cells(count)) == count
    holds(public, cells(count), count)
    holds(public, cells(count)[:1], 1)
    holds(public, cells(count), count, norm=2)


def test_counts_of_different_people_add_up_on_a_chain():
    """Parallel composition fails: k counts that share nobody cost k times one of them."""
    count = 6
    public = Public.of(chain(count))
    alone = [examined(public, cells(count)[[c]], 1).upper for c in range(count)]
    together = examined(public, cells(count)).upper
    assert max(alone) == 1
    assert together == sum(alone) == count


def test_cells_of_one_chain_differ_by_nothing_else():
    assert neighbor_differences(Public.of(chain(4), [3, 3, 3])) == {(1, -1, 1, -1), (-1, 1, -1, 1)}


# Overlapping partitions with cells that cannot be

HOLES = [
    ((3, 3), (0, 4, 8)),
    ((3, 3), (1, 3)),
    ((3, 4), (0, 5, 10)),
    ((3, 4), (0, 1, 2, 7)),
    ((2, 4), (0, 5)),
    ((4, 4), (0, 1, 2, 4, 5, 8, 10, 15)),
]


@pytest.mark.parametrize(("size", "zeros"), HOLES, ids=str)
@pytest.mark.parametrize("norm", [1, 2])
def test_two_partitions_with_structural_zeros(size, zeros, norm):
    public = Public.of(sides(*size), forbidden=zeros)
    asked = cells(public.cells)
    holds(public, asked, truth(public, asked, norm), norm)


def test_a_table_whose_diagonal_cannot_be_keeps_one_cycle():
    public = Public.of(sides(3, 3), [1] * 6, forbidden=(0, 4, 8))
    assert sensitivity(public, cells(9)) == 6
    holds(public, cells(9), 6)


# Three attributes, through the Graver basis: there are too many tables to list


@needs_4ti2
@pytest.mark.parametrize(
    ("sizes", "first", "second", "steps"), [((2, 3, 4), 12, 12, 42), ((3, 3, 3), 24, 32, 795)]
)
def test_all_pairs_of_three_attributes(sizes, first, second, steps):
    rows = margins(sizes, [(0, 1), (1, 2), (0, 2)])
    public = Public.of(rows)
    asked = cells(public.cells)
    found = possible_steps(public)
    assert len(found) == 2 * steps
    assert max(sum(map(abs, step)) for step in found) == first
    assert max(sum(x * x for x in step) for step in found) == second
    holds(public, asked, first)
    holds(public, asked, second, norm=2)


@needs_4ti2
def test_own_basis_is_that_of_4ti2():
    for sizes in [(2, 3, 4), (3, 3, 3)]:
        rows = margins(sizes, [(0, 1), (1, 2), (0, 2)])
        own = {tuple(int(s * x) for x in step) for step in graver.basis(rows) for s in (1, -1)}
        assert own == possible_steps(Public.of(rows))


def test_pairs_that_leave_a_square_out_listed_in_full():
    """2 x 2 x 2 with all pairs: one step, that changes every cell."""
    rows = margins((2, 2, 2), [(0, 1), (1, 2), (0, 2)])
    public = Public.of(rows, rows @ np.ones(8, dtype=np.int64))
    assert len(neighbor_differences(public)) == 2
    holds(public, cells(8), 8)


# Sums, rounding, people with several rows


@pytest.mark.parametrize("top", [3, 4, 5])
def test_a_public_sum_of_an_attribute(top):
    """A histogram over 1..n: 2n - 1 after its sum, and 2 (n - 1) after its mean."""
    values = np.arange(1, top + 1)
    alone, mean = Public.of([values]), Public.of([values, np.ones_like(values)])
    assert truth(alone, cells(top)) == 2 * top - 1
    assert truth(mean, cells(top)) == 2 * (top - 1)
    holds(alone, cells(top), 2 * top - 1)
    holds(mean, cells(top), 2 * (top - 1))


@pytest.mark.parametrize(("most", "expected"), [(1, 2), (2, 4), (3, 12)])
def test_people_with_several_rows_by_what_they_can_be(most, expected):
    """The number of rows is public, a person has up to k of them: not 2k, and types are cells."""
    kinds = [
        kind
        for size in range(1, most + 1)
        for kind in itertools.combinations_with_replacement((0, 1), size)
    ]
    public = Public.of([[len(kind) for kind in kinds]])
    histogram = np.array([[kind.count(value) for kind in kinds] for value in (0, 1)])
    assert truth(public, histogram) == expected
    holds(public, histogram, expected)


def test_a_new_release_makes_old_answers_dearer():
    """5 x 5 with its total public, then its sides: noise that was made for 2 meets steps of 10."""
    asked = cells(25)
    before = examined(Public.of([[1] * 25]), asked, 1, 2).upper
    after = examined(Public.of(sides(5, 5)), asked, 1, 10).upper
    assert Fraction(after, before) == 5


# Questions other than all cells


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(
    ("columns", "first"), [((0,), 1), ((0, 1), 2), ((0, 1, 3, 4), 4), ((0, 4, 8), 3)]
)
def test_some_cells_of_a_table(columns, first, norm):
    public = Public.of(sides(3, 3))
    asked = cells(9)[list(columns)]
    true = truth(public, asked, norm)
    if norm == 1:
        assert true == first
    holds(public, asked, true, norm)


def test_one_count_over_a_block():
    """A 2 x 2 block counted as one number moves by 1 or 2."""
    public = Public.of(sides(4, 4))
    asked = np.zeros((1, 16), dtype=np.int64)
    asked[0, [0, 1, 4, 5]] = 1
    holds(public, asked, 2)
    holds(public, asked, 4, norm=2)


def test_what_is_public_already_costs_nothing():
    public = Public.of(sides(3, 3))
    holds(public, sides(3, 3), 0)
    holds(public, np.ones((1, 9), dtype=np.int64), 0)


def test_the_shapes_of_the_package_are_these():
    for sizes, sets in [((3, 4), [(0,), (1,)]), ((2, 3, 2), [(0, 1), (2,)]), ((2, 2), [()])]:
        made = shapes.margins(sizes, sets)
        dense = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
        assert sorted(map(tuple, dense)) == sorted(map(tuple, margins(sizes, sets)))
    found = shapes.chain(5)
    dense = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    assert (dense == chain(5)).all()
