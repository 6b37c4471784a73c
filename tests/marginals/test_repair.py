"""No record stays in a forbidden cell, and the others stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.repair import repaired


def one_by_one(records):
    return SyntheticRecords(records, np.ones(len(records), np.int64))


@pytest.mark.parametrize("seed", range(20))
def test_no_record_is_left_in_a_forbidden_cell(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = tuple(chance.integers(2, 6, 4).tolist())
    records = np.stack([chance.integers(0, size, 500) for size in sizes], axis=1)
    subsets = [(0, 1), (1, 2, 3), (2,), (0, 3)]
    forbidden = {s: chance.random([sizes[p] for p in s]) < 0.3 for s in subsets}
    forbidden[2,][0] = False
    made = repaired(one_by_one(records), sizes, forbidden, chance)
    found = made.records
    assert all(made.tabulate(sizes, s)[mask].sum() == 0 for s, mask in forbidden.items())
    fine = np.ones(500, bool)
    for subset, mask in forbidden.items():
        fine &= ~mask[tuple(records[:, place] for place in subset)]
    assert len(found) == 500 if fine.any() else len(found) in (0, 500)
    assert len(found) < 500 or (found[fine] == records[fine]).all()


def test_the_coarser_attribute_follows_the_finer_one() -> None:
    chance = np.random.default_rng(1)
    records = np.stack([chance.integers(0, 100, 3000), chance.integers(0, 10, 3000)], axis=1)
    apart = np.arange(100)[:, None] // 10 != np.arange(10)[None]
    found = repaired(one_by_one(records), (100, 10), {(0, 1): apart}, chance).records
    assert (found[:, 0] == records[:, 0]).all()
    assert (found[:, 1] == records[:, 0] // 10).all()


def test_where_nothing_is_allowed_nothing_is_left() -> None:
    records = np.zeros((5, 1), np.int64)
    found = repaired(one_by_one(records), (2,), {(0,): np.ones(2, bool)}, np.random.default_rng(0))
    assert found.records.shape == (0, 1)
    assert found.rows == 0
