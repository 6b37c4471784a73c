"""Sets in machine words against Python's sets; and a network does not depend on how it is kept."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from adomnia.audit.networks.growth.bitsets import (
    add,
    bits,
    discard,
    has,
    lowest,
    place,
    single,
    take,
)
from adomnia.audit.networks.growth.models import settle
from adomnia.audit.networks.growth.randomness import SIZE, open_stream


def members(row: np.ndarray) -> set[int]:
    return {node for node in range(64 * row.size) if has(row, node)}


def test_bits_of_a_word():
    chance = random.Random(1)
    for _ in range(300):
        word = chance.getrandbits(64) & chance.getrandbits(64) | 1 << chance.randrange(64)
        inside = [node for node in range(64) if word >> node & 1]
        assert bits(np.uint64(word)) == len(inside)
        found = [lowest(np.uint64(word), skipped) for skipped in range(len(inside))]
        assert [place(np.uint64(bit)) for bit in found] == inside
        assert [int(bit) for bit in found] == [int(single(node)) for node in inside]


@pytest.mark.parametrize("words", [1, 2, 5])
def test_rows_are_sets(words):
    chance, row, known = random.Random(words), np.zeros(words, np.uint64), set()
    stream = np.empty(SIZE, np.uint64)
    open_stream(stream, np.uint64(words), 0, 0)
    for _ in range(600):
        node = chance.randrange(64 * words)
        act = chance.choice([add, add, discard])
        act(row, node)
        known = known | {node} if act is add else known - {node}
        assert members(row) == known
        if known and chance.random() < 0.3:
            taken = take(row, len(known), stream)
            assert taken in known
            known.discard(taken)
    assert known


def test_take_is_fair():
    stream = np.empty(SIZE, np.uint64)
    open_stream(stream, np.uint64(3), 0, 0)
    nodes = [0, 5, 63, 64, 100, 191]
    seen = dict.fromkeys(nodes, 0)
    for _ in range(6000):
        row = np.zeros(3, np.uint64)
        for node in nodes:
            add(row, node)
        seen[take(row, len(nodes), stream)] += 1
    assert all(abs(many - 1000) < 150 for many in seen.values())


@pytest.mark.parametrize("reading", ["literal", "any-link", "at-least-one"])
def test_fires_in_words_and_in_arrays_are_one(reading):
    """Not only in distribution: the same draws grow the same network, run for run."""
    words = settle("forest-fire", reading, {"nodes": 50})
    arrays = replace(words, kernel="large_fire")
    wide = replace(arrays, words=3)
    outcomes = [kept.pairs(7, 0, 300) for kept in (words, arrays, wide)]
    assert words.kernel == "forest_fire"
    assert outcomes[0].any()
    assert np.array_equal(outcomes[0], outcomes[1])
    assert np.array_equal(outcomes[0], outcomes[2])


@pytest.mark.parametrize(
    ("model", "reading"), [("mvs", "literal"), ("mvs", "picked"), ("copying", "literal")]
)
def test_more_words_change_nothing(model, reading):
    narrow = settle(model, reading, {})
    wide = replace(narrow, words=4)
    assert narrow.words == 1
    assert np.array_equal(narrow.pairs(3, 0, 200), wide.pairs(3, 0, 200))


def test_arrays_are_taken_from_65_nodes_on():
    assert settle("forest-fire", "literal", {"nodes": 64}).kernel == "forest_fire"
    large = settle("forest-fire", "literal", {"nodes": 65})
    assert (large.kernel, large.words) == ("large_fire", 2)
    small = settle("forest-fire", "literal", {"nodes": 64}).pairs(1, 0, 1000)
    assert large.pairs(1, 0, 1000).mean() > small.mean() * 0.8


@pytest.mark.parametrize("model", ["forest-fire", "copying", "mvs"])
def test_ten_thousand_nodes(model):
    crossing = settle(model, "literal", {"nodes": 10_000}).pairs(1, 0, 1)
    assert crossing.shape == (2, 1)
    assert (crossing >= 0).all()
