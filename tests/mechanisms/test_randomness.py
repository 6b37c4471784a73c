"""The tap of chance, and exact inversion with the ties that no run would meet by itself."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from seeded import DictatedBits, SeededBits

from adomnia.mechanisms.randomness import POOL, SYSTEM, InversionTable, SystemBits, narrow, resolve


def thirds(precision):
    """Three equal weights: both boundaries are no binary fraction."""
    return [(1 << precision, 1 << precision)] * 3, 0


def halves(precision):
    """A boundary at exactly 1/2, whose enclosure never decides at the boundary itself."""
    return [(1 << precision, 1 << precision)] * 2, 0


def endless(precision):
    """Weights 1/2, 1/4, 1/8, ... without end."""
    return [(1 << k, 1 << k) for k in range(precision - 1, -1, -1)], 1


def test_words_and_integers_have_their_width():
    assert SYSTEM.words(1000).dtype == np.uint64
    assert len(set(SYSTEM.words(1000).tolist())) == 1000
    assert all(0 <= SYSTEM.integer(5) < 32 for _ in range(1000))
    assert {SYSTEM.integer(2) for _ in range(500)} == {0, 1, 2, 3}
    assert SYSTEM.integer(0) == 0
    assert SYSTEM.integer(8 * POOL + 100).bit_length() > 8 * POOL


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 10**40])
def test_below_stays_below(n):
    drawn = [SYSTEM.below(n) for _ in range(300)]
    assert all(0 <= each < n for each in drawn)
    assert n > 3 or set(drawn) == set(range(n))


def test_a_forked_child_shares_no_byte():
    bits = SystemBits()
    bits.integer(64)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, bits.integer(256).to_bytes(32, "little"))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = int.from_bytes(os.read(reader, 32), "little")
    os.close(reader)
    os.close(writer)
    assert theirs != bits.integer(256)


def test_threads_share_no_byte():
    bits, seen = SystemBits(), []
    workers = [
        threading.Thread(target=lambda: seen.extend(bits.integer(64) for _ in range(2000)))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(seen) == len(set(seen)) == 8000


def test_narrow_words_come_in_the_asked_number():
    for dtype in (np.uint16, np.uint32, np.uint64):
        drawn = narrow(SeededBits(0), 1001, dtype)
        assert drawn.size == 1001
        assert drawn.dtype == dtype


@pytest.mark.parametrize(("more", "outcome"), [(0, 0), ((1 << 64) - 1, 1)])
def test_a_tie_is_settled_by_more_bits(more, outcome):
    third = (1 << 64) // 3  # [third, third + 1) / 2^64 holds the boundary 1/3
    bits = DictatedBits(more)
    assert resolve(thirds, third, 64, bits) == outcome
    assert not bits.left, "the tie needed more bits"


def test_a_tie_can_last():
    third, again = (1 << 64) // 3, (1 << 64) // 3  # 1/3 = 0.010101...: the same bits again
    bits = DictatedBits(again, again, (1 << 64) - 1)
    assert resolve(thirds, third, 64, bits) == 1
    assert not bits.left


def test_tables_settle_ties_too():
    third = (1 << 64) // 3
    table = InversionTable(thirds)
    for more, outcome in ((0, 0), ((1 << 64) - 1, 1)):
        bits = DictatedBits(third >> 48, (third << 16) & ((1 << 64) - 1), more)
        assert table.draw(1, bits).tolist() == [outcome]
        assert not bits.left


def test_a_binary_boundary_belongs_to_the_upper_outcome():
    table = InversionTable(halves)
    assert table.draw(1, DictatedBits(1 << 15, 0)).tolist() == [1]
    assert table.draw(1, DictatedBits((1 << 15) - 1, (1 << 64) - 1)).tolist() == [0]


def test_an_endless_law_is_followed_past_the_table():
    top = (1 << 64) - 1
    beyond = resolve(endless, top, 64, DictatedBits(top, top, 1))
    assert beyond == 192, "192 ones, then zeros: outcome k has k leading ones"
    found = InversionTable(endless).draw(100_000, SeededBits(8))
    assert abs(np.mean(found == 0) - 0.5) < 0.01
    assert abs(np.mean(found == 3) - 1 / 16) < 0.005


def test_table_and_resolve_agree_on_every_first_word():
    table, bits = InversionTable(thirds), SeededBits(9)
    for word in bits.words(300).tolist():
        drawn = DictatedBits(word >> 48, (word << 16) & ((1 << 64) - 1))
        assert table.draw(1, drawn)[0] == resolve(thirds, word, 64, drawn)
