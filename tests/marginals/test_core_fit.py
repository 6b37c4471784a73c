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

from adomnia.marginals.core.microdata import Aim, descend, spread_out, tabulate
from adomnia.marginals.core.shrink import posterior_means, to_simplex
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


def source(records, sizes):
    return lambda subsets: {subset: Sealed(tabulate(records, sizes, subset)) for subset in subsets}


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


def test_descent_brings_records_to_reachable_tables():
    sizes = (4, 5, 6)
    truth = skewed(500, sizes, 1)
    chance = np.random.default_rng(1)
    start = np.stack([chance.integers(0, size, 500) for size in sizes], axis=1)
    aims = [Aim(s, tabulate(truth, sizes, s).astype(float)) for s in combinations(range(3), 2)]
    found = descend(start, sizes, aims, chance, (16, 8, 4, 2, 1, 1, 1))
    left = [np.abs(tabulate(found, sizes, aim.subset) - aim.table).sum() for aim in aims]
    assert np.mean(left) < 40
    assert found.shape == start.shape


def test_a_table_is_rounded_to_its_sum():
    table = np.full((3, 7), 10 / 21)
    assert len(spread_out(table, np.random.default_rng(0))) == 10


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
    found = release_marginals(plan_marginals(workload, loss), source(records, sizes), SeededBits(2))
    off = errors(found, records, sizes)
    assert mean_l1(off) <= most_l1
    assert max(part.max() for part in off.values()) <= most_cell


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
