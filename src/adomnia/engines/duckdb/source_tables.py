"""What a source on disk holds before anything is declared: its tables, and the columns of files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adomnia.engines.duckdb.reader import connected
from adomnia.engines.duckdb.source_rows import READERS
from adomnia.engines.engine import quietly
from adomnia.engines.key_facts import DeclaredKeys
from adomnia.engines.remote_files import RemoteFile
from adomnia.engines.source_files import Source, find, unreadable
from adomnia.engines.sql.dialect import literal

__all__ = ["column_groups", "column_labels", "declared_keys", "tables", "views"]

_TABLES = """
SELECT table_name, COUNT(*) FROM duckdb_columns()
WHERE database_name = 'source' AND schema_name = 'main' AND NOT internal
GROUP BY table_name ORDER BY table_name
"""
_VIEWS = "SELECT view_name FROM duckdb_views() WHERE database_name = 'source' AND NOT internal"

_KEYS = """
SELECT table_name, constraint_column_names, referenced_table, referenced_column_names
FROM duckdb_constraints()
WHERE database_name = 'source' AND schema_name = 'main'
  AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
ORDER BY constraint_type, table_name, constraint_index
"""

ColumnGroup = tuple[tuple[str, ...], list[Path | RemoteFile]]
"""Names of columns, and the files that have them."""

_TABLED = {"database"}
"""Kinds of files that hold several tables."""


def tables(path: str) -> Mapping[str, int] | None:
    """The tables of a file with the number of their columns; None where a file is one table."""
    source = find(path)
    if source.kind == "excel":
        found = quietly(lambda: _sheets(source), partial(unreadable, path))
        return found if len(found) > 1 else None  # the only one needs no name
    if source.kind not in _TABLED:
        return None
    return quietly(lambda: _tables(source), partial(unreadable, path))


def _sheets(source: Source) -> Mapping[str, int]:
    from adomnia.engines.duckdb.excel.workbook import sheets  # noqa: PLC0415 (loads Arrow)

    first = source.files[0]
    assert isinstance(first, Path)
    return sheets(first)


def _tables(source: Source) -> dict[str, int]:
    return {str(name): int(columns) for name, columns in _catalogue(source, _TABLES)}


def _catalogue(source: Source, statement: str) -> list[tuple[Any, ...]]:
    with TemporaryDirectory(prefix="adomnia-") as room:
        connection = connected(None, Path(room))
        with connection:
            connection.execute(f"ATTACH {literal(source.path)} AS source (READ_ONLY)")
            return connection.execute(statement).fetchall()


def views(path: str) -> frozenset[str]:
    """Which tables of a DuckDB file are views, computed from others."""
    source = find(path)
    if source.kind not in _TABLED:
        return frozenset()
    return frozenset(
        str(name)
        for (name,) in quietly(lambda: _catalogue(source, _VIEWS), partial(unreadable, path))
    )


def declared_keys(path: str) -> DeclaredKeys:
    """The primary, unique and foreign keys of a DuckDB file; other files declare none."""
    source = find(path)
    if source.kind not in _TABLED:
        return DeclaredKeys()
    found = quietly(lambda: _catalogue(source, _KEYS), partial(unreadable, path))
    return DeclaredKeys.listed(found)


def column_groups(path: str, table: str) -> list[ColumnGroup]:
    """The files of a source by the columns they have, in any order; the largest group first."""
    source = find(path)
    if source.kind in _TABLED or len(source.files) == 1:
        return [((), list(source.files))]
    return quietly(lambda: _grouped(source, table), partial(unreadable, path))


def column_labels(path: str) -> Mapping[str, str]:
    """What the first file of a source says of its columns, in words, where its kind has any."""
    source = find(path)
    first = source.files[0]
    if READERS.get(source.kind) != "statistics.reader" or not isinstance(first, Path):
        return {}
    from adomnia.engines.duckdb.statistics import reader  # noqa: PLC0415 (loads Arrow)

    return quietly(lambda: reader.column_labels(first), partial(unreadable, path))


def _grouped(source: Source, table: str) -> list[ColumnGroup]:
    module = import_module(f"{__package__}.{READERS[source.kind]}")  # slow to import
    groups: dict[frozenset[str], ColumnGroup] = {}
    for file in source.files:
        names = tuple(module.columns(file, table))
        key = frozenset(name.lower() for name in names)
        groups.setdefault(key, (names, []))[1].append(file)
    return sorted(groups.values(), key=lambda group: -len(group[1]))
