"""A source held against an edition of it, row by row: which are new, which are gone, and the same
of the words of undeclared columns.

Both are as they are cleaned, so nothing is a change that no answer would notice. Rows are told
apart by a hash of all their columns, and how often each occurs counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import duckdb

from adomnia.engines.duckdb.edition import ROWS, DuckDBEdition
from adomnia.engines.source_facts import ChangedColumn, RowChanges
from adomnia.engines.sql.dialect import literal, quoted

__all__ = ["BEFORE", "edition_changes", "row_changes"]

FREQUENT = 10
"""So many of the most frequent new words are named."""

BEFORE = "adomnia_before"
"""What the file of the edition is called while it is compared."""


def edition_changes(
    cursor: duckdb.DuckDBPyConnection, now: str, edition: DuckDBEdition
) -> RowChanges:
    """What the coded rows `now` have that those of an edition have not, and the reverse."""
    path, words = edition.stored

    def compared() -> RowChanges:
        names = _shared(cursor, now)
        return _compared(cursor, (now, _before(names, words)), names, words)

    return _beside(cursor, path, compared)


def row_changes(
    cursor: duckdb.DuckDBPyConnection,
    path: Path,
    rows: tuple[str, str],
    names: Sequence[str],
    words: Collection[str],
) -> RowChanges:
    """The same of two selections that have these columns, of which some hold words; that of the
    edition at `path` reads it under the name `BEFORE`."""
    return _beside(cursor, path, lambda: _compared(cursor, rows, names, words))


def _beside(
    cursor: duckdb.DuckDBPyConnection, path: Path, compare: Callable[[], RowChanges]
) -> RowChanges:
    cursor.execute(f"ATTACH {literal(str(path))} AS {BEFORE} (READ_ONLY)")
    try:
        return compare()
    finally:
        cursor.execute(f"DETACH {BEFORE}")


def _compared(
    cursor: duckdb.DuckDBPyConnection,
    rows: tuple[str, str],
    names: Sequence[str],
    words: Collection[str],
) -> RowChanges:
    added, gone = _rows(cursor, rows, names)
    columns = [_column(cursor, rows, name) for name in names if name in words]
    return RowChanges(added, gone, columns)


def _shared(cursor: duckdb.DuckDBPyConnection, now: str) -> list[str]:
    """The columns of the source that the edition has, too."""
    parts = (now, f"{BEFORE}.{ROWS}")
    found = [cursor.execute(f"DESCRIBE SELECT * FROM {part}").fetchall() for part in parts]
    there = {str(row[0]) for row in found[1]}
    return [str(row[0]) for row in found[0]
            if row[0] in there and not str(row[0]).startswith("adomnia ")]  # fmt: skip


def _before(names: Sequence[str], words: Mapping[str, str]) -> str:
    """The rows of the edition, with words in the place of their numbers."""
    columns, joins = [], []
    for place, name in enumerate(names):
        if name not in words:
            columns.append(f"r.{quoted(name)}")
            continue
        columns.append(f"w{place}.word AS {quoted(name)}")
        listed = f"{BEFORE}.{words[name]} w{place}"
        joins.append(f"LEFT JOIN {listed} ON r.{quoted(name)} = w{place}.code")
    source = f"{BEFORE}.{ROWS} r {' '.join(joins)}"
    return f"(SELECT {', '.join(columns) or '1'} FROM {source}) AS adomnia_then"


def _counted(rows: str, key: str) -> str:
    """How many rows have each key."""
    return f"(SELECT {key} AS k, COUNT(*) AS n FROM {rows} GROUP BY 1)"


def _rows(
    cursor: duckdb.DuckDBPyConnection, rows: tuple[str, str], names: Sequence[str]
) -> tuple[int, int]:
    """How many rows are new, and how many are gone."""
    key = f"HASH({', '.join(map(quoted, names)) or '1'})"
    now, before = (_counted(part, key) for part in rows)
    found = cursor.execute(
        "SELECT COALESCE(SUM(GREATEST(COALESCE(a.n, 0) - COALESCE(b.n, 0), 0)), 0), "
        "COALESCE(SUM(GREATEST(COALESCE(b.n, 0) - COALESCE(a.n, 0), 0)), 0) "
        f"FROM {now} a FULL JOIN {before} b ON a.k = b.k"
    ).fetchall()[0]
    return int(found[0]), int(found[1])


def _column(cursor: duckdb.DuckDBPyConnection, rows: tuple[str, str], name: str) -> ChangedColumn:
    """The total variation between the shares of a column's words, and those that are new."""
    now, before = (_counted(part, quoted(name)) for part in rows)
    joined = (
        "SELECT a.k AS k, COALESCE(a.n, 0) AS n, COALESCE(b.n, 0) AS b "
        f"FROM {now} a FULL JOIN {before} b ON a.k IS NOT DISTINCT FROM b.k"
    )
    whole = f"SELECT *, SUM(n) OVER () AS ns, SUM(b) OVER () AS bs FROM ({joined})"
    apart = "ABS(n / GREATEST(ns, 1) - b / GREATEST(bs, 1))"
    variation, new = cursor.execute(
        f"SELECT COALESCE(SUM({apart}), 0) / 2, COUNT(k) FILTER (WHERE b = 0) FROM ({whole})"
    ).fetchall()[0]
    frequent = cursor.execute(
        f"SELECT k, n FROM ({joined}) WHERE b = 0 AND k IS NOT NULL "
        f"ORDER BY n DESC, k LIMIT {FREQUENT}"
    ).fetchall()
    return ChangedColumn(name, float(variation), int(new), [(str(k), int(n)) for k, n in frequent])
