"""Margins of many weighted sums of noise at once: one per cell, each with its own weights.

For an average or a variance the weights differ from cell to cell, and there can be thousands.
Laplace noise is taken as continuous here, with the spread of the integer noise (`margin.md`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.margin import Noise

__all__ = ["margins"]

Floats = NDArray[np.float64]


def margins(weights: Floats, noise: Noise, terms: NDArray[np.int64], confidence: float) -> Floats:
    """For each row of weights the m with P(|Σ w_i X_i| ≤ m) = confidence.

    `terms` says of how many independent draws each X is the sum; several are taken as one with
    their joint spread, which is on the safe side (a sum has lighter tails).
    """
    spread = np.abs(weights) * _scale(noise) * np.sqrt(terms)[:, None]
    if noise.kind == "gaussian":
        from scipy.special import ndtri  # noqa: PLC0415 (slow to import)

        quantile = float(ndtri(0.5 + confidence / 2))
        return quantile * np.asarray(np.sqrt((spread**2).sum(axis=1)))
    return _laplace(spread, 1 - confidence)


def _scale(noise: Noise) -> float:
    if noise.kind == "gaussian":
        return math.sqrt(noise.parameter)
    rate = float(1 / noise.parameter) if noise.parameter else math.inf
    # The integer Laplace has variance 1/(2 sinh²(1/2s)); a continuous one has twice its scale².
    return 0.0 if rate > 700 else 1 / (2 * math.sinh(rate / 2))


def _laplace(scales: Floats, doubt: float) -> Floats:
    """The two-sided tail of a sum of Laplace variables, solved by halving for all rows at once."""
    largest = scales.max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    apart = _separate(scales / unit[:, None])
    low = np.zeros(len(scales))
    high = np.full(len(scales), apart.shape[1] * (2 - math.log(doubt)))
    for _ in range(50):
        middle = (low + high) / 2
        over = _tail(apart, middle) > doubt
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.where(largest > 0, high * unit, 0.0)


def _separate(scales: Floats) -> Floats:
    """Equal scales pushed a little apart, upwards: the partial fractions need them distinct."""
    ordered = np.sort(np.maximum(scales, 1e-6), axis=1)
    for column in range(1, ordered.shape[1]):
        ordered[:, column] = np.maximum(ordered[:, column], ordered[:, column - 1] * 1.003)
    return ordered


def _tail(scales: Floats, at: Floats) -> Floats:
    """P(|S| > t) = Σ c_i exp(-t/b_i), c_i = Π_{j≠i} b_i² / (b_i² - b_j²)."""
    squares = scales**2
    total = np.zeros(len(scales))
    for i in range(scales.shape[1]):
        others = np.delete(squares, i, axis=1)
        factor = np.prod(squares[:, [i]] / (squares[:, [i]] - others), axis=1)
        total += factor * np.exp(-at / scales[:, i])
    return total
