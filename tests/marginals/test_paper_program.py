"""The linear program: its optimum, its vertices, its rounding, and what it refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from paper_source import RowsSource, rows_of
from scipy.optimize import linprog

from adomnia.errors import QuestionError
from adomnia.marginals.paper.bits import Encoding
from adomnia.marginals.paper.linear_program import MarginalCells, Parities, check_size, closest
from adomnia.marginals.workload import downward_closure

TABLES = [
    ((2, 2, 2, 2), ((0, 1), (1, 2), (2, 3))),
    ((2, 2, 2, 2, 2), tuple(itertools.combinations(range(5), 3))),
    ((3, 2, 5), ((0, 1), (0, 2), (1, 2))),
    ((3, 1, 2), ((0, 1), (2,))),
]


def both(sizes, marginals):
    encoding = Encoding(sizes)
    closure = downward_closure(encoding.places(marginal) for marginal in marginals)
    return Parities(encoding, closure), MarginalCells(sizes, marginals)


def written_out(rows, sizes):
    columns = rows.columns(np.arange(int(np.prod(sizes))))
    return columns.toarray() if hasattr(columns, "toarray") else columns


def target_of(rows, sizes, noise, seed):
    draw = np.random.default_rng(seed)
    table = np.bincount(draw.integers(0, np.prod(sizes), 60), minlength=int(np.prod(sizes)))
    exact = (written_out(rows, sizes) @ table).astype(np.int64)
    return exact + np.rint(draw.laplace(0, noise, exact.size)).astype(np.int64), table


def by_the_book(matrix, target):
    """The program as the paper writes it, with both inequalities and every cell."""
    one = np.ones((len(matrix), 1))
    constraints = np.block([[matrix, -one], [-matrix, -one]])
    cost = np.append(np.zeros(matrix.shape[1]), 1.0)
    return linprog(cost, A_ub=constraints, b_ub=np.append(target, -target)).fun


@pytest.mark.parametrize(("sizes", "marginals"), TABLES)
def test_rows_know_their_transpose_and_their_rank(sizes, marginals):
    source = RowsSource(sizes, rows_of(sizes, 40))
    parities, cells = both(sizes, marginals)
    table = source.exact_marginal(tuple(range(len(sizes)))).ravel()
    counts = np.concatenate([source.exact_marginal(part).ravel() for part in marginals])
    assert np.array_equal(written_out(cells, sizes) @ table, counts)
    found = written_out(parities, sizes) @ table
    assert np.array_equal(found, source.exact_parities(parities.subsets))
    for rows in (parities, cells):
        matrix = written_out(rows, sizes)
        weights = np.random.default_rng(1).normal(size=len(matrix))
        assert np.allclose(rows.price(weights), weights @ matrix)
        assert np.linalg.matrix_rank(matrix) <= rows.rank
    assert np.linalg.matrix_rank(written_out(cells, sizes)) == cells.rank


@pytest.mark.parametrize(("sizes", "marginals"), TABLES)
@pytest.mark.parametrize("noise", [1, 30])
@pytest.mark.parametrize("which", [0, 1])
def test_the_optimum_is_the_papers_and_the_vertex_is_one(sizes, marginals, noise, which):
    rows = both(sizes, marginals)[which]
    matrix = written_out(rows, sizes)
    for seed in range(3):
        target, _ = target_of(rows, sizes, noise, seed)
        found = closest(rows, target, np.ones(len(matrix), bool), 60)
        assert found.worst == pytest.approx(by_the_book(matrix, target), abs=1e-5)
        missed = np.abs(matrix[:, found.cells] @ found.weights - target).max()
        assert missed == pytest.approx(found.worst, abs=1e-4)
        assert found.cells.size <= rows.rank
        assert np.linalg.matrix_rank(matrix[:, found.cells]) == found.cells.size
        table = found.rounded(sizes)
        assert table.dtype == np.int64
        assert table.min() >= 0
        assert np.abs(table.ravel()[found.cells] - found.weights).max(initial=0) <= 0.5


@pytest.mark.parametrize("which", [0, 1])
def test_without_noise_nothing_is_missed(which):
    sizes, marginals = TABLES[1]
    rows = both(sizes, marginals)[which]
    target, _ = target_of(rows, sizes, 0, 5)
    found = closest(rows, target, np.ones(target.size, bool), 60)
    assert found.worst == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_exact_rows_are_met_before_rounding(seed):
    sizes, marginals = TABLES[1]
    rows = both(sizes, marginals)[0]
    noisy = np.array([0 in subset for subset in rows.subsets])
    target, table = target_of(rows, sizes, 20, seed)
    matrix = written_out(rows, sizes)
    target[~noisy] = (matrix @ table)[~noisy]
    found = closest(rows, target, noisy, 60)
    missed = np.abs(matrix[:, found.cells] @ found.weights - target)
    assert missed[~noisy].max() < 1e-3
    assert missed.max() == pytest.approx(found.worst, abs=1e-3)
    assert found.cells.size <= rows.rank


def test_more_cells_than_the_first_guess_are_found():
    sizes = (2,) * 8
    rows = both(sizes, tuple(itertools.combinations(range(8), 2)))[0]
    rounds = []
    for seed in range(5):
        target, _ = target_of(rows, sizes, 4, seed)
        found = closest(rows, target, np.ones(target.size, bool), 60)
        best = by_the_book(written_out(rows, sizes), target)
        assert found.worst == pytest.approx(best, abs=1e-5)
        rounds.append(found.rounds)
    assert max(rounds) > 1


def test_large_noise_does_not_upset_the_solver():
    sizes, marginals = TABLES[0]
    rows = both(sizes, marginals)[0]
    target, _ = target_of(rows, sizes, 1e12, 0)
    found = closest(rows, target, np.ones(target.size, bool), 60)
    assert found.cells.size <= rows.rank
    assert found.rounded(sizes).sum() >= 0


def test_a_program_that_is_too_large_is_refused_with_advice():
    check_size(1 << 16, 697)
    with pytest.raises(QuestionError, match="16 binary attributes") as refused:
        check_size(1 << 17, 697)
    assert "fourier-shift" in refused.value.hint
    with pytest.raises(QuestionError, match="2517 coefficients"):
        check_size(1 << 16, 2517)


def test_time_runs_out():
    sizes, marginals = TABLES[1]
    rows = both(sizes, marginals)[0]
    target, _ = target_of(rows, sizes, 5, 0)
    found = closest(rows, target, np.ones(target.size, bool), 0.0)
    assert not found.solved
    assert (found.weights > 0).all()
    missed = np.asarray(rows.columns(found.cells) @ found.weights).reshape(-1) - target
    assert found.worst == pytest.approx(np.abs(missed).max(), rel=1e-5)
    assert np.linalg.norm(missed) <= np.linalg.norm(target)  # no farther than an empty table
