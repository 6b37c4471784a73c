"""The kernel as a lattice: exact, whole, and every whole solution in it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adomnia.priors.solver.lattice.elimination import eliminate
from adomnia.priors.solver.lattice.kernel import kernel, series_classes, triangular
from adomnia.priors.solver.lattice.vanishing import fixed


def margins(shape, sets):
    cells = list(itertools.product(*map(range, shape)))
    return np.array(
        [
            [all(cell[a] == v for a, v in zip(axes, values, strict=True)) for cell in cells]
            for axes in sets
            for values in itertools.product(*(range(shape[a]) for a in axes))
        ],
        dtype=np.int64,
    )


small = arrays(
    np.int64,
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    elements=st.integers(-6, 6),
)


def minors_divisor(basis):
    """The common divisor of the largest minors: 1 exactly if the lattice is saturated."""
    count, cells = basis.shape
    found = [
        round(np.linalg.det(basis[:, list(chosen)].astype(float)))
        for chosen in itertools.combinations(range(cells), count)
    ]
    return math.gcd(*found)


@given(small)
@settings(max_examples=200, deadline=None)
def test_the_basis_spans_every_whole_solution(matrix):
    basis = kernel(matrix)
    exact = matrix.astype(object) @ basis.T.astype(object)
    assert not exact.any()
    assert len(basis) == matrix.shape[1] - np.linalg.matrix_rank(matrix.astype(float))
    if len(basis) and np.abs(basis).max() < 1000:
        assert minors_divisor(basis) == 1


@pytest.mark.parametrize(
    ("shape", "sets", "dimension"),
    [
        ((3, 3, 3), [(0, 1), (1, 2), (0, 2)], 8),
        ((25, 25), [(0,), (1,)], 576),
        ((8, 8, 8), [(0, 1), (1, 2), (0, 2)], 343),
    ],
)
def test_margins_leave_the_known_dimension(shape, sets, dimension):
    matrix = margins(shape, sets)
    basis = kernel(matrix)
    assert len(basis) == dimension
    assert not (matrix @ basis.T).any()


def test_entries_beyond_64_bits_are_refused():
    big = 1 << 40
    with pytest.raises(OverflowError):
        kernel(np.array([[1, big, 0, 0], [0, 1, big, 0], [0, 0, 1, big]]))


@given(small, st.lists(st.integers(-5, 5), min_size=6, max_size=6))
@settings(max_examples=200, deadline=None)
def test_a_solution_is_found_where_there_is_one(matrix, point):
    values = (matrix @ np.array(point[: matrix.shape[1]])).tolist()
    found = eliminate(matrix, values)
    assert found.solvable
    assert (matrix.astype(object) @ np.array(found.solution(), dtype=object)).tolist() == values


@pytest.mark.parametrize(
    ("rows", "values", "fault"),
    [
        ([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1], "divisor"),
        ([[2, 4]], [3], "divisor"),
        ([[1, 1], [2, 2]], [1, 3], "sums"),
        ([[6, 10, 15]], [1], ""),
    ],
)
def test_what_has_no_whole_solution_says_why(rows, values, fault):
    assert eliminate(np.array(rows), values).fault == fault


def test_a_chain_is_one_series():
    chain = np.eye(9, 10, dtype=np.int64) + np.eye(9, 10, 1, dtype=np.int64)
    classes, determined = series_classes(chain)
    assert classes == [[(cell, (-1) ** cell) for cell in range(10)]]
    assert determined == []


@given(small)
@settings(max_examples=200, deadline=None)
def test_series_and_fixed_cells_agree_with_the_basis(matrix):
    basis = kernel(matrix)
    classes, determined = series_classes(matrix)
    assert determined == [cell for cell in range(matrix.shape[1]) if not basis[:, cell].any()]
    assert fixed(matrix) == determined
    for (head, first), *others in classes:
        assert first == 1
        assert all((basis[:, cell] == sign * basis[:, head]).all() for cell, sign in others)
    listed = [cell for one in classes for cell, _ in one] + determined
    assert sorted(listed) == list(range(matrix.shape[1]))


def test_a_triangular_basis_spans_the_same_lattice():
    lattice = np.array([[2, 3, 5, 1], [0, 4, 6, 2]])
    rows, columns = triangular(lattice)
    assert rows[1, columns[0]] == 0
    change = np.linalg.solve((rows @ rows.T).astype(float), (rows @ lattice.T).astype(float))
    assert np.allclose(change, np.rint(change))
    assert round(abs(np.linalg.det(change))) == 1
