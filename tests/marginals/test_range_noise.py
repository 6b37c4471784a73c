"""Ranges of released tables: their noise, and how often their margins hold."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits

LOSSES = [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 10))]
DOMAINS = [(12, 3), (2, 2, 2), (9,), (1, 5)]


def planned(sizes, loss, neighbors=None):
    names = tuple(f"a{place}" for place in range(len(sizes)))
    return plan_marginals(up_to_ways(names, sizes, min(2, len(sizes))), loss, neighbors)


def noise_of(plan):
    return RangeNoise(plan.workload, plan.strategy, plan.blocks)


def empty_tables(plan):
    sizes = plan.workload.sizes
    return lambda asked: {
        s: Sealed(np.zeros([sizes[p] for p in s], np.int64)) for s in asked
    }  # fmt: skip


@pytest.mark.parametrize("sizes", DOMAINS)
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_one_value_is_a_cell_and_all_values_are_the_table_without_it(sizes, loss):
    plan = planned(sizes, loss)
    noise, cells = noise_of(plan), plan.margins()
    for subset in plan.workload.marginals:
        assert noise.margin(subset, {}) == pytest.approx(cells[subset], rel=2e-3)
        for place in subset:
            without = tuple(other for other in subset if other != place)
            whole = noise.margin(subset, {place: sizes[place]})
            if without:
                assert whole == pytest.approx(cells[without], rel=2e-3)


@pytest.mark.parametrize("neighbors", [Neighbors(), Neighbors("bounded")], ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_ranges_hold_as_often_as_they_say_and_are_not_wasteful(loss, neighbors):
    """Of tables without rows, so that all that is seen is noise."""
    plan = planned((12, 3), loss, neighbors)
    noise, source = noise_of(plan), empty_tables(plan)
    bits = SeededBits(4)
    draws = [
        release_marginals(plan, source, bits, microdata=False).unbiased for _ in range(400)
    ]  # fmt: skip
    tables = {
        subset: np.array([one[subset] for one in draws]) for subset in plan.workload.marginals
    }
    for length in (1, 5, 11):
        alone = tables[0,][:, :length].sum(axis=1)
        beside = tables[0, 1][:, 12 - length :, 2].sum(axis=1)
        for seen, subset in ((alone, (0,)), (beside, (0, 1))):
            off = noise.margin(subset, {0: length}, 0.9)
            assert 0.84 <= (np.abs(seen) <= off + 1e-6).mean() <= 0.97, (length, subset)


@pytest.mark.parametrize("sizes", [(7, 2), (3, 4)])
def test_variances_are_those_of_all_cells_together(sizes):
    """The covariance of the cells, from the residual projections written out."""
    plan = planned(sizes, LOSSES[1])
    noise = noise_of(plan)
    known = noise._variances
    parts = []
    for size in sizes:
        even = np.full((size, size), 1 / size)
        parts.append({False: even / size, True: np.eye(size) - even})
    covariance = sum(
        known[tuple(p for p in range(2) if inside[p])]
        * np.kron(parts[0][inside[0]], parts[1][inside[1]])
        for inside in product((False, True), repeat=2)
    )
    for low, high in [(0, 1), (1, 3), (0, sizes[0])]:
        chosen = np.zeros(sizes)
        chosen[low:high, 1] = 1
        flat = chosen.reshape(-1)
        exact = float(flat @ covariance @ flat)
        assert noise._variance((0, 1), {0: high - low}) == pytest.approx(exact)
