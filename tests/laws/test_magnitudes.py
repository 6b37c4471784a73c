"""Laws of released sums: their price by brute force, agreement, bounds, and their margins."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from adomnia.curator.releases.magnitudes import Magnitude, neighbors_of
from adomnia.curator.releases.release_mechanisms import ReleasedTables
from adomnia.curator.releases.sum_noise import SumNoise
from adomnia.curator.releases.sum_tables import sum_tables
from adomnia.marginals.core.microdata import cell_codes
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.queries.expression import Column
from adomnia.queries.ranges import Number
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parent))
from test_marginals import cost, measured, names

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits

LOSSES = [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 2))]
RELATIONS = [
    Neighbors(),
    Neighbors("unbounded", rows=3),
    Neighbors("unbounded", None, 2),  # a changed row: one that goes and one that comes
    Neighbors("unbounded", 2, 2),
]


def magnitude(low, high, step=Fraction(1)):
    return Magnitude("x", Column("x", Number(low, high, step)), low, high, step)


@pytest.mark.parametrize("bounds", [(0, 7), (-3, 4), (5, 6), (4, 4), (-9, -2)])
def test_a_row_adds_no_more_than_its_reach(bounds):
    one = magnitude(*bounds)
    added = one.contribution
    assert (added.low, added.high) == tuple(end - one.centre for end in bounds)
    assert max(abs(added.low), abs(added.high)) <= one.reach
    assert one.reach <= max(1, (bounds[1] - bounds[0] + 1) // 2)


@pytest.mark.parametrize("sizes", [(2, 3), (2, 2), (4,)])
@pytest.mark.parametrize("neighbors", RELATIONS, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_no_neighbour_costs_more_than_was_promised(sizes, neighbors, loss):
    """All ways in which rows come, go and change, each with every number that it may have."""
    one = magnitude(0, 5)
    plan = plan_marginals(
        up_to_ways(names(sizes), sizes, min(2, len(sizes))), loss, neighbors_of(one, neighbors)
    )
    vectors = {cell: measured(plan.strategy, sizes, cell) for cell in product(*map(range, sizes))}
    noises = next(iter(vectors.values()))[1]
    numbers = range(one.low - one.centre, one.high - one.centre + 1)
    rows = (neighbors.rows or 1) * neighbors.group
    single = [w * vector for vector, _ in vectors.values() for w in numbers]
    changes = [rows * change for change in single]
    if rows > 1:
        changes += [(rows - 1) * a - b for a in single for b in single]
    worst = max(cost(plan.strategy, change, noises) for change in changes)
    promised = loss.epsilon or loss.rho
    assert promised * Fraction(9, 10) <= worst <= promised


def people(sizes, bounds, many, seed):
    """Cells and numbers of made-up rows, with a few that are far from the others."""
    chance = np.random.default_rng(seed)
    cells = np.stack([chance.integers(0, size, many) for size in sizes], axis=1)
    low, high = bounds
    drawn = low + (high - low) * chance.beta(1, 3, many) * (0.5 + 0.5 * cells[:, 0] / sizes[0])
    return cells, np.round(drawn).astype(np.int64)


@lru_cache
def planned(sizes, bounds, loss):
    one = magnitude(*bounds)
    workload = up_to_ways(names(sizes), sizes, 2)
    sums = plan_marginals(workload, loss, neighbors_of(one, Neighbors()))
    return SumNoise(one, plan_marginals(workload, loss), sums, 0.9)


def released(sizes, bounds, many, loss, seed, records=True):
    noise = planned(sizes, bounds, loss)
    counts, sums, one, workload = noise.counts, noise.sums, noise.magnitude, noise.counts.workload
    cells, numbers = people(sizes, bounds, many, 5)

    def tables(weights):
        def give(subsets):
            found = {}
            for s in subsets:
                flat = np.zeros(workload.cells(s), np.int64)
                np.add.at(flat, cell_codes(cells, sizes, s), weights)
                found[s] = Sealed(flat.reshape(workload.shape(s)))
            return found

        return give

    bits = SeededBits(seed)
    made = release_marginals(counts, tables(1), bits, microdata=records)
    near = release_marginals(sums, tables(numbers - one.centre), bits, microdata=False)
    shown = made.marginals if records else made.unbiased
    given = ReleasedTables(shown, {}, made.microdata, unbiased=made.unbiased)
    empty = {s: np.zeros(workload.shape(s), bool) for s in workload.marginals}
    found = sum_tables(noise, sizes, given, near.unbiased, empty)
    truth = {}
    for s in workload.marginals:
        rows, total = np.zeros(workload.shape(s)), np.zeros(workload.shape(s))
        np.add.at(rows, tuple(cells[:, p] for p in s), 1)
        np.add.at(total, tuple(cells[:, p] for p in s), numbers)
        truth[s] = rows, total
    return shown, found, truth


@pytest.mark.parametrize("bounds", [(0, 1000), (-40, 60), (100, 103)])
@pytest.mark.parametrize("many", [0, 3, 400])
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_sums_agree_and_lie_within_the_bounds_of_their_counts(bounds, many, loss):
    counts, found, _ = released((3, 2, 4), bounds, many, loss, 1)
    low, high = bounds
    for subset, sums in found.sums.items():
        rows = counts[subset]
        assert sums.dtype.kind == "i"
        assert (low * rows <= sums).all()
        assert (sums <= high * rows).all()
        averages = found.averages[subset]
        assert (np.isnan(averages) == (rows == 0)).all()
        assert ((averages >= low) & (averages <= high))[rows > 0].all()
    assert (found.sums[0, 1].sum(axis=1) == found.sums[0,]).all()
    assert (found.sums[0, 2].sum(axis=1) == found.sums[0,]).all()
    assert (found.sums[1, 2].sum(axis=0) == found.sums[2,]).all()
    assert found.sums[0,].sum() == found.sums[1,].sum() == found.sums[2,].sum()


@pytest.mark.parametrize("records", [True, False], ids=["records", "unbiased"])
@pytest.mark.parametrize("bounds", [(0, 100), (50, 60)])
@pytest.mark.parametrize(
    "loss", [Loss.pure(Fraction(1, 2)), Loss.concentrated(Fraction(1, 20))], ids=["epsilon", "rho"]
)
def test_margins_hold_as_often_as_they_say(loss, bounds, records):
    """At a confidence of nine tenths, over few and many rows in a cell."""
    sums, averages = [], []
    for seed in range(12):
        for many in (30, 600):
            _, found, truth = released((3, 4), bounds, many, loss, seed, records)
            for s, (rows, total) in truth.items():
                sums.append(np.abs(found.sums[s] - total) <= found.sum_margins[s])
                known = (rows > 0) & ~np.isnan(found.averages[s])
                with np.errstate(divide="ignore", invalid="ignore"):
                    off = np.abs(found.averages[s] - total / rows)
                averages.append((off <= found.average_margins[s])[known])
    for held in (sums, averages):
        assert np.concatenate([one.reshape(-1) for one in held]).mean() >= 0.88


def test_the_middle_halves_the_variance_of_sums_that_begin_at_nothing():
    """Against measuring numbers as they are, for which a row may add all of them."""
    one = magnitude(0, 1000)
    workload = up_to_ways(names((4, 3)), (4, 3), 2)
    counts = plan_marginals(workload, LOSSES[1])
    near = plan_marginals(workload, LOSSES[1], neighbors_of(one, Neighbors()))
    plain = plan_marginals(workload, LOSSES[1], replace(Neighbors(), group=1000))
    noise = SumNoise(one, counts, near, 0.95)
    for subset in workload.marginals:
        ratio = noise.deviation(subset) ** 2 / plain.deviations[subset] ** 2
        assert ratio == pytest.approx(0.5, rel=0.01)
