"""Shrinkage of residual coefficients that are mostly noise, by likelihood (`shrink.md`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["posterior_means", "to_simplex"]

Floats = NDArray[np.float64]
SIGNALS = np.concatenate([[0.0], 4.0 ** np.arange(-1, 8)])
"""Variances of true deviations that are mixed, in units of the noise's."""

ROUNDS = 15
FARTHEST = 1.0
"""By how many deviations of the noise a coefficient is moved at most (limited translation)."""


def posterior_means(
    deviations: NDArray[Any], variance: float, farthest: float = FARTHEST
) -> Floats:
    """What the deviations are expected to be truly, each block judged on its own.

    They are taken for draws of a mixture of centred normal laws, whose shares are fitted to
    them by likelihood, plus noise of the variance given.
    """
    flat = deviations.reshape(-1).astype(np.float64)
    if variance == 0 or flat.size == 0:
        return flat.reshape(deviations.shape)
    widths = 1 + SIGNALS
    squares = np.minimum(flat**2 / variance, 1e3 * widths[-1])
    likely = np.exp(-0.5 * squares[:, None] / widths) / np.sqrt(widths) + 1e-300
    kept = _responsibilities(likely) @ (SIGNALS / widths)
    limit = farthest * np.sqrt(variance)
    moved = np.clip(flat * (kept - 1), -limit, limit)
    found: Floats = (flat + moved).reshape(deviations.shape)
    return found


def _responsibilities(likely: Floats) -> Floats:
    """The chance that each deviation came from each law, after a few rounds of EM."""
    shares = np.full(likely.shape[1], 1 / likely.shape[1])
    for _ in range(ROUNDS):
        joint = likely * shares
        joint /= joint.sum(axis=1, keepdims=True)
        counts = joint.sum(axis=0)
        counts[0] += 1  # one more that is nothing: small blocks lean towards no deviation
        shares = counts / counts.sum()
    joint = likely * shares
    found: Floats = joint / joint.sum(axis=1, keepdims=True)
    return found


def to_simplex(values: NDArray[Any], total: float) -> Floats:
    """The nearest table, in squared distance, that is not negative and sums to `total`."""
    flat = values.reshape(-1).astype(np.float64)
    ordered = np.sort(flat)[::-1]
    surplus = (np.cumsum(ordered) - total) / np.arange(1, flat.size + 1)
    last = max(int(np.count_nonzero(ordered > surplus)) - 1, 0)
    found: Floats = np.maximum(flat - surplus[last], 0).reshape(values.shape)
    return found
