"""How far noise moves sums and averages by cell (`magnitudes.md`, claim 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.magnitudes import Magnitude
from adomnia.marginals.core.margins import Terms
from adomnia.marginals.core.range_noise import RangeNoise, law_margin
from adomnia.marginals.release import MarginalPlan
from adomnia.marginals.workload import Subset

__all__ = ["SumNoise"]

Floats = NDArray[np.float64]
PARTS = 4
"""Laws of averages are worked out for so many distances from the middle."""
FEW = 64
"""Of more tables than these both noises are bounded apart, which takes no time."""


@dataclass(frozen=True, eq=False)
class SumNoise:
    """The plans of the counts, and of the sums from the middle; all widths are in steps."""

    magnitude: Magnitude
    counts: MarginalPlan
    sums: MarginalPlan
    confidence: float

    def prepare(self) -> None:
        """Work out what the plans decide, so that it is known before it is paid."""
        for plan in (self.counts, self.sums):
            plan.margins(self._each)
        if not self._is_gaussian:
            self._laws  # noqa: B018 (kept)

    def deviation(self, subset: Subset) -> float:
        """The standard deviation of an unbiased sum, in its own unit."""
        counts = self.magnitude.centre * self.counts.deviations[subset]
        return math.hypot(self.sums.deviations[subset], counts) * float(self.magnitude.step)

    def of_sums(self, subset: Subset) -> float:
        """How far an unbiased sum may be off: its own noise, and the middle times the count's."""
        middle = np.asarray(float(self.magnitude.centre))
        width = float(self._together(subset, middle))
        return min(width, self._laws[subset][0]) if subset in self._laws else width

    def of_averages(self, subset: Subset, largest: Floats) -> Floats:
        """How far the noise of a sum less that of its count times an average may be off, where
        the average is no farther from the middle than the `largest`."""
        width = self._together(subset, largest)
        if subset not in self._laws:
            return width
        part = np.ceil(largest / self.magnitude.reach * PARTS - 1e-9).astype(np.int64)
        found: Floats = np.minimum(width, self._laws[subset][1][np.clip(part, 0, PARTS)])
        return found

    def _together(self, subset: Subset, weight: Floats) -> Floats:
        """Both noises, the count's times the weight: jointly if they are Gaussian, else apart."""
        sums, counts = (plan.margins(self._each)[subset] for plan in (self.sums, self.counts))
        if not self._is_gaussian:
            return np.asarray(sums + np.abs(weight) * counts)
        spread = [plan.deviations[subset] for plan in (self.sums, self.counts)]
        wide = max(m / d for m, d in zip((sums, counts), spread, strict=True) if d > 0)
        return np.asarray(wide * np.hypot(spread[0], weight * spread[1]))

    @cached_property
    def _laws(self) -> dict[Subset, tuple[float, Floats]]:
        """From the laws of the sums of both Laplace noises, where they are few: of sums, and of
        averages so many parts of the reach from the middle."""
        subsets = self.counts.workload.marginals
        if self._is_gaussian or len(subsets) > FEW:
            return {}
        near, rows = (
            RangeNoise(plan.workload, plan.strategy, plan.blocks)
            for plan in (self.sums, self.counts)
        )
        magnitude = self.magnitude
        parts = [magnitude.reach * part / PARTS for part in range(PARTS + 1)]

        def width(subset: Subset, weight: float) -> float:
            noise = weighted(rows.terms(subset, {}), weight)
            return law_margin(near.terms(subset, {}) + noise, self.confidence)

        return {
            s: (width(s, magnitude.centre), np.array([width(s, part) for part in parts]))
            for s in subsets
        }

    @property
    def _is_gaussian(self) -> bool:
        return self.sums.strategy.kind == "gaussian"

    @property
    def _each(self) -> float:
        """Laplace noises are bounded one by one, each with half the doubt."""
        return self.confidence if self._is_gaussian else (1 + self.confidence) / 2


def weighted(terms: Terms, weight: float) -> Terms:
    """The same noises, each times a weight."""
    return [(weight * own, noise, many) for own, noise, many in terms]
