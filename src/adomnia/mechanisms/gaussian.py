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

from adomnia.mechanisms import laplace
from adomnia.mechanisms.exponential import coin, enclose, under
from adomnia.mechanisms.randomness import SYSTEM, Bits, Interval, Table, narrow

__all__ = ["probability", "sample"]

FEW = 64
LARGEST = 1 << 90
SLACK = 2.0**-44


def sample(variance: Fraction, size: int, bits: Bits = SYSTEM) -> NDArray[Any]:
    """`size` independent draws; int64, or Python integers where 62 bits might not hold them."""
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
    if int(index.max()).bit_length() + shift > 61:  # never seen: odds of about 2^(-2^27)
        slowly = [_candidate(variance, shift, place, bits) for place in index.tolist()]
        return np.array([drawn for drawn in slowly if drawn is not None], object)
    negative = index & 1
    start = (index >> 1) << shift
    if shift == 0:
        return start ^ -negative
    dtype = np.uint16 if shift <= 16 else np.uint64
    rest = (narrow(bits, index.size, dtype) >> (8 * np.dtype(dtype).itemsize - shift)).astype(
        np.int64
    )
    accepted = _thin(start + negative, rest, variance, bits)
    return ((start | rest) ^ -negative)[accepted]


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
    start: NDArray[np.int64], rest: NDArray[np.int64], variance: Fraction, bits: Bits
) -> NDArray[np.bool_]:
    """True with probability exp(-rest (2 start + rest) / (2 variance)), each on its own."""
    drawn = narrow(bits, rest.size, np.uint32)
    point = drawn * 2.0**-32
    exponent = rest.astype(np.float64) * (2 * start + rest) * float(1 / (2 * variance))
    below = 1 - exponent * (1 - exponent * (0.5 - exponent * (1 / 6)))
    accepted = point <= below - (SLACK + 2.0**-32)
    above = below + (exponent * exponent) * (exponent * exponent) * (1 / 24)
    doubt = ~accepted & ((point < above + SLACK) | (exponent > 1))
    for place in np.flatnonzero(doubt):
        left, right = int(rest[place]), int(start[place])
        exact = left * (2 * right + left) / (2 * variance)
        accepted[place] = under(int(drawn[place]), 32, exact, bits)
    return accepted


@lru_cache(maxsize=32)
def _table(variance: Fraction) -> tuple[int, Table]:
    """How many low binary digits are uniform candidates, and the table of the blocks."""
    shift = max(0, (math.floor(variance).bit_length() - 11) // 2)
    block = 1 << shift

    def weights(precision: int) -> tuple[list[Interval], int]:
        count = math.isqrt(math.ceil(2 * variance * precision)) // block + 2
        plus = _squares(0, block, variance, (count, precision))
        minus = _squares(1, block, variance, (count, precision))
        both = [interval for pair in zip(plus, minus, strict=True) for interval in pair]
        return both, 2 * (count + 1)  # `gaussian.md`: what is left out is below this

    return shift, Table(weights)


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
