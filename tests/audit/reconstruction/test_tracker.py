"""Trackers and differences against exact, rounded and private answers."""

from __future__ import annotations

import json
import sqlite3

import numpy as np
import pytest

from adomnia.audit.reconstruction.tracker import differencing, tracker
from adomnia.errors import BudgetError, NotAllowedError

PEOPLE = 400
SMALLEST = 20
MARKS = [f"id % {m} < {m // 2}" for m in range(3, 33)]


@pytest.fixture(scope="module")
def count():
    """The true count for a condition, over made-up people."""
    rng = np.random.default_rng(11)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE people (id INTEGER, age INTEGER, job INTEGER, ill INTEGER)")
    ages, jobs, ill = (rng.integers(0, n, PEOPLE).tolist() for n in (60, 12, 3))
    rows = zip(rng.permutation(10 * PEOPLE)[:PEOPLE].tolist(), ages, jobs, ill, strict=True)
    base.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)

    def counted(condition):
        return base.execute(f"SELECT COUNT(*) FROM people WHERE {condition}").fetchone()[0]

    yield counted
    base.close()


@pytest.fixture
def limited(count):
    """Exact answers, but none about fewer than 20 people or all but fewer than 20."""

    def ask(condition):
        if not SMALLEST <= count(condition) <= PEOPLE - SMALLEST:
            raise NotAllowedError("the set is too small or too large")
        return count(condition)

    return ask


def rounded(ask, base):
    """The same answers, to the nearest multiple of the base."""
    return lambda condition: base * round(ask(condition) / base)


def private(count, epsilon, budget, seed=1):
    """Noise on every answer, charged."""
    rng = np.random.default_rng(seed)
    left = [budget]

    def ask(condition):
        left[0] -= epsilon
        if left[0] < 0:
            raise BudgetError("nothing is left")
        return count(condition) + rng.laplace(0, 1 / epsilon)

    return ask


TARGETS = [f"age = {a} AND job < {j}" for a in range(0, 60, 2) for j in (3, 6)]
LARGE = [f"NOT (age = {a})" for a in range(10)]


def truth(count, targets):
    return [count(target) for target in targets]


def test_a_tracker_undoes_a_limit_on_set_sizes(count, limited):
    for target in TARGETS + LARGE:
        with pytest.raises(NotAllowedError):
            limited(target)
    found = tracker(limited, TARGETS + LARGE, ["job < 6"], truth=truth(count, TARGETS + LARGE))
    assert found.success.value == 1
    assert found.baseline < 0.6
    assert found.details["pinned"] == len(TARGETS + LARGE)
    assert found.details["refused"] >= len(TARGETS + LARGE)
    json.dumps(found.to_json(), allow_nan=False)


def test_certainty_needs_no_truth(limited):
    found = tracker(limited, TARGETS, ["job < 6"])
    assert found.success.value == 1
    assert found.baseline == 0


def test_a_bad_tracker_is_of_no_use(count, limited):
    found = tracker(limited, TARGETS, ["age = 3"], truth=truth(count, TARGETS))
    assert found.success.value == 0
    assert set(found.details["guesses"]) == {None}


@pytest.mark.parametrize(("base", "few", "many"), [(3, 0.6, 0.75), (5, 0.5, 0.55)])
def test_rounding_helps_a_little_and_less_against_many_trackers(count, limited, base, few, many):
    true = truth(count, TARGETS)
    ask = rounded(limited, base)
    one = tracker(ask, TARGETS, MARKS[:1], slack=base // 2, truth=true)
    all_ = tracker(ask, TARGETS, MARKS, slack=base // 2, truth=true)
    assert one.success.value < few
    assert all_.success.value > many
    assert all_.success.value > one.success.value
    assert all_.details["contradicted"] == 0


@pytest.mark.parametrize("base", [3, 5])
def test_what_is_called_certain_under_rounding_is_true(count, limited, base):
    """The truth lies in every interval, and the intervals are narrower than one tracker gives."""
    found = tracker(rounded(limited, base), TARGETS, MARKS, slack=base // 2)
    intervals = found.details["intervals"]
    for (low, high), value in zip(intervals, truth(count, TARGETS), strict=True):
        assert low <= value <= high
    one = tracker(rounded(limited, base), TARGETS, MARKS[:1], slack=base // 2)
    widths = [[high - low for low, high in run.details["intervals"]] for run in (found, one)]
    assert np.mean(widths[0]) < np.mean(widths[1]) - 1


def test_private_answers_end_before_the_tracker_does(count):
    true = truth(count, TARGETS)
    found = tracker(private(count, 0.1, budget=2.0), TARGETS, MARKS, truth=true)
    assert found.details["ended_by_budget"]
    assert not found.complete
    assert found.success.value <= 0.1


def test_differences_of_large_sets_are_small_sets(count, limited):
    """Everybody under 40, and everybody under 40 but one: what does the one have?"""
    people = [i for i in range(10 * PEOPLE) if count(f"id = {i} AND age < 40")][:30]
    pairs = [("age < 40 AND ill = 1", f"age < 40 AND ill = 1 AND id <> {i}") for i in people]
    true = [count(f"id = {i} AND ill = 1") for i in people]
    exact = differencing(limited, pairs, truth=true)
    assert exact.success.value == 1 > exact.baseline
    coarse = differencing(rounded(limited, 5), pairs, slack=2, truth=true)
    assert coarse.success.value <= exact.baseline + 0.2
    guarded = differencing(private(count, 0.1, budget=1.0), pairs, truth=true)
    assert guarded.details["ended_by_budget"]
    assert guarded.success.value < 0.2


def test_every_question_is_asked_once(count):
    asked = []

    def ask(condition):
        asked.append(condition)
        return count(condition)

    found = tracker(ask, TARGETS, MARKS[:3])
    assert len(asked) == len(set(asked)) == found.details["asked"]


def test_the_truth_must_fit(limited):
    with pytest.raises(ValueError, match="each target"):
        tracker(limited, TARGETS, ["job < 6"], truth=[1])
    assert tracker(limited, [], ["job < 6"], truth=[]).baseline == 0
