"""Clopper and Pearson's bounds of a probability: never too narrow, however few the trials."""

from __future__ import annotations

from adomnia.audit.finding import Rate

__all__ = ["clopper_pearson"]


def clopper_pearson(hits: int, trials: int, confidence: float) -> Rate:
    """The share of hits; each end alone is wrong with probability (1 - confidence)/2 at most."""
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import)

    if trials == 0:
        return Rate(0.0, 0.0, 1.0, confidence)
    doubt, misses = (1 - confidence) / 2, trials - hits
    low = float(betaincinv(hits, misses + 1, doubt)) if hits else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - doubt)) if misses else 1.0
    return Rate(hits / trials, low, high, confidence)
