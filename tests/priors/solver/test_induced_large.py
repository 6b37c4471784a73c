"""Parts that are too large for dense matrices: equal bricks, and circuits of some columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracles import graver
from scipy import sparse

from adomnia.priors.solver.bounds import fallback_bounds
from adomnia.priors.solver.bounds.circuits import long_circuit
from adomnia.priors.solver.bounds.n_fold_large import large_n_fold_bound
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.reduction.series_parallel import elements
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System, whole

ONE_WAY = [(0,), (1,), (2,)]


def distance(first, second):
    """Of two cells that are asked about one by one."""
    return Fraction(first.most + second.most)


def test_thousands_of_equal_bricks():
    rows = margins((3000, 2, 3), ONE_WAY)
    found = solve(
        System.of(rows), sparse.eye_array(18_000, dtype=np.int64), effort=Effort(100 * STEPS)
    )
    assert found.lower == found.upper == 16
    assert found.argument == "n-fold bound over bricks"


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 2), (2, 2, 3)])
def test_bricks_bound_every_move(sizes):
    rows = margins(sizes, ONE_WAY)
    members = elements(whole(rows), sparse.eye_array(rows.shape[1], dtype=np.int64).tocsc(), 1)
    bound = large_n_fold_bound(members, distance, Effort())
    assert bound is not None
    assert bound >= abs(graver(rows.toarray())).sum(axis=1).max()


def test_rows_that_cover_not_all_are_no_bricks():
    rows = np.array([[1, 1, 0], [0, 2, 1]])
    members = elements(whole(rows), whole(np.eye(3)), 1)
    assert large_n_fold_bound(members, distance, Effort()) is None


@pytest.mark.parametrize("norm", [1, 2])
def test_the_large_way_is_sound_on_small_systems(norm, monkeypatch):
    monkeypatch.setattr(fallback_bounds, "ENTRIES", 0)
    chance = np.random.default_rng(4)
    for _ in range(25):
        rows = chance.integers(0, 3, (3, 6))
        asked = chance.integers(-1, 2, (2, 6))
        found = solve(System.of(rows), asked, norm, effort=Effort(20_000_000))
        true = int((abs(graver(rows) @ asked.T) ** norm).sum(axis=1).max(initial=0))
        assert found.lower <= true <= found.upper


@pytest.mark.parametrize(("sizes", "reached"), [((2, 3, 3), 12), ((2, 10, 3), 16)])
def test_long_circuits_are_found(sizes, reached):
    rows = margins(sizes, ONE_WAY)
    members = elements(whole(rows), whole(sparse.eye_array(rows.shape[1])), 1)
    value, cells = long_circuit(members, 1, reached, Effort())
    assert value == reached
    assert not (rows @ np.array([cells.get(c, 0) for c in range(rows.shape[1])])).any()
