"""The law of the ratio of two noisy counts: Laplace, Gaussian and integer noise (`ratio.md`).

X is a noisy count of `phi` > 0 rows, Y of `theta` >= 0 rows, and F(z) = P(Y/X <= z). Wherever a
scale is asked for, a pair is taken as the scale of X and the scale of Y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adomnia.errors import QuestionError

__all__ = [
    "TRUNCATION",
    "gaussian_ratio",
    "integer_between",
    "integer_ratio",
    "laplace_ratio",
    "standard_gaussian",
    "standard_laplace",
    "standardise",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike]

TRUNCATION = 1e-15  # what the lattice sums leave out, at most
WIDEST = 1_000_000  # of a scale on the lattice: beyond, the integers no longer matter
CHUNK = 1 << 20
LARGEST = 1 << 61
FAR = 1e150  # further out F differs from its limit by less than a float can say
TINY = 1e-300


def laplace_ratio(z: ArrayLike, phi: ArrayLike, theta: ArrayLike, scale: Scale) -> Floats:
    """F(z) for Laplace noise, to within 1e-12 (`ratio.md`); arguments are broadcast."""
    z, alpha, beta, widths = _prepared(z, phi, theta, scale)
    gap = _gap(z, phi, theta, widths[1])
    return standard_laplace(z * (widths[0] / widths[1]), gap, alpha, beta)


def gaussian_ratio(z: ArrayLike, phi: ArrayLike, theta: ArrayLike, deviation: Scale) -> Floats:
    """F(z) for normal noise with these standard deviations; arguments are broadcast."""
    z, alpha, beta, widths = _prepared(z, phi, theta, deviation)
    gap = _gap(z, phi, theta, widths[1])
    return standard_gaussian(z * (widths[0] / widths[1]), gap, alpha, beta)


def integer_ratio(z: Fraction, phi: int, theta: int, scale: Scale) -> float:
    """P(X != 0 and Y/X <= z) for integer Laplace noise; too small by at most `TRUNCATION`."""
    return _lattice(None, z, (phi, theta), scale)


def integer_between(low: Fraction, high: Fraction, phi: int, theta: int, scale: Scale) -> float:
    """P(X != 0 and low <= Y/X <= high), likewise; both ends belong to it and are exact."""
    return _lattice(low, high, (phi, theta), scale)


def standardise(
    phi: ArrayLike, theta: ArrayLike, scale: Scale
) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
    """phi and theta in units of their own scale, and the two scales; refuses what is no count."""
    pair = scale if isinstance(scale, tuple) else (scale, scale)
    over, under = (np.asarray(width, np.float64) for width in pair)
    phi, theta = np.asarray(phi, np.float64), np.asarray(theta, np.float64)
    if not (np.all(phi > 0) and np.all(theta >= 0)):
        raise QuestionError("a ratio needs a group of at least one row and no negative count")
    if not all(np.all((width > 0) & np.isfinite(width)) for width in (over, under)):
        raise QuestionError("the scale of noise is positive and finite")
    with np.errstate(over="ignore"):
        return np.minimum(phi / over, FAR), np.minimum(theta / under, FAR), (over, under)


def standard_laplace(z: ArrayLike, gap: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> Floats:
    """F(z) at scales 1 and means alpha, beta; `gap` is beta - z * alpha.

    The gap is handed in because most callers know it without cancellation.
    """
    z, gap, alpha, beta = _together(z, gap, alpha, beta)
    found = np.empty(z.shape)
    below = z < 0
    found[below] = _negative(-z[below], alpha[below], beta[below])
    rest = ~below
    found[rest] = _positive(z[rest], gap[rest], alpha[rest], beta[rest])
    return found


def standard_gaussian(z: ArrayLike, gap: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> Floats:
    """The same for normal noise of deviation 1, by Owen's function."""
    from scipy.special import owens_t  # noqa: PLC0415 (slow)

    z, gap, alpha, beta = _together(z, gap, alpha, beta)
    with np.errstate(divide="ignore", over="ignore"):
        slope = (alpha + z * beta) / np.where(gap == 0, TINY, gap)
        found = 2 * (owens_t(alpha, beta / alpha) + owens_t(gap / np.hypot(1, z), slope))
    return np.asarray(found + (gap < 0), np.float64)


def _together(*parts: ArrayLike) -> tuple[Floats, ...]:
    return np.broadcast_arrays(*(np.asarray(part, np.float64) for part in parts))


def _prepared(
    z: ArrayLike, phi: ArrayLike, theta: ArrayLike, scale: Scale
) -> tuple[Floats, Floats, Floats, tuple[Floats, Floats]]:
    """The point kept within floats, and the counts in units of the noise."""
    z = np.asarray(z, np.float64)
    if np.any(np.isnan(z)):
        raise QuestionError("the ratio law is asked at a number")
    return np.clip(z, -FAR, FAR), *standardise(phi, theta, scale)


def _gap(z: Floats, phi: ArrayLike, theta: ArrayLike, unit: Floats) -> Floats:
    """theta - z * phi in this unit, with the rounding of the product put back (Dekker)."""
    phi, theta = np.asarray(phi, np.float64), np.asarray(theta, np.float64)
    product = z * phi
    (z_high, z_low), (phi_high, phi_low) = _halves(z), _halves(phi)
    rounding = z_low * phi_low - (
        ((product - z_high * phi_high) - z_low * phi_high) - z_high * phi_low
    )
    with np.errstate(over="ignore"):
        return np.asarray(((theta - product) - rounding) / unit)


