"""How far a published cell may be from the truth, at a confidence (`margins.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.measure import MarginalStrategy, as_float, expected, parameter
from adomnia.marginals.core.planner import Spread
from adomnia.marginals.workload import Subset, Workload
from adomnia.mechanisms.margins.margin import WORK, Noise, margin

__all__ = [
    "cell_margins", "gaussian_margins", "laplace_margins", "laplace_noises", "least_noise",
    "view_shares", "view_terms",
]  # fmt: skip

Floats = NDArray[np.float64]
Terms = list[tuple[float, Noise, int]]
"""Weights of noises in a sum, and how often each occurs."""
FEW = 24
COARSE = 2
WHOLE_WORK = 1 << 26
"""The work that the margins of all tables of a release may take together (`margin.md`)."""
SMOOTH = 4.0
"""Integer Gaussian noise of at least this variance is a rounded normal one to 30 digits."""


def gaussian_margins(variances: Floats, least: float, confidence: float) -> Floats:
    """Margins of unbiased cells of these variances; `least` is the smallest noise's variance."""
    doubt = 1 - confidence
    if least >= SMOOTH:
        width = -NormalDist().inv_cdf(doubt / 2)
    else:
        width = math.sqrt(2 * math.log(2 / doubt))
    found: Floats = np.sqrt(variances) * width
    return found


def laplace_noises(strategy: MarginalStrategy) -> list[tuple[frozenset[int], Subset, Noise]]:
    """What is measured with Laplace noise: views or blocks, and the noise of each."""
    return [
        (frozenset(view), view, Noise("laplace", parameter(strategy, part.group.shape, share)))
        for part in strategy.parts
        for view, share in zip(part.group.subsets, part.shares.tolist(), strict=True)
    ]


def least_noise(blocks: Sequence[Spread]) -> float:
    """The variance of the smallest noise of an integer; rows have a squared length of 2 at least
    for each attribute."""
    found: float = min(
        float(block.values[block.values > 0].min(initial=np.inf)) * 2 ** len(block.group.shape)
        for block in blocks
    )
    return found


