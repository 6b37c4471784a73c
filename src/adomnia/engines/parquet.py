"""Parquet files: all of one schema, or of several that are brought together by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.files import pattern
from adomnia.engines.literals import literal, quoted

__all__ = ["reader"]

_SMALL = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}


def reader(connection: duckdb.DuckDBPyConnection, files: Iterable[Path]) -> str:
    """The SQL that reads the files' columns by name.

    A column that has different types in different files is read as one that holds them all.
    """
    import pyarrow.parquet  # noqa: PLC0415 (slow to import)

    parts: dict[Any, list[Path]] = {}
    for file in files:
        schema = pyarrow.parquet.read_schema(file)
        parts.setdefault(tuple(zip(schema.names, map(str, schema.types), strict=True)), []).append(
            file
        )
    texts = [_read(listed) for listed in parts.values()]
    if len(texts) == 1:
        return f"SELECT * FROM {texts[0]}"
    kinds = [_types(connection, text) for text in texts]
    names = dict.fromkeys(name for types in kinds for name in types)
    common = {name: _common({t[name] for t in kinds if name in t}) for name in names}
    return " UNION ALL BY NAME ".join(
        f"SELECT {', '.join(_cast(name, common[name]) for name in types)} FROM {text}"
        for text, types in zip(texts, kinds, strict=True)
    )


def _read(files: list[Path]) -> str:
    return f"read_parquet([{', '.join(literal(pattern(file)) for file in files)}])"


def _types(connection: duckdb.DuckDBPyConnection, text: str) -> Mapping[str, str]:
    found = connection.execute(f"DESCRIBE SELECT * FROM {text}").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def _common(types: set[str]) -> str | None:
    """The type for all of them, to which any value can be cast; None where they are the same."""
    if len(types) == 1:
        return None
    if types <= _SMALL:
        return "BIGINT"
    numbers = all(DUCKDB.family(name) in ("integer", "real", "decimal") for name in types)
    return "DOUBLE" if numbers else "VARCHAR"


def _cast(name: str, target: str | None) -> str:
    column = quoted(name)
    return column if target is None else f"TRY_CAST({column} AS {target}) AS {column}"
