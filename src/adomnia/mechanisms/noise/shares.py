"""Shares of integer Laplace noise: several holders draw one each, their sum is the whole noise.

The noise is a sum of jumps that come as a Poisson process, and a process is divided by dividing
its rate. Jumps are drawn from a rate above the true one and thinned out, exactly (`shares.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import exponential
from adomnia.mechanisms.noise.exponential import enclose
from adomnia.mechanisms.randomness import GUARD, SYSTEM, Bits, Interval, InversionTable
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = ["WIDEST", "add_share", "sample"]

WIDEST = Fraction(1 << 50)
"""Wider noise could pass the 64 bits of a masked word."""

CHUNK = 1 << 15
WORD = 53
SLACK = 1e-9
Words = NDArray[np.uint64]


def add_share(
    sealed: Sealed[NDArray[Any]],
    scale: Fraction,
    holders: int,
    mask: Words,
    bits: Bits = SYSTEM,
    colluding: int = 0,
) -> Words:
    """The integers with one holder's share of the noise and its mask, modulo 2^64.

    The shares of any `holders - colluding` holders hold the full noise of this scale. Values
    past 2^62 / holders are moved there, so that no sum passes a word.
    """
    exact = unseal(sealed)
    if exact.dtype.kind not in "iu" and not all(isinstance(value, int) for value in exact.flat):
        raise TypeError("noise is added to integers; scale the values to the grid first")
    if mask.dtype != np.uint64 or mask.shape != exact.shape:
        raise ValueError("a mask has one 64-bit word for each value")
    limit = (1 << 62) // holders
    wide = exact if exact.dtype == np.int64 else exact.astype(object)
    values = np.clip(wide, -limit, limit).astype(np.int64)
    noise = sample(scale, _part(holders, colluding), exact.size, bits).reshape(exact.shape)
    masked: Words = values.view(np.uint64) + noise.view(np.uint64) + mask
    return masked


def _part(holders: int, colluding: int) -> Fraction:
    if not 0 <= colluding < holders:
        raise ValueError("somebody must be honest: 0 <= colluding < holders")
    return Fraction(1, holders - colluding)


def sample(scale: Fraction, part: Fraction, size: int, bits: Bits = SYSTEM) -> NDArray[np.int64]:
    """`size` draws of a `part` of integer Laplace noise: the difference of two Polya variables.

    P(G = k) is proportional to part (part + 1) ... (part + k - 1) / k! exp(-k/scale) for each;
    draws whose parts sum to one sum to integer Laplace noise of that scale, exactly.
    """
    if not 0 <= scale <= WIDEST or not 0 < part <= 1:
        raise ValueError("a scale lies between 0 and 2^50, a part between 0 and 1")
    if scale == 0:
        return np.zeros(size, np.int64)
    starts = range(0, size, CHUNK)
    drawn = [_many(scale, part, min(CHUNK, size - start), bits) for start in starts]
    return np.concatenate([np.zeros(0, np.int64), *drawn])


@dataclass(frozen=True)
class _Jumps:
    """Candidate jumps: their sizes, and the start and the leading zeros that thin them out.

    A jump of size k is kept if a uniform number with that many zeros is below
    start / k * exp(-k/scale).
    """

    size: NDArray[np.int64]
    start: NDArray[np.int64]
    zeros: NDArray[np.int64]


def _many(scale: Fraction, part: Fraction, size: int, bits: Bits) -> NDArray[np.int64]:
    """Jumps for each draw, up or down, thinned out and summed."""
    last = _last(scale)
    counts = _count_table(2 * part * (last + 1)).draw(size, bits)
    total = int(counts.sum())
    kind = _kind_table(last).draw(total, bits)
    jumps = _candidates(kind >> 1, last, bits)
    kept = _thin(jumps, scale, bits)
    signed = np.where(kind & 1, -jumps.size, jumps.size) * kept
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(signed)])
    ends = np.cumsum(counts)
    drawn: NDArray[np.int64] = sums[ends] - sums[ends - counts]
    return drawn


def _last(scale: Fraction) -> int:
    """The least e with 2^e >= scale: from there on jumps are rarer than their dyadic blocks."""
    return (math.ceil(scale) - 1).bit_length()


@lru_cache(maxsize=64)
def _count_table(rate: Fraction) -> InversionTable:
    """How many candidates there are: Poisson with a rational rate, weights rate^n / n!."""

    def weights(precision: int) -> tuple[list[Interval], int]:
        enclosed, count = [], 0
        low = high = 1 << precision
        while high > 1 or count < 2 * rate:
            enclosed.append((low, high))
            count += 1
            below = rate.denominator * count
            low, high = low * rate.numerator // below, -(-high * rate.numerator // below)
        return enclosed, 2  # the weights left out are at most 1, 1/2, 1/4, ...

    return InversionTable(weights)


@lru_cache(maxsize=64)
def _kind_table(last: int) -> InversionTable:
    """Blocks 0 .. last, each up or down, all alike."""
    return InversionTable(
        lambda precision: ([(1 << precision, 1 << precision)] * (2 * last + 2), 0)
    )


def _candidates(block: NDArray[np.int64], last: int, bits: Bits) -> _Jumps:
    """Uniform in [2^e, 2^(e+1)); the last block stands for [i 2^e, (i+1) 2^e), i = 1, 2, ..."""
    start = np.left_shift(np.int64(1), block)
    offset = (bits.words(block.size) & (start - 1).astype(np.uint64)).astype(np.int64)
    zeros = np.zeros(block.size, np.int64)
    beyond = np.flatnonzero(block == last)
    zeros[beyond] = _runs(beyond.size, bits)
    return _Jumps(start * np.maximum(zeros, 1) + offset, start, zeros)


def _runs(size: int, bits: Bits) -> NDArray[np.int64]:
    """i = 1, 2, ... with probability 2^-i: tosses up to the first that shows heads."""
    words = bits.words(size)
    lowest = words & (~words + np.uint64(1))
    runs = np.frexp(lowest.astype(np.float64))[1].astype(np.int64)  # a power of two is exact
    for place in np.flatnonzero(words == 0):
        runs[place] = 64 + int(_runs(1, bits)[0])
    return runs


def _thin(jumps: _Jumps, scale: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """Whether each candidate is kept, by floats where they are certain, else by integers."""
    drawn = (bits.words(jumps.size.size) >> np.uint64(64 - WORD)).astype(np.int64)
    point = drawn * 2.0**-WORD
    chance = exponential.exponentials(jumps.size, 1 / scale)  # to 1e-12 of itself
    chance *= jumps.start / jumps.size * np.exp2(jumps.zeros)
    kept: NDArray[np.bool_] = point < chance - SLACK
    for place in np.flatnonzero(np.abs(point - chance) <= SLACK):
        jump = int(jumps.size[place]), int(jumps.start[place])
        kept[place] = _is_kept(jump, scale, int(drawn[place]), int(jumps.zeros[place]), bits)
    return kept


def _is_kept(jump: tuple[int, int], scale: Fraction, drawn: int, zeros: int, bits: Bits) -> bool:
    """Whether the number with those leading zeros and the bits drawn after them is below
    start / size * exp(-size/scale); more bits are drawn until no doubt is left."""
    size, start = jump
    width = WORD + zeros
    while True:
        low, high = enclose(size / scale, width + GUARD)
        if (drawn + 1) * size << GUARD <= low * start:
            return True
        if drawn * size << GUARD >= high * start:
            return False
        drawn = drawn << 64 | bits.integer(64)
        width += 64
