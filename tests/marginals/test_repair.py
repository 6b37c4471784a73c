"""No record stays in a forbidden cell, and the others stay as they are."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.core.repair import repaired
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.schema.sealed import Sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))
from seeded import SeededBits


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


@pytest.mark.parametrize("questions", [1, 3, 6])
def test_questions_that_some_are_not_asked_leave_the_numbers_as_they_were(questions: int) -> None:
    """Skip patterns: who has no work (0) has the answer 0 to each question about it, others not."""
    chance, rows = np.random.default_rng(questions), 2000
    work = chance.choice(3, rows, p=[0.6, 0.3, 0.1])
    answers = [np.where(work == 0, 0, chance.integers(1, 5, rows)) for _ in range(questions)]
    records, sizes = np.stack([work, *answers], axis=1), (3, *(5,) * questions)
    skipped = np.zeros((3, 5), bool)
    skipped[0, 1:], skipped[1:, 0] = True, True
    forbidden = {(0, place): skipped for place in range(1, questions + 1)}
    names = tuple(f"a{place}" for place in range(len(sizes)))
    plan = plan_marginals(up_to_ways(names, sizes, 1), Loss.pure(Fraction(1000)))
    true = one_by_one(records)

    def tables(wanted):
        return {subset: Sealed(true.tabulate(sizes, subset)) for subset in wanted}

    made = release_marginals(plan, tables, SeededBits(1), forbidden=forbidden)
    off = [
        np.abs(made.marginals[s] - true.tabulate(sizes, s)).max() for s in plan.workload.marginals
    ]
    assert max(off) <= 2
    assert all(made.microdata.tabulate(sizes, s)[skipped].sum() == 0 for s in forbidden)
