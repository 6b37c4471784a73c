"""Files of one schema, or of several that are brought together by the names of their columns.

No file decides how another is read (`coding.md`, Claim 6): a column that has several types is read
in each file by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.source_rows import Parts, Rows, SourcePart
from adomnia.engines.sql.dialect import quoted
from adomnia.schema.domain import Dates, Domain, Grid, Open, Timestamps

__all__ = ["by_schema"]

_SMALL = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
"""Types whose values are the same, as numbers and as text, in 64 bits."""

F = TypeVar("F")


def by_schema(
    files: Sequence[tuple[Any, F]],
    rows: Callable[[Any, Sequence[F]], Rows],
    domains: Mapping[str, Domain],
    size: int,
) -> Parts:
    """The files by their Arrow schemas, what each column is selected as, and which have several
    types: these are given in small letters, as DuckDB takes names that differ by case for one."""
    groups: dict[Any, list[F]] = {}
    for schema, file in files:
        groups.setdefault(schema, []).append(file)
    kinds = [_types(schema) for schema in groups]
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

    made = (
        SourcePart(
            schema.to_string(),
            tuple(column(*pair) for pair in types.items()),
            partial(rows, schema, tuple(listed)),
        )
        for (schema, listed), types in zip(groups.items(), kinds, strict=True)
    )
    return Parts(tuple(made), varied, size)


def _types(schema: Any) -> Mapping[str, str]:
    """The types that DuckDB gives the columns."""
    with duckdb.connect() as connection:
        connection.register("adomnia_part", schema.empty_table())
        found = connection.execute("DESCRIBE adomnia_part").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def _alone(name: str, declared: str, domain: Domain) -> str:
    """A column of this type as the one that its domain reads in every file: a number or a day, or
    its text. The domain makes of it what it would have made of the column itself."""
    column, kind = quoted(name), DUCKDB.family(declared)
    if kind == "other":
        column, kind = DUCKDB.words(column, kind), "text"
    if isinstance(domain, Grid):
        return DUCKDB.number(column, kind)
    if isinstance(domain, Dates):
        return DUCKDB.day(column, kind)
    if isinstance(domain, Timestamps):
        return _written(column, kind)
    words, first = DUCKDB.words(column, kind), getattr(domain, "values", ("",))[0]
    if isinstance(first, str):
        return words
    read = DUCKDB.truth if isinstance(first, bool) else DUCKDB.integer
    return f"COALESCE(CAST({read(column, kind)} AS VARCHAR), {words})"


def _written(column: str, kind: str) -> str:
    """A moment as the text that stands for it, with its zone where it knows one; the years before
    the first have no such text, and are as far away as can be."""
    words = DUCKDB.words(column, kind)
    if kind not in ("date", "moment"):
        return words
    before = f"{DUCKDB.day(column, kind)} < DATE '0001-01-01'"
    return f"CASE WHEN {before} THEN '-infinity' ELSE {words} END"
