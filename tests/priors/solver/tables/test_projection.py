"""Projection: whole tables that agree with what is public, near noisy answers, and in time."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from scipy import sparse

from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.projection import agrees, fit, project


def cells(count):
    return sparse.eye_array(count, dtype=np.int64, format="csr")


def system_of(rows, table):
    return System.of(rows, [int(value) for value in rows @ table])


def noise(generator, scale, size):
    return np.rint(generator.laplace(scale=scale, size=size)).astype(np.int64)


def linear(drawn):
    """Noise of a table after a linear fit to its margins."""
    return drawn - drawn.mean(0) - drawn.mean(1)[:, None] + drawn.mean()


@pytest.mark.parametrize(("people", "most"), [(60, 350), (500, 2900)])
def test_counts_that_cannot_be_negative_gain(people, most):
    generator = np.random.default_rng(3)
    rows = margins((5, 5), [(0,), (1,)])
    errors, plain = [], []
    for _ in range(40):
        table = generator.multinomial(people, np.full(25, 1 / 25))
        drawn = noise(generator, 10, 25)
        found = project(system_of(rows, table), cells(25), table + drawn)
        assert agrees(system_of(rows, table), found)
        errors.append(((found - table) ** 2).sum())
        plain.append((linear(drawn.reshape(5, 5)) ** 2).sum())
    assert np.mean(errors) < most
    assert np.mean(errors) < np.mean(plain)


def test_the_fit_is_the_nearest_table():
    """On a line of tables: the nearest one by its formula."""
    rows = np.array([[1, 1]])
    for first, second in itertools.product((-5, 0, 3, 20), repeat=2):
        found = fit(System.of(rows, [10]), cells(2), np.array([first, second], float))
        best = min(max((first - second + 10) / 2, 0), 10)
        assert found == pytest.approx([best, 10 - best], abs=1e-2)


def test_the_whole_table_is_nearly_the_nearest_whole_one():
    generator = np.random.default_rng(4)
    rows = margins((2, 3), [(0,), (1,)])
    every = np.array(list(itertools.product(range(5), repeat=6)))
    sums = every @ rows.toarray().T
    for _ in range(25):
        table = generator.integers(0, 3, 6)
        system = system_of(rows, table)
        noisy = table + noise(generator, 2, 6)
        tables = every[(sums == rows @ table).all(axis=1)]
        found = project(system, cells(6), noisy)
        best = ((tables - noisy) ** 2).sum(axis=1).min()
        assert agrees(system, found)
        assert ((found - noisy) ** 2).sum() <= best + 2


@pytest.mark.parametrize("people", [5_000, 200_000])
def test_fifty_by_fifty_in_time(people):
    generator = np.random.default_rng(5)
    rows = margins((50, 50), [(0,), (1,)])
    table = generator.multinomial(people, generator.dirichlet(np.ones(2500)))
    noisy = table + noise(generator, 100, 2500)
    start = time.process_time()
    found = project(system_of(rows, table), cells(2500), noisy, effort=Effort(100 * STEPS))
    assert time.process_time() - start < 120
    assert agrees(system_of(rows, table), found)
    assert ((found - table) ** 2).sum() < 0.8 * ((noisy - table) ** 2).sum()


def test_sums_are_measured_too():
    generator = np.random.default_rng(6)
    shape = (3, 4, 5)
    rows, asked = margins(shape, [(0,), (1,)]), margins(shape, [(0, 2)])
    table = generator.integers(0, 5, 60)
    found = project(system_of(rows, table), asked, asked @ table)
    assert agrees(system_of(rows, table), found)
    assert np.abs(asked @ found - asked @ table).max() <= 1


def test_systems_that_are_not_unimodular():
    generator = np.random.default_rng(7)
    rows = margins((3, 3, 3), [(0, 1), (1, 2), (0, 2)])
    for _ in range(5):
        table = generator.integers(0, 6, 27)
        found = project(system_of(rows, table), cells(27), table + noise(generator, 5, 27))
        assert agrees(system_of(rows, table), found)
    weighed = np.array([[2, 3, 5]])
    found = project(System.of(weighed, [1000]), cells(3), np.array([1, 250, 50]))
    assert int((weighed @ found)[0]) == 1000


def test_rounded_and_missing_values_and_forbidden_cells():
    rows = np.array([[1, 1, 1, 0], [0, 0, 1, 1]])
    system = System.of(rows, [(10, 14), None], forbidden=[1])
    found = project(system, cells(4), np.array([30, 9, -4, 7]))
    assert agrees(system, found)
    assert found.tolist() == [14, 0, 0, 7]
    assert not agrees(system, np.array([30, 0, 0, 7]))
    assert not agrees(system, np.array([10, 1, 0, 7]))
    assert not agrees(system, np.array([12, 0, -1, 7]))


def test_what_cannot_be_found_is_none():
    assert project(System.of([[2, 2]], [3]), cells(2), np.array([1, 1])) is None
    assert project(System.of([[1, 1]], [3]), cells(2), np.array([1, 1]), effort=Effort(0)) is None
