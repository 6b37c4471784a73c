"""Relations: every table and view of the catalogue, by schema, name and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from adomnia.server.postgres.catalogue.standard_views import STANDARD_VIEWS
from adomnia.server.postgres.catalogue.system_tables import SYSTEM_TABLES
from adomnia.server.postgres.catalogue.system_views import SYSTEM_VIEWS

__all__ = [
    "ADOMNIA",
    "CATALOGUE",
    "PUBLIC",
    "STANDARD",
    "SYSTEM_COLUMNS",
    "Relation",
    "own_relations",
]

CATALOGUE, STANDARD, PUBLIC, ADOMNIA = "pg_catalog", "information_schema", "public", "adomnia"
FIRST_VIEW = 12000

SYSTEM_COLUMNS = {"tableoid": "oid", "xmin": "xid", "xmax": "xid", "ctid": "text"}
"""Columns that every table of PostgreSQL has beside its own."""

LETTERS = {
    "o": "oid", "n": "name", "c": "char", "b": "bool", "s": "int2", "i": "int4", "l": "int8",
    "t": "text", "v": "varchar", "p": "regproc", "r": "regtype", "g": "pg_node_tree", "x": "xid",
    "z": "timestamptz", "f": "float4", "d": "float8", "u": "numeric", "y": "bytea",
    "q": "interval", "N": "_name", "O": "_oid", "S": "_int2", "T": "_text", "A": "_aclitem",
    "C": "_char", "F": "_float4", "B": "_bool", "I": "int2vector", "V": "oidvector",
    "R": "_regtype",
}  # fmt: skip


@dataclass(frozen=True)
class Relation:
    """A table (`r`) or a view (`v`): what its columns are called and of which type they are."""

    schema: str
    name: str
    oid: int
    kind: str
    columns: Mapping[str, str]


@cache
def own_relations() -> tuple[Relation, ...]:
    """What every server brings along: `pg_catalog` and `information_schema`."""
    tables = [
        Relation(CATALOGUE, name, int(words[0]), "r", _columns(words[1:]))
        for name, words in _entries(SYSTEM_TABLES)
    ]
    views = [
        (schema, name, _columns(words))
        for schema, text in ((CATALOGUE, SYSTEM_VIEWS), (STANDARD, STANDARD_VIEWS))
        for name, words in _entries(text)
    ]
    return (
        *tables,
        *(
            Relation(schema, name, FIRST_VIEW + number, "v", columns)
            for number, (schema, name, columns) in enumerate(views)
        ),
    )


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each entry's name and its other words; a line that is indented goes on."""
    joined = text.strip().replace("\n ", " ")
    for line in joined.splitlines():
        name, *words = line.split()
        yield name, words


def _columns(words: list[str]) -> dict[str, str]:
    pairs = (word.split(":") for word in words)
    return {name: LETTERS[letter] for name, letter in pairs}
