"""Vectors of units scaled towards 0 until their magnitudes add up to a bound
(`clamped_totals.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.joins.exact_sums import Whole, dense, sums, times
from adomnia.schema.unit_amounts import UnitAmounts

__all__ = ["UnitVectors", "scaled", "unit_vectors"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """Rows of units, which are numbered from 0 on, and what the magnitudes of each add up to."""

    units: Integers
    cells: Integers
    amounts: Integers
    totals: Whole

    def above(self, grid: Sequence[int]) -> list[int]:
        """How many units have a total above each bound."""
        ordered = np.sort(self.totals)
        places = np.searchsorted(ordered, np.array(grid, ordered.dtype), "right")
        return [int(ordered.size - place) for place in places]

    def cut(self, bound: int, cells: int) -> Whole:
        """What all units add to each cell, each scaled to the bound."""
        return sums(self.cells, scaled(self.amounts, self.totals[self.units], bound), cells)


def unit_vectors(given: UnitAmounts, cells: int, least: int, most: int) -> UnitVectors:
    """The amounts brought between `least` and `most`, each by itself; rows of no cell left out."""
    inside = (given.cells >= 0) & (given.cells < cells)
    amounts = np.clip(given.amounts[inside], least, most).astype(np.int64)
    units, many = dense(np.ascontiguousarray(given.units[inside], np.int64))
    return UnitVectors(units, given.cells[inside], amounts, sums(units, np.abs(amounts), many))


def scaled(amounts: Integers, totals: Whole, bound: int) -> Whole:
    """Each amount times bound / total where the total is above the bound, rounded towards 0.

    >>> scaled(np.array([2, -2, 2]), np.array([6, 6, 6]), 2).tolist()
    [0, 0, 0]
    >>> scaled(np.array([5, -4]), np.array([9, 9]), 6).tolist()
    [3, -2]
    """
    over = np.flatnonzero(totals > bound)
    parts = times(np.abs(amounts[over]), bound) // totals[over]
    found: Whole = amounts.copy()
    found[over] = np.sign(amounts[over]) * parts
    return found
