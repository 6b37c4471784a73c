"""Building: an in-memory DuckDB that holds the catalogue, and no path to any data.

It takes a fraction of a second, is made when a client first asks, and is shared by all
connections of a server.
"""

# ruff: noqa: S608 (the texts are made of the relations that are declared here)

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from adomnia.wire.catalogue.content import (
    MOST_REFERENCES,
    STEP,
    CatalogueContent,
    DeclaredRelation,
)
from adomnia.wire.catalogue.macros import BASE_FUNCTIONS, FUNCTIONS
from adomnia.wire.catalogue.relations import (
    CATALOGUE,
    PUBLIC,
    STANDARD,
    CatalogueRelation,
    own_relations,
)
from adomnia.wire.catalogue.tables import read_text
from adomnia.wire.catalogue.types import PREFERRED, TYPES, kept_as, type_functions

__all__ = ["BuiltCatalogue", "SharedCatalogue"]

SCHEMAS = {CATALOGUE: "cat", STANDARD: "std", PUBLIC: "open"}
"""Where DuckDB keeps each schema; PostgreSQL's names are taken there already."""

OWN, MACROS = "own", "fn"
"""Where it keeps the product's schema, and the functions."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": "256MB",
    "max_temp_directory_size": "0B",
    "threads": "1",
}

_VIEW = re.compile(r"^CREATE VIEW (\S+) AS\n(.*?);$", re.MULTILINE | re.DOTALL)


class BuiltCatalogue:
    """The database, every relation in it by schema and name, and what oids are called."""

    def __init__(self, content: CatalogueContent, hidden: Collection[str]) -> None:
        declared = content.relations()
        self.product = content.product
        self.schemas = {**SCHEMAS, content.product: OWN}
        self.relations = {(each.schema, each.name): each for each in (*own_relations(), *declared)}
        self.hidden = {(PUBLIC, name) for name in hidden}
        self.connection = duckdb.connect(":memory:", config=CONFIG)
        self._make(content.declared, declared)
        self.names = {kind: dict(self._pairs(*where)) for kind, where in _SHOWN.items()}
        self.oids = {
            kind: {name: oid for oid, name in self._pairs(*where)} for kind, where in _READ.items()
        }

    def _pairs(self, table: str, name: str) -> list[tuple[int, str]]:
        return self.connection.execute(f"SELECT oid, {name} FROM cat.{table}").fetchall()

    def _make(
        self, declared: Sequence[DeclaredRelation], relations: Sequence[CatalogueRelation]
    ) -> None:
        views = _definitions(declared)
        everything = self.relations.values()
        tables = [each for each in everything if (each.schema, each.name) not in views]
        statements = [f"CREATE SCHEMA {name}" for name in (*self.schemas.values(), MACROS)]
        statements += [self._table(each) for each in tables]
        self._run(*statements)
        self.connection.execute("SET VARIABLE product = $value", {"value": self.product})
        self._stage(
            {each.oid: declaration for each, declaration in zip(relations, declared, strict=True)}
        )
        for relation, each in zip(relations, declared, strict=True):
            self._fill(relation, each.rows or ())
        self._run(
            BASE_FUNCTIONS,
            *(self._view(self.relations[name], text) for name, text in views.items()),
            FUNCTIONS,
            "SET lock_configuration = true",
        )

    def _run(self, *statements: str) -> None:
        self.connection.execute(";\n".join(statements))

    def _where(self, each: CatalogueRelation) -> str:
        return f"{self.schemas[each.schema]}.{_quoted(each.name)}"

    def _table(self, each: CatalogueRelation) -> str:
        columns = (f"{_quoted(name)} {kept_as(kind)}" for name, kind in each.columns.items())
        return f"CREATE TABLE {self._where(each)} ({', '.join(columns)})"

    def _view(self, each: CatalogueRelation, definition: str) -> str:
        """A view with all its columns in PostgreSQL's order and types; what is not defined is NULL.

        `BY NAME` lets the definition say only what it knows.
        """
        kinds = {_quoted(name): kept_as(kind) for name, kind in each.columns.items()}
        blank = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds.items())
        kept = ", ".join(f"CAST(v.{name} AS {kind}) AS {name}" for name, kind in kinds.items())
        return (
            f"CREATE VIEW {self._where(each)} AS SELECT {kept} FROM "
            f"(SELECT {blank} WHERE false UNION ALL BY NAME {definition}) AS v"
        )

    def _fill(self, each: CatalogueRelation, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            columns = dict(zip(each.columns, map(list, zip(*rows, strict=True)), strict=True))
            held = {
                name: part for name, part in columns.items() if any(v is not None for v in part)
            }
            self.connection.register("staged", pa.table(held))
            self._run(f"INSERT INTO {self._where(each)} BY NAME SELECT * FROM staged")
            self.connection.unregister("staged")

    def _stage(self, declared: Mapping[int, DeclaredRelation]) -> None:
        """Hand what `rows.sql` makes the catalogue's rows of to DuckDB, and let it."""
        relations = [
            (place, each, declared.get(each.oid))
            for place, each in enumerate(self.relations.values())
        ]
        staged = {
            "staged_types": _types(),
            "staged_functions": [{"name": n, "oid": oid} for n, oid in type_functions().items()],
            "staged_relations": [_relation(*each) for each in relations],
            "staged_columns": [row for each in relations for row in _columns(*each)],
            "staged_references": self._references(relations),
        }
        for name, rows in staged.items():
            schema = _REFERENCES if name == "staged_references" else None  # there may be none
            self.connection.register(name, pa.Table.from_pylist(rows, schema))
        self._run(read_text("rows.sql"))
        for name in staged:
            self.connection.unregister(name)

    def _references(
        self, relations: Sequence[tuple[int, CatalogueRelation, DeclaredRelation | None]]
    ) -> list[dict[str, Any]]:
        """What refers to what; the oids are the last of each relation."""
        found = []
        for place, each, declared in relations:
            listed = {} if declared is None else declared.references
            assert len(listed) <= MOST_REFERENCES
            for number, (column, other) in enumerate(listed.items()):
                row = {"oid": each.oid + STEP - MOST_REFERENCES + number, "relation": each.oid,
                       "column": column, "other": self.relations[each.schema, other].oid,
                       "place": place * 10 + number}  # fmt: skip
                found.append(row)
        return found


