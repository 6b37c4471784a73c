"""Building: an in-memory DuckDB that holds the catalogue, and no path to any data.

It takes a second or so, is made when a client first asks, and is shared by all connections.
"""

# ruff: noqa: S608 (the texts are made of the relations that are declared here)

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from adomnia.curator.database import Database
from adomnia.server.postgres.catalogue.definitions import DEFINITIONS
from adomnia.server.postgres.catalogue.rows import table_rows
from adomnia.server.postgres.catalogue_content import Object, declared_objects
from adomnia.wire.catalogue.macros import macro_statements
from adomnia.wire.catalogue.relations import (
    ADOMNIA,
    CATALOGUE,
    PUBLIC,
    STANDARD,
    Relation,
    own_relations,
)
from adomnia.wire.catalogue.types import DISPLAY, TYPES, kept_as

__all__ = ["SCHEMAS", "Built", "build"]

SCHEMAS = {CATALOGUE: "cat", STANDARD: "std", PUBLIC: "open", ADOMNIA: "own"}
"""Where DuckDB keeps each schema; PostgreSQL's names are taken there already."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": "256MB",
    "max_temp_directory_size": "0B",
    "threads": "1",
}


class Built:
    """The database, every relation in it by schema and name, and what oids are called."""

    def __init__(self, database: Database) -> None:
        objects = declared_objects(database)
        everything = (*own_relations(), *(each.relation for each in objects))
        self.relations = {(each.schema, each.name): each for each in everything}
        self.private = (PUBLIC, database.policy.table)
        self.connection = duckdb.connect(":memory:", config=CONFIG)
        _make(self.connection, everything, objects)
        self.names = {kind: dict(_pairs(self.connection, *told)) for kind, told in _SHOWN.items()}
        self.oids = {
            kind: {name: oid for oid, name in _pairs(self.connection, *told)}
            for kind, told in _READ.items()
        }


def build(database: Database) -> Built:
    """The catalogue of a database."""
    return Built(database)


_SHOWN = {
    "regclass": ("shown_classes", "shown"),
    "regtype": ("shown_types", "shown"),
    "regproc": ("pg_proc", "proname"),
    "regprocedure": ("pg_proc", "proname"),
    "regnamespace": ("pg_namespace", "nspname"),
}
_READ = {**_SHOWN, "regtype": ("type_names", "name")}


def _pairs(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> list[tuple[int, str]]:
    return connection.execute(f"SELECT oid, {name} FROM cat.{table}").fetchall()


def _make(
    connection: duckdb.DuckDBPyConnection,
    relations: Iterable[Relation],
    objects: tuple[Object, ...],
) -> None:
    for schema in (*SCHEMAS.values(), "fn"):
        connection.execute(f"CREATE SCHEMA {schema}")
    filled: Mapping[str, Sequence[Mapping[str, Any]]] = table_rows(relations, objects)
    for each in relations:
        if f"{each.schema}.{each.name}" not in DEFINITIONS:
            connection.execute(_table(each))
            _fill(connection, each, filled.get(each.name, ()))
    for one in objects:
        if one.rows is not None:
            named = [dict(zip(one.relation.columns, row, strict=True)) for row in one.rows]
            _fill(connection, one.relation, named)
    _make_names(connection, objects)
    by_name = {f"{each.schema}.{each.name}": each for each in relations}
    views = [(_view(by_name[name], text), "fn." in text) for name, text in DEFINITIONS.items()]
    plain = [statement for statement, calls in views if not calls]  # macros read some of these
    calling = [statement for statement, calls in views if calls]
    for statement in (*plain, *macro_statements(), *calling):
        connection.execute(statement)
    connection.execute("SET lock_configuration = true")


def _place(each: Relation) -> str:
    return f'{SCHEMAS[each.schema]}."{each.name.replace(chr(34), chr(34) * 2)}"'


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _table(each: Relation) -> str:
    columns = ", ".join(f"{_quoted(name)} {kept_as(kind)}" for name, kind in each.columns.items())
    return f"CREATE TABLE {_place(each)} ({columns})"


def _view(each: Relation, definition: str) -> str:
    """A view with all of its columns in PostgreSQL's order and types; what is not defined is NULL.

    `BY NAME` lets the definition say only what it knows.
    """
    blank = ", ".join(
        f"CAST(NULL AS {kept_as(kind)}) AS {_quoted(name)}" for name, kind in each.columns.items()
    )
    kept = ", ".join(
        f"CAST(v.{_quoted(name)} AS {kept_as(kind)}) AS {_quoted(name)}"
        for name, kind in each.columns.items()
    )
    return (
        f"CREATE VIEW {_place(each)} AS SELECT {kept} FROM "
        f"(SELECT {blank} WHERE false UNION ALL BY NAME {definition}) AS v"
    )


def _fill(
    connection: duckdb.DuckDBPyConnection, each: Relation, rows: Sequence[Mapping[str, Any]]
) -> None:
    if not rows:
        return
    held = [name for name in each.columns if any(row.get(name) is not None for row in rows)]
    staged = pa.table({name: pa.array([row.get(name) for row in rows]) for name in held})
    connection.register("staged", staged)
    connection.execute(f"INSERT INTO {_place(each)} BY NAME SELECT * FROM staged")
    connection.unregister("staged")


def _make_names(connection: duckdb.DuckDBPyConnection, objects: Iterable[Object]) -> None:
    """What oids are called, and what names mean: those in view need no schema."""
    bare = "n.nspname IN ('pg_catalog', 'public')"
    shown = f"CASE WHEN {bare} THEN c.relname ELSE n.nspname || '.' || c.relname END"
    source = "FROM cat.pg_class AS c JOIN cat.pg_namespace AS n ON n.oid = c.relnamespace"
    connection.execute(f"CREATE TABLE cat.shown_classes AS SELECT c.oid, {shown} AS shown {source}")
    connection.execute(
        f"CREATE TABLE cat.class_names AS SELECT c.oid, c.relname AS name {source} WHERE {bare} "
        f"UNION ALL SELECT c.oid, n.nspname || '.' || c.relname {source}"
    )
    for table, column, rows in (
        ("shown_types", "shown", _shown_types(objects)),
        ("type_names", "name", _type_names(objects)),
        ("definitions", "definition", _definitions(objects)),
    ):
        connection.execute(f"CREATE TABLE cat.{table} (oid UINTEGER, {column} VARCHAR)")
        staged = pa.table({"oid": [oid for oid, _ in rows], column: [text for _, text in rows]})
        connection.register("staged", staged)
        connection.execute(f"INSERT INTO cat.{table} SELECT * FROM staged")
        connection.unregister("staged")


def _shown_types(objects: Iterable[Object]) -> list[tuple[int, str]]:
    rows = []
    for each in TYPES.values():
        base = each.name.removeprefix("_")
        suffix = "[]" if base != each.name else ""
        rows.append((each.oid, DISPLAY.get(base, base) + suffix))
    return rows + [(each.relation.oid + 1, each.relation.name) for each in objects]


def _type_names(objects: Iterable[Object]) -> list[tuple[int, str]]:
    rows = set(_shown_types(objects)) | {(each.oid, each.name) for each in TYPES.values()}
    rows |= {(each.array, f"{each.name}[]") for each in TYPES.values() if each.array}
    return sorted(rows | {(TYPES["int4"].oid, "int")})


def _definitions(objects: Iterable[Object]) -> list[tuple[int, str]]:
    rows = []
    for each in objects:
        name, oid = f"{each.relation.schema}.{each.relation.name}", each.relation.oid
        if each.key is not None:
            index = f"CREATE UNIQUE INDEX {each.relation.name}_pkey ON {name}"
            rows.append((oid + 2, f"{index} USING btree ({each.key})"))
            rows.append((oid + 3, f"PRIMARY KEY ({each.key})"))
        if each.relation.kind == "v":
            rows.append((oid, f" TABLE {name};"))
    return rows
