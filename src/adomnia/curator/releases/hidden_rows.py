"""Rows that have no value of a key: they are in a cell that is measured and not shown.

How many there are is told where the cell was measured, with its margin (`hidden_rows.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.release_keys import TableLayout
from adomnia.marginals.core.last_values import (
    LastWidths,
    last_cells,
    last_widths,
    outstanding,
)
from adomnia.marginals.core.margins import cell_margins
from adomnia.marginals.core.range_noise import RangeNoise
from adomnia.marginals.release import MarginalPlan
from adomnia.marginals.workload import Subset

__all__ = ["HiddenNoise", "HiddenRows", "bounded_rows", "noisy_rows", "shown"]

Tables = Mapping[Subset, NDArray[Any]]


@dataclass(frozen=True)
class HiddenRows:
    """About how many rows have no value of a key; a model knows no margin.

    >>> HiddenRows(12.0, 3.0).margin
    3.0
    """

    count: float
    margin: float | None = None

    def to_json(self) -> dict[str, int | None]:
        """Whole numbers, as they are told."""
        off = None if self.margin is None else ceil(self.margin)
        return {"rows": round(self.count), "margin": off}


def shown(layout: TableLayout, tables: Tables) -> dict[Subset, NDArray[Any]]:
    """The part of measured tables that is published."""
    return {subset: table[layout.shown(subset)] for subset, table in tables.items()}


@dataclass(frozen=True)
class HiddenNoise:
    """What a plan says of rows that are not shown, by the place of their key: how far their number
    may be off, and what it must pass to stand out of the noise."""

    widths: LastWidths = field(default_factory=dict)
    outstanding: LastWidths = field(default_factory=dict)

    @classmethod
    def of(cls, layout: TableLayout, plan: MarginalPlan, confidence: float) -> HiddenNoise:
        """What is known before anything is measured."""
        noise = RangeNoise(plan.workload, plan.strategy, plan.blocks)
        places = [*_places(layout)]
        return cls(last_widths(noise, places, confidence), outstanding(noise, places))


def noisy_rows(
    layout: TableLayout, noise: HiddenNoise, tables: Tables, unbiased: Tables, whole: bool
) -> dict[int, HiddenRows]:
    """How many there are by the tables, which are `whole` numbers of records or unbiased; with
    margins as of cells (`margins.md`)."""
    found = {}
    for place, width in noise.widths.items():
        subset, cells = last_cells(layout.measured, place)
        count, known = (part[subset][cells].sum() for part in (tables, unbiased))
        off = cell_margins(count, known, width) if whole else np.abs(count - known) + width
        found[place] = HiddenRows(float(count), float(off))
    return found


def bounded_rows(
    layout: TableLayout, tables: Tables, margins: Tables, at_once: bool
) -> dict[int, HiddenRows]:
    """The same with the margins of the tables: of a cell, or of a whole table where they bound
    `at_once` all that its cells are off."""
    found = {}
    for place in _places(layout):
        subset, cells = last_cells(layout.measured, place)
        off = float(margins[subset][cells].max())
        known = isfinite(off) and (at_once or len(subset) == 1)
        found[place] = HiddenRows(float(tables[subset][cells].sum()), off if known else None)
    return found


def _places(layout: TableLayout) -> Iterator[int]:
    """The keys of tables that have a cell that is not shown."""
    used = {place for subset in layout.workload.marginals for place in subset}
    return (place for place in sorted(used) if layout.keys[place].hidden)
