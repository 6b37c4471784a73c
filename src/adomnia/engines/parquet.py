"""Parquet files: all of one schema, or of several that are brought together by name.

No file decides how another is read (`clean.md`, Claim 6): the values that folders are named for
(`year=2020`) are text, and a column that has several types is read in each file by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from adomnia.engines.clean import clean
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.files import partition_keys, pattern
from adomnia.engines.literals import literal, quoted
from adomnia.schema.domain import Domain, Grid, Open

__all__ = ["reader"]

_SMALL = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
"""Types whose values are the same, as numbers and as text, in 64 bits."""


def reader(
    connection: duckdb.DuckDBPyConnection, files: Iterable[Path], domains: Mapping[str, Domain]
) -> tuple[str, frozenset[str]]:
    """The SQL that reads the files' columns by name, and which of them have several types.

    Those are given in small letters: DuckDB takes names that differ by case alone for one.
    """
    parts: dict[Any, list[Path]] = {}
    for file in files:
        parts.setdefault(_schema(file), []).append(file)
    texts = [_read(listed) for listed in parts.values()]
    if len(texts) == 1:
        return f"SELECT * FROM {texts[0]}", frozenset()
    kinds = [_types(connection, text) for text in texts]
    found: dict[str, set[str]] = {}
    for types in kinds:
        for name, declared in types.items():
            found.setdefault(name.lower(), set()).add(declared)
    varied = frozenset(name for name, each in found.items() if len(each) > 1 and not each <= _SMALL)
    known = {name.lower(): domain for name, domain in domains.items()}

    def column(name: str, declared: str) -> str:
        if name.lower() not in varied:
            return quoted(name)  # UNION makes small types one
        return f"{_alone(name, declared, known.get(name.lower(), Open()))} AS {quoted(name)}"

    selects = (
        f"SELECT {', '.join(column(*pair) for pair in types.items())} FROM {text}"
        for text, types in zip(texts, kinds, strict=True)
    )
    return " UNION ALL BY NAME ".join(selects), varied


def _schema(file: Path) -> tuple[Any, ...]:
    """What a file has columns of: as they are stored, and by the folders that it lies in."""
    import pyarrow.parquet  # noqa: PLC0415 (slow to import)

    stored = pyarrow.parquet.read_metadata(file).schema
    leaves = (stored.column(place) for place in range(len(stored)))
    columns = ((leaf.path, leaf.physical_type, str(leaf.logical_type)) for leaf in leaves)
    return *columns, *partition_keys(file)


def _read(files: list[Path]) -> str:
    listed = ", ".join(literal(pattern(file)) for file in files)
    keys = literal(bool(partition_keys(files[0])))
    return f"read_parquet([{listed}], hive_partitioning = {keys}, hive_types_autocast = false)"


def _types(connection: duckdb.DuckDBPyConnection, text: str) -> Mapping[str, str]:
    found = connection.execute(f"DESCRIBE SELECT * FROM {text}").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def _alone(name: str, declared: str, domain: Domain) -> str:
    """What the domain makes of a column of this type; cleaning it again changes nothing."""
    if not isinstance(domain, Grid):
        return clean(name, domain, declared, DUCKDB)
    column, kind = quoted(name), DUCKDB.family(declared)
    if kind == "other":
        column, kind = DUCKDB.words(column, kind), "text"
    return DUCKDB.number(column, kind)
