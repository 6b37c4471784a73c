"""The lattice of tables that exact answers leave open, and the steps inside it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from adomnia.audit.exact_releases.lattice import components, kernel
from adomnia.audit.exact_releases.nearest import nearest
from adomnia.audit.exact_releases.rebuild import along, parts, rebuild
from adomnia.audit.interval import wilson


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
    basis = kernel(sparse.csc_array(matrix)).toarray()
    assert not (matrix @ basis).any()
    assert basis.shape[1] == cells - np.linalg.matrix_rank(matrix)
    assert all(rank_modulo(basis, p) == basis.shape[1] for p in (2, 3, 5, 7, 11, 13))


def test_cells_that_cannot_change_do_not():
    basis = kernel(sparse.csc_array(np.ones((1, 4), int)), absent=[1]).toarray()
    assert basis.shape == (4, 2)
    assert not basis[1].any()


def test_nothing_is_open_where_everything_is_released():
    basis = kernel(sparse.csc_array(np.eye(3, dtype=int)))
    assert basis.shape == (3, 0)
    assert components(basis) == []


def test_two_chains_are_two_parts():
    matrix = sparse.csc_array(np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]))
    found = sorted(tuple(cells) for cells, _ in components(kernel(matrix)))
    assert found == [(0, 1), (2, 3, 4)]


@pytest.mark.parametrize("seed", range(30))
def test_a_line_is_searched_exactly(seed):
    rng = np.random.default_rng(seed)
    change = rng.choice([-3, -2, -1, 1, 2, 3], rng.integers(1, 8))
    if seed % 3 == 0:
        change = np.sign(change)
    residual = rng.laplace(0, 5, (len(change), 20))
    low, high = -4, 3
    times = along(residual, change, low, high)
    costs = np.array(
        [np.abs(residual - change[:, None] * t).sum(axis=0) for t in range(low, high + 1)]
    )
    reached = costs[times - low, np.arange(20)]
    assert np.allclose(reached, costs.min(axis=0))


def margins(rows, columns):
    """The row sums and column sums of a table, as rows over its cells."""
    cells = list(itertools.product(range(rows), range(columns)))
    lines = [[int(i == r) for i, _ in cells] for r in range(rows)]
    lines += [[int(j == c) for _, j in cells] for c in range(columns)]
    return sparse.csc_array(np.array(lines))


def test_the_rebuilt_table_depends_on_the_lattice_and_not_on_the_point_that_names_it():
    rng = np.random.default_rng(5)
    matrix = margins(4, 5)
    basis = kernel(matrix)
    found = parts(basis, rng)
    truth = rng.integers(0, 10, (20, 30))
    noisy = truth + rng.laplace(0, 1, truth.shape)
    other = truth + basis @ rng.integers(-5, 6, (basis.shape[1], 30))
    guess = rebuild(noisy, truth, found)
    assert (guess == rebuild(noisy, other, found)).all()
    assert (matrix @ guess == matrix @ truth).all()


def test_without_noise_the_table_is_rebuilt():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 10, (12, 10))
    other = truth + kernel(margins(3, 4)) @ rng.integers(-5, 6, (6, 10))
    found = parts(kernel(margins(3, 4)), rng)
    assert (rebuild(truth.astype(float), other, found) == truth).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_table_is_the_nearest_of_all(seed):
    rng = np.random.default_rng(seed)
    matrix = margins(2, 3)
    truth = rng.integers(0, 4, 6)
    aim = truth + rng.laplace(0, 2, 6)
    values = matrix @ truth
    every = np.array(list(itertools.product(range(10), repeat=6)))
    every = every[(every @ matrix.T.toarray() == values).all(axis=1)]
    found = nearest(matrix, values, aim, [], 10)
    assert found is not None
    assert np.isclose(np.abs(found - aim).sum(), np.abs(every - aim).sum(axis=1).min())


def test_contradicting_answers_have_no_table():
    with pytest.raises(ValueError, match="no table"):
        nearest(margins(2, 2), np.array([1, 1, 5, 5]), np.zeros(4), [], 10)


def test_intervals_hold_the_mean_and_end_in_the_unit():
    assert wilson(0, 0).high == 1
    for mean, trials in [(0.0, 10), (1.0, 10), (0.3, 50)]:
        found = wilson(mean, trials)
        assert 0 <= found.low <= mean <= found.high <= 1
    assert wilson(0.5, 100).low == pytest.approx(0.4038, abs=1e-4)
