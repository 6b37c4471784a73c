"""Last values that do not stand out: what was measured, of tables without them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.marginals import plan_marginals, release_marginals, up_to_ways
from adomnia.marginals.core import estimate
from adomnia.marginals.core.basis import grouped
from adomnia.marginals.core.last_values import (
    cells_without,
    empty_places,
    last_cells,
    last_widths,
    outstanding,
    workload_without,
)
from adomnia.marginals.core.measure import NoisySubsets, take
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.release import residuals_of
from adomnia.marginals.workload import Workload
from adomnia.mechanisms.randomness import SYSTEM
from adomnia.privacy.loss import Loss
from adomnia.schema.sealed import Sealed

SIZES = (3, 4, 3)
PLENTY = Fraction(10**9)
LOSSES = [Loss.pure(PLENTY), Loss.concentrated(PLENTY)]


def some_records(chance: np.random.Generator, rows: int = 300) -> SyntheticRecords:
    """Rows without the last value of any attribute."""
    columns = [chance.integers(0, size - 1, rows) for size in SIZES]
    return SyntheticRecords(np.stack(columns, 1), np.ones(rows, np.int64))


def source(records: SyntheticRecords):
    return lambda wanted: {s: Sealed(records.tabulate(SIZES, s)) for s in wanted}


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("empty", [{0}, {1, 2}, {0, 1, 2}])
def test_without_noise_nothing_else_is_lost(loss: Loss, empty: set[int]):
    records = some_records(np.random.default_rng(1))
    plan = plan_marginals(up_to_ways(("a", "b", "c"), SIZES, 2), loss)
    measured = take(plan.strategy, source(records), SYSTEM)
    residuals = residuals_of(plan, measured, None, frozenset(empty))
    workload = workload_without(plan.workload, empty)
    found = estimate.tables(residuals, grouped(workload.marginals, workload.sizes))
    for subset in workload.marginals:
        assert np.allclose(found[subset], records.tabulate(workload.sizes, subset), atol=0.1)


def test_comparisons_of_the_others_keep_their_variance():
    """Of white noise in a block, what is left of it is white noise of the same variance."""
    chance = np.random.default_rng(2)
    workload = Workload(("a", "b"), (3, 4), ((0, 1),))
    plan = plan_marginals(workload, Loss.concentrated(Fraction(1)))
    (group,) = grouped([(0, 1)], workload.sizes)
    seen = []
    for _ in range(4000):
        block = NoisySubsets(group, chance.normal(size=(1, 2, 3)), np.ones(1))
        rows = NoisySubsets(grouped([()], (3, 4))[0], np.zeros(1), np.ones(1))
        left = residuals_of(plan, [rows, block], None, frozenset({1}))
        seen.append(left.of((0, 1))[0].reshape(-1))
    covariance = np.cov(np.array(seen).T)
    assert covariance.shape == (4, 4)
    assert np.abs(covariance - np.eye(4)).max() < 0.12  # five deviations of an entry


@pytest.mark.parametrize("loss", [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 10))])
def test_noise_alone_hardly_ever_stands_out_and_many_rows_do(loss: Loss):
    records = some_records(np.random.default_rng(3))
    plan = plan_marginals(up_to_ways(("a", "b", "c"), SIZES, 2), loss)
    noise = RangeNoise(plan.workload, plan.strategy, plan.blocks)
    widths = outstanding(noise, range(3))
    assert all(widths[p] > plan.margins()[p,] for p in range(3))
    for _ in range(20):
        made = release_marginals(plan, source(records), last=widths)
        assert all(made.marginals[p,][-1] == 0 for p in range(3))
    crowd = records.records.copy()
    crowd[:, 0] = 2
    many = SyntheticRecords(crowd, records.times * 100)
    made = release_marginals(plan, source(many), last=widths)
    assert made.marginals[0,][-1] == pytest.approx(30_000, rel=0.05)
    assert abs(made.marginals[0,][-1] - 30_000) <= 3 * made.margins[0,][-1]


def test_the_width_of_a_last_value_is_that_of_its_cell_or_of_a_sum():
    for loss in (Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1))):
        plan = plan_marginals(Workload(("a", "b"), (3, 4), ((0, 1), (1,))), loss)
        noise = RangeNoise(plan.workload, plan.strategy, plan.blocks)
        widths = last_widths(noise, [0, 1], 0.95)
        assert widths[1] == pytest.approx(plan.margins()[1,], rel=0.02)
        assert plan.margins()[0, 1] < widths[0] < 4 * plan.margins()[0, 1]


def test_what_is_forbidden_of_other_values_stays_so():
    mask = np.zeros((3, 4), bool)
    mask[0, 1] = mask[2, 3] = True
    (found,) = cells_without({(0, 1): mask}, {1}).values()
    assert found.shape == (3, 3)
    assert found.sum() == 1


def test_a_value_is_empty_up_to_its_width():
    workload = Workload(("a", "b"), (3, 2), ((0, 1),))
    tables = {(0, 1): np.array([[5.0, 5.0], [5.0, 5.0], [2.0, 1.0]])}
    assert last_cells(workload, 0)[0] == (0, 1)
    assert empty_places(workload, tables, {0: 3.0}) == {0}
    assert empty_places(workload, tables, {0: 2.9}) == frozenset()
