"""The one tap of chance, and the exact draw from a list of weights (`exponential.md`).

Every random bit of the package comes from `SYSTEM`, the operating system's generator; tests hand
in another `Bits`. `resolve` turns bits into an outcome of given weights without any rounding, and
`InversionTable` does the same for a million draws at a time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = [
    "SYSTEM",
    "Bits",
    "Interval",
    "InversionTable",
    "SystemBits",
    "Weights",
    "narrow",
    "resolve",
]

Interval = tuple[int, int]
"""Two integers around a real number times a power of two."""

Weights = Callable[[int], tuple[list[Interval], int]]
"""Precision p to enclosures of the weights times 2^p, and a bound on all weights left out.

A higher precision may return more outcomes (the support can be infinite), never other ones.
"""

POOL = 4096
GUARD = 48
TOP = (1 << 64) - 1


class Bits(Protocol):
    """A source of independent uniform bits."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """`n` uniform 64-bit words."""

    def integer(self, bits: int) -> int:
        """A uniform integer of [0, 2^bits)."""

    def below(self, n: int) -> int:
        """A uniform integer of [0, n)."""


class SystemBits:
    """The operating system's generator; small requests are served from a pool of its bytes.

    Threads share the pool behind a lock, and a forked child drops it, so that no byte is ever
    used twice.
    """

    def __init__(self) -> None:
        self._reset()
        if hasattr(os, "register_at_fork"):  # where processes cannot fork, nothing is shared
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()  # a new one: another thread may have held it at the fork
        self._pool = b""
        self._used = 0

    def _take(self, count: int) -> bytes:
        if count > POOL:
            return os.urandom(count)
        with self._lock:
            if self._used + count > len(self._pool):
                self._pool, self._used = os.urandom(POOL), 0
            self._used += count
            return self._pool[self._used - count : self._used]

    def words(self, n: int) -> NDArray[np.uint64]:
        """`n` uniform 64-bit words, never from the pool."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)

    def integer(self, bits: int) -> int:
        """A uniform integer of [0, 2^bits)."""
        count = (bits + 7) >> 3
        return int.from_bytes(self._take(count), "little") >> (8 * count - bits)

    def below(self, n: int) -> int:
        """A uniform integer of [0, n), by rejection."""
        width = (n - 1).bit_length()
        while True:
            drawn = self.integer(width)
            if drawn < n:
                return drawn


SYSTEM: Bits = SystemBits()


def narrow(bits: Bits, size: int, dtype: DTypeLike) -> NDArray[np.unsignedinteger]:
    """`size` uniform unsigned integers of a narrower type, cut out of 64-bit words."""
    width = np.dtype(dtype).itemsize
    return bits.words((size * width + 7) // 8).view(dtype)[:size]


def resolve(weights: Weights, drawn: int, width: int, bits: Bits) -> int:
    """The outcome that a uniform number with first `width` bits `drawn` falls on, exactly.

    More bits are drawn, and the weights enclosed more tightly, until no doubt is left.
    """
    while True:
        found = _locate(*weights(width + GUARD), drawn, width)
        if found is not None:
            return found
        drawn = drawn << 64 | bits.integer(64)
        width += 64


def _locate(intervals: list[Interval], omitted: int, drawn: int, width: int) -> int | None:
    """The outcome whose share of [0, 1) holds all of [drawn, drawn + 1) / 2^width, if certain."""
    low = high = 0
    rest_low, rest_high = _totals(intervals, omitted)
    for index, (least, most) in enumerate(intervals):
        low, high = low + least, high + most
        rest_low, rest_high = rest_low - least, rest_high - most
        if (drawn + 1) * (low + rest_high) <= low << width:
            return index
        if drawn * (high + rest_low) < high << width:
            return None
    return None


def _totals(intervals: list[Interval], omitted: int) -> Interval:
    return sum(low for low, _ in intervals), sum(high for _, high in intervals) + omitted


class InversionTable:
    """Exact draws from fixed weights, by inversion of 64-bit thresholds.

    Sixteen bits decide most draws through `guide`; 48 more decide all but about one in 2^60; the
    last ones go to `resolve`. Bits are spent lazily, so nothing is rounded.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._low, self._high = _thresholds(*weights(64 + GUARD))
        starts = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
        least = np.searchsorted(self._high, starts, "left")
        most = np.searchsorted(self._low, starts | np.uint64((1 << 48) - 1), "right")
        width = np.int16 if self._low.size < 1 << 15 else np.int32
        self._guide = np.where(least == most, least, -1).astype(width)

    def draw(self, size: int, bits: Bits) -> NDArray[np.int64]:
        """`size` independent outcomes, as indices into the weights."""
        first = narrow(bits, size, np.uint16)
        found: NDArray[np.int64] = self._guide.take(first).astype(np.int64)
        unsure = np.flatnonzero(found < 0)
        if unsure.size:
            found[unsure] = self._settle(first[unsure], bits)
        return found

    def _settle(self, first: NDArray[np.unsignedinteger], bits: Bits) -> NDArray[np.int64]:
        """The outcomes of draws whose first sixteen bits leave a doubt."""
        drawn = first.astype(np.uint64) << np.uint64(48) | bits.words(first.size) >> np.uint64(16)
        found: NDArray[np.int64] = np.searchsorted(self._high, drawn, "left").astype(np.int64)
        most = np.searchsorted(self._low, drawn, "right")
        for tie in np.flatnonzero(found != most):
            found[tie] = resolve(self._weights, int(drawn[tie]), 64, bits)
        return found


def _thresholds(
    intervals: list[Interval], omitted: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Floors of the lower and upper ends of every boundary between outcomes, times 2^64."""
    lows, highs = [], []
    low = high = 0
    rest_low, rest_high = _totals(intervals, omitted)
    for least, most in intervals:
        low, high = low + least, high + most
        rest_low, rest_high = rest_low - least, rest_high - most
        lows.append(min(TOP, (low << 64) // (low + rest_high)))
        highs.append(min(TOP, (high << 64) // (high + rest_low)))
    if omitted:
        highs[-1] = TOP  # what lies past the last outcome is never certain: `resolve` finds it
        return np.array(lows, np.uint64), np.array(highs, np.uint64)
    return np.array(lows[:-1], np.uint64), np.array(highs[:-1], np.uint64)
