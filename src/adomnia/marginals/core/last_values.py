"""Last values that are seldom: where none stands out of its noise, it is taken for empty.

What is measured is the same either way, and nothing here touches data: what is decided rests on
noisy values (`last_values.md`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.basis import grouped
from adomnia.marginals.core.estimate import turn
from adomnia.marginals.core.measure import NoisySubsets
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.core.records import Forbidden
from adomnia.marginals.workload import Subset, Workload

__all__ = [
    "LastWidths", "blocks_without", "cells_without", "empty_places", "last_cells", "last_widths",
    "outstanding", "views_without", "workload_without",
]  # fmt: skip

LastWidths = Mapping[int, float]
"""By the place of an attribute, how far the noise of its last value's rows may be off."""

DOUBT = 0.0001
"""How often noise alone may stand out, of all attributes of a release together."""

_Known = dict[Subset, tuple[NDArray[Any], float]]


def last_cells(workload: Workload, place: int) -> tuple[Subset, tuple[Any, ...]]:
    """The smallest table that has an attribute, and the cells of its last value there.

    >>> last_cells(Workload(("sex", "age"), (2, 9), ((0, 1), (1,))), 0)
    ((0, 1), (slice(1, 2, None), slice(None, None, None)))
    """
    held = [subset for subset in workload.marginals if place in subset]
    subset = min(held, key=lambda one: (workload.cells(one), one))
    size = workload.sizes[place]
    last = slice(size - 1, size)
    return subset, tuple(last if other == place else slice(None) for other in subset)


def last_widths(noise: RangeNoise, places: Sequence[int], confidence: float) -> dict[int, float]:
    """What a plan says of the last values before anything is measured: a cell, or the sum of the
    cells of other attributes."""
    sizes, found = noise.workload.sizes, {}
    for place in places:
        subset, _ = last_cells(noise.workload, place)
        others = {other: sizes[other] for other in subset if other != place}
        found[place] = noise.margin(subset, others, confidence)
    return found


def outstanding(noise: RangeNoise, places: Sequence[int]) -> dict[int, float]:
    """What a last value must pass to stand out of its noise."""
    return last_widths(noise, places, 1 - DOUBT / max(1, len(places)))


def empty_places(
    workload: Workload, unbiased: Mapping[Subset, NDArray[Any]], widths: LastWidths
) -> frozenset[int]:
    """The attributes whose last value does not stand out."""
    found = set()
    for place, width in widths.items():
        subset, cells = last_cells(workload, place)
        if float(unbiased[subset][cells].sum()) <= width:
            found.add(place)
    return frozenset(found)


# The same measurements, of tables without the last values of some attributes


def workload_without(workload: Workload, empty: Collection[int]) -> Workload:
    """The same tables without these cells."""
    sizes = tuple(size - (place in empty) for place, size in enumerate(workload.sizes))
    return Workload(workload.names, sizes, workload.marginals)


def cells_without(forbidden: Forbidden, empty: Collection[int]) -> Forbidden:
    """What is forbidden of the others."""
    return {subset: mask[_kept(subset, empty)] for subset, mask in forbidden.items()}


def views_without(
    views: Sequence[NoisySubsets], empty: Collection[int], sizes: tuple[int, ...]
) -> tuple[NoisySubsets, ...]:
    """Full tables, each cell of which has noise of its own: the others' cells."""
    known: _Known = {}
    for subset, values, variance in _listed(views):
        known[subset] = (values[_kept(subset, empty)], variance)
    return _gathered(known, sizes)


def blocks_without(
    blocks: Sequence[NoisySubsets], empty: Collection[int], sizes: tuple[int, ...]
) -> tuple[NoisySubsets, ...]:
    """Residual blocks: a comparison of the others is one of all, and keeps its variance."""
    known: _Known = {}
    for subset, values, variance in _listed(blocks):
        shape = tuple(sizes[place] for place in subset)
        if 1 not in shape:  # nothing is left to compare
            touched = not {*subset}.isdisjoint(empty)
            own = _turned(values, _kept(subset, empty), shape) if touched else values
            known[subset] = (own, variance)
    return _gathered(known, sizes)


def _turned(values: NDArray[Any], kept: tuple[slice, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    """The coefficients of a block, of the values that are kept."""
    inside: Any = (0, *(slice(1, None),) * values.ndim)
    slots = np.zeros((1, *(size + 1 for size in values.shape)), values.dtype)
    slots[inside] = values
    cells = turn(slots, slots.shape[1:], inverse=True)
    found: NDArray[Any] = turn(cells[(slice(None), *kept)], shape)[inside]
    return found


def _kept(subset: Subset, empty: Collection[int]) -> tuple[slice, ...]:
    return tuple(slice(-1) if place in empty else slice(None) for place in subset)


def _listed(parts: Sequence[NoisySubsets]) -> Iterator[tuple[Subset, NDArray[Any], float]]:
    for part in parts:
        yield from zip(part.group.subsets, part.values, part.variances.tolist(), strict=True)


def _gathered(known: _Known, sizes: tuple[int, ...]) -> tuple[NoisySubsets, ...]:
    return tuple(
        NoisySubsets(
            group,
            np.array([known[s][0] for s in group.subsets]),
            np.array([known[s][1] for s in group.subsets]),
        )
        for group in grouped(list(known), sizes)
    )
