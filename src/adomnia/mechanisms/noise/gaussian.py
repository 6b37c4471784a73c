"""Integer Gaussian noise, exact: P(X = x) is proportional to exp(-x^2/(2 variance)).

The algorithm, and why nothing in it is rounded, is in `gaussian.md`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.noise.exponential import coin, enclose, under
from adomnia.mechanisms.randomness import SYSTEM, Bits, Interval, InversionTable, narrow

__all__ = ["compact", "probability", "sample"]

FEW = 64
LARGEST = 1 << 90
SLACK = 2.0**-44


def sample(variance: Fraction, size: int, bits: Bits = SYSTEM) -> NDArray[Any]:
    """`size` independent draws; int64, or Python integers where 62 bits might not hold them."""
    drawn = compact(variance, size, bits)
    return drawn if drawn.dtype == object else drawn.astype(np.int64, copy=False)


def compact(variance: Fraction, size: int, bits: Bits = SYSTEM) -> NDArray[Any]:
    """The same; int32 where many are drawn and 30 bits hold them all."""
    if variance < 0:
        raise ValueError("a variance is not negative")
    if variance == 0:
        return np.zeros(size, np.int64)
    if size < FEW or variance > LARGEST:
        return laplace.gather([draw(variance, bits) for _ in range(size)], variance <= LARGEST)
    return _many(variance, size, bits)


def draw(variance: Fraction, bits: Bits) -> int:
    """One draw, by the algorithm of Canonne, Kamath and Steinke."""
    scale = math.isqrt(math.floor(variance)) + 1
    above, below = variance.numerator, variance.denominator
    while True:
        drawn = laplace.draw(Fraction(scale), bits)
        # exp(-(|y| - variance/scale)^2 / (2 variance)), over the common denominator
        distance = abs(drawn) * scale * below - above
        if coin(distance * distance, 2 * above * below * scale * scale, bits):
            return drawn


def _many(variance: Fraction, size: int, bits: Bits) -> NDArray[Any]:
    """Accepted candidates, in their order, until there are enough."""
    shift, table = _table(variance)
    kept: list[NDArray[Any]] = []
    missing = size
    while missing > 0:
        spare = missing // 32 + 16 if shift else 0
        drawn = _candidates(variance, shift, table.draw(missing + spare, bits), bits)
        kept.append(drawn[:missing])
        missing -= kept[-1].size
    return kept[0] if len(kept) == 1 else np.concatenate(kept)


def _candidates(
    variance: Fraction, shift: int, index: NDArray[np.int64], bits: Bits
) -> NDArray[Any]:
    """Signed integers in the blocks given, uniform in each and then thinned out exactly."""
    digits = int(index.max()).bit_length() + shift
    if digits > 61:  # never seen: odds of about 2^(-2^27)
        slowly = [_candidate(variance, shift, place, bits) for place in index.tolist()]
        return np.array([drawn for drawn in slowly if drawn is not None], object)
    short: NDArray[Any] = index.astype(np.int32 if digits <= 30 else np.int64)
    signed: NDArray[Any] = ((short >> 1) << shift) ^ -(short & 1)
    if shift == 0:
        return signed
    width = _word(shift)
    word = narrow(bits, index.size, f"u{width // 8}")
    limits = _limits(variance, shift)
    accepted = word < limits.take(index, mode="clip")
    signed ^= (word & word.dtype.type((1 << shift) - 1)).astype(short.dtype)
    unsure = np.flatnonzero(~accepted)
    few, first = signed[unsure].astype(np.int64), word[unsure] >> (width - _spare(shift))
    accepted[unsure] = _thin(few, shift, first.astype(np.int64), variance, bits)
    kept: NDArray[Any] = signed[accepted]
    return kept


def _word(shift: int) -> int:
    """How many bits are drawn for a candidate's low digits and the first bits of its coin."""
    return 16 if shift <= 10 else 32 if shift <= 26 else 64


def _spare(shift: int) -> int:
    """How many of them, from the top, are the first bits of its coin."""
    return min(_word(shift) - shift, 16)


