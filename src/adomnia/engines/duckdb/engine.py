"""DuckDB, the embedded engine: CSV and Parquet files, globs, folders, and DuckDB databases.

It reads a source as it is, for whoever drafts or checks a policy, and codes rows as they are read.
Questions are answered from an edition (`edition.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.reader import DuckDBReader, connected
from adomnia.engines.duckdb.source_rows import SourceRows, check_space, source_rows
from adomnia.engines.edition_store import Tell
from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.exact import Survey
from adomnia.engines.source_facts import RowChanges
from adomnia.engines.source_files import (
    Source,
    find,
    reading_failure,
    state,
    unreadable,
    version,
)
from adomnia.engines.sql.coding import coded, coding
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.engines.sql.statement import DATA
from adomnia.errors import MachineryError
from adomnia.schema.domain import Domain
from adomnia.schema.table import Table

if TYPE_CHECKING:
    from adomnia.engines.duckdb.edition import DuckDBEdition

__all__ = ["DuckDB"]


class DuckDB(DuckDBReader):
    """An in-memory DuckDB that reads one source; files are decoded to a copy while it is open."""

    def __init__(
        self,
        source: Path | str,
        table: str,
        domains: Mapping[str, Domain],
        memory: int | None = None,
        tell: Tell | None = None,
    ) -> None:
        super().__init__(memory)
        self._path, self._name, self._domains = str(source), table, domains
        self._tell, self._mutex = tell, threading.Lock()
        try:
            self._open(find(self._path))
        except BaseException:
            self.close()
            raise

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows rests on no value: in text, a quote can join two of them."""
        return self._source.rows_stay

    def version(self) -> str:
        """A digest of the names, sizes and times of the files when they were opened."""
        return self._version

    def ready(self) -> None:
        """Open the source anew where the engine has died."""
        with self._mutex:
            if not self._alive():
                self._open(self._source)

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        from adomnia.engines.sql.inspection.survey import survey  # noqa: PLC0415 (for a draft alone)

        return quietly(
            lambda: survey(
                self._types, DATA, lambda text: self._connection.execute(text).fetchall(), DUCKDB
            ),
            partial(unreadable, self._path),
        )

    def _row_changes(self, table: Table, edition: DuckDBEdition) -> RowChanges:
        """What the source has that an edition has not, row by row, for a curator's check."""
        from adomnia.engines.duckdb.edition_changes import edition_changes  # noqa: PLC0415 (rare)

        self.check(table)
        codes = ", ".join(coding(table, self._types, DUCKDB, self._types))
        owned = "" if table.unit is None else f" WHERE {quoted(table.unit)} IS NOT NULL"
        with self._staged(f"SELECT {codes} FROM {DATA}{owned}") as rows:
            compare = partial(edition_changes, now=rows, edition=edition)
            return quietly(lambda: self._run(compare), unanswered)

    @contextmanager
    def _staged(self, select: str) -> Iterator[str]:
        """A table beside the copy of the source, while the block runs."""
        place = Path(self._room.name) / f"staged-{uuid4().hex}.duckdb"
        name = f"staged_{place.stem[-8:]}"

        def made(cursor: duckdb.DuckDBPyConnection) -> None:
            cursor.execute(f"ATTACH {literal(str(place))} AS {name}")
            cursor.execute(f"CREATE TABLE {name}.adomnia_staged AS {select}")

        quietly(lambda: self._run(made), unanswered)
        try:
            yield f"{name}.adomnia_staged"
        finally:
            with suppress(duckdb.Error):
                self._connection.execute(f"DETACH {name}")
            place.unlink(missing_ok=True)

    def _open(self, source: Source) -> None:
        current, before = version(source), quietly(lambda: state(source), _gone)
        failure = partial(unreadable, source.path)
        room = Path(self._room.name)
        connection = quietly(lambda: connected(self._memory, room / "spill"), failure)
        rows = quietly(lambda: self._view(connection, source), reading_failure(source, before))
        if quietly(lambda: state(source), _gone) != before:
            raise MachineryError("the source changed while it was read", "try again")
        self._connection, self._source, self._version = connection, source, current
        self._types, self._varied = rows.types, rows.varied

    def _view(self, connection: duckdb.DuckDBPyConnection, source: Source) -> SourceRows:
        """The rows under the name of the private table: those of files are copied once."""
        rows = source_rows(connection, source, self._name, self._domains, self._tell)
        for name, declared in rows.types.items():
            if name in self._domains:  # a domain that no number can hold fails here
                coded(name, self._domains[name], declared, DUCKDB)
        select = rows.select
        if not rows.stored:
            room = Path(self._room.name)
            check_space(room, rows.size)
            copy = room / "copy.duckdb"
            copy.unlink(missing_ok=True)
            connection.execute(f"ATTACH {literal(str(copy))} AS copied")
            connection.execute(f"CREATE TABLE copied.adomnia_rows AS {select}")
            select = "SELECT * FROM copied.adomnia_rows"
        connection.execute(f"CREATE VIEW {DATA} AS {select}")
        return rows


def _gone(kind: str) -> MachineryError:
    return MachineryError("the source is gone", f"its files cannot be found any more ({kind})")
