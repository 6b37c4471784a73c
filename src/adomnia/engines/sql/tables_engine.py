"""What engines that ask an edition of several tables do alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from adomnia.engines.edition_store import TablesFacts
from adomnia.engines.engine import Cells
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.engines.sql.statement import CodedRows
from adomnia.engines.sql.tables.owners import OwnedRows, table_marks
from adomnia.engines.sql.tables.relations import Relations
from adomnia.engines.sql.unit_scores import laid_on_grid, score_statement
from adomnia.errors import QuestionError
from adomnia.privacy.reads import UnitPeaks, UnitRows
from adomnia.queries.derived_table import DerivedTable, owners_of
from adomnia.queries.rows import Scan
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["TablesEngine"]


class TablesEngine(SqlEngine):
    """An edition of several tables; it never changes."""

    facts: TablesFacts
    tables: Tables
    _edition: str
    _short = False

    @abstractmethod
    def _rows_at(self, place: int) -> str:
        """The table of rows of the table at this place."""

    @abstractmethod
    def _words_at(self, place: int, at: int) -> str | None:
        """The table of the words of a column; None where they are stored as they are."""

    def _stored(self, column: str, stored: str) -> str:
        """What a stored column of `r` is read as."""
        return f"r.{stored}"

    def scan(self, name: str, needed: Sequence[str]) -> str:
        """What to select the rows of a table from, with the needed columns and all its marks."""
        place, words = list(self.facts.tables).index(name), self.facts.tables[name].words
        rows, say, joins = self.rows_of(name), self._dialect.quoted, ""
        found = {column: self._stored(column, stored) for column, stored in rows.stored.items()}
        for at, word in enumerate(words):
            table = self._words_at(place, at)
            if table is not None and word in needed:
                joins += f" LEFT JOIN {table} w{at} ON {found[word]} = w{at}.code"
                found[word] = f"w{at}.word"
        wanted = (*needed, *table_marks(self.tables, name))
        columns = ", ".join(f"{found[column]} AS {say(column)}" for column in wanted)
        select = f"SELECT {columns} FROM {self._rows_at(place)} r{joins}"
        return f"({select}) AS {say(f'adomnia scan {name}')}"

    def columns(self) -> Mapping[str, str]:
        """The columns of all tables with their types, each after the name of its table."""
        tables = self.facts.tables.items()
        return {f"{t}.{name}": kind for t, facts in tables for name, kind in facts.types.items()}

    def columns_of(self, name: str) -> Mapping[str, str]:
        """The names of one table's columns and their declared types."""
        return self.facts.tables[name].types

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the numbers of rows rested on no value where they were read."""
        return self.facts.rows_stay

    def version(self) -> str:
        """Which edition it is."""
        return self._edition

    def rows_of(self, name: str) -> OwnedRows:
        """The rows of a table as they were coded."""
        return OwnedRows(self.tables, name, self.columns_of(name), self._dialect, self._short)

    def _coded(self, table: Table) -> CodedRows:
        """The coded rows of what a question derives of the tables."""
        columns = {name: (*self.rows_of(name).names,) for name in self.tables.tables}
        return Relations(self.tables, columns, self.scan, self._dialect).coded(table)

    def unit_scores(self, table: Table, reads: UnitRows | UnitPeaks) -> Cells:
        """For each bound how many units have more rows of one table, sealed: of all rows that are
        stored, also those beyond `max_rows`, which no other statement reads."""
        rows = table.rows if isinstance(table, DerivedTable) else None
        if not isinstance(rows, Scan) or owners_of(table) > 1 or isinstance(reads, UnitPeaks):
            raise QuestionError("bounds are sought for rows of one table, each of one unit")
        name = rows.table
        stored = CodedRows((), self._dialect, lambda _, needed: self.scan(name, needed))
        return Sealed(laid_on_grid(reads, self._rows(score_statement(table, reads, stored))))
