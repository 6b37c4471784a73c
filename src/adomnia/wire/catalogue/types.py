"""Types: what PostgreSQL calls them, how a client sees them, and what DuckDB keeps them as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from adomnia.wire.catalogue.tables import read_rows

__all__ = [
    "DISPLAY",
    "PREFERRED",
    "REGISTRIES",
    "TYPES",
    "CatalogueType",
    "canonical",
    "element",
    "kept_as",
    "listed",
    "shown_as",
    "type_functions",
]

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
class CatalogueType:
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

    @property
    def ports(self) -> tuple[str, str, str, str]:
        """The functions that read, write, receive and send its values."""
        stem = self.reads.removesuffix("in")
        return self.reads, f"{stem}out", f"{stem}recv", f"{stem}send"

    @property
    def shown(self) -> str:
        """The name as `format_type` writes it."""
        base = self.name.removeprefix("_")
        return DISPLAY.get(base, base) + ("[]" if base != self.name else "")


def _read(row: dict[str, str]) -> CatalogueType:
    number = {name: int(row[name]) for name in ("oid", "length", "array", "element", "collation")}
    letters = (row["kind"], row["category"], row["align"], row["storage"])
    return CatalogueType(
        number["oid"], row["name"], number["length"], *letters,
        number["array"], row["input"], number["element"], number["collation"],
    )  # fmt: skip


def _array(of: CatalogueType) -> CatalogueType:
    align = "d" if of.align == "d" else "i"
    kind = ("b", "A", align, "x")
    return CatalogueType(of.array, f"_{of.name}", -1, *kind, 0, "array_in", of.oid, of.collation)


_BASE = tuple(_read(row) for row in read_rows("types.csv"))
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


def shown_as(physical: str, declared: str | None) -> int:
    """The oid that a client is told: of the declared type where DuckDB's agrees with it.

    What prints as a name (regclass and its like) is told as text, since a name is what is sent.
    """
    name = (
        declared
        if declared in TYPES and kept_as(declared) == physical
        else _from_physical(physical)
    )
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
def type_functions() -> dict[str, int]:
    """The functions that read and write types, with oids of our own."""
    names: dict[str, int] = {}
    for each in TYPES.values():
        for name in each.ports:
            names.setdefault(name, FIRST_FUNCTION + len(names))
    return names
