"""Noise of ranges: cells of a marginal that are taken together (`range_noise.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from adomnia.marginals.core.margins import (
    Shares,
    Terms,
    gaussian_margins,
    laplace_noises,
    least_noise,
    view_shares,
    view_terms,
)
from adomnia.marginals.core.measure import MarginalStrategy
from adomnia.marginals.core.planner import Spread
from adomnia.marginals.workload import Subset, Workload
from adomnia.mechanisms.margins.margin import Noise, margin

__all__ = ["RangeNoise", "law_margin"]

Lengths = Mapping[int, int]
"""How many values of some attributes are taken together, by their places."""
QUICK = 1 << 16
"""The work that one of many margins may take: a hundredth of a second."""


def law_margin(terms: Terms, confidence: float) -> float:
    """The margin of a weighted sum of noises, which is one of many: rounded up by about a part in
    five hundred."""
    pairs = [(weight, noise) for weight, noise, _ in terms]
    return float(margin(pairs, confidence, [many for _, _, many in terms], QUICK))


@dataclass(frozen=True, eq=False)
class RangeNoise:
    """What the plan of a release says of ranges: sums of unbiased cells.

    >>> from fractions import Fraction
    >>> from adomnia.marginals import plan_marginals, up_to_ways
    >>> from adomnia.privacy.loss import Loss
    >>> plan = plan_marginals(up_to_ways(("age",), (100,), 1), Loss.concentrated(Fraction(1)))
    >>> noise = RangeNoise(plan.workload, plan.strategy, plan.blocks)
    >>> half, cell = noise.margin((0,), {0: 50}), noise.margin((0,), {0: 1})
    >>> cell < half < 50 * cell
    True
    """

    workload: Workload
    strategy: MarginalStrategy
    blocks: Sequence[Spread]

    def margin(self, subset: Subset, lengths: Lengths, confidence: float = 0.95) -> float:
        """How far the sum of the cells may be off."""
        if self.strategy.kind == "laplace":
            return law_margin(self.terms(subset, lengths), confidence)
        variance = np.array([self._variance(subset, lengths)])
        return float(gaussian_margins(variance, self._least, confidence)[0])

    def terms(self, subset: Subset, lengths: Lengths) -> Terms:
        """Of Laplace noise: all that is in the sum of the cells."""
        if self.strategy.method == "residual":
            return self._parities(subset, lengths)
        return view_terms(subset, self._noises, self._shares, self.workload.sizes, lengths)

    @cached_property
    def _noises(self) -> list[tuple[frozenset[int], Subset, Noise]]:
        return laplace_noises(self.strategy)

    @cached_property
    def _shares(self) -> Shares:
        return view_shares(self.strategy, self.blocks, self.workload.sizes)

    @cached_property
    def _variances(self) -> dict[Subset, float]:
        return {
            subset: float(value)
            for block in self.blocks
            for subset, value in zip(block.group.subsets, block.values, strict=True)
        }

    @cached_property
    def _least(self) -> float:
        return least_noise(self.blocks)

    def _weights(self, subset: Subset, lengths: Lengths) -> dict[Subset, float]:
        """The squared length of the cells' indicator in each block that is measured."""
        known, found = self._variances, dict[Subset, float]()
        parts = {place: lengths.get(place, 1) / self.workload.sizes[place] for place in subset}
        for choice in product((False, True), repeat=len(subset)):
            block = tuple(p for p, inside in zip(subset, choice, strict=True) if inside)
            if block in known:
                found[block] = math.prod(
                    lengths.get(p, 1) * (1 - part) if p in block else part**2
                    for p, part in parts.items()
                )
        return found

    def _variance(self, subset: Subset, lengths: Lengths) -> float:
        weights = self._weights(subset, lengths)
        return sum(self._variances[block] * weight for block, weight in weights.items())

    def _parities(self, subset: Subset, lengths: Lengths) -> Terms:
        """Of two values one is taken, or both, and then no parity with this attribute is left.

        A coefficient at length one is its parity over the root of two for each attribute.
        """
        noises = {block: noise for _, block, noise in self._noises}
        return [
            (math.sqrt(weight / 2 ** len(block)), noises[block], 1)
            for block, weight in self._weights(subset, lengths).items()
            if weight
        ]
