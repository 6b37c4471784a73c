"""Integer Laplace noise, exact: P(X = x) is proportional to exp(-|x|/scale) (`laplace.md`)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise.exponential import coin, enclose
from adomnia.mechanisms.randomness import SYSTEM, Bits, Interval, InversionTable

__all__ = ["probability", "sample", "tail"]

FEW = 256
DIGITS = 10
LARGEST = 1 << 50


def sample(scale: Fraction, size: int, bits: Bits = SYSTEM) -> NDArray[Any]:
    """`size` independent draws; int64, or Python integers where 62 bits might not hold them."""
    if scale < 0:
        raise ValueError("a scale is not negative")
    if scale == 0:
        return np.zeros(size, np.int64)
    if size < FEW or scale > LARGEST:
        return gather([draw(scale, bits) for _ in range(size)], scale <= LARGEST)
    return _many(scale, size, bits)


def gather(draws: list[int], narrow: bool) -> NDArray[Any]:
    """The draws as int64 if that was hoped for and every one fits, otherwise as objects."""
    fits = narrow and all(abs(drawn) < 1 << 61 for drawn in draws)
    return np.array(draws, np.int64 if fits else object)


def draw(scale: Fraction, bits: Bits) -> int:
    """One draw, by the algorithm of Canonne, Kamath and Steinke."""
    above, below = scale.numerator, scale.denominator
    while True:
        rest = bits.below(above)
        if not coin(rest, above, bits):
            continue
        whole = 0
        while coin(1, 1, bits):
            whole += 1
        magnitude = (rest + above * whole) // below
        negative = bits.integer(1)
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def _many(scale: Fraction, size: int, bits: Bits) -> NDArray[Any]:
    """X is G or its complement ~G, G geometric; the binary digits of G are independent."""
    shift, blocks, digits = _tables(scale)
    index = blocks.draw(size, bits)
    negative = -(index & 1)
    if int(index.max()).bit_length() + shift > 61:
        index = index.astype(object)  # at odds of about exp(-2^10)
    magnitude = (index >> 1) << shift
    for place, table in digits:
        magnitude |= table.draw(size, bits) << place
    magnitude ^= negative
    return magnitude


@lru_cache(maxsize=32)
def _tables(scale: Fraction) -> tuple[int, InversionTable, tuple[tuple[int, InversionTable], ...]]:
    """How many low binary digits are drawn apart, the table of the rest, and their tables."""
    shift = (math.ceil(scale / 8) - 1).bit_length()
    digits = []
    for place in range(0, shift, DIGITS):
        count = 1 << min(DIGITS, shift - place)
        digits.append((place, _digits_table(scale, place, count)))
    return shift, _blocks_table(scale, shift), tuple(digits)


def _digits_table(scale: Fraction, place: int, count: int) -> InversionTable:
    """Digits from `place` on: l in [0, count) with weight exp(-l 2^place / scale)."""
    step = Fraction(1 << place) / scale
    return InversionTable(lambda precision: (powers(step, count, precision), 0))


def _blocks_table(scale: Fraction, shift: int) -> InversionTable:
    """Sign and leading digits: index 2h + b with weight exp(-(h 2^shift + b)/scale)."""
    block, one = Fraction(1 << shift) / scale, 1 / scale

    def weights(precision: int) -> tuple[list[Interval], int]:
        count = math.ceil(precision / block) + 2
        low, high = enclose(one, precision)
        both = []
        for least, most in powers(block, count, precision):
            both += [(least, most), (least * low >> precision, -(-most * high >> precision))]
        # the weights left out: 2 q^count / (1 - q), and 1/(1 - q) <= 1 + 1/block
        return both, 2 * (math.ceil(1 / block) + 1) * enclose(block * count, precision)[1]

    return InversionTable(weights)


def powers(step: Fraction, count: int, precision: int) -> list[Interval]:
    """Enclosures of exp(-step * k) * 2^precision for k below `count`."""
    work = precision + count.bit_length() + 4
    low_ratio, high_ratio = enclose(step, work)
    low = high = 1 << work
    enclosed = []
    for _ in range(count):
        enclosed.append((low >> work - precision, -(-high >> work - precision)))
        low, high = low * low_ratio >> work, -(-high * high_ratio >> work)
    return enclosed


def probability(scale: Fraction, x: int) -> float:
    """P(X = x), to float precision."""
    if scale == 0:
        return float(x == 0)
    rate = _rate(scale)
    return math.tanh(rate / 2) * math.exp(-abs(x) * rate) if rate < math.inf else float(x == 0)


def tail(scale: Fraction, m: int) -> float:
    """P(|X| > m) for m >= 0, to float precision."""
    if scale == 0 or _rate(scale) == math.inf:
        return 0.0
    exponent = float(min(Fraction(m + 1) / scale, Fraction(10_000)))
    return 2 * math.exp(-exponent) / (1 + math.exp(-_rate(scale)))


def _rate(scale: Fraction) -> float:
    return float(1 / scale) if scale * 10**300 > 1 else math.inf
