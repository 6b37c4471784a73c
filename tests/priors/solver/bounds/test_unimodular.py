"""Bounds from determinants: unimodular rows recognised, all others bounded all the same."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from adomnia.priors.solver.bounds.unimodular import (
    determinant_bound,
    is_unimodular,
    unimodular_bound,
)
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice.graver import basis


def ones(cells):
    return [Fraction(1)] * cells


def windows(cells, width):
    return np.array([[start <= c < start + width for c in range(cells)] for start in range(cells)])


def grid(rows, columns):
    return np.vstack(
        [
            np.kron(np.eye(rows), np.ones((1, columns))),
            np.kron(np.ones((1, rows)), np.eye(columns)),
        ]
    ).astype(np.int64)


@pytest.mark.parametrize(
    "matrix",
    [
        windows(30, 4),
        windows(30, 4).T,
        3 * windows(12, 3),
        windows(40, 7)[:, np.random.default_rng(2).permutation(40)],
        grid(4, 5),
        np.array([[1, -1, 0], [0, 1, -1]]),
    ],
)
def test_intervals_and_networks_are_recognised(matrix):
    assert is_unimodular(np.asarray(matrix, dtype=np.int64))


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 1, 0], [0, 1, 1], [1, 0, 1]],
        [[1, 2]],
        [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1]],
    ],
)
def test_what_is_not_unimodular_is_not_called_so(matrix):
    assert not is_unimodular(np.array(matrix))
    assert unimodular_bound(np.array(matrix), ones(len(matrix[0]))) is None


def minors(matrix):
    for size in range(1, min(matrix.shape) + 1):
        for rows in itertools.combinations(range(matrix.shape[0]), size):
            for cells in itertools.combinations(range(matrix.shape[1]), size):
                yield round(np.linalg.det(matrix[np.ix_(rows, cells)].astype(float)))


def test_recognised_rows_have_no_minor_but_0_and_1():
    rng = np.random.default_rng(4)
    recognised = 0
    for _ in range(300):
        matrix = rng.integers(rng.choice([-1, 0]), 2, (rng.integers(1, 5), rng.integers(1, 5)))
        if is_unimodular(matrix):
            recognised += 1
            assert all(abs(minor) <= 1 for minor in minors(matrix))
    assert recognised > 60


def test_bounds_hold_for_random_rows():
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(200):
        matrix = rng.integers(rng.choice([-2, 0]), rng.choice([2, 3]), (3, rng.integers(2, 7)))
        weights = [Fraction(int(w)) for w in rng.integers(0, 4, matrix.shape[1])]
        try:
            moves = basis(matrix, effort=Effort(200_000_000))
        except TooLarge:
            continue
        lengths = np.abs(moves) @ np.array([int(w) for w in weights])
        truth = int(lengths.max(initial=0))
        assert determinant_bound(matrix, weights) >= truth
        bound = unimodular_bound(matrix, weights)
        assert bound is None or bound >= truth
        compared += bool(len(moves))
    assert compared > 100


def test_one_change_is_counted_exactly():
    assert determinant_bound(np.array([[2, 3]]), ones(2)) == 5
    chain = np.eye(9, 10, dtype=np.int64) + np.eye(9, 10, 1, dtype=np.int64)
    assert determinant_bound(chain, ones(10)) == 10
    assert unimodular_bound(chain, ones(10)) == 10


def test_what_is_determined_has_bound_zero():
    assert determinant_bound(np.eye(3, dtype=np.int64), ones(3)) == 0
    assert unimodular_bound(np.eye(3, dtype=np.int64), ones(3)) == 0


def test_the_bound_is_finite_even_for_large_entries():
    rng = np.random.default_rng(6)
    matrix = rng.integers(-(10**6), 10**6, (6, 20))
    assert determinant_bound(matrix, ones(20)) > 0
