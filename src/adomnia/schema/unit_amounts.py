"""Amounts of units: what rows of joined tables add up to, by the units that they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairAmounts", "PairTable", "Pairs", "SideTotals", "UnitAmounts"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UnitAmounts:
    """Rows of one unit each: a unit's key, the place of a cell, and an amount.

    All rows with one key are one unit's, and no other unit has a say in them.
    """

    units: Integers
    cells: Integers
    amounts: Integers


@dataclass(frozen=True, eq=False)
class PairAmounts:
    """Rows of two units each: the keys of both, and an amount.

    A key depends on its unit alone. With `alike` both are of one relation, and the same key on
    either side is the same unit; a row with one key twice belongs to that unit once.

    Keys may depend on others: then `order` has a number for each row, and how two of these compare
    depends on their own units alone.
    """

    left: Integers
    right: Integers
    amounts: Integers
    alike: bool = False
    order: Integers | None = None


@dataclass(frozen=True, eq=False)
class SideTotals:
    """Units that are first, or second, in rows: their keys, each once and in order, what these rows
    add up to, and how many they are."""

    keys: Integers
    totals: Integers
    rows: Integers


class PairTable(Protocol):
    """Rows of two units each that stay where they are; those of some units are taken."""

    alike: bool

    def totals(self, most: int, largest: int) -> tuple[SideTotals, SideTotals]:
        """Of both sides, where each row has 0 to `most`, and no total is above `largest`; a row
        that has one unit twice is of the first side alone."""
        ...

    def touching(self, first: Integers, second: Integers) -> PairAmounts:
        """The rows whose first unit is one of these, or whose second is one of those."""
        ...


Pairs = PairAmounts | PairTable
