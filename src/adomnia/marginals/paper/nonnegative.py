"""Simple non-negativity: one public amount, added to the total, that hides every negative cell.

The paper's Theorem 6 and its Corollary 1, with constants that hold (`nonnegative.md`). Nothing of
the size of the table is built, so the number of attributes does not matter.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammainccinv

from adomnia.mechanisms.margins.margin import Noise

__all__ = ["shift", "shift_by_cells", "shift_by_norm"]

STEPS = 400


def shift(noise: Noise, coefficients: int, bits: int, delta: float) -> int:
    """What to add to the parity of the empty set, so that the table is non-negative.

    It fails with a probability of at most `delta`, and depends on nothing but public numbers.
    """
    if not noise.parameter or not coefficients:
        return 0
    by_norm = shift_by_norm(noise, coefficients, delta)
    return min(by_norm, shift_by_cells(noise, coefficients, bits, delta))


def shift_by_norm(noise: Noise, coefficients: int, delta: float) -> int:
    """Theorem 6: what the noise's L1 norm does not pass, with probability 1 - delta.

    For Laplace noise that is a quantile of the Gamma distribution, and one half for each integer.
    """
    if noise.kind == "gaussian":
        ratio = _chi_square(coefficients, delta)
        return math.ceil(coefficients * math.sqrt(float(noise.parameter) * ratio))
    quantile = float(gammainccinv(coefficients, delta))
    return math.ceil(float(noise.parameter) * quantile + coefficients / 2)


def shift_by_cells(noise: Noise, coefficients: int, bits: int, delta: float) -> int:
    """What the noise takes from no cell: Chernoff's bound for one cell, for all 2^bits of them."""
    doubt = bits * math.log(2) - math.log(delta)
    if noise.kind == "gaussian":
        return math.ceil(math.sqrt(2 * coefficients * float(noise.parameter) * doubt))
    scale = float(noise.parameter)
    slopes = np.arange(1, STEPS) / (STEPS * scale)
    # log E exp(slope X) = -log(1 - (sinh(slope/2) / sinh(1/(2 scale)))^2)
    ratio = np.exp((slopes - 1 / scale) / 2) * np.expm1(-slopes) / math.expm1(-1 / scale)
    growth = -coefficients * np.log1p(-ratio * ratio)
    return math.ceil(float(np.min((growth + doubt) / slopes)))


def _chi_square(freedom: int, delta: float) -> float:
    """The t above 1 with (t e^(1 - t))^(freedom/2) <= delta, by halving."""
    wanted = -2 * math.log(delta) / freedom
    low, high = 1.0, 2.0
    while high - 1 - math.log(high) < wanted:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if middle - 1 - math.log(middle) >= wanted else (middle, high)
    return high
