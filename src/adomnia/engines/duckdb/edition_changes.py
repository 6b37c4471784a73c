"""A source held against an edition of it: which rows and values are new, which are gone.

Both are as they are cleaned, so nothing is a change that no answer would notice. Rows are told
apart by a hash of all their columns, and how often each occurs counts. Numbers and days are
compared in bands: two samples of the same people share few incomes to the cent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.edition import ROWS, DuckDBEdition
from adomnia.engines.source_facts import ChangedColumn, SourceChanges
from adomnia.engines.sql.coding import Coded
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.engines.sql.number_inspection import Ordered, width_of
from adomnia.queries.expression import Column
from adomnia.queries.ranges import UNLISTED, from_domain
from adomnia.schema.domain import Categories, Domain, Open
from adomnia.schema.table import Table

__all__ = ["edition_changes"]

FREQUENT = 10
"""So many of the most frequent new values are named."""

BANDS = 40
"""Numbers and days are compared in no more bands."""

BEFORE = "adomnia_before"


def edition_changes(
    cursor: duckdb.DuckDBPyConnection, table: Table, now: str, edition: DuckDBEdition
) -> SourceChanges:
    """What the coded rows `now` have that those of an edition have not, and the reverse."""
    path, words = edition.stored
    cursor.execute(f"ATTACH {literal(str(path))} AS {BEFORE} (READ_ONLY)")
    try:
        names = _shared(cursor, now)
        rows = (now, _before(names, words))
        added, gone, had = _rows(cursor, rows, names)
        columns = [_column(cursor, rows, name, table) for name in names]
        return SourceChanges(had, added, gone, columns)
    finally:
        cursor.execute(f"DETACH {BEFORE}")


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
) -> tuple[int, int, int]:
    """How many rows are new, how many are gone, and how many there were."""
    key = f"HASH({', '.join(map(quoted, names)) or '1'})"
    now, before = (_counted(part, key) for part in rows)
    found = cursor.execute(
        "SELECT COALESCE(SUM(GREATEST(COALESCE(a.n, 0) - COALESCE(b.n, 0), 0)), 0), "
        "COALESCE(SUM(GREATEST(COALESCE(b.n, 0) - COALESCE(a.n, 0), 0)), 0), "
        f"COALESCE(SUM(b.n), 0) FROM {now} a FULL JOIN {before} b ON a.k = b.k"
    ).fetchall()[0]
    return int(found[0]), int(found[1]), int(found[2])


def _column(
    cursor: duckdb.DuckDBPyConnection, rows: tuple[str, str], name: str, table: Table
) -> ChangedColumn:
    """The total variation between the shares of a column's values, and those that are new."""
    domain = table.attributes[name].domain if name in table.attributes else Open()
    now, before = (_counted(part, _key(name, domain)) for part in rows)
    joined = (
        "SELECT a.k AS k, COALESCE(a.n, 0) AS n, COALESCE(b.n, 0) AS b "
        f"FROM {now} a FULL JOIN {before} b ON a.k IS NOT DISTINCT FROM b.k"
    )
    whole = f"SELECT *, SUM(n) OVER () AS ns, SUM(b) OVER () AS bs FROM ({joined})"
    apart = "ABS(n / GREATEST(ns, 1) - b / GREATEST(bs, 1))"
    variation, new = cursor.execute(
        f"SELECT COALESCE(SUM({apart}), 0) / 2, COUNT(k) FILTER (WHERE b = 0) FROM ({whole})"
    ).fetchall()[0]
    if isinstance(domain, Ordered) or not new:
        return ChangedColumn(name, float(variation), 0, ())
    found = cursor.execute(
        f"SELECT k, n FROM ({joined}) WHERE b = 0 AND k IS NOT NULL ORDER BY n DESC, k"
        + ("" if isinstance(domain, Categories) else f" LIMIT {FREQUENT}")
    ).fetchall()
    return _told(name, float(variation), int(new), _shown(found, name, table))


def _told(name: str, variation: float, new: int, found: list[tuple[Any, int]]) -> ChangedColumn:
    """New values by name; what stands for all that is not listed is no value."""
    outside = sum(value is None for value, _ in found)
    listed = [(str(value), int(many)) for value, many in found if value is not None]
    return ChangedColumn(name, variation, new - outside, listed[:FREQUENT])


def _shown(found: Sequence[tuple[Any, ...]], name: str, table: Table) -> list[tuple[Any, int]]:
    """Codes of a list as what they stand for, None where that is nothing of the list."""
    attribute = table.attributes.get(name)
    if attribute is None or not isinstance(attribute.domain, Categories):
        return [(key, many) for key, many in found]
    decode = Coded(table, [name], DUCKDB).decode(Column(name, from_domain(attribute.domain)))
    values = [(key if decode is None else decode(key), many) for key, many in found]
    listed = set(attribute.domain.members)
    return [(value if value != UNLISTED and value in listed else None, many)
            for value, many in values]  # fmt: skip


def _key(name: str, domain: Domain) -> str:
    """By what a column is compared: its code, the band of its code, or its word."""
    column = quoted(name)
    if not isinstance(domain, Ordered):
        return column
    width = width_of(domain)
    each = -(-(width + 1) // BANDS)
    code = f"CAST({column} AS BIGINT)"
    outside = f"WHEN {column} = -1 THEN -1 WHEN {column} = {width + 1} THEN {width + 1}"
    return f"CASE {outside} ELSE {code} // {each} END"
