"""Records that cannot be are moved: after this no forbidden cell has one, however it was fitted.

Nothing here touches data: records are made up, and which cells are forbidden is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.microdata import SWEEPS, Aim, descend, tabulate
from adomnia.marginals.workload import Subset, Workload

__all__ = ["kept_empty", "repaired", "without_forbidden"]

Records = NDArray[np.int64]
Masks = Mapping[Subset, NDArray[np.bool_]]
ROUNDS = 4


def without_forbidden(
    records: Records,
    workload: Workload,
    aims: Sequence[Aim],
    forbidden: Masks,
    chance: np.random.Generator,
) -> Records:
    """Records of which none is in a forbidden cell; where some had to move, all are brought near
    the aims again."""
    if not _offending(records, forbidden).any():
        return records
    sizes = workload.sizes
    kept = [replace(aim, forbidden=forbidden.get(aim.subset)) for aim in aims if aim.subset]
    kept += kept_empty(workload, forbidden)
    records = repaired(records, sizes, forbidden, chance)
    records = descend(records, sizes, kept, chance, SWEEPS[1:])
    return repaired(records, sizes, forbidden, chance)


def kept_empty(workload: Workload, forbidden: Masks) -> list[Aim]:
    """Aims that only keep cells empty, of subsets that are no table."""
    return [
        Aim(subset, np.zeros(mask.shape), 0.0, forbidden=mask)
        for subset, mask in forbidden.items()
        if subset not in workload.marginals
    ]


def repaired(
    records: Records, sizes: Sequence[int], forbidden: Masks, chance: np.random.Generator
) -> Records:
    """Records of which none is in a forbidden cell: one value changes, of as coarse an attribute as
    will do, in proportion to what the others have.

    What cannot be mended so becomes a copy of another record, and goes where there is none.
    """
    for _ in range(ROUNDS):
        wrong = _offending(records, forbidden)
        if not wrong.any():
            return records
        records = records.copy()
        for subset, mask in forbidden.items():
            _mend(records, sizes, subset, mask, chance)
    wrong = _offending(records, forbidden)
    good = records[~wrong]
    if len(good) and wrong.any():
        records[wrong] = good[chance.integers(0, len(good), int(wrong.sum()))]
        return records
    return good


def _offending(
    records: Records, forbidden: Mapping[Subset, NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    found = np.zeros(len(records), bool)
    for subset, mask in forbidden.items():
        found |= mask[tuple(records[:, place] for place in subset)]
    return found


def _mend(
    records: Records,
    sizes: Sequence[int],
    subset: Subset,
    mask: NDArray[np.bool_],
    chance: np.random.Generator,
) -> None:
    """One attribute of each offending record gets a value that is allowed beside the others."""
    for place in sorted(subset, key=lambda place: sizes[place]):
        bad = np.flatnonzero(mask[tuple(records[:, p] for p in subset)])
        if not len(bad):
            return
        axis = subset.index(place)
        allowed = np.moveaxis(~mask, axis, -1).reshape(-1, sizes[place])
        have = np.moveaxis(tabulate(records, sizes, subset), axis, -1).reshape(-1, sizes[place])
        ends = np.concatenate([[0.0], np.cumsum(allowed * (have + 1e-6))])
        rest = np.zeros(len(bad), np.int64)
        for other in subset:
            if other != place:
                rest = rest * sizes[other] + records[bad, other]
        low, high = ends[rest * sizes[place]], ends[(rest + 1) * sizes[place]]
        aim = low + chance.random(len(bad)) * (high - low)
        value = np.searchsorted(ends[1:], aim, "right") - rest * sizes[place]
        free = np.asarray(allowed.any(axis=1))[rest]
        records[bad[free], place] = value[free].clip(0, sizes[place] - 1)
