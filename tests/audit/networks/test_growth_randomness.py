"""The simulations' chance: known answers, uniform draws, and no stream twice."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import pytest
from scipy import stats

from adomnia.audit.networks.growth.compiled import compiled, forget_stale
from adomnia.audit.networks.growth.randomness import SIZE, below, coin, draw, open_stream, unit
from adomnia.audit.networks.growth.run import run
from adomnia.errors import MachineryError

ALL = 0xFFFFFFFF


def state(seed: int = 1, run_number: int = 0, role: int = 0) -> np.ndarray:
    made = np.empty(SIZE, np.uint64)
    open_stream(made, np.uint64(seed), run_number, role)
    return made


def block(counter: list[int], key: list[int]) -> list[int]:
    made = state()
    made[:4], made[4:6] = counter, key
    return [int(draw(made)) for _ in range(4)]


@pytest.mark.parametrize(
    ("counter", "key", "known"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([ALL] * 4, [ALL] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter, key, known):
    """The published test vectors of Philox 4x32-10."""
    assert block(counter, key) == known


def test_every_seed_run_and_role_has_its_own_stream():
    """The first 128 bits are different for all, also where numbers pass 32 bits."""
    runs = [*range(300), 1 << 31, 1 << 32, (1 << 32) + 1]
    seeds = [0, 1, 1 << 32, (1 << 64) - 1]
    begun = set()
    for seed in seeds:
        for number in runs:
            for role in range(3):
                made = state(seed, number, role)
                begun.add(tuple(int(draw(made)) for _ in range(4)))
    assert len(begun) == len(seeds) * len(runs) * 3


@pytest.mark.parametrize("many", [2, 3, 7, 50])
def test_below_is_uniform(many):
    made = state(many)
    seen = np.bincount([below(made, many) for _ in range(20_000)], minlength=many)
    assert len(seen) == many
    assert stats.chisquare(seen).pvalue > 1e-6


def test_below_leaves_no_remainder():
    """With three quarters of 2^32 values the unfair ones are drawn again: both halves are even."""
    made, many = state(5), 3 << 30
    low = sum(below(made, many) < many // 2 for _ in range(20_000))
    assert stats.binomtest(low, 20_000, 0.5).pvalue > 1e-6


def test_coins_and_units():
    made = state(9)
    assert all(coin(made, 1.0) for _ in range(1000))
    assert not any(coin(made, 0.0) for _ in range(1000))
    heads = sum(coin(made, 0.3) for _ in range(20_000))
    assert stats.binomtest(heads, 20_000, 0.3).pvalue > 1e-6
    assert stats.kstest([unit(made) for _ in range(5000)], "uniform").pvalue > 1e-6


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_no_two_workers_are_given_one_run(workers):
    """Streams are numbered by run: what the workers are given covers all runs, each once."""
    given, lock = [], threading.Lock()

    def batch(first: int, many: int) -> np.ndarray:
        with lock:
            given.extend(range(first, first + many))
        return np.arange(first, first + many)[None].repeat(2, axis=0)

    outcome = run(batch, 100_001, workers)
    assert sorted(given) == list(range(100_001))
    assert np.array_equal(outcome[0], np.arange(100_001))


def test_what_was_compiled_before_a_change_is_forgotten(tmp_path):
    kept = tmp_path / "__pycache__"
    kept.mkdir()
    (kept / "old.nbi").write_text("")
    source = tmp_path / "one.py"
    source.write_text("")
    os.utime(kept / "old.nbi", (1, 1))
    (kept / "new.nbi").write_text("")
    os.utime(kept / "new.nbi", (2e9, 2e9))
    forget_stale(tmp_path)
    assert [file.name for file in kept.iterdir()] == ["new.nbi"]
    forget_stale(tmp_path / "nowhere-with-sources")
    assert source.exists()


def test_without_numba_the_models_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(MachineryError, match="numba"):
        compiled(len)


def test_without_a_folder_to_write_it_is_compiled_all_the_same():
    space: dict = {}
    exec("def more(number):\n    return number + 1", space)  # has no file, so nothing is kept
    assert compiled(space["more"])(2) == 3
