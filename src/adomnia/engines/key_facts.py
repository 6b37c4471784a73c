"""Keys between tables: which a source declares, and how many rows have them, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["DeclaredKeys", "ForeignKey", "Hop", "MatchedRows", "OwnerCounts", "OwnerHops"]


@dataclass(frozen=True)
class ForeignKey:
    """Columns of a table that hold the key of a row of another."""

    table: str
    columns: tuple[str, ...]
    other: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class DeclaredKeys:
    """What the catalogue of a database says: unique columns by table, the primary key first, and
    what refers to what. A file says nothing."""

    unique: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    foreign: tuple[ForeignKey, ...] = ()

    @classmethod
    def listed(cls, found: Iterable[Sequence[Any]]) -> DeclaredKeys:
        """From rows of a catalogue: a table, columns, and for foreign keys those of the other."""
        unique: dict[str, tuple[tuple[str, ...], ...]] = {}
        foreign = []
        for table, columns, other, others in found:
            if other is None:
                unique[table] = (*unique.get(table, ()), tuple(columns))
            else:
                foreign.append(ForeignKey(table, tuple(columns), other, tuple(others)))
        return cls(unique, tuple(foreign))


@dataclass(frozen=True)
class Hop:
    """From a row by one of its columns to the row of another table that has it as its key."""

    column: str
    other: str
    key: str


OwnerHops = tuple[Hop, ...]
"""From a row to the unit whose it is."""


@dataclass(frozen=True)
class MatchedRows:
    """How many rows have a value in a column, and of how many it is a key of the other table."""

    rows: int
    matched: int

    @property
    def share(self) -> float:
        """The share of rows that match."""
        return self.matched / max(1, self.rows)


@dataclass(frozen=True)
class OwnerCounts:
    """For each number of rows how many units have it, and how many rows are nobody's."""

    repeats: Mapping[int, int]
    nobody: int