@lru_cache(maxsize=64)
def _limits(variance: Fraction, shift: int) -> NDArray[np.unsignedinteger]:
    """For each block the number below which a word's coin is heads whatever the low digits are.

    The last entry, 0, stands for all blocks from there on.
    """
    spare, last = _spare(shift), (1 << shift) - 1
    reach = 12 * math.isqrt(math.ceil(variance)) >> shift
    starts = [(half << shift) + negative for half in range(reach) for negative in (0, 1)]
    above, below = (last << spare) * variance.denominator, 2 * variance.numerator
    sure = [max(0, (1 << spare) + -above * (2 * start + last) // below) for start in starts]
    scaled = [coin << _word(shift) - spare for coin in sure]
    return np.array([*scaled, 0], f"u{_word(shift) // 8}")


def _candidate(variance: Fraction, shift: int, index: int, bits: Bits) -> int | None:
    """One candidate of a block in Python integers, or None if it is thinned out."""
    negative = index & 1
    start = (index >> 1) << shift
    rest, first = bits.integer(shift), start + negative
    exponent = rest * (2 * first + rest) / (2 * variance)
    if not coin(exponent.numerator, exponent.denominator, bits):
        return None
    return (start + rest) ^ -negative


def _thin(
    signed: NDArray[np.int64],
    shift: int,
    first: NDArray[np.int64],
    variance: Fraction,
    bits: Bits,
) -> NDArray[np.bool_]:
    """True with probability exp(-rest (2 start + rest) / (2 variance)), each on its own.

    `first` are the first bits of each uniform number; 32 more are drawn.
    """
    width = _spare(shift) + 32
    negative = signed < 0
    whole = signed ^ -negative.astype(np.int64)
    rest = whole & ((1 << shift) - 1)
    start = whole - rest + negative
    drawn = first << 32 | narrow(bits, first.size, np.uint32)
    point = drawn * 2.0**-width
    exponent = rest.astype(np.float64) * (2 * start + rest) * float(1 / (2 * variance))
    below = 1 - exponent * (1 - exponent * (0.5 - exponent * (1 / 6)))
    accepted: NDArray[np.bool_] = point <= below - (SLACK + 2.0**-width)
    above = below + (exponent * exponent) * (exponent * exponent) * (1 / 24)
    doubt = ~accepted & ((point < above + SLACK) | (exponent > 1))
    for place in np.flatnonzero(doubt):
        left, right = int(rest[place]), int(start[place])
        exact = left * (2 * right + left) / (2 * variance)
        accepted[place] = under(int(drawn[place]), width, exact, bits)
    return accepted


@lru_cache(maxsize=64)
def _table(variance: Fraction) -> tuple[int, InversionTable]:
    """How many low binary digits are uniform candidates, and the table of the blocks."""
    shift = max(0, (math.floor(variance).bit_length() - 11) // 2)
    block = 1 << shift

    def weights(precision: int) -> tuple[list[Interval], int]:
        count = math.isqrt(math.ceil(2 * variance * precision)) // block + 2
        plus = _squares(0, block, variance, (count, precision))
        minus = _squares(1, block, variance, (count, precision))
        both = [interval for pair in zip(plus, minus, strict=True) for interval in pair]
        return both, 2 * (count + 1)  # `gaussian.md`: what is left out is below this

    return shift, InversionTable(weights)


def _squares(start: int, step: int, variance: Fraction, size: tuple[int, int]) -> list[Interval]:
    """Enclosures of exp(-(start + k step)^2 / (2 variance)) * 2^precision, k below the count."""
    count, precision = size
    work = precision + 2 * count.bit_length() + 8
    low, high = enclose(start * start / (2 * variance), work)
    low_ratio, high_ratio = enclose(step * (2 * start + step) / (2 * variance), work)
    low_factor, high_factor = enclose(step * step / variance, work)
    enclosed = []
    for _ in range(count):
        enclosed.append((low >> work - precision, -(-high >> work - precision)))
        low, high = low * low_ratio >> work, -(-high * high_ratio >> work)
        low_ratio, high_ratio = low_ratio * low_factor >> work, -(-high_ratio * high_factor >> work)
    return enclosed


def probability(variance: Fraction, x: int) -> float:
    """P(X = x), to float precision."""
    if variance == 0:
        return float(x == 0)
    return math.exp(-float(x * x / (2 * variance))) / mass(float(variance))


def mass(variance: float) -> float:
    """The sum of exp(-x^2 / (2 variance)) over all integers, by whichever series is short."""
    if variance >= 1:  # Poisson's summation formula
        return math.sqrt(2 * math.pi * variance) * (1 + 2 * math.exp(-2 * math.pi**2 * variance))
    return 1 + 2 * math.fsum(math.exp(-x * x / (2 * variance)) for x in range(1, 12))