def laplace_margins(
    workload: Workload, strategy: MarginalStrategy, blocks: Sequence[Spread], confidence: float
) -> Floats:
    """Margins of unbiased cells made of views or of parities with Laplace noise.

    All cells of a table have the same one: it is the law of the same weighted sum of noises.
    """
    views = laplace_noises(strategy)
    if strategy.method == "residual":
        return _parities(workload.marginals, views, confidence)
    shares = view_shares(strategy, blocks, workload.sizes)
    sums = [view_terms(subset, views, shares, workload.sizes) for subset in workload.marginals]
    keys = [
        tuple(sorted((round(w, 9), noise.parameter, many) for w, noise, many in terms))
        for terms in sums
    ]
    different = dict(zip(keys, sums, strict=True))
    coarse = min(noise.parameter for _, _, noise in views) >= COARSE
    if coarse and len(different) > FEW:
        known = {key: _by_ratio(terms, confidence) for key, terms in different.items()}
    else:
        work = min(WORK, WHOLE_WORK // max(1, len(different)))
        known = {key: _by_law(terms, confidence, work) for key, terms in different.items()}
    return np.array([known[key] for key in keys], np.float64)


def _by_law(terms: Terms, confidence: float, work: int) -> float:
    """From the law of the sum itself."""
    pairs = [(weight, noise) for weight, noise, _ in terms]
    return float(margin(pairs, confidence, [many for _, _, many in terms], work))


def _by_ratio(terms: Terms, confidence: float) -> float:
    """The deviation times the wider of a normal and a single Laplace law's ratio (`margins.md`)."""
    sizes = [w * math.sqrt(2 * many) * as_float(noise.parameter) for w, noise, many in terms]
    doubt = 1 - confidence
    ratio = max(-NormalDist().inv_cdf(doubt / 2), math.log(1 / doubt) / math.sqrt(2))
    return ratio * math.hypot(*sizes)


def _parities(
    subsets: Sequence[Subset], blocks: list[tuple[frozenset[int], Subset, Noise]], confidence: float
) -> Floats:
    """A cell of a binary table is the mean of its parities, up to signs."""
    noises = {places: noise for places, _, noise in blocks}
    found = []
    for subset in subsets:
        live = [place for place in subset if frozenset((place,)) in noises]
        parts = [
            noises[frozenset(p for p, inside in zip(live, choice, strict=True) if inside)]
            for choice in product((False, True), repeat=len(live))
        ]
        found.append(margin([(0.5 ** len(live), noise) for noise in parts], confidence))
    return np.array(found, np.float64)


Shares = dict[tuple[Subset, Subset], float]


def view_shares(
    strategy: MarginalStrategy, blocks: Sequence[Spread], sizes: tuple[int, ...]
) -> Shares:
    """The weight of each view in the estimate of each block: its part of the precision."""
    found: Shares = {}
    variance = {
        subset: float(value)
        for block in blocks
        for subset, value in zip(block.group.subsets, block.values, strict=True)
    }
    for part in strategy.parts:
        for view, share in zip(part.group.subsets, part.shares.tolist(), strict=True):
            noise = expected(strategy, part.group.shape, share)
            for choice in product((False, True), repeat=len(view)):
                block = tuple(p for p, inside in zip(view, choice, strict=True) if inside)
                if block in variance:
                    rest = math.prod(sizes[p] for p in view if p not in block)
                    found[view, block] = variance[block] / (noise * rest) if noise else 1.0
    return found


def view_terms(
    subset: Subset,
    views: list[tuple[frozenset[int], Subset, Noise]],
    shares: Shares,
    sizes: tuple[int, ...],
    lengths: Mapping[int, int] | None = None,
) -> Terms:
    """Weights of the views' noises in a cell of a marginal, with how often each occurs.

    A view's cell counts by which of the common attributes it agrees in: for each block S of them
    its share, times (1 - 1/n) or -1/n for each attribute of S, over the other sizes. Of some
    attributes several values may be taken together: `lengths` says how many (`range_noise.md`).
    """
    taken = lengths or {}
    terms = []
    for members, view, noise in views:
        common = [place for place in subset if place in members]
        weights = _pattern_weights(subset, common, view, shares, sizes, taken)
        others = math.prod(sizes[place] for place in view if place not in subset)
        for agrees in product((0, 1), repeat=len(common)):
            many = others * math.prod(
                taken.get(place, 1) if same else sizes[place] - taken.get(place, 1)
                for place, same in zip(common, agrees, strict=True)
            )
            weight = float(weights[agrees])
            if weight and many:
                terms.append((weight, noise, many))
    return terms


def _pattern_weights(
    subset: Subset,
    common: list[int],
    view: Subset,
    shares: Shares,
    sizes: tuple[int, ...],
    taken: Mapping[int, int],
) -> Floats:
    """The weight for each pattern of agreement, an axis of two for each common attribute."""
    table = np.zeros((2,) * len(common))
    for inside in product((0, 1), repeat=len(common)):
        block = tuple(place for place, one in zip(common, inside, strict=True) if one)
        table[inside] = shares.get((view, block), 0.0)
    for axis, place in enumerate(common):
        part = taken.get(place, 1) / sizes[place]
        # from (absent, present) to (differs, agrees)
        change = np.array([[part, -part], [part, 1 - part]])
        table = np.moveaxis(np.tensordot(change, table, (1, axis)), 0, axis)
    rest = math.prod(taken.get(place, 1) / sizes[place] for place in subset if place not in common)
    scaled: Floats = table * rest
    return scaled


def cell_margins(counts: NDArray[Any], unbiased: NDArray[Any], width: float | Floats) -> Floats:
    """Margins of fitted counts: the farther end of what the unbiased margin leaves possible.

    The truth is a whole number, not negative, within `width` of the unbiased cell. Where noise has
    taken that one below 0, no margin becomes narrower by it: such cells would be sure of least.
    """
    low = np.maximum(np.ceil(unbiased - width - 1e-6), 0)
    high = np.floor(np.maximum(unbiased, 0) + width + 1e-6)
    found: Floats = np.maximum(np.abs(counts - low), np.abs(high - counts)).astype(np.float64)
    return found
