"""Sums and averages by cell: made of noisy sums and the released counts (`magnitudes.md`).

Nothing here touches data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.answers.estimate import scaled
from adomnia.curator.releases.hidden_rows import shown
from adomnia.curator.releases.magnitudes import Magnitude
from adomnia.curator.releases.record_sums import fit_sums, tabulate_sums
from adomnia.curator.releases.release_keys import TableLayout
from adomnia.curator.releases.release_mechanisms import ReleasedTables
from adomnia.curator.releases.sum_noise import SumNoise
from adomnia.marginals.workload import Subset

__all__ = ["SumTables", "sum_tables"]

Floats = NDArray[np.float64]
ROUNDS = 6
"""How often an average's bounds are taken again from what they leave possible."""


@dataclass(frozen=True, eq=False)
class SumTables:
    """What a number adds up to in each cell, and its averages, with margins.

    An average of nobody is not a number.
    """

    magnitude: Magnitude
    sums: Mapping[Subset, NDArray[Any]]
    sum_margins: Mapping[Subset, Floats]
    averages: Mapping[Subset, Floats]
    average_margins: Mapping[Subset, Floats]

    def shown(self, layout: TableLayout) -> SumTables:
        """The part of them that is published."""
        parts = (self.sums, self.sum_margins, self.averages, self.average_margins)
        return SumTables(self.magnitude, *(shown(layout, part) for part in parts))


def sum_tables(
    noise: SumNoise,
    sizes: Sequence[int],
    counts: ReleasedTables,
    apart: Mapping[Subset, NDArray[Any]],
    empty: Mapping[Subset, NDArray[np.bool_]],
) -> SumTables:
    """Sums that belong to the counts; `apart` are unbiased sums of steps from the middle.

    With records, every record gets a share of the sums: tables agree wherever its counts do, and
    lie within bounds. In `empty` cells nobody can be.
    """
    centre = noise.magnitude.centre
    if counts.microdata is None:
        near = {s: np.where(empty[s], 0.0, table) for s, table in apart.items()}
    else:
        records = counts.microdata.merged()
        spread = {s: noise.sums.deviations[s] for s in apart}
        steps = fit_sums(records, sizes, noise.magnitude, apart, spread)
        near = {s: tabulate_sums(records, steps, sizes, s) for s in apart}
    made = SumTables(noise.magnitude, {}, {}, {}, {})
    for subset, table in near.items():
        whole = table + centre * counts.tables[subset]
        measured = apart[subset] + centre * counts.unbiased[subset]
        _add_sums(made, noise, subset, whole, measured, empty[subset])
        _add_averages(made, noise, subset, table, counts, apart[subset])
    return made


def _add_sums(
    made: SumTables,
    noise: SumNoise,
    subset: Subset,
    sums: NDArray[Any],
    measured: Floats,
    empty: NDArray[np.bool_],
) -> None:
    """Margins as of counts: the farther end of what the noise leaves possible (`margins.md`)."""
    wide = noise.of_sums(subset)
    low, high = measured - wide, measured + wide
    if noise.magnitude.low >= 0:
        low, high = np.maximum(low, 0), np.maximum(measured, 0) + wide
    elif noise.magnitude.high <= 0:
        low, high = np.minimum(measured, 0) - wide, np.minimum(high, 0)
    off = np.where(empty, 0.0, np.maximum(np.abs(sums - low), np.abs(high - sums)))
    if sums.dtype.kind == "i":  # then they are whole steps, as the truth is
        off = np.floor(off + 1e-6)
    shown = np.array([noise.magnitude.shown(one) for one in sums.reshape(-1).tolist()])
    made.sums[subset] = shown.reshape(sums.shape)  # type: ignore[index]
    step = noise.magnitude.step
    margins = np.array([float(scaled(one, step)) for one in off.reshape(-1).tolist()])
    made.sum_margins[subset] = margins.reshape(sums.shape)  # type: ignore[index]


def _add_averages(
    made: SumTables,
    noise: SumNoise,
    subset: Subset,
    sums: NDArray[Any],
    counts: ReleasedTables,
    apart: NDArray[Any],
) -> None:
    """Averages of the published numbers, and the farther end of those that are possible."""
    magnitude = noise.magnitude
    rows, step = counts.tables[subset], float(magnitude.step)
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.where(rows > 0, sums / rows, np.nan)
    inside = np.clip(raw, magnitude.low - magnitude.centre, magnitude.high - magnitude.centre)
    digits = 2 + max(0, math.ceil(-math.log10(step)))
    shown = np.round((magnitude.centre + inside) * step, digits)
    low, high = _possible(noise, subset, apart, counts.unbiased[subset])
    ends = [(magnitude.centre + end) * step for end in (low, high)]
    made.averages[subset] = shown  # type: ignore[index]
    off = np.maximum(shown - ends[0], ends[1] - shown)
    made.average_margins[subset] = np.ceil(off * 10**digits) / 10**digits  # type: ignore[index]


def _possible(
    noise: SumNoise, subset: Subset, sums: NDArray[Any], rows: NDArray[Any]
) -> tuple[Floats, Floats]:
    """The averages from the middle that the noise leaves possible (`magnitudes.md`, claim 4)."""
    magnitude = noise.magnitude
    first = magnitude.low - magnitude.centre, magnitude.high - magnitude.centre
    low, high = (np.full(rows.shape, float(end)) for end in first)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(ROUNDS):
            largest = np.maximum(np.abs(low), np.abs(high))
            wide = noise.of_averages(subset, largest)
            below, above = (sums - wide) / rows, (sums + wide) / rows
            low = np.where(rows > 0, np.clip(below, *first), low)
            high = np.where(rows > 0, np.clip(above, *first), high)
    return low, high
