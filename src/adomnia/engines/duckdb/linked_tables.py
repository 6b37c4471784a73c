"""Several tables of files or of a DuckDB file, their keys copied to one place while it is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.duckdb.reader import BATCH, connected
from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.sql.dialect import literal
from adomnia.engines.sql.statement import DATA
from adomnia.engines.sql.tables.linked_tables import SqlLinks, text_columns

__all__ = ["DuckDBLinks"]


class DuckDBLinks(SqlLinks):
    """The columns that may be keys, as texts, in a database of their own."""

    _dialect = DUCKDB

    def __init__(self, engine: DuckDB, source: str) -> None:
        self._room = TemporaryDirectory(prefix="adomnia-", ignore_cleanup_errors=True)
        room = Path(self._room.name)
        self._connection = connected(None, room / "spill")
        self._connection.execute(f"ATTACH {literal(str(room / 'keys.duckdb'))} AS kept")
        self._names: dict[str, str] = {}

    def add(self, name: str, engine: DuckDB, columns: Sequence[str]) -> None:
        """Copy these columns of a table."""
        selected = text_columns(columns, engine.columns(), DUCKDB)
        place = self._names[name] = f"kept.t{len(self._names)}"

        def copied() -> None:
            cursor = engine._connection.cursor()
            batches = cursor.sql(f"SELECT {selected} FROM {DATA}").to_arrow_reader(BATCH)
            self._connection.register("adomnia_texts", batches)
            self._connection.execute(f"CREATE TABLE {place} AS SELECT * FROM adomnia_texts")
            self._connection.unregister("adomnia_texts")

        quietly(copied, unanswered)

    def close(self) -> None:
        """Let go of the copies."""
        self._connection.close()
        self._room.cleanup()

    def _texts(self, table: str) -> str:
        return self._names[table]

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return quietly(lambda: self._connection.execute(statement).fetchall(), unanswered)
