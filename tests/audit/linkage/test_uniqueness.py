"""Crowds in a file: the definitions by hand and by brute force, and the odd files."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.audit.linkage.equivalence_classes import PublishedFile
from adomnia.audit.linkage.uniqueness import anonymity, m_invariance, uniqueness
from adomnia.errors import QuestionError

HOSPITAL = {
    "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
    "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
    "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
    "disease": list("ugcgfbbpc"),
}


def by_hand(group, value):
    """k, distinct l, entropy l and both distances, class by class."""
    order = {one: rank for rank, one in enumerate(sorted(set(value)))}
    crowds = defaultdict(list)
    for where, held in zip(group, value, strict=True):
        crowds[where].append(order[held])
    m, n = len(order), len(value)
    whole = [sum(order[held] == rank for held in value) / n for rank in range(m)]
    found = []
    for crowd in crowds.values():
        share = [crowd.count(rank) / len(crowd) for rank in range(m)]
        entropy = -sum(p * math.log(p) for p in share if p)
        equal = sum(abs(p - q) for p, q in zip(share, whole, strict=True)) / 2
        gaps = np.cumsum(np.array(share) - whole)
        ordered = np.abs(gaps).sum() / (m - 1) if m > 1 else 0.0
        found.append((len(crowd), len(set(crowd)), math.exp(entropy), equal, ordered))
    sizes, distinct, entropies, equals, ordereds = zip(*found, strict=True)
    return min(sizes), min(distinct), min(entropies), max(equals), max(ordereds)


def test_the_table_of_the_t_closeness_paper():
    """Its section 5: the salaries {3, 4, 5} are 0.375 away from all nine."""
    found = anonymity(HOSPITAL, ["zip", "age"], "salary")
    assert (found.rows, found.classes, found.uniques, found.k) == (9, 3, 0, 3)
    assert found.distinct_l == 3
    assert found.entropy_l == pytest.approx(3)
    assert found.t_ordered == pytest.approx(0.375)
    assert anonymity(HOSPITAL, ["zip", "age"], "disease").distinct_l == 3


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 6)), min_size=1))
def test_every_measure_is_its_definition(people):
    file = {name: [row[at] for row in people] for at, name in enumerate(("a", "b", "s"))}
    found = anonymity(file, ["a", "b"], "s")
    group = list(zip(file["a"], file["b"], strict=True))
    k, distinct, entropy, equal, ordered = by_hand(group, file["s"])
    assert (found.k, found.distinct_l) == (k, distinct)
    assert found.uniques == sum(size == 1 for size in Counter(group).values())
    assert found.entropy_l == pytest.approx(entropy)
    assert found.t_equal == pytest.approx(equal)
    assert found.t_ordered == pytest.approx(ordered)


def test_all_rows_alone():
    found = uniqueness({"id": np.arange(1000), "s": np.arange(1000) % 2}, ["id"], "s")
    assert found.success.value == 1
    assert found.details["k"] == 1
    assert found.details["distinct_l"] == 1
    assert found.details["t_equal"] == pytest.approx(0.5)
    assert found.details["attribute"] == {"guessed": 1.0, "baseline": 0.5}
    assert found.details["columns"] == [{"column": "id", "values": 1000, "uniques_without": 0}]
    assert found.baseline == 0


def test_no_row_and_one_row():
    empty = uniqueness({"a": [], "s": []}, ["a"], "s")
    assert (empty.details["rows"], empty.details["k"], empty.success.value) == (0, None, 0)
    one = uniqueness({"a": ["x"], "s": [1]}, ["a"], "s")
    assert (one.success.value, one.baseline, one.details["t_ordered"]) == (1, 1, 0)
    assert uniqueness({"a": [1, 2]}, []).details["k"] == 2
    json.dumps([empty.to_json(), one.to_json()])


def test_rows_are_named_only_on_request():
    file = {"a": [1, 1, 2], "s": ["x", "y", "z"]}
    assert "unique_rows" not in uniqueness(file, ["a"]).details
    assert uniqueness(file, ["a"], names=True).details["unique_rows"] == [2]


def test_missing_values_and_dictionaries_and_wide_files():
    table = pa.table({"a": pa.array(["x", None, None, "x"]).dictionary_encode()})
    assert anonymity(table, ["a"]).k == 2
    chance = np.random.default_rng(1)
    wide = {f"c{at}": chance.permutation(5000) for at in range(12)}  # 5000^12 does not fit
    assert anonymity(wide, list(wide)).uniques == 5000


def test_the_clock_ends_it():
    found = uniqueness({"a": [1, 2], "b": [1, 1]}, ["a", "b"], time_limit=-1)
    assert not found.complete
    assert found.success.value == 1


def test_refusals():
    with pytest.raises(QuestionError, match="no column 'b'"):
        uniqueness({"a": [1]}, ["b"])
    with pytest.raises(QuestionError, match="one length"):
        uniqueness({"a": [1], "b": [1, 2]}, ["a", "b"])
    with pytest.raises(QuestionError, match="single type"):
        uniqueness({"a": [1, "x"]}, ["a"])
    twice = PublishedFile({"who": [1, 1], "q": [1, 1], "s": [1, 2]}, ["q"], "s", "who")
    with pytest.raises(QuestionError, match="one record"):
        m_invariance(twice, twice)


def release(people, group, value):
    return PublishedFile({"who": people, "q": group, "s": value}, ["q"], "s", "who")


def test_m_invariance():
    first = release([1, 2, 3, 4], list("aabb"), ["flu", "ulcer", "flu", "cold"])
    same = release([2, 1, 5, 6], list("ccdd"), ["ulcer", "flu", "flu", "cold"])
    other = release([2, 5, 1, 6], list("ccdd"), ["ulcer", "cold", "flu", "cold"])
    held = m_invariance(first, same)
    assert (held.m, held.unique, held.shared, held.changed) == (2, (2, 2), 2, 0)
    broken = m_invariance(first, other)
    assert (broken.m, broken.changed) == (0, 2)
    doubled = release([1, 2], list("aa"), ["flu", "flu"])
    assert m_invariance(doubled, doubled).m == 0
