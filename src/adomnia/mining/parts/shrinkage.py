"""Shrinkage: noisy numbers, moved to where they likely are; all of it is post-processing."""

from __future__ import annotations

import numpy as np

from adomnia.mining.parts.arrays import Floats

__all__ = ["believed", "onto_simplex", "shrunk"]


def believed(mean: Floats, off: float) -> Floats:
    """Noisy mean positions, drawn to the middle of the bounds as if even ones came before."""
    out: Floats = np.clip(0.5 + (mean - 0.5) / (1 + 12 * off**2), 0.0, 1.0)
    return out


def shrunk(values: Floats, off: Floats | float, apart: float = 0.0) -> tuple[Floats, Floats]:
    """Noisy numbers, moved towards their mean over the first axis as far as noise explains them.

    Empirical Bayes: what they scatter beyond the noise (`off`, its standard deviation) is how far
    they are apart, or `apart` if that is more. Also returns the variance that is left in each.
    """
    common, noise = values.mean(axis=0), np.broadcast_to(np.square(off), values.shape)
    degrees = max(1, len(values) - 1)
    scatter = ((values - common) ** 2).sum(axis=0) / degrees
    beyond = np.maximum(scatter - noise.mean(axis=0), apart)
    trust = beyond / np.maximum(beyond + noise, 1e-300)
    return common + trust * (values - common), trust * noise


def onto_simplex(values: Floats, total: Floats | float) -> Floats:
    """The nearest values that are not negative and have this sum, along the last axis."""
    ordered = -np.sort(-values, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - np.asarray(total)[..., None]
    rank = np.arange(1, values.shape[-1] + 1)
    last = (ordered - excess / rank > 0).sum(axis=-1, keepdims=True) - 1
    last = np.maximum(last, 0)
    shift = np.take_along_axis(excess, last, axis=-1) / (last + 1)
    out: Floats = np.maximum(values - shift, 0.0)
    return out
