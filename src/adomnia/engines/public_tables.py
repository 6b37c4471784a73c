"""Public tables: small files that everybody may read, taken whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from adomnia.engines.sql.dialect import literal
from adomnia.errors import PolicyError

__all__ = ["read_rows"]


def read_rows(path: str, limit: int) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """The columns and rows of a CSV or Parquet file of at most `limit` rows."""
    if not Path(path).exists():
        raise PolicyError(f"the public table {path!r} does not exist", "check [public]")
    reader = "read_parquet" if path.lower().endswith((".parquet", ".pq")) else "read_csv"
    try:
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT * FROM {reader}({literal(path)}) LIMIT {limit + 1}")
            columns = tuple(str(part[0]) for part in found.description or ())
            rows = tuple(found.fetchall())
    except duckdb.Error as error:
        message = f"the public table {path!r} cannot be read ({type(error).__name__})"
        raise PolicyError(message) from None
    if len(rows) > limit:
        raise PolicyError(f"the public table {path!r} has more than {limit:,} rows")
    return columns, rows
