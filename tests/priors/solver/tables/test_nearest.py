"""Tables near numbers and random tables: both agree with what is public."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import Contradiction, TooLarge
from adomnia.priors.solver.lattice.kernel import sparse_kernel
from adomnia.priors.solver.shapes import margins as shaped
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.contradiction import check
from adomnia.priors.solver.tables.fibre import determined, tables
from adomnia.priors.solver.tables.projection import agrees, nearest
from adomnia.priors.solver.tables.sampling import sample


def margins(rows, columns):
    """The row sums and column sums of a table, as rows over its cells."""
    return shaped((rows, columns), [(0,), (1,)])


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_table_is_the_nearest_of_all(seed):
    rng = np.random.default_rng(seed)
    matrix = margins(2, 3)
    truth = rng.integers(0, 4, 6)
    aim = truth + rng.laplace(0, 2, 6)
    values = matrix @ truth
    every = np.array(list(itertools.product(range(10), repeat=6)))
    every = every[(every @ matrix.T.toarray() == values).all(axis=1)]
    found = nearest(System.of(matrix, values.tolist()), aim)
    assert found is not None
    assert np.isclose(np.abs(found - aim).sum(), np.abs(every - aim).sum(axis=1).min())


def test_contradicting_answers_have_no_table():
    wrong = System.of(margins(2, 2), [1, 1, 5, 5])
    assert nearest(wrong, np.zeros(4)) is None
    with pytest.raises(Contradiction):
        check(wrong)


@pytest.mark.parametrize("seed", range(8))
def test_sums_are_aimed_at_too(seed):
    rng = np.random.default_rng(seed)
    system = System.of(margins(2, 3), (margins(2, 3) @ rng.integers(0, 4, 6)).tolist())
    rows = rng.integers(-1, 2, (3, 6))
    aim = rng.normal(0, 5, 3)
    found = nearest(system, aim, rows)
    assert found is not None
    reached = np.abs(tables(system) @ rows.T - aim).sum(axis=1).min()
    assert np.abs(rows @ found - aim).sum() == pytest.approx(reached)


def test_rounded_values_and_empty_cells_are_kept():
    system = System.of(margins(2, 2), [(3, 5), 4, (2, 9), None], forbidden=[1])
    found = nearest(system, np.array([9.5, 9.5, -2.0, 3.4]))
    assert found is not None
    assert agrees(system, found)
    assert found.tolist() == [5, 0, 0, 4]


def moves_of(system):
    columns = sparse_kernel(system.matrix, system.forbidden).toarray().T
    return [(np.flatnonzero(column), column[column != 0]) for column in columns]


@pytest.mark.parametrize("forbidden", [(), (4,)])
def test_sampled_tables_agree_and_differ(forbidden):
    rng = np.random.default_rng(3)
    table = rng.integers(1, 9, 9)
    table[list(forbidden)] = 0
    matrix = margins(3, 3)
    system = System.of(matrix, (matrix @ table).tolist(), None, forbidden)
    drawn = sample(system, moves_of(system), 24, rng, Effort())
    assert drawn.shape == (9, 24)
    assert all(agrees(system, one) for one in drawn.T)
    assert len(np.unique(drawn, axis=1).T) > 12
    fixed = determined(system, seen=drawn.T)
    assert fixed == determined(system)
    assert set(forbidden) <= fixed.keys()


def test_cells_that_tables_leave_alike_are_looked_at():
    system = System.of(margins(3, 3), [3, 0, 2, 1, 4, 0])
    expected = determined(system)
    seen = tables(system)
    assert determined(system, seen=seen) == expected
    assert determined(system, seen=seen[:1]) == expected
    assert len(expected) == 5


def test_no_table_is_drawn_where_there_is_none():
    rng = np.random.default_rng(0)
    with pytest.raises(TooLarge):
        sample(System.of(margins(2, 2), [1, 1, 5, 5]), [], 4, rng, Effort())
