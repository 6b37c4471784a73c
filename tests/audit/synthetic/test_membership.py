"""Membership: generators whose loss is known, coins that tell nothing, and the bound by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from adomnia.audit import RecordGenerator, membership
from adomnia.audit.synthetic.careless import careless_records
from adomnia.audit.synthetic.membership import epsilon_bound
from adomnia.audit.synthetic.shadows import choose_targets
from adomnia.errors import QuestionError
from adomnia.marginals.core.microdata import SyntheticRecords

PEOPLE = np.random.default_rng(1).integers(0, 9, (300, 4))
SIZES = (9, 9, 9, 9)


def as_records(rows: np.ndarray) -> SyntheticRecords:
    return SyntheticRecords(rows, np.ones(len(rows), np.int64))


def randomized(epsilon: float, seed: int):
    """Whether each kind of row is there, told the truth with the odds e^epsilon: its loss is
    epsilon for a row more or less, as one row decides about one kind at most."""
    chance, keep = np.random.default_rng(seed), 1 / (1 + math.exp(-epsilon))
    kinds = np.unique(PEOPLE, axis=0)
    index = {tuple(kind): place for place, kind in enumerate(kinds.tolist())}

    def make(rows: np.ndarray) -> SyntheticRecords:
        there = np.zeros(len(kinds), bool)
        there[[index[tuple(row)] for row in rows.tolist()]] = True
        said = there == (chance.random(len(kinds)) < keep)
        return as_records(kinds[said])

    return make


@pytest.mark.parametrize("careless", ["copies", "one column shuffled"])
def test_a_careless_generator_is_called_what_it_is(careless):
    chance = np.random.default_rng(2)
    make = (lambda rows: rows) if careless == "copies" else (lambda r: careless_records(r, chance))
    generator = RecordGenerator(lambda rows: as_records(make(rows)), PEOPLE, SIZES, epsilon=1.0)
    found = membership(generator, shadows=64, targets=20)
    assert found.details["verdict"] == "violated"
    assert found.success.low > 0.9
    assert found.details["epsilon_at_least"] > 2


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_known_loss_is_approached_and_not_passed(epsilon):
    shown = []
    for seed in range(5):
        generator = RecordGenerator(randomized(epsilon, seed), PEOPLE, SIZES, epsilon)
        found = membership(generator, shadows=120, targets=20, seed=seed)
        shown.append(found.details["epsilon_at_least"])
        assert found.details["verdict"] == "not refuted"
    assert max(shown) <= epsilon
    assert max(shown) > epsilon / 4


def test_coins_that_tell_nothing_show_nothing():
    """Over many games the false alarms are as few as promised: 2 of 40 are 1 more than expected."""
    always = as_records(np.random.default_rng(3).integers(0, 9, (300, 4)))
    generator = RecordGenerator(lambda _: always, PEOPLE, SIZES, epsilon=0.0)
    found = [membership(generator, shadows=16, targets=10, seed=seed) for seed in range(40)]
    assert sum(one.success.low > 0 for one in found) <= 3
    assert sum(one.details["verdict"] == "violated" for one in found) <= 3


def test_where_a_row_is_replaced_the_number_of_rows_tells_nothing():
    counted = []

    def count(rows: np.ndarray) -> SyntheticRecords:
        counted.append(len(rows))
        return as_records(rows[:1] * 0)

    membership(RecordGenerator(count, PEOPLE, SIZES, 1.0, replaces=True), shadows=16, targets=8)
    assert len(set(counted)) == 1
    counted.clear()
    membership(RecordGenerator(count, PEOPLE, SIZES, 1.0), shadows=16, targets=8)
    assert len(set(counted)) > 1


def test_others_are_all_there_or_a_fresh_half_of_them():
    sizes = {}
    for others in ("known", "drawn"):
        seen = []

        def make(rows, seen=seen):
            seen.append(len(rows))
            return as_records(rows)

        generator = RecordGenerator(make, PEOPLE, SIZES)
        found = membership(generator, shadows=16, targets=8, others=others)
        assert "verdict" not in found.details
        sizes[others] = np.mean(seen)
    assert sizes["drawn"] < 0.6 * sizes["known"]


@pytest.mark.parametrize(("hits", "tries"), [(60, 100), (90, 100), (100, 100), (700, 1000)])
def test_the_bound_is_the_largest_epsilon_that_so_many_hits_refute(hits, tries):
    bound = epsilon_bound(hits, tries)
    right = 1 / (1 + math.exp(-bound))
    tail = stats.binom.sf(hits - 1, tries, right)
    assert tail == pytest.approx(0.025, rel=1e-6) if bound else tail >= 0.025
    assert epsilon_bound(hits, tries, delta=1e-5) <= bound
    assert epsilon_bound(hits, tries, delta=0.1) == 0.0


def test_the_oddest_are_alone_even_without_a_column():
    rows = np.zeros((40, 3), np.int64)
    rows[7] = [3, 3, 3]
    rows[8] = [2, 0, 0]
    odd, others = choose_targets(rows, (4, 4, 4), 2, np.random.default_rng(0))
    assert odd.tolist() == [7]
    assert len(others) == 1
    assert 7 not in others


def test_time_and_people_may_be_short():
    slow = RecordGenerator(as_records, PEOPLE, SIZES)
    found = membership(slow, shadows=5000, targets=10, time_limit=0.2)
    assert not found.complete
    assert 4 <= found.details["shadows"] < 5000
    with pytest.raises(QuestionError, match="3 rows"):
        membership(RecordGenerator(as_records, PEOPLE[:3], SIZES))
