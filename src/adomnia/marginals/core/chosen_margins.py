"""Margins of tables that were chosen because of what was measured before (`adaptive.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from adomnia.marginals.core.margins import gaussian_margins
from adomnia.marginals.core.planner import shown
from adomnia.marginals.workload import Subset, Workload

__all__ = ["chosen_width"]


def chosen_width(
    variances: Mapping[Subset, float], subset: Subset, workload: Workload, confidence: float
) -> float:
    """How far an unbiased cell of a chosen table may be off, whatever made one choose it.

    `variances` are those of all blocks that were measured. The table's own one has noise that was
    drawn after the choice; those that were there before are bounded all at once.
    """
    least = min(
        (variance * 2 ** len(part) for part, variance in variances.items() if variance),
        default=math.inf,
    )
    shape = workload.shape(subset)
    parts = {
        tuple(subset[place] for place in mask): shown(shape, mask)
        for order in range(len(subset) + 1)
        for mask in combinations(range(len(subset)), order)
    }
    spreads = {part: share * variances[part] for part, share in parts.items() if part in variances}
    doubt = (1 - confidence) / 2
    before = [
        _width(spread, least, 1 - doubt / (len(variances) * workload.cells(part)))
        for part, spread in spreads.items()
        if part != subset
    ]
    return _width(spreads[subset], least, 1 - doubt) + sum(before)


def _width(variance: float, least: float, confidence: float) -> float:
    return float(gaussian_margins(np.array([variance]), least, confidence)[0])
