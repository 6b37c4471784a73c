"""Confidence intervals for what a number of trials showed."""

from __future__ import annotations

import math
from statistics import NormalDist

from adomnia.audit.finding import Rate

__all__ = ["wilson"]


def wilson(mean: float, trials: int, confidence: float = 0.95) -> Rate:
    """The mean of trials that lie between 0 and 1, with Wilson's interval.

    For shares between 0 and 1 it is too wide rather than too narrow: their variance is at most
    that of a coin with the same mean. Without trials nothing is known: the interval is [0, 1].

    >>> rate = wilson(0.5, 100)
    >>> f"{rate.low:.2f} to {rate.high:.2f}"
    '0.40 to 0.60'
    """
    if trials == 0:
        return Rate(0.0, 0.0, 1.0, confidence)
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    centre = (mean + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (mean * (1 - mean) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    return Rate(
        mean, min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half)), confidence
    )
