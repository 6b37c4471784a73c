"""Masks of all holders sum to zero, and to anything else where one of them knows otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from adomnia.errors import PolicyError
from adomnia.federation.masks import (
    Party,
    Peer,
    Round,
    checksum,
    make_secret,
    mask,
    public_key,
)

NAMES = ("a", "b", "c", "d")
SIZE = 4000


@pytest.fixture(scope="module")
def parties():
    return {name: Party(name, make_secret()) for name in NAMES}


@pytest.fixture(scope="module")
def agreed():
    return Round("0" * 32, "digest", 1, {name: name * 32 for name in NAMES}, "ring")


def peers_of(parties, name):
    return [Peer(o, public_key(p.secret)) for o, p in parties.items() if o != name]


def masks_of(parties, agreed, size=SIZE):
    return {n: mask(p, peers_of(parties, n), agreed, size) for n, p in parties.items()}


def total(masks):
    return np.sum(list(masks.values()), axis=0, dtype=np.uint64)


def test_masks_sum_to_zero_and_each_is_uniform(parties, agreed):
    masks = masks_of(parties, agreed)
    assert not total(masks).any()
    for words in masks.values():
        assert stats.kstest(words / 2.0**64, "uniform").pvalue > 1e-8
        assert stats.chisquare(np.bincount(words.view(np.uint8), minlength=256)).pvalue > 1e-8


def test_without_one_holder_the_rest_is_uniform(parties, agreed):
    masks = masks_of(parties, agreed)
    del masks["c"]
    assert stats.kstest(total(masks) / 2.0**64, "uniform").pvalue > 1e-8


@pytest.mark.parametrize(
    "change",
    [
        {"name": "1" * 32},
        {"digest": "another"},
        {"colluding": 2},
        {"ring": "another"},
        {"nonces": dict.fromkeys(NAMES, "0" * 32)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_masks_are_new_in_every_round_and_cancel_in_the_same_only(parties, agreed, change):
    first, second = masks_of(parties, agreed), masks_of(parties, replace(agreed, **change))
    assert not (first["a"] == second["a"]).any()
    assert not total(second).any()
    assert total({**first, "a": second["a"]}).all()


def test_checksums_add_up(agreed):
    rng = np.random.default_rng(5)
    first, second = (rng.integers(0, 2**64, 100, np.uint64) for _ in range(2))
    with np.errstate(over="ignore"):
        assert checksum(first + second, agreed) == checksum(first, agreed) + checksum(
            second, agreed
        )


def test_a_checksum_sees_one_changed_word(agreed):
    words = np.arange(100, dtype=np.uint64)
    for place in range(100):
        changed = words.copy()
        changed[place] ^= np.uint64(1 << 63)
        assert checksum(changed, agreed) != checksum(words, agreed)


def test_a_point_of_small_order_is_refused(parties, agreed):
    with pytest.raises(PolicyError, match="usable"):
        mask(parties["a"], [Peer("b", bytes(32))], agreed, 3)
