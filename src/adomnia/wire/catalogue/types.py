"""Types: what PostgreSQL calls them, how a client sees them, and what DuckDB keeps them as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from adomnia.server.postgres.catalogue.type_rows import TYPE_ROWS

__all__ = [
    "DISPLAY",
    "REGISTRIES",
    "TYPES",
    "Type",
    "canonical",
    "element",
    "input_functions",
    "kept_as",
    "listed",
    "rows_of_types",
    "shown_as",
]

PG_CATALOG = 11
FIRST_FUNCTION = 9000  # below the oids that a client takes for those of users
PREFERRED = {"bool", "text", "oid", "float8", "inet", "timestamptz", "interval", "varbit"}

DISPLAY = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "char": '"char"',
    "bpchar": "character",
    "varchar": "character varying",
    "time": "time without time zone",
    "timetz": "time with time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "varbit": "bit varying",
}
"""How `format_type` writes those types whose name is another in SQL."""

ALIASES = {
    **{shown: name for name, shown in DISPLAY.items()},
    "int": "int4",
    "decimal": "numeric",
    "float": "float8",
    "double": "float8",
    "nchar": "bpchar",
    "sql_identifier": "name",
    "character_data": "varchar",
    "yes_or_no": "varchar",
    "cardinal_number": "int4",
}

REGISTRIES = {
    "regclass": "pg_class",
    "regtype": "pg_type",
    "regproc": "pg_proc",
    "regprocedure": "pg_proc",
    "regnamespace": "pg_namespace",
    "regrole": "pg_authid",
    "regoper": "pg_operator",
    "regoperator": "pg_operator",
    "regcollation": "pg_collation",
    "regconfig": "pg_ts_config",
    "regdictionary": "pg_ts_dict",
}
"""Types that are an oid within and a name without, and the table that names them."""

KEPT = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DECIMAL(38, 10)",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP",
    "interval": "INTERVAL",
    "bytea": "BLOB",
    "uuid": "UUID",
    "json": "JSON",
    "jsonb": "JSON",
    "int2vector": "SMALLINT[]",
    "oidvector": "UINTEGER[]",
    **dict.fromkeys(("oid", "xid", "cid", *REGISTRIES), "UINTEGER"),
}

SEEN = {
    "BOOLEAN": "bool",
    "TINYINT": "int2",
    "SMALLINT": "int2",
    "INTEGER": "int4",
    "BIGINT": "int8",
    "UINTEGER": "oid",
    "UBIGINT": "int8",
    "HUGEINT": "numeric",
    "FLOAT": "float4",
    "DOUBLE": "float8",
    "DATE": "date",
    "TIME": "time",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "INTERVAL": "interval",
    "BLOB": "bytea",
    "UUID": "uuid",
    "JSON": "json",
}


@dataclass(frozen=True)
class Type:
    """A type of PostgreSQL."""

    oid: int
    name: str
    length: int
    kind: str
    category: str
    align: str
    storage: str
    array: int
    reads: str
    element: int
    collation: int


def _read(line: str) -> Type:
    oid, name, length, letters, array, reads, element, collation = line.split()
    said = (letters[0], letters[1], letters[2], letters[3])
    return Type(int(oid), name, int(length), *said, int(array), reads, int(element), int(collation))


def _array(of: Type) -> Type:
    align = "d" if of.align == "d" else "i"
    kind = ("b", "A", align, "x")
    return Type(of.array, f"_{of.name}", -1, *kind, 0, "array_in", of.oid, of.collation)


_BASE = tuple(_read(line) for line in TYPE_ROWS.strip().splitlines())
TYPES = {each.name: each for each in (*_BASE, *(_array(base) for base in _BASE if base.array))}
"""Every type by name; an array's begins with an underscore, as in PostgreSQL."""


def canonical(written: str) -> str:
    """The catalogue's name of a type as SQL writes it; as written where there is none."""
    name = re.sub(r"\([\d,\s]*\)", "", written).strip().lower()
    name = re.sub(r'^"?(pg_catalog|information_schema)"?\.', "", name)
    if name.endswith("[]"):
        return listed(canonical(name[:-2]))
    quoted = name.startswith('"')
    bare = name.strip('"')
    if bare == "char" and not quoted:
        return "bpchar"
    return ALIASES.get(name, ALIASES.get(bare, bare))


def listed(name: str) -> str:
    """The array of a type."""
    return name if name.startswith("_") else f"_{name}"


def element(name: str | None) -> str | None:
    """What an array or a vector holds."""
    if name in ("int2vector", "oidvector"):
        return name.removesuffix("vector")
    return name[1:] if name and name.startswith("_") else None


def kept_as(name: str) -> str:
    """DuckDB's type for values of a type; whatever has none is text."""
    if name.startswith("_"):
        return kept_as(name[1:]) + "[]"
    return KEPT.get(name, "VARCHAR")


def shown_as(physical: str, said: str | None) -> int:
    """The oid that a client is told: of the said type where DuckDB's agrees with it.

    What prints as a name (regclass and its like) is told as text, since a name is what is sent.
    """
    name = said if said in TYPES and kept_as(said) == physical else _from_physical(physical)
    inner = element(name) if name.startswith("_") else name
    if inner in REGISTRIES or inner in ("pg_node_tree", "aclitem"):
        name = "_text" if name.startswith("_") else "text"
    return TYPES[name].oid


def _from_physical(physical: str) -> str:
    if physical.endswith("[]"):
        return listed(_from_physical(physical[:-2]))
    if physical.startswith("DECIMAL"):
        return "numeric"
    return SEEN.get(physical, "text")


@cache
def input_functions() -> dict[str, int]:
    """The functions that read and write types, with oids of our own."""
    names: dict[str, int] = {}
    for each in TYPES.values():
        for name in _ports(each):
            names.setdefault(name, FIRST_FUNCTION + len(names))
    return names


def _ports(of: Type) -> tuple[str, str, str, str]:
    stem = of.reads.removesuffix("in")
    return of.reads, f"{stem}out", f"{stem}recv", f"{stem}send"


def rows_of_types(owner: int) -> list[dict[str, Any]]:
    """`pg_type`, as far as PostgreSQL brings it along."""
    return [_row(each, owner) for each in TYPES.values()]


def _row(of: Type, owner: int) -> dict[str, Any]:
    known = input_functions()
    reads, writes, receives, sends = (known[name] for name in _ports(of))
    pseudo = of.kind == "p"
    return {
        "oid": of.oid,
        "typname": of.name,
        "typnamespace": PG_CATALOG,
        "typowner": owner,
        "typlen": of.length,
        "typbyval": of.length in (1, 2, 4, 8) and of.name not in ("macaddr8",),
        "typtype": of.kind,
        "typcategory": of.category,
        "typispreferred": of.name in PREFERRED,
        "typisdefined": True,
        "typdelim": ";" if of.name in ("box", "_box") else ",",
        "typrelid": 0,
        "typsubscript": 0,
        "typelem": of.element,
        "typarray": of.array,
        "typinput": reads,
        "typoutput": writes,
        "typreceive": 0 if pseudo else receives,
        "typsend": 0 if pseudo else sends,
        "typmodin": 0,
        "typmodout": 0,
        "typanalyze": 0,
        "typalign": of.align,
        "typstorage": of.storage,
        "typnotnull": False,
        "typbasetype": 0,
        "typtypmod": -1,
        "typndims": 0,
        "typcollation": of.collation,
    }
