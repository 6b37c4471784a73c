"""The lattice of tables that exact answers leave open, and the steps inside it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from adomnia.audit.exact_releases.rebuild import along, parts, rebuild
from adomnia.audit.finding import wilson
from adomnia.priors.solver.lattice.kernel import sparse_kernel as kernel


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


def test_intervals_hold_the_mean_and_end_in_the_unit():
    assert wilson(0, 0).high == 1
    for mean, trials in [(0.0, 10), (1.0, 10), (0.3, 50)]:
        found = wilson(mean, trials)
        assert 0 <= found.low <= mean <= found.high <= 1
    assert wilson(0.5, 100).low == pytest.approx(0.4038, abs=1e-4)
