"""Relations: every table and view of the catalogue, by schema, name and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from adomnia.wire.catalogue.tables import read_rows

__all__ = [
    "CATALOGUE",
    "PUBLIC",
    "STANDARD",
    "SYSTEM_COLUMNS",
    "CatalogueRelation",
    "own_relations",
]

CATALOGUE, STANDARD, PUBLIC = "pg_catalog", "information_schema", "public"

SYSTEM_COLUMNS = {"tableoid": "oid", "xmin": "xid", "xmax": "xid", "ctid": "text"}
"""Columns that every table of PostgreSQL has beside its own."""


@dataclass(frozen=True)
class CatalogueRelation:
    """A table (`r`) or a view (`v`): what its columns are called and of which type they are."""

    schema: str
    name: str
    oid: int
    kind: str
    columns: Mapping[str, str]


@cache
def own_relations() -> tuple[CatalogueRelation, ...]:
    """What every server brings along: `pg_catalog` and `information_schema`."""
    columns: dict[str, dict[str, str]] = {}
    for row in read_rows("columns.csv"):
        columns.setdefault(row["relation"], {})[row["column"]] = row["type"]
    return tuple(
        CatalogueRelation(
            row["schema"], row["name"], int(row["oid"]), row["kind"], columns[row["oid"]]
        )
        for row in read_rows("relations.csv")
    )
