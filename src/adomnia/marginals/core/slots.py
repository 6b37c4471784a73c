"""Where the surpluses of tables stand, so that a record's are found at once (`microdata.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.workload import Subset

__all__ = ["Slots", "layout"]

Integers = NDArray[np.int64]


class Slots(NamedTuple):
    """Every table stands in one slot for each of its attributes, ordered by attribute.

    In a slot the values of its attribute stand side by side, so that all values that a record
    could take are read in one go. `others` and `strides` say from where: by the record's values
    of the table's other attributes (stride 0 where there are fewer).
    """

    sizes: Integers
    first: Integers
    """The first slot of each attribute, and the end."""

    owner: Integers
    """The attribute of each slot."""

    starts: Integers
    weights: NDArray[np.float64]
    others: Integers
    strides: Integers
    twins: Integers
    """The slots of the same table; -1 where there are fewer."""


def layout(sizes: Sequence[int], tables: Sequence[tuple[Subset, float]]) -> Slots:
    """Slots for tables of these subsets and weights."""
    slots = [
        (place, number)
        for place in range(len(sizes))
        for number, (subset, _) in enumerate(tables)
        if place in subset
    ]
    where = {slot: place for place, slot in enumerate(slots)}
    order = max((len(subset) for subset, _ in tables), default=1)
    others = np.zeros((len(slots), max(order - 1, 1)), np.int64)
    strides = np.zeros_like(others)
    twins = np.full((len(slots), order), -1, np.int64)
    for slot, (place, number) in enumerate(slots):
        subset, _ = tables[number]
        rest = [other for other in subset if other != place]
        for position, other in enumerate(rest):
            others[slot, position] = other
            strides[slot, position] = sizes[place] * prod(sizes[p] for p in rest[position + 1 :])
        twins[slot, : len(subset)] = [where[other, number] for other in subset]
    owner = np.array([place for place, _ in slots], np.int64)
    cells = [prod(sizes[place] for place in tables[number][0]) for _, number in slots]
    return Slots(
        np.array(sizes, np.int64),
        np.searchsorted(owner, np.arange(len(sizes) + 1)).astype(np.int64),
        owner,
        np.cumsum([0, *cells[:-1]], dtype=np.int64)[: len(slots)],
        np.array([tables[number][1] for _, number in slots], np.float64),
        others,
        strides,
        twins,
    )
