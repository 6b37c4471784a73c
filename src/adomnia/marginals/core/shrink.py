"""Shrinkage of residual coefficients that are mostly noise, by likelihood (`shrink.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["posterior_means", "shrunk", "to_simplex"]

Floats = NDArray[np.float64]
SIGNALS = np.concatenate([[0.0], 4.0 ** np.arange(-1, 8), 4 * 256.0 ** np.arange(2, 10)])
"""Variances of true deviations that are mixed, in units of the noise's; the last ones are so large
that whatever stands far out of the noise stays as it is."""

WIDTHS = 1 + SIGNALS
GRID = np.concatenate([np.linspace(0, 12, 600, endpoint=False), np.geomspace(12, 1e10, 500)])
"""Deviations, in units of the noise's, at which the laws are compared."""

with np.errstate(under="ignore"):
    LIKELY = np.exp(-0.5 * GRID[:, None] ** 2 / WIDTHS) / np.sqrt(WIDTHS) + 1e-300

ROUNDS = 15
FARTHEST = 1.25
"""By how many deviations of the noise a coefficient is moved at most (limited translation)."""

POOLED = 16
"""Blocks of at least this many coefficients are judged on their own, smaller ones together."""


def posterior_means(
    deviations: NDArray[Any], variance: float, farthest: float = FARTHEST
) -> Floats:
    """What the deviations are expected to be truly, judged together.

    They are taken for draws of a mixture of centred normal laws, whose shares are fitted to
    them by likelihood, plus noise of the variance given.
    """
    flat = deviations.reshape(-1).astype(np.float64)
    if variance == 0 or flat.size == 0:
        return flat.reshape(deviations.shape)
    noise = np.sqrt(variance)
    sizes = np.abs(flat) / noise
    where = np.searchsorted(GRID, sizes).clip(max=len(GRID) - 1)
    kept = np.interp(sizes, GRID, _kept(np.bincount(where, minlength=len(GRID))))
    moved = np.clip(flat * (kept - 1), -farthest * noise, farthest * noise)
    found: Floats = (flat + moved).reshape(deviations.shape)
    return found


def shrunk(
    blocks: Sequence[NDArray[Any]], variances: Sequence[float], farthest: float = FARTHEST
) -> list[Floats]:
    """The posterior means of blocks of deviations: large ones each alone, small ones together."""
    scaled = [
        block / np.sqrt(variance) if variance else np.asarray(block, np.float64)
        for block, variance in zip(blocks, variances, strict=True)
    ]
    few = [
        number for number, (block, variance) in enumerate(zip(blocks, variances, strict=True))
        if block.size < POOLED and variance
    ]  # fmt: skip
    together = [scaled[number].reshape(-1) for number in few]
    judged = posterior_means(np.concatenate([*together, np.zeros(0)]), 1.0, farthest)
    parts = np.split(judged, np.cumsum([len(part) for part in together])[:-1])
    pooled = dict(zip(few, parts, strict=False))
    found = []
    for number, (block, variance) in enumerate(zip(scaled, variances, strict=True)):
        if number in pooled:
            kept = pooled[number].reshape(block.shape)
        else:
            kept = posterior_means(block, 1.0, farthest) if variance else block
        found.append(kept * np.sqrt(variance) if variance else kept)
    return found


def _kept(many: NDArray[np.int64]) -> Floats:
    """Which part of a deviation on the grid is true, after a few rounds of EM over so many."""
    shares = np.full(len(SIGNALS), 1 / len(SIGNALS))
    joint = LIKELY * shares
    for _ in range(ROUNDS):
        counts = many @ (joint / joint.sum(axis=1, keepdims=True))
        counts[0] += 1  # one more that is nothing: small blocks lean towards no deviation
        shares = counts / counts.sum()
        joint = LIKELY * shares
    found: Floats = joint / joint.sum(axis=1, keepdims=True) @ (SIGNALS / WIDTHS)
    return found


def to_simplex(values: NDArray[Any], total: float) -> Floats:
    """The nearest table, in squared distance, that is not negative and sums to `total`."""
    flat = values.reshape(-1).astype(np.float64)
    ordered = np.sort(flat)[::-1]
    surplus = (np.cumsum(ordered) - total) / np.arange(1, flat.size + 1)
    last = max(int(np.count_nonzero(ordered > surplus)) - 1, 0)
    found: Floats = np.maximum(flat - surplus[last], 0).reshape(values.shape)
    return found
