"""Rows: what stands in PostgreSQL's tables here. Of the data itself there is no statistic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from adomnia.server.postgres.catalogue_content import Object
from adomnia.wire.catalogue.relations import (
    ADOMNIA,
    CATALOGUE,
    PUBLIC,
    STANDARD,
    Relation,
)
from adomnia.wire.catalogue.types import TYPES, input_functions, rows_of_types

__all__ = ["NAMESPACES", "OWNER", "table_rows"]

OWNER = 10
HEAP, BTREE = 2, 403
NAMESPACES = {CATALOGUE: 11, "pg_toast": 99, PUBLIC: 2200, STANDARD: 12999, ADOMNIA: 16385}

Row = Mapping[str, Any]


def table_rows(relations: Iterable[Relation], objects: Iterable[Object]) -> dict[str, list[Row]]:
    """The rows of every table of `pg_catalog` that has any."""
    relations, objects = tuple(relations), tuple(objects)
    keyed = [each for each in objects if each.key is not None]
    indexed = {each.relation.oid for each in keyed}
    return {
        "pg_namespace": [_namespace(name, oid) for name, oid in NAMESPACES.items()],
        "pg_type": [*rows_of_types(OWNER), *(_row_type(each.relation) for each in objects)],
        "pg_proc": [_function(name, oid) for name, oid in input_functions().items()],
        "pg_class": [
            *(_class(each, each.oid in indexed) for each in relations),
            *map(_indexed, keyed),
        ],
        "pg_attribute": [row for each in relations for row in _attributes(each, objects)],
        "pg_index": [_index(each) for each in keyed],
        "pg_constraint": [_constraint(each) for each in keyed],
        "pg_description": [row for each in objects for row in _descriptions(each)],
        "pg_rewrite": [_rule(each.relation) for each in objects if each.relation.kind == "v"],
        **_FIXED,
    }


def _namespace(name: str, oid: int) -> Row:
    return {"oid": oid, "nspname": name, "nspowner": OWNER}


def _class(each: Relation, keyed: bool) -> Row:
    """A relation; it has no size, and how many rows it has is never said (-1: unknown)."""
    owned = each.schema in (PUBLIC, ADOMNIA)
    table = each.kind == "r"
    return _relation(each, each.oid) | {
        "reltype": each.oid + 1 if owned else 0,
        "relam": HEAP if table else 0,
        "relnatts": len(each.columns),
        "relhasrules": not table,
        "relhasindex": keyed,
        "relkind": each.kind,
        "relreplident": "d" if table and owned else "n",
    }


def _relation(each: Relation, oid: int) -> dict[str, Any]:
    numbers = dict.fromkeys(
        ("reloftype", "reltablespace", "relpages", "relallvisible", "reltoastrelid", "relchecks",
         "relrewrite", "relfrozenxid", "relminmxid"), 0)  # fmt: skip
    flags = dict.fromkeys(
        ("relhasindex", "relisshared", "relhastriggers", "relhassubclass", "relrowsecurity",
         "relforcerowsecurity", "relispartition"), False)  # fmt: skip
    return {
        **numbers,
        **flags,
        "oid": oid,
        "relname": each.name,
        "relnamespace": NAMESPACES[each.schema],
        "relowner": OWNER,
        "relfilenode": oid,
        "reltuples": -1,
        "relpersistence": "p",
        "relispopulated": True,
    }


def _indexed(each: Object) -> Row:
    """The index behind the key of a public table."""
    table = each.relation
    return _relation(table, table.oid + 2) | {
        "relname": f"{table.name}_pkey",
        "reltype": 0,
        "relam": BTREE,
        "relnatts": 1,
        "relhasrules": False,
        "relkind": "i",
        "relreplident": "n",
    }


def _attributes(each: Relation, objects: tuple[Object, ...]) -> Iterator[Row]:
    keys = {(one.relation.oid, one.key) for one in objects if one.key is not None}
    for number, (name, type_name) in enumerate(each.columns.items(), 1):
        yield _attribute(each.oid, number, name, type_name, (each.oid, name) in keys)
        if (each.oid, name) in keys:
            yield _attribute(each.oid + 2, 1, name, type_name, False)


def _attribute(relation: int, number: int, name: str, type_name: str, fixed: bool) -> Row:
    kind = TYPES[type_name]
    return {
        "attrelid": relation,
        "attname": name,
        "atttypid": kind.oid,
        "attstattarget": -1,
        "attlen": kind.length,
        "attnum": number,
        "attndims": 1 if type_name.startswith("_") else 0,
        "attcacheoff": -1,
        "atttypmod": -1,
        "attbyval": kind.length in (1, 2, 4, 8),
        "attalign": kind.align,
        "attstorage": kind.storage,
        "attcompression": "",
        "attnotnull": fixed,
        "atthasdef": False,
        "atthasmissing": False,
        "attidentity": "",
        "attgenerated": "",
        "attisdropped": False,
        "attislocal": True,
        "attinhcount": 0,
        "attcollation": kind.collation,
    }


def _row_type(each: Relation) -> Row:
    record = next(row for row in rows_of_types(OWNER) if row["typname"] == "record")
    return record | {
        "oid": each.oid + 1,
        "typname": each.name,
        "typnamespace": NAMESPACES[each.schema],
        "typtype": "c",
        "typcategory": "C",
        "typrelid": each.oid,
        "typarray": 0,
    }


def _index(each: Object) -> Row:
    assert each.key is not None
    table = each.relation
    flags = dict.fromkeys(
        ("indnullsnotdistinct", "indisexclusion", "indisclustered", "indcheckxmin",
         "indisreplident"), False)  # fmt: skip
    facts = dict.fromkeys(
        ("indisunique", "indisprimary", "indimmediate", "indisvalid", "indisready", "indislive"),
        True,
    )
    return {
        **flags,
        **facts,
        "indexrelid": table.oid + 2,
        "indrelid": table.oid,
        "indnatts": 1,
        "indnkeyatts": 1,
        "indkey": [list(table.columns).index(each.key) + 1],
        "indcollation": [TYPES[table.columns[each.key]].collation],
        "indclass": [0],
        "indoption": [0],
    }


def _constraint(each: Object) -> Row:
    assert each.key is not None
    table = each.relation
    nothing = dict.fromkeys(("contypid", "conparentid", "confrelid", "coninhcount"), 0)
    blank = dict.fromkeys(("confupdtype", "confdeltype", "confmatchtype"), " ")
    return {
        **nothing,
        **blank,
        "oid": table.oid + 3,
        "conname": f"{table.name}_pkey",
        "connamespace": NAMESPACES[table.schema],
        "contype": "p",
        "condeferrable": False,
        "condeferred": False,
        "convalidated": True,
        "conrelid": table.oid,
        "conindid": table.oid + 2,
        "conislocal": True,
        "connoinherit": True,
        "conkey": [list(table.columns).index(each.key) + 1],
    }


def _descriptions(each: Object) -> Iterator[Row]:
    comments = (each.comment, *each.comments)
    for number, comment in enumerate(comments):
        if comment is not None:
            yield {
                "objoid": each.relation.oid,
                "classoid": 1259,
                "objsubid": number,
                "description": comment,
            }


def _rule(each: Relation) -> Row:
    return {
        "oid": each.oid + 4,
        "rulename": "_RETURN",
        "ev_class": each.oid,
        "ev_type": "1",
        "ev_enabled": "O",
        "is_instead": True,
    }


def _function(name: str, oid: int) -> Row:
    """A function that reads or writes a type; no client calls it, but types point at it."""
    reads = name.endswith(("in", "recv"))
    return {
        "oid": oid,
        "proname": name,
        "pronamespace": NAMESPACES[CATALOGUE],
        "proowner": OWNER,
        "prolang": 12,
        "procost": 1,
        "prorows": 0,
        "provariadic": 0,
        "prosupport": 0,
        "prokind": "f",
        "prosecdef": False,
        "proleakproof": False,
        "proisstrict": True,
        "proretset": False,
        "provolatile": "i",
        "proparallel": "s",
        "pronargs": 1,
        "pronargdefaults": 0,
        "prorettype": TYPES["internal" if reads else "cstring"].oid,
        "proargtypes": [TYPES["cstring" if reads else "internal"].oid],
        "prosrc": name,
    }


_FIXED: dict[str, list[Row]] = {
    "pg_am": [
        {"oid": HEAP, "amname": "heap", "amhandler": 0, "amtype": "t"},
        {"oid": BTREE, "amname": "btree", "amhandler": 0, "amtype": "i"},
    ],
    "pg_language": [
        {"oid": oid, "lanname": name, "lanowner": OWNER, "lanispl": False, "lanpltrusted": sql,
         "lanplcallfoid": 0, "laninline": 0, "lanvalidator": 0}
        for oid, name, sql in ((12, "internal", False), (13, "c", False), (14, "sql", True))
    ],
    "pg_collation": [
        {"oid": oid, "collname": name, "collnamespace": 11, "collowner": OWNER,
         "collprovider": "d" if name == "default" else "c", "collisdeterministic": True,
         "collencoding": -1, "collcollate": name, "collctype": name}
        for oid, name in ((100, "default"), (950, "C"), (951, "POSIX"))
    ],
    "pg_tablespace": [
        {"oid": oid, "spcname": name, "spcowner": OWNER}
        for oid, name in ((1663, "pg_default"), (1664, "pg_global"))
    ],
    "pg_range": [
        {"rngtypid": TYPES[name].oid, "rngsubtype": TYPES[of].oid,
         "rngmultitypid": TYPES[name.replace("range", "multirange")].oid, "rngcollation": 0,
         "rngsubopc": 0, "rngcanonical": 0, "rngsubdiff": 0}
        for name, of in (("int4range", "int4"), ("int8range", "int8"), ("numrange", "numeric"),
                         ("tsrange", "timestamp"), ("tstzrange", "timestamptz"),
                         ("daterange", "date"))
    ],
}  # fmt: skip
