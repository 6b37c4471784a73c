"""Records that cannot be are moved: after this no forbidden cell has one, however it was fitted.

Nothing here touches data: records are made up, and which cells are forbidden is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.microdata import SyntheticRecords, cell_codes
from adomnia.marginals.workload import Subset

__all__ = ["repaired"]

Records = NDArray[Any]
Masks = Mapping[Subset, NDArray[np.bool_]]
ROUNDS = 4


def repaired(
    made: SyntheticRecords, sizes: Sequence[int], forbidden: Masks, chance: np.random.Generator
) -> SyntheticRecords:
    """Records of which none is in a forbidden cell: one value changes, of as coarse an attribute as
    will do, in proportion to what the others have.

    What cannot be mended so becomes a copy of another record, and goes where there is none.
    """
    if not _offending(made.records, forbidden).any():
        return made
    made = SyntheticRecords(made.records.copy(), made.times)
    for _ in range(ROUNDS):
        for subset, mask in forbidden.items():
            _mend(made, sizes, subset, mask, chance)
    wrong = _offending(made.records, forbidden)
    good = np.flatnonzero(~wrong)
    if not len(good):
        return SyntheticRecords(made.records[good], made.times[good])
    made.records[wrong] = made.records[good[chance.integers(0, len(good), int(wrong.sum()))]]
    return made


def _offending(records: Records, forbidden: Masks) -> NDArray[np.bool_]:
    found = np.zeros(len(records), bool)
    for subset, mask in forbidden.items():
        found |= mask[tuple(records[:, place] for place in subset)]
    return found


def _mend(
    made: SyntheticRecords,
    sizes: Sequence[int],
    subset: Subset,
    mask: NDArray[np.bool_],
    chance: np.random.Generator,
) -> None:
    """One attribute of each offending record gets a value that is allowed beside the others."""
    records = made.records
    for place in sorted(subset, key=lambda place: sizes[place]):
        bad = np.flatnonzero(mask[tuple(records[:, p] for p in subset)])
        if not len(bad):
            return
        axis = subset.index(place)
        allowed = np.moveaxis(~mask, axis, -1).reshape(-1, sizes[place])
        have = np.moveaxis(made.tabulate(sizes, subset), axis, -1).reshape(-1, sizes[place])
        ends = np.concatenate([[0.0], np.cumsum(allowed * (have + 1e-6))])
        others = tuple(other for other in subset if other != place)
        rest = cell_codes(records[bad], sizes, others)
        low, high = ends[rest * sizes[place]], ends[(rest + 1) * sizes[place]]
        aim = low + chance.random(len(bad)) * (high - low)
        value = np.searchsorted(ends[1:], aim, "right") - rest * sizes[place]
        free = np.asarray(allowed.any(axis=1))[rest]
        records[bad[free], place] = value[free].clip(0, sizes[place] - 1)