class SharedCatalogue:
    """The catalogue of one server: built when somebody first asks, and then there for all.

    The `hidden` tables of schema `public` are listed, but the catalogue does not answer for them.
    """

    def __init__(self, content: Callable[[], CatalogueContent], *hidden: str) -> None:
        self._content, self.hidden = content, hidden
        self._built: BuiltCatalogue | None = None
        self._building = threading.Lock()

    def built(self) -> BuiltCatalogue:
        """The catalogue itself."""
        with self._building:
            if self._built is None:
                self._built = BuiltCatalogue(self._content(), self.hidden)
            return self._built


_SHOWN = {
    "regclass": ("shown_classes", "shown"),
    "regtype": ("shown_types", "shown"),
    "regproc": ("pg_proc", "proname"),
    "regprocedure": ("pg_proc", "proname"),
    "regnamespace": ("pg_namespace", "nspname"),
}
_READ = {**_SHOWN, "regtype": ("type_names", "name")}


_REFERENCES = pa.schema([("oid", pa.int64()), ("relation", pa.int64()), ("column", pa.string()),
                         ("other", pa.int64()), ("place", pa.int64())])  # fmt: skip


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _definitions(declared: Iterable[DeclaredRelation]) -> dict[tuple[str, str], str]:
    """What views are made of, those that are declared last."""
    own = {tuple(name.split(".")): text for name, text in _VIEW.findall(read_text("views.sql"))}
    theirs = {(e.schema, e.name): e.definition for e in declared if e.definition is not None}
    return {**own, **theirs}


def _types() -> list[dict[str, Any]]:
    known = type_functions()
    ports = ("reads", "writes", "receives", "sends")
    return [
        {
            **vars(each),
            **{port: known[name] for port, name in zip(ports, each.ports, strict=True)},
            "shown": each.shown,
            "preferred": each.name in PREFERRED,
            "place": place,
        }
        for place, each in enumerate(TYPES.values())
    ]


def _relation(
    place: int, each: CatalogueRelation, declared: DeclaredRelation | None
) -> dict[str, Any]:
    return {
        "place": place,
        "oid": each.oid,
        "schema": each.schema,
        "name": each.name,
        "kind": each.kind,
        "columns": len(each.columns),
        "declared": declared is not None,
        "key": None if declared is None else declared.key,
        "comment": None if declared is None else declared.comment,
        "told": None if declared is None else declared.told,
    }


def _columns(
    place: int, each: CatalogueRelation, declared: DeclaredRelation | None
) -> list[dict[str, Any]]:
    comments = dict(enumerate(() if declared is None else declared.comments, 1))
    return [
        {
            "place": place * 10_000 + number,
            "relation": each.oid,
            "number": number,
            "name": name,
            "type": kind,
            "is_key": declared is not None and name == declared.key,
            "comment": comments.get(number),
        }
        for number, (name, kind) in enumerate(each.columns.items(), 1)
    ]
