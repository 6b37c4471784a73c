"""Noise inside a lattice under several sums at once, weighed beforehand (`conditioned.md`).

Particles follow the law from one sum to the greatest of many, in small steps: what the steps weigh
tells how many draws are kept, where the particles end tells the error. Public facts only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grouped", "weigh", "widths"]

PARTICLES = 1024
STEPS = 16
SWEEPS = 3
SETTLE = 12
TURNS = 40
UP = 1.05
SEED = 20110612
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grouped:
    """The share of draws of the lattice that stay, and the total squared error, at scale 1."""

    acceptance: float
    error: float


def weigh(basis: Any, outputs: Any, groups: Sequence[tuple[Sequence[int], float]]) -> Grouped:
    """For weights exp(-max(|g|_1, |g on a group|_1 / its scale)) in the limit of wide noise."""
    walk = _ParticleWalk(basis.toarray().astype(np.float64), groups)
    for _ in range(SETTLE):
        walk.sweep(0.0)
    kept = 1.0
    for step in range(1, STEPS + 1):
        kept *= walk.reweigh(1 / STEPS)
        for _ in range(SWEEPS):
            walk.sweep(step / STEPS)
    squares, turns = 0.0, 2 * SETTLE
    for _ in range(turns):
        walk.sweep(1.0)
        squares += float(((outputs @ walk.noise.T) ** 2).sum(axis=0).mean()) / turns
    return Grouped(kept, squares)


def widths(
    basis: Any,
    outputs: Any,
    groups: Sequence[tuple[Sequence[int], float]],
    levels: Sequence[float],
) -> Floats:
    """How far each output strays at scale 1, at each level of confidence (levels by outputs).

    Simulated in the limit of wide noise, and raised by more than the simulation is uncertain.
    """
    walk = _ParticleWalk(basis.toarray().astype(np.float64), groups)
    for step in range(STEPS + 1):
        for _ in range(SWEEPS):
            walk.sweep(step / STEPS)
    seen = []
    for _ in range(TURNS):
        walk.sweep(1.0)
        walk.sweep(1.0)
        seen.append(np.abs(outputs @ walk.noise.T))
    found: Floats = np.quantile(np.hstack(seen), list(levels), axis=1) * UP
    return found


class _ParticleWalk:
    """Particles on the span of the basis, moved along its rows by Metropolis steps."""

    def __init__(self, basis: Floats, groups: Sequence[tuple[Sequence[int], float]]) -> None:
        self._random = np.random.default_rng(SEED)
        self._basis = basis
        self._sums = np.zeros((basis.shape[1], 1 + len(groups)))
        self._sums[:, 0] = 1
        for place, (columns, scale) in enumerate(groups, start=1):
            self._sums[list(columns), place] = 1 / scale
        self._lengths = np.abs(basis).sum(axis=1)
        self.noise: Floats = np.zeros((PARTICLES, basis.shape[1]))
        self._alone, self._most = self._measure(self.noise)

    def _measure(self, noise: Floats) -> tuple[Floats, Floats]:
        sums = np.abs(noise) @ self._sums
        return sums[:, 0], sums.max(axis=1)

    def sweep(self, share: float) -> None:
        """One step along each row, under (1 - share) |g|_1 + share * the greatest sum."""
        for row, length in zip(self._basis, self._lengths, strict=True):
            size = 2.0 ** self._random.integers(-1, 3) / length
            moved = self.noise + np.outer(self._random.laplace(scale=size, size=PARTICLES), row)
            alone, most = self._measure(moved)
            worse = (1 - share) * (alone - self._alone) + share * (most - self._most)
            taken = self._random.exponential(size=PARTICLES) > worse
            self.noise[taken] = moved[taken]
            self._alone[taken], self._most[taken] = alone[taken], most[taken]

    def reweigh(self, step: float) -> float:
        """The mean weight of going a step on; particles are chosen anew by their weights."""
        weights = np.exp(-step * (self._most - self._alone))
        mean = float(weights.mean())
        chosen = self._random.choice(PARTICLES, PARTICLES, p=weights / weights.sum())
        self.noise = self.noise[chosen]
        self._alone, self._most = self._alone[chosen], self._most[chosen]
        return mean
