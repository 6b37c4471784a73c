"""Margins of many weighted sums of noise at once: one per cell, each with its own weights.

For an average or a variance the weights differ from cell to cell, and there can be thousands.
Laplace noise is taken as continuous here, with the spread of the integer noise
(`combination.md`).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.margins.margin import Noise

__all__ = ["margins"]

Floats = NDArray[np.float64]
HALVINGS = 40
WIDEST = 10**290
"""Noise wider than this is past what floats can tell apart."""


def margins(weights: Floats, noise: Noise, terms: NDArray[np.int64], confidence: float) -> Floats:
    """For each row of weights the m with P(|Σ w_i X_i| ≤ m) = confidence.

    `terms` says of how many independent draws each X is the sum; several have a law between
    one Laplace and a normal one of their joint spread, and the larger of both margins is taken.
    """
    spread = np.abs(weights) * _scale(noise) * np.sqrt(terms)[:, None]
    if noise.kind == "gaussian":
        return _normal(spread, confidence)
    single = _laplace(spread, 1 - confidence)
    if not (terms > 1).any():
        return single
    several = np.maximum(single, _normal(spread, confidence) * math.sqrt(2))
    return np.where(terms > 1, several, single)


def _normal(spread: Floats, confidence: float) -> Floats:
    quantile = -NormalDist().inv_cdf((1 - confidence) / 2)
    largest = spread.max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)  # squares of very wide noise would overflow
    size: Floats = np.sqrt(((spread / unit[:, None]) ** 2).sum(axis=1))
    return quantile * unit * size


def _scale(noise: Noise) -> float:
    """The standard deviation of a gaussian, the scale of a continuous laplace as wide."""
    if noise.kind == "gaussian":
        exact = noise.parameter
        return math.sqrt(exact) if exact < WIDEST else float(min(math.isqrt(int(exact)), WIDEST))
    if noise.parameter > WIDEST:
        return float(WIDEST)
    if 700 * noise.parameter < 1:
        return 0.0
    # The integer Laplace has variance 1/(2 sinh²(1/2s)); a continuous one has twice its scale².
    return 1 / (2 * math.sinh(float(1 / noise.parameter) / 2))


def _laplace(scales: Floats, doubt: float) -> Floats:
    """The two-sided tail of a sum of Laplace variables, solved by halving for all rows at once."""
    largest = scales.max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    apart = _separate(scales / unit[:, None])
    shares, rates = _fractions(apart), -1 / apart
    low = np.zeros(len(scales))
    high = np.full(len(scales), apart.shape[1] * (2 - math.log(doubt)))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        over = np.einsum("ij,ij->i", shares, np.exp(rates * middle[:, None])) > doubt
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.where(largest > 0, high * unit, 0.0)


def _separate(scales: Floats) -> Floats:
    """Equal scales pushed a little apart, upwards: the partial fractions need them distinct."""
    ordered = np.sort(np.maximum(scales, 1e-6), axis=1)
    for column in range(1, ordered.shape[1]):
        ordered[:, column] = np.maximum(ordered[:, column], ordered[:, column - 1] * 1.003)
    return ordered


def _fractions(scales: Floats) -> Floats:
    """The c_i = Π_{j≠i} b_i² / (b_i² - b_j²) of P(|S| > t) = Σ c_i exp(-t/b_i)."""
    squares, out = scales**2, np.ones_like(scales)
    for i in range(scales.shape[1]):
        others = np.delete(squares, i, axis=1)
        out[:, i] = np.prod(squares[:, [i]] / (squares[:, [i]] - others), axis=1)
    return out
