"""The rows of a source as DuckDB selects them: what files hold, decoded as they are read once.

Every value is decoded by a rule that sees the value and its type alone (`coding.md`, Claim 8), so
no row can make a reading fail. Files are read in one stream; a table of a database as it is.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.edition_store import Tell
from adomnia.engines.source_files import Source
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.errors import MachineryError, PolicyError
from adomnia.schema.domain import Domain

__all__ = ["READERS", "Parts", "Rows", "SourcePart", "SourceRows", "check_space",
           "described", "source_rows"]  # fmt: skip

SPARE = 64_000_000
"""Bytes that are left free on a disk."""

PATIENCE = 2.0
"""Seconds of work after which it is told how far it is."""

READERS = {
    "parquet": "parquet",
    "text": "delimited",
    "excel": "excel.workbook",
    **dict.fromkeys(("stata", "spss", "sas", "transport"), "statistics.reader"),
}
"""Which module reads the rows of which files; they load Arrow, so they wait until there are any."""

_STORED = """
SELECT sql FROM duckdb_tables() WHERE database_name = 'source' AND LOWER(table_name) = LOWER(?)
"""

Rows = tuple[Any, Iterator[Any]]
"""A schema of Arrow, and batches of rows that have it."""


@dataclass(frozen=True)
class SourcePart:
    """Rows of one schema: what tells it from others, what each column is selected as, the rows."""

    schema: str
    selected: tuple[str, ...]
    read: Callable[[], Rows]


@dataclass(frozen=True)
class Parts:
    """All rows of files; the columns of several types; about how many bytes the rows need."""

    parts: Sequence[SourcePart]
    varied: frozenset[str]
    size: int

    def select(self, connection: duckdb.DuckDBPyConnection, tell: Tell | None) -> str:
        """The statement that reads all rows; it can be run once."""
        import pyarrow as pa  # noqa: PLC0415 (slow to import)

        selects, telling = [], _telling(tell)
        for place, part in enumerate(self.parts):
            name = f"adomnia_part{place}"
            schema, batches = part.read()
            reader = pa.RecordBatchReader.from_batches(schema, _told(batches, telling))
            connection.register(name, reader)
            selects.append(f"SELECT {', '.join(part.selected)} FROM {name}")
        return " UNION ALL BY NAME ".join(selects)


@dataclass(frozen=True)
class SourceRows:
    """A statement that reads all rows of a source, which can be run again where they are `stored`
    in a database; their types; and which columns have several in several files."""

    select: str
    stored: bool
    types: Mapping[str, str]
    varied: frozenset[str]
    size: int


def source_rows(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    table: str,
    domains: Mapping[str, Domain],
    tell: Tell | None = None,
) -> SourceRows:
    """The rows of a source, for a connection on which nothing else is attached."""
    if source.kind == "database":
        select, stored = _attached(connection, source, table)
        varied: frozenset[str] = frozenset()
        size = sum(file.stat().st_size for file in source.files)
    else:
        module = import_module(f"{__package__}.{READERS[source.kind]}")  # slow to import
        parts = module.parts(source.files, domains, table)
        select, stored = parts.select(connection, tell), False
        varied, size = parts.varied, parts.size
    types = described(connection, select)
    if any(name.lower().startswith("adomnia ") for name in types):
        raise PolicyError("a column's name begins with 'adomnia '", "rename it")
    return SourceRows(select, stored, types, varied, size)


def described(connection: duckdb.DuckDBPyConnection, select: str) -> dict[str, str]:
    """The names and types of the columns of a table or a statement."""
    found = connection.execute(f"DESCRIBE {select}").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def check_space(folder: Path, needed: int) -> None:
    """Refuse to begin what would not fit the disk."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise MachineryError(
            f"the disk has no room to load the source: {free / 1e6:,.0f} MB are free, "
            f"and it may take {(needed + SPARE) / 1e6:,.0f} MB",
            f"make room at {str(folder)!r}",
        )


def _attached(
    connection: duckdb.DuckDBPyConnection, source: Source, table: str
) -> tuple[str, bool]:
    """A table of a database, and whether it is stored: a view or a generated column is computed."""
    connection.execute(f"ATTACH {literal(source.path)} AS source (READ_ONLY)")
    name = f"source.{quoted(table)}"
    try:
        types = described(connection, name)
    except duckdb.CatalogException:
        types = {}
    if not types:
        raise PolicyError(f"the source {source.path!r} has no table {table!r}", "check [data]")
    columns = ", ".join(DUCKDB.read(column, declared) for column, declared in types.items())
    stored = connection.execute(_STORED, [table]).fetchall()
    plain = bool(stored) and "GENERATED" not in str(stored[0][0])
    return f"SELECT {columns} FROM {name}", plain


def _telling(tell: Tell | None) -> Tell:
    began, rows = time.monotonic(), 0

    def told(more: int) -> None:
        nonlocal rows
        rows += more
        if tell is not None and time.monotonic() - began > PATIENCE:
            tell(rows)

    return told


def _told(batches: Iterator[Any], tell: Tell) -> Iterator[Any]:
    for batch in batches:
        tell(batch.num_rows)
        yield batch
