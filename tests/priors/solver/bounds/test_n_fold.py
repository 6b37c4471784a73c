"""The n-fold bound: never below the truth, and the same however many blocks there are."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from adomnia.priors.solver.bounds.n_fold import n_fold_bound
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice.graver import basis


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


def all_cells(first, second):
    return Fraction(2)


@pytest.mark.parametrize(("shape", "bound"), [((2, 10, 3), 16), ((2, 2, 20), 8), ((2, 3, 40), 16)])
def test_three_histograms(shape, bound):
    assert n_fold_bound(margins(shape, [(0,), (1,), (2,)]), all_cells) == bound


@pytest.mark.parametrize("layers", [5, 12])
def test_three_by_three_by_any_number_with_all_pairs_is_one_bound(layers):
    """The Graver complexity of 3 x 3 is 9; with the weights of its moves the bound is 48."""
    matrix = margins((3, 3, layers), [(0, 1), (1, 2), (0, 2)])
    assert n_fold_bound(matrix, all_cells, effort=Effort(100 * STEPS)) == 48


def test_a_single_total_is_one_exchange():
    assert n_fold_bound(np.ones((1, 7), np.int64), all_cells) is None
    two = np.kron(np.eye(2, dtype=np.int64), np.ones((1, 4), np.int64))
    assert n_fold_bound(two, all_cells) == 2


def random_case(rng):
    cells = rng.integers(3, 9)
    matrix = rng.integers(rng.choice([0, -1]), 2, (rng.integers(1, 4), cells))
    if rng.random() < 0.7:
        part = rng.integers(0, rng.integers(1, 4), cells)
        matrix = np.vstack([matrix, [part == one for one in np.unique(part)]])
    return matrix.astype(np.int64), rng.integers(-2, 3, (2, cells))


def norm(vector, power):
    """The norm, in norm 2 rounded up to sixteenths: an upper end, as who calls must give it."""
    if power == 1:
        return Fraction(int(np.abs(vector).sum()))
    square = 256 * int((vector * vector).sum())
    root = int(np.sqrt(square))
    return Fraction(root + (root * root < square), 16)


@pytest.mark.parametrize("power", [1, 2])
def test_the_bound_is_never_below_the_truth(power):
    rng = np.random.default_rng(power)
    compared = 0
    for _ in range(60):
        matrix, question = random_case(rng)
        try:
            moves = basis(matrix, effort=Effort(200_000_000))
        except TooLarge:
            continue
        truth = max((int((np.abs(question @ g) ** power).sum()) for g in moves), default=0)
        for size in (None, lambda i, q=question: norm(q[:, i], power)):
            bound = n_fold_bound(
                matrix,
                lambda i, j, q=question: norm(q[:, i] - q[:, j], power),
                Effort(100_000_000),
                size,
            )
            if bound is not None:
                assert bound**power >= truth
                compared += 1
    assert compared > 30


def test_steps_run_out_without_a_bound():
    cube = margins((4, 4, 4), [(0, 1), (1, 2), (0, 2)])
    assert n_fold_bound(cube, all_cells, Effort(40_000_000)) is None
