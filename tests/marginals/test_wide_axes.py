"""Attributes of many values: the same numbers without a matrix."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.marginals.core import estimate
from adomnia.marginals.core.basis import comparisons, norms, rows, unitary
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import up_to_ways
from adomnia.mechanisms.tables.linear import Axis, Linear, measure
from adomnia.privacy.loss import Loss
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits

SIZES = [2, 3, 5, 64, 257, 600]


@pytest.mark.parametrize("size", SIZES)
def test_lengths_are_those_of_the_rows(size):
    assert (norms(size) == (rows(size) ** 2).sum(axis=1)).all()
    assert (rows(size) @ np.ones(size, np.int64) == 0).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("most", [9, 10**6, 10**12, 10**17])
def test_comparisons_measure_what_the_matrix_does(size, most):
    """In short floats, long floats, integers and integers without end."""
    chance = np.random.default_rng(size)
    table = chance.integers(0, most, (3, size, 2))
    scales = np.ones(size - 1, np.int64)
    found = [
        measure(
            [
                Linear(
                    [Sealed(table)], tuple(map(Axis.identity, (3,))) + axes, "laplace", Fraction(0)
                )
            ]
        )[0]
        for axes in (
            (Axis(rows(size), scales), Axis.identity(2)),
            (Axis(comparisons(size), scales), Axis.identity(2)),
        )
    ]
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("size", SIZES)
def test_the_transform_and_its_inverse(size):
    chance = np.random.default_rng(size)
    values = chance.normal(0, 10, (2, size, 3))
    across = np.moveaxis(values, 1, -1)
    turned = estimate._to_comparisons(across)
    assert np.allclose(turned, across @ unitary(size).T)
    assert np.allclose(estimate._from_comparisons(turned), across)


@pytest.mark.parametrize(
    "loss", [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 2))], ids=["epsilon", "rho"]
)
def test_many_values_need_no_matrix_of_them(loss):
    sizes = (3000, 2)
    chance = np.random.default_rng(1)
    records = np.stack([chance.binomial(2999, 0.3, 20_000), chance.integers(0, 2, 20_000)], axis=1)
    whole = np.zeros(sizes, np.int64)
    np.add.at(whole, tuple(records.T), 1)

    def tables(subsets):
        sums = {(): whole.sum(), (0,): whole.sum(axis=1), (1,): whole.sum(axis=0), (0, 1): whole}
        return {subset: Sealed(np.asarray(sums[subset])) for subset in subsets}

    unitary.cache_clear()
    rows.cache_clear()
    made = plan_marginals(up_to_ways(("a", "b"), sizes, 2), loss)
    found = release_marginals(made, tables, SeededBits(2))
    off = np.abs(found.marginals[0, 1] - whole).sum()
    assert off < np.abs(found.unbiased[0, 1] - whole).sum()
    assert (found.marginals[0, 1].sum(axis=1) == found.marginals[0,]).all()
    assert unitary.cache_info().currsize <= 2
    assert rows.cache_info().currsize <= 2
