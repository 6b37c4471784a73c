"""On small random systems the bounds enclose the truth, which is found by listing everything."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from oracles import graver

from adomnia.priors.solver.bounds import fallback_bounds
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.reduction import element, pairs
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System

FAMILIES = [
    [(0,), (1,)],
    [(0, 1), (1, 2)],
    [(0,), (1,), (2,)],
    [(0, 1), (2,)],
    [(0, 1), (0, 2), (1, 2)],
]


def random_rows(chance):
    """Sums, weighted sums, graphs, and tables with holes."""
    cells, count = int(chance.integers(2, 10)), int(chance.integers(1, 6))
    kind = int(chance.integers(6))
    if kind == 0:
        return (chance.random((count, cells)) < 0.5).astype(int)
    if kind == 1:
        return chance.integers(0, 3, (count, cells))
    if kind == 2:
        return chance.integers(-1, 2, (count, cells))
    if kind == 3:
        rows = np.zeros((8, 13), int)
        rows[chance.integers(0, 4, 13), np.arange(13)] = 1
        rows[4 + chance.integers(0, 4, 13), np.arange(13)] = 1
        return rows
    if kind == 4:
        rows = margins((2, 2, 3), FAMILIES[int(chance.integers(5))]).toarray()
        return rows[:, chance.random(12) < 0.85]
    rows = margins((3, 4), FAMILIES[0]).toarray()
    extra = (chance.random((1, 12)) < 0.4).astype(int)
    return np.vstack([rows, extra])[:, chance.random(12) < 0.9]


def random_question(chance, cells):
    kind = int(chance.integers(4))
    if kind == 0:
        return np.eye(cells, dtype=int)
    if kind == 1:
        return chance.integers(-1, 2, (2, cells))
    if kind == 2:
        return (chance.random((3, cells)) < 0.5).astype(int)
    asked = np.zeros((3, cells), int)
    asked[chance.integers(0, 3, cells), np.arange(cells)] = chance.integers(1, 3, cells)
    return asked


def greatest(moves, asked, norm):
    changes = abs(np.asarray(moves) @ asked.T) ** norm
    return int(changes.sum(axis=1).max(initial=0))


@pytest.mark.parametrize("seed", range(4))
def test_all_values_unknown(seed):
    chance = np.random.default_rng(seed)
    exact = 0
    for _ in range(40):
        rows = random_rows(chance)
        asked = random_question(chance, rows.shape[1])
        moves = graver(rows)
        for norm in (1, 2):
            found = solve(System.of(rows), asked, norm)
            true = greatest(moves, asked, norm) if len(moves) else 0
            assert found.lower <= true <= found.upper, (rows.tolist(), asked.tolist())
            exact += found.exact
    assert exact >= 74


@pytest.mark.parametrize("norm", [1, 2])
def test_without_a_list_of_moves(norm, monkeypatch):
    monkeypatch.setattr(fallback_bounds, "CELLS", 0)
    chance = np.random.default_rng(9)
    for _ in range(40):
        rows = random_rows(chance)
        asked = random_question(chance, rows.shape[1])
        found = solve(System.of(rows), asked, norm, effort=Effort(60_000_000))
        moves = graver(rows)
        true = greatest(moves, asked, norm) if len(moves) else 0
        assert found.lower <= true <= found.upper, (rows.tolist(), asked.tolist())


@pytest.mark.parametrize("norm", [1, 2])
def test_with_hardly_any_choices_kept(norm, monkeypatch):
    monkeypatch.setattr(element, "CHOICES", 2)
    monkeypatch.setattr(pairs, "LOOKS", 0)
    monkeypatch.setattr(pairs, "WORK", 0)
    chance = np.random.default_rng(11)
    for _ in range(40):
        rows = margins((3, 3, 2), [(0,), (1,)]).toarray()[:, chance.random(18) < 0.8]
        asked = random_question(chance, rows.shape[1])
        found = solve(System.of(rows), asked, norm)
        assert found.lower <= greatest(graver(rows), asked, norm) <= found.upper


def test_forbidden_cells():
    chance = np.random.default_rng(5)
    for _ in range(40):
        rows = random_rows(chance)
        asked = random_question(chance, rows.shape[1])
        none = chance.random(rows.shape[1]) < 0.2
        found = solve(System.of(rows, None, None, np.flatnonzero(none).tolist()), asked)
        moves = graver(rows[:, ~none]) if (~none).any() else []
        true = greatest(moves, asked[:, ~none], 1) if len(moves) else 0
        assert found.lower <= true <= found.upper, (rows.tolist(), asked.tolist())


def listed(rows, low, high, most):
    """Differences of induced neighbours by their definition, from all tables."""
    tables = np.array(list(itertools.product(range(most + 1), repeat=rows.shape[1])))
    seen = tables @ rows.T
    tables = tables[((seen >= low) & (seen <= high)).all(axis=1)]
    for table in tables:
        steps = tables - table
        for step in steps[steps.any(axis=1)]:
            between = ((steps * step >= 0) & (abs(steps) <= abs(step))).all(axis=1)
            if between.sum() == 2:
                yield step


@pytest.mark.parametrize("seed", range(3))
def test_values_known_exactly_or_rounded(seed):
    chance = np.random.default_rng(100 + seed)
    for _ in range(25):
        cells = int(chance.integers(2, 5))
        rows = np.vstack([(chance.random((2, cells)) < 0.6), np.ones(cells)]).astype(int)
        low = high = rows @ chance.integers(0, 2, cells)
        if chance.random() < 0.6:
            low = np.maximum(low - chance.integers(0, 3, 3), 0)
            high = high + chance.integers(0, 3, 3)
        asked = random_question(chance, cells)
        moves = list(listed(rows, low, high, int(high[2])))
        values = list(zip(low.tolist(), high.tolist(), strict=True))
        for norm in (1, 2):
            found = solve(System.of(rows, values), asked, norm)
            true = greatest(moves, asked, norm) if moves else 0
            assert found.lower <= true <= found.upper, (rows.tolist(), values, asked.tolist())
            assert isinstance(found.upper, Fraction)
