"""What follows from the noisy values: shrinkage, fits, records, margins; on made and real data."""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from adomnia.marginals.core.microdata import Aim, SyntheticRecords
from adomnia.marginals.core.search import descend
from adomnia.marginals.core.shrink import posterior_means, shrunk, to_simplex
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits

DATA = Path(os.environ.get("ADOMNIA_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
RHO = Loss.concentrated(Fraction(1, 2))
EPSILON = Loss.pure(Fraction(1))


def names(many):
    return tuple(f"a{place}" for place in range(many))


def tabulate(records, sizes, subset, times=1):
    """A table of records, each of which stands for so many rows."""
    return SyntheticRecords(records, np.full(len(records), times)).tabulate(sizes, subset)


def source(records, sizes, times=1):
    return lambda subsets: {
        subset: Sealed(tabulate(records, sizes, subset, times)) for subset in subsets
    }


def read(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)


def errors(found, records, sizes):
    return {
        subset: np.abs(table - tabulate(records, sizes, subset))
        for subset, table in found.marginals.items()
    }


def mean_l1(off):
    return float(np.mean([part.sum() for part in off.values()]))


def skewed(many, sizes, seed):
    """Correlated records with a few heavy values."""
    chance = np.random.default_rng(seed)
    hidden = chance.random(many) ** 3
    return np.stack(
        [
            np.minimum((hidden + 0.15 * chance.random(many)) * size, size - 1).astype(np.int64)
            for size in sizes
        ],
        axis=1,
    )


def test_noise_is_shrunk_and_signal_is_kept():
    chance = np.random.default_rng(2)
    truth = np.zeros(4000)
    truth[:40] = 50
    noisy = truth + chance.normal(0, 2, 4000)
    kept = posterior_means(noisy, 4.0)
    assert ((kept - truth) ** 2).sum() < 0.2 * ((noisy - truth) ** 2).sum()
    assert np.abs(kept[:40] - noisy[:40]).max() <= 3.0 + 1e-9
    assert (posterior_means(noisy, 0.0) == noisy).all()


def test_the_simplex_keeps_sums_and_order():
    found = to_simplex(np.array([[5.0, -2.0], [1.0, 0.0]]), 4.0)
    assert found.sum() == pytest.approx(4)
    assert (found >= 0).all()
    assert to_simplex(np.array([1.0, 2.0]), 0.0).sum() == 0


def test_what_stands_far_out_of_the_noise_stays_as_it_is():
    far = np.array([1e3, -1e5, 1e7, 1e9])
    assert np.abs(posterior_means(far, 1.0) - far).max() < 0.01


def test_small_blocks_are_judged_together_and_large_ones_alone():
    chance = np.random.default_rng(5)
    few = [chance.normal(0, 2, 1) for _ in range(300)]
    loud = chance.normal(0, 60, 400)
    kept = shrunk([*few, loud, np.array([7.0])], [4.0] * 301 + [0.0])
    assert np.abs(np.concatenate(kept[:300])).mean() < 0.5 * np.abs(np.concatenate(few)).mean()
    assert np.abs(kept[300] - loud).mean() < 0.2
    assert kept[301].tolist() == [7.0]


def shaken(sizes, rows, seed):
    """Records at random, one row each."""
    chance = np.random.default_rng(seed)
    records = np.stack([chance.integers(0, size, rows) for size in sizes], axis=1)
    return SyntheticRecords(records, np.ones(rows, np.int64))


@pytest.mark.parametrize("times", [1, 1000, 10**6])
def test_descent_brings_records_to_reachable_tables(times):
    sizes = (4, 5, 6)
    truth = SyntheticRecords(skewed(500, sizes, 1), np.full(500, times))
    start = shaken(sizes, 500, 1)
    start = SyntheticRecords(start.records, start.times * times)
    aims = [Aim(s, truth.tabulate(sizes, s).astype(float)) for s in combinations(range(3), 2)]
    found = descend(start, sizes, aims, np.random.default_rng(1))
    left = [np.abs(found.tabulate(sizes, aim.subset) - aim.table).sum() for aim in aims]
    assert np.mean(left) < 10
    assert found.rows == start.rows


def test_forbidden_cells_are_left_and_not_entered():
    sizes = (3, 4, 5)
    made = shaken(sizes, 300, 2)
    mask = np.zeros((3, 4), bool)
    mask[0, :3] = mask[1, 0] = True
    aims = [
        Aim(s, np.full([sizes[p] for p in s], 300 / math.prod(sizes[p] for p in s)))
        for s in combinations(range(3), 2)
    ]
    aims[0] = Aim(aims[0].subset, aims[0].table, forbidden=mask)
    found = descend(made, sizes, aims, np.random.default_rng(3))
    assert found.tabulate(sizes, (0, 1))[mask].sum() == 0
    assert found.rows == 300


def test_rows_are_written_out_once_each_and_mixed():
    made = SyntheticRecords(np.arange(20).reshape(10, 2), np.arange(10) * 37)
    whole = np.asarray(made)
    kinds, many = np.unique(whole[:, 0] // 2, return_counts=True)
    assert dict(zip(kinds.tolist(), many.tolist(), strict=True)) == {
        k: 37 * k for k in range(1, 10)
    }
    assert (np.concatenate(list(made.pieces(rows=100))) == whole).all()
    assert abs(whole[:200, 0].mean() - whole[:, 0].mean()) < 0.5
    assert np.asarray(SyntheticRecords(made.records[:0], made.times[:0])).shape == (0, 2)


def test_equal_records_are_put_together():
    made = SyntheticRecords(np.array([[1, 2], [0, 3], [1, 2]]), np.array([5, 1, 2])).merged()
    assert made.records.tolist() == [[0, 3], [1, 2]]
    assert made.times.tolist() == [1, 7]


@pytest.mark.parametrize("times", [1, 100, 10_000])
def test_the_error_does_not_depend_on_the_rows(times):
    sizes = (6, 5, 4, 7)
    records = skewed(10_000, sizes, 6)
    records[:2000] = shaken(sizes, 2000, 6).records  # so that no cell is empty
    made = plan_marginals(up_to_ways(names(4), sizes, 2), RHO)
    found = release_marginals(made, source(records, sizes, times), SeededBits(3))
    exact = {s: tabulate(records, sizes, s, times) for s in found.marginals}
    fitted = np.mean([np.abs(found.marginals[s] - table).sum() for s, table in exact.items()])
    unbiased = np.mean([np.abs(found.unbiased[s] - table).sum() for s, table in exact.items()])
    assert fitted <= 1.1 * unbiased


def test_without_noise_the_tables_are_the_truth():
    sizes = (4, 3, 5)
    records = skewed(3000, sizes, 8)
    made = plan_marginals(up_to_ways(names(3), sizes, 2), Loss.concentrated(Fraction(10**6)))
    found = release_marginals(made, source(records, sizes), SeededBits(3))
    assert mean_l1(errors(found, records, sizes)) == 0


@pytest.mark.parametrize("loss", [RHO, EPSILON], ids=["rho", "epsilon"])
@pytest.mark.parametrize("sizes", [(2,) * 7, (3, 4, 5, 2), (40, 30, 50, 20, 3)])
def test_margins_cover_the_truth(loss, sizes):
    records = skewed(3000, sizes, 3)
    made = plan_marginals(up_to_ways(names(len(sizes)), sizes, 2), loss)
    covered = []
    for seed in range(6):
        found = release_marginals(made, source(records, sizes), SeededBits(seed), confidence=0.9)
        off = errors(found, records, sizes)
        covered += [(off[subset] <= found.margins[subset]).mean() for subset in off]
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize("sizes", [(2,) * 8, (30, 20, 40, 25, 2, 2)])
def test_the_fit_is_better_than_the_unbiased_tables(sizes):
    records = skewed(4000, sizes, 4)
    found = release_marginals(
        plan_marginals(up_to_ways(names(len(sizes)), sizes, 2), EPSILON),
        source(records, sizes),
        SeededBits(1),
    )
    raw = [np.abs(table - tabulate(records, sizes, s)).sum() for s, table in found.unbiased.items()]
    assert mean_l1(errors(found, records, sizes)) < np.mean(raw)


def test_a_public_total_is_kept():
    sizes = (2, 3, 4)
    records = skewed(777, sizes, 5)
    for loss in (RHO, EPSILON):
        made = plan_marginals(up_to_ways(names(3), sizes, 2), loss, Neighbors("bounded"))
        found = release_marginals(made, source(records, sizes), SeededBits(4))
        assert len(found.microdata) == 777


def test_a_release_can_be_stopped_before_the_data_is_touched():
    def stop(step, done):
        raise KeyboardInterrupt

    def tables(subsets):
        raise AssertionError("data was asked for")

    with pytest.raises(KeyboardInterrupt):
        release_marginals(
            plan_marginals(up_to_ways(names(2), (2, 2), 2), RHO), tables, SeededBits(1), stop
        )


@pytest.mark.parametrize(
    ("loss", "most_l1", "most_cell"), [(RHO, 43, 40), (EPSILON, 350, 230)], ids=["rho", "epsilon"]
)
def test_nltcs_three_ways(loss, most_l1, most_cell):
    records = read("nltcs/nltcs.csv.gz")
    sizes = (2,) * 16
    workload = Workload(names(16), sizes, tuple(combinations(range(16), 3)))
    plan = plan_marginals(workload, loss)
    means, largest = [], []
    for seed in range(3):  # the largest of thousands of cells differs from draw to draw
        found = release_marginals(plan, source(records, sizes), SeededBits(seed))
        off = errors(found, records, sizes)
        means.append(mean_l1(off))
        largest.append(max(int(part.max()) for part in off.values()))
    assert sum(means) / 3 <= most_l1
    assert sum(largest) / 3 <= most_cell


def test_adult_two_ways():
    records = read("adult/adult_coded.csv.gz")
    sizes = tuple(json.loads((DATA / "adult/adult_coded_domain.json").read_text()).values())
    found = release_marginals(
        plan_marginals(up_to_ways(names(14), sizes, 2), RHO), source(records, sizes), SeededBits(2)
    )
    off = errors(found, records, sizes)
    assert mean_l1(off) <= 1400
    assert max(part.max() for part in off.values()) <= 80
    assert math.isclose(len(found.microdata), len(records), abs_tol=60)
