"""The rows of an edition that lies in a database: codes, in columns with names of their own.

A server may cut long names or take two for one, so columns are numbered there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adomnia.engines.edition_store import check_same_table
from adomnia.engines.sql.coding import codes, lost_columns
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.statement import CodedRows
from adomnia.engines.sql.units import MARKS, RANK, ranked
from adomnia.schema.table import Table

__all__ = ["EditionRows"]


@dataclass(frozen=True)
class EditionRows:
    """The columns of an edition of a table: those of its source, what cleaning left out of them,
    and the marks of units."""

    table: Table
    types: Mapping[str, str]
    dialect: Dialect

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that questions read."""
        return (*self.types, *lost_columns(self.table, self.types))

    @property
    def stored(self) -> Mapping[str, str]:
        """Each column, and each mark, under the name that it is stored by."""
        marks = () if self.table.unit is None else MARKS
        return {name: f"c{place}" for place, name in enumerate((*self.names, *marks))}

    def written(self, reading: str) -> str:
        """The statement that codes all rows of another, in columns as they are stored."""
        say, rows = self.dialect.quoted, f"({reading}) AS {self.dialect.quoted('adomnia source')}"
        found = dict(codes(self.table, self.types, self.dialect, self.names))
        if self.table.unit is not None:
            rows = ranked(rows, self.table, self.types, self.types, self.dialect)
            found |= {mark: say(mark) for mark in MARKS}
            found[RANK] = f"CAST({say(RANK)} AS INTEGER)"
        listed = ", ".join(f"{found[name]} AS {place}" for name, place in self.stored.items())
        return f"SELECT {listed} FROM {rows}"

    def read(
        self, rows: str, texts: Mapping[str, str] = {}, joins: Mapping[str, str] = {}
    ) -> CodedRows:
        """Coded rows of a stored table. Some columns are stored otherwise than they are read: by
        a text over the columns of `r`, for which a table may have to be joined."""

        def source(table: Table, needed: Sequence[str]) -> str:
            check_same_table(table, self.table)
            marks = () if table.unit is None else MARKS
            found, say = [*needed, *marks], self.dialect.quoted
            stored = self.stored
            columns = [f"{texts.get(name, f'r.{stored[name]}')} AS {say(name)}" for name in found]
            joined = "".join(f" {joins[name]}" for name in found if name in joins)
            listed = ", ".join(columns) or f"1 AS {say('adomnia one')}"
            return f"(SELECT {listed} FROM {rows} r{joined}) AS {say('adomnia coded')}"

        return CodedRows(self.names, self.dialect, source)
