"""Exact choices with exponential weights: exp(-x) enclosed, coins, and the exponential mechanism.

Floats serve as a filter only; `exponential.md` proves that it decides as exact numbers would.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.randomness import GUARD, SYSTEM, Bits, Interval, resolve

__all__ = ["choose", "coin", "enclose", "exponentials", "first", "under"]

CHUNK = 8192
CLAMP = 700.0
LN2 = 0.6931471805599453
TAYLOR = tuple((-1.0) ** k / math.factorial(k) for k in range(11, -1, -1))


def enclose(x: Fraction, precision: int) -> Interval:
    """Integers around exp(-x) * 2^precision, at most two apart; x is not negative."""
    if x == 0:
        return 1 << precision, 1 << precision
    if x > precision:
        return 0, 1
    halvings = math.floor(x).bit_length() + 8
    work = precision + halvings + 16
    above, below = x.numerator << work, x.denominator << halvings
    low = (1 << 2 * work) // _exp_above(-(-above // below), work)
    high = -(-(1 << 2 * work) // _exp_below(above // below, work))
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    return low >> work - precision, -(-high >> work - precision)


def _exp_below(y: int, work: int) -> int:
    """A lower bound of exp(y / 2^work) * 2^work: every term of the series rounded down."""
    term = total = 1 << work
    count = 1
    while term:
        term = (term * y >> work) // count
        total += term
        count += 1
    return total


def _exp_above(y: int, work: int) -> int:
    """An upper bound of the same, y at most 2^work / 128: terms rounded up, the tail added."""
    term = total = 1 << work
    count = 1
    while term > 1:
        term = -((-term * y >> work) // count)
        total += term
        count += 1
    return total + 1  # the terms left out are below 1/128, 1/128^2, ... of the last one


def coin(above: int, below: int, bits: Bits) -> bool:
    """True with probability exp(-above/below), by comparing integers only."""
    while above > below:
        if not coin(1, 1, bits):
            return False
        above -= below
    count = 1
    while bits.below(below * count) < above:
        count += 1
    return count % 2 == 1


def under(drawn: int, width: int, x: Fraction, bits: Bits) -> bool:
    """Whether a uniform number with first `width` bits `drawn` is below exp(-x), exactly."""
    while True:
        low, high = enclose(x, width + GUARD)
        if drawn + 1 << GUARD <= low:
            return True
        if drawn << GUARD >= high:
            return False
        drawn = drawn << 64 | bits.integer(64)
        width += 64


def choose(
    penalties: NDArray[Any], multiplicities: NDArray[Any], eta: Fraction, bits: Bits = SYSTEM
) -> int:
    """Index i with probability exactly proportional to m_i * exp(-eta * s_i) (`exponential.md`).

    Penalties are integers >= 0, multiplicities integers >= 1; either may be int64 or object.
    """
    gaps = penalties - penalties.min()
    drawn = bits.integer(64)
    found = _filter(gaps, multiplicities, eta, drawn)
    if found is not None:
        return found

    def weights(precision: int) -> tuple[list[Interval], int]:
        return _weights(gaps, multiplicities, eta, precision), 0

    return resolve(weights, drawn, 64, bits)


def _weights(
    gaps: NDArray[Any], multiplicities: NDArray[Any], eta: Fraction, precision: int
) -> list[Interval]:
    """Enclosures of every weight; equal penalties are enclosed once."""
    seen: dict[int, Interval] = {}
    enclosed = []
    for gap, many in zip(gaps.tolist(), multiplicities.tolist(), strict=True):
        if gap not in seen:
            seen[gap] = enclose(eta * gap, precision)
        low, high = seen[gap]
        enclosed.append((many * low, many * high))
    return enclosed


def _filter(
    gaps: NDArray[Any], multiplicities: NDArray[Any], eta: Fraction, drawn: int
) -> int | None:
    """The choice by floats, or None where their certified error leaves a doubt."""
    starts = range(0, gaps.size, CHUNK)
    top = int(multiplicities.max()) if multiplicities.dtype == object else 1

    def chunk(start: int) -> NDArray[np.float64]:
        part = slice(start, start + CHUNK)
        return _floats(multiplicities[part], top) * exponentials(gaps[part], eta)

    ends = np.cumsum([chunk(start).sum() for start in starts])
    total = float(ends[-1])
    error = 1e-12 + 1.2e-16 * (CHUNK + ends.size)
    if gaps.size * 1e-303 * (1e20 if top == 1 else 1.0) > 1e-12 * total:
        return None  # what the clamp at exp(-700) adds could matter
    point = drawn * 2.0**-64 * total
    block = min(int(np.searchsorted(ends, point)), ends.size - 1)
    before = float(ends[block - 1]) if block else 0.0
    sums = before + np.cumsum(chunk(starts[block]))
    index = min(int(np.searchsorted(sums, point)), sums.size - 1)
    lower = float(sums[index - 1]) if index else before
    slack = 3 * error * total
    last = starts[block] + index == gaps.size - 1
    first = starts[block] + index == 0
    sure = (first or lower + slack < point) and (last or point < float(sums[index]) - slack)
    return starts[block] + index if sure else None


def _floats(multiplicities: NDArray[Any], top: int) -> NDArray[np.float64]:
    """Multiplicities as floats, divided by `top` if they are Python integers."""
    if multiplicities.dtype != object:
        return multiplicities.astype(np.float64)
    return np.array([float(Fraction(int(many), top)) for many in multiplicities])


def exponentials(gaps: NDArray[Any], eta: Fraction) -> NDArray[np.float64]:
    """exp(-min(eta * gap, 700)) to within 1e-12 of itself, from IEEE sums and products only."""
    if gaps.dtype == object or not 2**-900 < eta < 2**900:
        x = np.array([float(min(eta * int(gap), Fraction(700))) for gap in gaps])
    else:
        x = np.minimum(gaps.astype(np.float64) * float(eta), CLAMP)
    halvings = np.rint(x * (1 / LN2))
    rest = x - halvings * LN2
    value = np.full_like(rest, TAYLOR[0])
    for coefficient in TAYLOR[1:]:
        value *= rest
        value += coefficient
    powers = (1023 - halvings.astype(np.int64)) << 52
    return value * powers.view(np.float64)


# The first integer for which something holds, found by doubling and halving.


def first(holds: Callable[[int], bool], least: int, guess: int) -> int:
    """The smallest integer >= least where `holds` turns true (it stays true from there on)."""
    low, high, step = least - 1, max(least, guess), 1
    while not holds(high):
        low, high, step = high, high + step, 2 * step
    step = 1
    while high - low > 1:
        middle = max((low + high) // 2, high - step)
        if holds(middle):
            high, step = middle, 2 * step
        else:
            low = middle
    return high
