"""A drafted policy of several tables as values: its text, its tables, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from adomnia.review.drafts.draft_columns import DraftColumn
from adomnia.review.drafts.identifiers import RowsPerUnit
from adomnia.review.tables_draft.owner_graph import OwnerGraph

__all__ = ["DraftTable", "TablesDraft"]


@dataclass(frozen=True)
class DraftTable:
    """One table of a draft: where it is, its columns, and how many rows the units have in it.

    >>> DraftTable("visits", "visits.csv", "visits", 3, (), RowsPerUnit("visits", {1: 3})).nobody
    0
    """

    name: str
    source: str = field(repr=False)  # an address may hold a password
    relation: str
    rows: int
    columns: tuple[DraftColumn, ...]
    owned: RowsPerUnit | None = None
    """How many rows the units have here; None for the units' own table."""
    nobody: int = 0
    """How many rows belong to nobody."""
    titled: bool = False
    """Whether its first line seems to be a title."""


@dataclass(frozen=True)
class TablesDraft:
    """A policy's text for several tables, and what a person should be told about it.

    >>> people = DraftTable("people", "p.csv", "people", 9, (DraftColumn("age", taken=True),))
    >>> TablesDraft("", (people,), OwnerGraph({}, "people", (), (), {}), ("people",)).confirm
    ('people.age',)
    """

    text: str
    tables: tuple[DraftTable, ...]
    graph: OwnerGraph
    picture: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    @property
    def confirm(self) -> tuple[str, ...]:
        """The attributes whose domains were taken from the data."""
        return tuple(f"{t.name}.{c.name}" for t in self.tables for c in t.columns if c.taken)

    @property
    def titled(self) -> bool:
        """Whether the columns of a table are none, since its first line seems to be a title."""
        return any(table.titled for table in self.tables)

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands beside the domains, and should be known before they are confirmed."""
        return tuple(
            f"{table.name}.{column.name}: {note}"
            for table in self.tables
            for column in table.columns
            for note in (*column.notes, *_within(column))
        )


def _within(column: DraftColumn) -> tuple[str, ...]:
    """What is said of a column without a domain that could have been a number."""
    return (column.why,) if "of the same table" in column.why else ()
