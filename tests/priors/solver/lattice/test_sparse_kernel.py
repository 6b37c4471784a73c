"""Kernels of many cells: a sparse basis of the lattice, and its parts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adomnia.priors.solver.lattice.elimination import eliminate
from adomnia.priors.solver.lattice.kernel import components, kernel, sparse_kernel


def rank_modulo(matrix, prime):
    """The rank over the field of `prime` elements."""
    left = np.array(matrix, dtype=object) % prime
    rank = 0
    for column in range(left.shape[1]):
        rows = [i for i in range(rank, left.shape[0]) if left[i, column]]
        if not rows:
            continue
        left[[rank, rows[0]]] = left[[rows[0], rank]]
        left[rank] = left[rank] * pow(int(left[rank, column]), -1, prime) % prime
        for i in range(rank + 1, left.shape[0]):
            left[i] = (left[i] - left[i, column] * left[rank]) % prime
        rank += 1
    return rank


@pytest.mark.parametrize("seed", range(40))
def test_the_basis_spans_every_whole_change(seed):
    """It is in the kernel, has the right rank, and stays independent modulo small primes."""
    rng = np.random.default_rng(seed)
    rows, cells = rng.integers(1, 5), rng.integers(2, 9)
    matrix = (
        rng.integers(-3, 4, (rows, cells)) if seed % 2 else 2 * rng.integers(0, 3, (rows, cells))
    )
    basis = sparse_kernel(sparse.csc_array(matrix)).toarray()
    assert not (matrix @ basis).any()
    assert basis.shape[1] == cells - np.linalg.matrix_rank(matrix)
    assert all(rank_modulo(basis, p) == basis.shape[1] for p in (2, 3, 5, 7, 11, 13))


def test_cells_that_cannot_change_do_not():
    basis = sparse_kernel(sparse.csc_array(np.ones((1, 4), int)), absent=[1]).toarray()
    assert basis.shape == (4, 2)
    assert not basis[1].any()


def test_nothing_is_open_where_everything_is_released():
    basis = sparse_kernel(sparse.csc_array(np.eye(3, dtype=int)))
    assert basis.shape == (3, 0)
    assert components(basis) == []


def test_two_chains_are_two_parts():
    matrix = sparse.csc_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]))
    found = sorted(tuple(cells) for cells, _ in components(sparse_kernel(matrix)))
    assert found == [(0, 1), (2, 3, 4)]


@pytest.mark.parametrize("seed", range(20))
def test_sparse_and_dense_bases_span_the_same_lattice(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-4, 5, (rng.integers(1, 4), rng.integers(4, 9)))
    dense, columns = kernel(matrix), sparse_kernel(sparse.csc_array(matrix)).toarray()
    assert dense.shape == columns.T.shape
    assert all(eliminate(columns, row).solvable for row in dense.tolist())
    assert all(eliminate(dense.T, row).solvable for row in columns.T.tolist())
