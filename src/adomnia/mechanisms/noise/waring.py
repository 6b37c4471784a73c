"""Integer noise with a power tail, exact: Waring's law on both sides of zero (`waring.md`).

Unlike the Laplace law it changes by a bounded factor when its scale is stretched, so its scale
may depend on the data. All its probabilities are fractions: no exponential is needed.
"""

from __future__ import annotations

import math
from fractions import Fraction

from adomnia.mechanisms.noise.exponential import first
from adomnia.mechanisms.randomness import SYSTEM, Bits

__all__ = ["TAIL", "draw", "margin", "mean_size", "probability", "tail"]

TAIL = 3
"""P(|Z| > m) falls as 1/m^3: the variance is finite."""
WIDTH = 64


def draw(scale: Fraction, bits: Bits = SYSTEM) -> int:
    """One draw: P(Z = z) is proportional to 1 / prod(scale + |z| + i, i = 0..3)."""
    if scale <= 0:
        raise ValueError("a scale is positive")
    while True:
        magnitude = _magnitude(scale, bits)
        negative = bits.integer(1)
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def _magnitude(scale: Fraction, bits: Bits) -> int:
    """The largest k with U < P(G >= k), for a uniform U of which only first bits are drawn."""
    above = _product(scale, 0)
    drawn, width = bits.integer(WIDTH), WIDTH
    while True:
        level = above << width

        def fails(k: int, number: int = drawn + 1, level: int = level) -> bool:
            return number * _product(scale, k) > level

        found = first(fails, 1, 1) - 1
        if drawn * _product(scale, found + 1) >= level:
            return found
        drawn, width = drawn << WIDTH | bits.integer(WIDTH), width + WIDTH


def _product(scale: Fraction, k: int) -> int:
    """The product of (scale + k + i) over i < TAIL, times the denominator to that power."""
    a, b = scale.numerator, scale.denominator
    return math.prod(a + (k + i) * b for i in range(TAIL))


def reaches(scale: Fraction, k: int) -> Fraction:
    """P(G >= k) of the magnitude before the sign, k >= 0."""
    return Fraction(_product(scale, 0), _product(scale, k))


def probability(scale: Fraction, z: int) -> Fraction:
    """P(Z = z), exactly."""
    size = abs(z)
    single = reaches(scale, size) - reaches(scale, size + 1)
    return single * (scale + TAIL) / (2 * scale + TAIL)


def tail(scale: Fraction, m: int) -> Fraction:
    """P(|Z| > m) for m >= 0, exactly."""
    return 2 * reaches(scale, m + 1) * (scale + TAIL) / (2 * scale + TAIL)


def margin(scale: Fraction, confidence: float) -> int:
    """The smallest m with P(|Z| <= m) >= confidence."""
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    doubt = 1 - Fraction(str(confidence))
    return first(lambda m: tail(scale, m) <= doubt, 0, 0)


def mean_size(scale: float, most: float) -> float:
    """The mean of min(|Z|, most), a float for comparisons."""
    s = scale
    rest = s * (s + 1) * (s + 2) / ((s + most + 1) * (s + most + 2))
    return (s - rest) * (s + TAIL) / (2 * s + TAIL)
