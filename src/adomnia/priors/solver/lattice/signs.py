"""Signs as bits: most comparisons of rows are then a single AND (`graver.md`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Keys", "bits_of", "blocks", "pairs", "parts", "within"]

Keys = NDArray[np.uint64]
PAIRED, COMPARED = 1 << 22, 1 << 17
FIRST, WIDEST = 32, 1024


def bits_of(signs: NDArray[np.int64]) -> Keys:
    """The signs of each row as bits in 64-bit words: first the positive, then the negative."""
    bits = np.concatenate([signs > 0, signs < 0], axis=1)
    octets = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(signs), -(-octets.shape[1] // 8) * 8), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(np.uint64)


def pairs(near: Keys, far: Keys, same: bool) -> Iterator[tuple[Any, Any]]:
    """Index pairs of rows f, g such that f and -g have no opposite signs, chunk by chunk."""
    step = max(1, PAIRED // len(far))
    for start in range(0, len(near), step):
        clash = near[start : start + step, None, 0] & far[None, :, 0]
        for word in range(1, near.shape[1]):
            clash |= near[start : start + step, None, word] & far[None, :, word]
        first, second = np.nonzero(clash == 0)
        first += start
        if same:
            ordered = first < second
            first, second = first[ordered], second[ordered]
        if len(first):
            yield first, second


def within(inner: Keys, missing: Keys) -> NDArray[np.bool_]:
    """For every sum (by the bits it does not have) and inner row: all the row's bits are there."""
    outside = missing[:, None, 0] & inner[None, :, 0]
    for word in range(1, inner.shape[1]):
        outside |= missing[:, None, word] & inner[None, :, word]
    found: NDArray[np.bool_] = outside == 0
    return found


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """Ranges that grow: the first rows, the shortest, divide most sums."""
    start, size = 0, FIRST
    while start < count:
        yield start, min(start + size, count)
        start, size = start + size, min(2 * size, WIDEST)


def parts(alive: NDArray[np.intp], width: int) -> list[NDArray[np.intp]]:
    """The survivors in parts whose comparison with `width` rows fits into memory."""
    step = max(1, COMPARED // max(width, 1))
    return [alive[start : start + step] for start in range(0, len(alive), step)]