def _halves(number: Floats) -> tuple[Floats, Floats]:
    """The leading and the trailing half of the digits (Veltkamp)."""
    shifted = number * 134_217_729.0
    high = shifted - (shifted - number)
    return high, number - high


def _decay(length: Floats, rate: Floats) -> Floats:
    """The integral of exp(-rate * t) over [0, length]; rate >= 0, also 0, and any length."""
    with np.errstate(invalid="ignore", over="ignore"):
        safe = np.where(rate > 0, rate, 1.0)
        return np.where(rate > 0, -np.expm1(-rate * length) / safe, length)


def _positive(z: Floats, gap: Floats, alpha: Floats, beta: Floats) -> Floats:
    """F(z) for z >= 0: P(Y - zX <= 0), and what the sign of X changes."""
    beyond = _sum_tail(z, np.abs(gap))
    below = np.where(gap < 0, 1 - beyond, beyond)
    return np.asarray(below + np.exp(-alpha) * (1 - np.exp(-beta) / (1 + z)) / 2)


def _sum_tail(z: Floats, far: Floats) -> Floats:
    """P(L + zL' > far) for two standard Laplace variables, without a pole at z = 1."""
    wide = np.maximum(z, 1)
    narrow = np.maximum(np.minimum(z, 1) / wide, TINY)
    far = np.minimum(far / wide, 1000)  # exp(-1000) is nothing
    share = narrow * narrow / (1 + narrow)
    return np.asarray(np.exp(-far) * (1 + share * _decay(far / narrow, 1 - narrow)) / 2)


def _negative(r: Floats, alpha: Floats, beta: Floats) -> Floats:
    """F(-r) for r > 0: X > 0 and Y <= -rX, or X < 0 and Y >= r|X|; without a pole at r = 1."""
    with np.errstate(over="ignore"):
        turn = np.minimum(beta / r, FAR)
    rate = np.abs(1 - r)
    right = np.exp(-np.minimum(r, 1) * alpha) * _decay(alpha, rate) + np.exp(-r * alpha) / (1 + r)
    left = np.exp(-turn) / (1 + r) / 2 - np.expm1(-turn)
    left -= np.exp(-np.minimum(beta, turn)) * _decay(turn, rate) / 2
    return np.asarray(np.exp(-beta) * right / 4 + np.exp(-alpha) * left / 2)


def _lattice(low: Fraction | None, high: Fraction, means: tuple[int, int], scale: Scale) -> float:
    """P(X != 0, low <= Y/X <= high), summed over all X but a tail of at most `TRUNCATION`."""
    phi, theta = means
    _, _, (over, under) = standardise(phi, theta, scale)
    if over.size != 1 or under.size != 1 or over > WIDEST:
        raise QuestionError(
            f"integer noise is summed for one scale, of at most {WIDEST:,}",
            "beyond that use the law of continuous noise: they hardly differ",
        )
    reach = math.ceil(float(over) * math.log(2 / TRUNCATION))
    total = 0.0
    for start in range(-reach, reach + 1, CHUNK):
        noise = np.arange(start, min(start + CHUNK, reach + 1))
        noise = noise[noise != -phi]
        least, most = _ends(low, high, noise + phi)
        chance = _noise_below(most - theta, float(under))
        if least is not None:
            chance = np.maximum(chance - _noise_below(least - 1 - theta, float(under)), 0)
        total += float(np.sum(_noise_mass(noise, float(over)) * chance))
    return total


def _ends(low: Fraction | None, high: Fraction, x: Ints) -> tuple[Ints | None, Ints]:
    """The least and the largest integer y with low <= y/x <= high, for each x."""
    top, bottom = _floor(high, x), -_floor(-high, x)
    if low is None:  # below zero the inequality turns: y/x <= high means y >= high * x
        return np.where(x > 0, -LARGEST, bottom), np.where(x > 0, top, LARGEST)
    return np.where(x > 0, -_floor(-low, x), bottom), np.where(x > 0, top, _floor(low, x))


def _floor(z: Fraction, x: Ints) -> Ints:
    """floor(z * x), exactly."""
    wide = max(abs(z.numerator) * max(int(np.abs(x).max(initial=0)), 1), z.denominator) > LARGEST
    wider: NDArray[Any] = x.astype(object) if wide else x
    found = np.clip(wider * z.numerator // z.denominator, -LARGEST, LARGEST)
    return np.asarray(found, np.int64)


def _noise_below(most: Ints, scale: float) -> Floats:
    """P(L <= most) for integer Laplace noise L."""
    outside = np.exp(-np.where(most >= 0, most + 1, -most) / scale) / (1 + math.exp(-1 / scale))
    return np.where(most >= 0, 1 - outside, outside)


def _noise_mass(noise: Ints, scale: float) -> Floats:
    """P(L = noise)."""
    return np.asarray(math.tanh(1 / (2 * scale)) * np.exp(-np.abs(noise) / scale))
