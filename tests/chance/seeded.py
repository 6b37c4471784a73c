"""Bits for tests: a seeded stream, also in the system's place, and dictated first integers."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.randomness import SYSTEM


class SeededBits:
    """The same bits for the same seed; never used outside tests."""

    def __init__(self, seed: int) -> None:
        self._few = random.Random(seed)
        self._many = np.random.default_rng(seed)

    def words(self, n: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._many.bytes(8 * n), np.uint64)

    def integer(self, bits: int) -> int:
        return self._few.getrandbits(bits) if bits else 0

    def below(self, n: int) -> int:
        return self._few.randrange(n)


class DictatedBits(SeededBits):
    """Serves the dictated integers first, as words and as integers, then a seeded stream."""

    def __init__(self, *dictated: int) -> None:
        super().__init__(0)
        self.left = list(dictated)

    def words(self, n: int) -> NDArray[np.uint64]:
        served = super().words(n).copy()
        count = min(n, len(self.left))
        served[:count], self.left = self.left[:count], self.left[count:]
        return served

    def integer(self, bits: int) -> int:
        return self.left.pop(0) if self.left else super().integer(bits)


def seed_system(put: Callable[[object, str, object], None] = setattr) -> None:
    """Let every bit of the system come from a seed; `put` may be one that is undone later.

    For what has no law of its own to be tested by, as how good a model is, and for verdicts that
    may be wrong once in a hundred times. The samplers are the real ones.
    """
    bits = SeededBits(1)
    for name in ("words", "integer", "below"):
        put(SYSTEM, name, getattr(bits, name))
