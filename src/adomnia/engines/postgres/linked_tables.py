"""Several tables of a server, held against each other there: nothing but counts leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adomnia.engines.postgres.engine import PostgreSQL
from adomnia.engines.postgres.reader import PostgresReader
from adomnia.engines.sql.tables.linked_tables import SqlLinks, text_columns

__all__ = ["PostgresLinks"]


class PostgresLinks(SqlLinks):
    """The columns that may be keys, read as texts by each statement."""

    def __init__(self, engine: PostgreSQL, source: str) -> None:
        self._reader, self._dialect = PostgresReader(source), engine._dialect
        self._statements: dict[str, str] = {}

    def add(self, name: str, engine: PostgreSQL, columns: Sequence[str]) -> None:
        """Know these columns of a table."""
        selected = text_columns(columns, engine.columns(), self._dialect)
        rows = f"({engine._reading}) AS {self._dialect.quoted('adomnia rows')}"
        self._statements[name] = f"(SELECT {selected} FROM {rows})"

    def close(self) -> None:
        """Let go of the server."""
        self._reader.close()

    def _texts(self, table: str) -> str:
        return self._statements[table]

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self._reader._rows(statement)
