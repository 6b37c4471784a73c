"""Reads: the exact values that a mechanism needs, as values that an engine computes and seals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from adomnia.privacy.contribution import Contribution, Ranked
from adomnia.privacy.unit_reads import PairSums, UnitSums
from adomnia.queries.expression import Column, Expr

__all__ = [
    "REST",
    "CellTotals",
    "CellValues",
    "KeyTotals",
    "MarginalTables",
    "Reads",
    "UnitPeaks",
    "UnitRows",
    "WholeGraph",
]


@dataclass(frozen=True)
class CellTotals:
    """What rows add up to in every cell of the keys' public domain.

    The keys after `grouping` of them are no groups of the question. Of more than `most` rows,
    where that is set, those of none are read.
    """

    contribution: Contribution
    where: Expr | None = None
    keys: tuple[Expr, ...] = ()
    grouping: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class CellValues:
    """In every cell the sorted values of an expression, and how many rows have each."""

    ranked: Ranked
    where: Expr | None = None
    keys: tuple[Expr, ...] = ()
    most: int | None = None


@dataclass(frozen=True)
class KeyTotals:
    """What rows add up to, for every key that occurs."""

    contributions: tuple[Contribution, ...]
    where: Expr | None
    keys: tuple[Expr, ...]


REST: Final = object()
"""What stands last on an axis for all that is not on it: another value, or none."""


@dataclass(frozen=True)
class MarginalTables:
    """All marginals of the keys over the values on their axes, of the rows that qualify: how many
    they are, or what they add up to by one contribution.

    Where all axes end with the `REST`, every row that qualifies is in exactly one cell of each
    marginal, whatever it has; where one does not, a row with another value is in none.
    """

    keys: tuple[Expr, ...]
    axes: tuple[tuple[Any, ...], ...]
    where: Expr | None = None
    contributions: tuple[Contribution, ...] = ()


@dataclass(frozen=True)
class UnitRows:
    """For each bound of a grid how many units have more rows than it; and how many rows, of those
    that are beyond the first `beyond` of their unit, are within the first so many."""

    grid: tuple[int, ...]
    beyond: int = 0


@dataclass(frozen=True)
class UnitPeaks:
    """For each bound of a grid how many units have a row with a number above it; without units,
    how many rows. With `lowest` it is the negated number that is above it."""

    column: Column
    grid: tuple[int, ...]
    lowest: bool = False


@dataclass(frozen=True)
class WholeGraph:
    """The graph itself, sealed."""


Reads = (
    CellTotals
    | CellValues
    | KeyTotals
    | MarginalTables
    | UnitRows
    | UnitPeaks
    | UnitSums
    | PairSums
    | WholeGraph
)
