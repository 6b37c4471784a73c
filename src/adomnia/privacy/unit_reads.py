"""Reads of units: what each of them, or each pair, adds up, before a bound is applied to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["NamedRows", "PairSums", "UnitSums"]


class NamedRows(Protocol):
    """Rows that an engine can compute, and that records can name."""

    def to_json(self) -> dict[str, Any]:
        """Which rows, as plain JSON values."""
        ...


@dataclass(frozen=True)
class UnitSums:
    """What each unit adds to each of so many cells, whole (`schema.unit_amounts.UnitAmounts`)."""

    of: NamedRows
    cells: int = 1


@dataclass(frozen=True)
class PairSums:
    """What each pair of units adds to one number, whole (`schema.unit_amounts.PairAmounts`)."""

    of: NamedRows
