"""Diverse releases together: what is determined, by hand, by brute force and where it must fail."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.audit.linkage.equivalence_classes import PublishedFile
from adomnia.audit.linkage.intersection import intersection
from adomnia.errors import QuestionError


def release(people, group, value):
    columns = {"who": list(people), "q": list(group), "s": list(value)}
    return PublishedFile(columns, ["q"], "s", "who")


def crowds_of(people, value, size, chance):
    """A release in random classes of `size` people."""
    order = chance.permutation(len(people))
    return release(people[order], np.arange(len(people)) // size, value[order])


def test_two_hospitals():
    """Each crowd has two diseases; Ann's crowds share one, Bob's share two."""
    first = release(["ann", "x", "bob", "y"], "aabb", ["flu", "ulcer", "flu", "cold"])
    second = release(["ann", "z", "bob", "w"], "ccdd", ["flu", "cancer", "flu", "cold"])
    found = intersection([first, second], names=True)
    assert found.details["together"]["determined"] == 1
    assert found.details["determined_people"] == [["ann", "flu"]]
    assert [one["determined"] for one in found.details["alone"]] == [0, 0]
    assert found.details["invariance"]["m"] == 0
    assert found.success.value == 0.5
    assert found.baseline == 0
    assert "determined_people" not in intersection([first, second]).details
    json.dumps(found.to_json())


def test_crowds_of_ten_in_two_releases():
    """3,000 people, 60 values: 10 random others share almost nothing with 10 random others."""
    chance = np.random.default_rng(4)
    people, value = np.arange(3000), chance.integers(0, 60, 3000)
    two = [crowds_of(people, value, 10, chance) for _ in range(2)]
    found = intersection(two)
    assert found.baseline == 0
    # none of 9 others has a value that one of 9 others has, in the other release
    assert 0.1 < found.success.value < 0.35
    three = intersection([*two, crowds_of(people, value, 10, chance)])
    assert three.success.low > 0.75
    assert three.details["together"]["guessed_share"]["low"] > 0.9
    assert three.details["majority"] < 0.05


def test_the_same_crowds_twice_tell_nothing():
    """m-invariance: the same values in both crowds of each person."""
    value = np.tile(np.arange(5), 200)
    one = release(range(1000), np.arange(1000) // 5, value)
    other = release(range(1000), np.arange(1000) // 5 + 7, value)
    found = intersection([one, other])
    assert found.details["invariance"]["m"] == 5
    assert found.success.value == 0
    assert found.details["together"]["values_left"] == 5


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)), min_size=1))
def test_by_brute_force(rows):
    groups, value = [[row[at] for row in rows] for at in (0, 1)], [row[2] for row in rows]
    sets = [defaultdict(set), defaultdict(set)]
    for at in (0, 1):
        for where, held in zip(groups[at], value, strict=True):
            sets[at][where].add(held)
    left = [sets[0][row[0]] & sets[1][row[1]] for row in rows]
    found = intersection([release(range(len(rows)), group, value) for group in groups])
    assert found.details["together"]["determined"] == sum(len(one) == 1 for one in left)
    assert found.details["together"]["values_left"] == pytest.approx(np.mean([*map(len, left)]))
    for at in (0, 1):
        alone = sum(len(sets[at][row[at]]) == 1 for row in rows)
        assert found.details["alone"][at]["determined"] == alone


def test_a_changed_value_contradicts():
    first = release([1, 2], "aa", ["flu", "cold"])
    second = release([1, 3], "bb", ["ulcer", "cancer"])
    found = intersection([first, second])
    assert found.details["together"]["contradictory"] == 1
    assert found.success.value == 0


def test_nobody_in_both_and_refusals():
    first, second = release([1], "a", ["flu"]), release([2], "a", ["flu"])
    found = intersection([first, second])
    assert found.details["people"] == 0
    assert (found.success.value, found.success.high) == (0, 1)
    with pytest.raises(QuestionError, match="two releases"):
        intersection([first])


def test_the_clock_ends_it():
    one = release([1, 2], "aa", ["flu", "cold"])
    found = intersection([one, one], time_limit=-1)
    assert not found.complete
    assert found.details["looked_at"] == 0
