"""PostgreSQL's types that are spoken here: their numbers, names and sizes."""

from __future__ import annotations

__all__ = ["ARRAYS", "ELEMENTS", "INTEGERS", "OIDS", "TEXTS", "name_of", "named", "size_of"]

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT4 = 16, 17, 18, 19, 20, 21, 23
REGPROC, TEXT, OID, TID, XID, CID = 24, 25, 26, 27, 28, 29
JSON, FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR = 114, 700, 701, 705, 1042, 1043
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, NUMERIC = 1082, 1083, 1114, 1184, 1186, 1700
REGCLASS, REGTYPE, UUID = 2205, 2206, 2950

INTEGERS = {INT2: 2, INT4: 4, INT8: 8}
"""Signed whole numbers and how many bytes they take."""

OIDS = {OID, REGPROC, XID, CID, 2202, 2203, 2204, REGCLASS, REGTYPE, 3734, 3769, 4089, 4096}
"""Unsigned numbers of four bytes: identifiers of objects and transactions."""

TEXTS = {TEXT, VARCHAR, BPCHAR, NAME, UNKNOWN, CHAR, JSON, 0}
"""What travels as its own text in both formats."""

ELEMENTS = {
    1000: BOOL, 1001: BYTEA, 1002: CHAR, 1003: NAME, 1005: INT2, 1007: INT4, 1016: INT8,
    1008: REGPROC, 1009: TEXT, 1028: OID, 1011: XID, 1014: BPCHAR, 1015: VARCHAR, 1021: FLOAT4,
    1022: FLOAT8, 1182: DATE, 1231: NUMERIC, 1115: TIMESTAMP, 1185: TIMESTAMPTZ, 2210: REGCLASS,
    2211: REGTYPE, 2951: UUID, 22: INT2, 30: OID, 1034: 1033,
}  # fmt: skip
"""Of each array type its elements' type."""

ARRAYS = {element: array for array, element in ELEMENTS.items() if array > 100}

_SIZES = {
    BOOL: 1, CHAR: 1, INT2: 2, INT4: 4, INT8: 8, FLOAT4: 4, FLOAT8: 8, DATE: 4, NAME: 64,
    TIME: 8, TIMESTAMP: 8, TIMESTAMPTZ: 8, INTERVAL: 16, UUID: 16, TID: 6,
    **dict.fromkeys(OIDS, 4),
}  # fmt: skip


def size_of(oid: int) -> int:
    """How many bytes a value of the type takes; -1 where that varies."""
    return _SIZES.get(oid, -1)


_NAMES = {
    "bool": BOOL, "boolean": BOOL, "int2": INT2, "smallint": INT2, "int": INT4, "int4": INT4,
    "integer": INT4, "int8": INT8, "bigint": INT8, "oid": OID, "name": NAME, "text": TEXT,
    "varchar": VARCHAR, "float4": FLOAT4, "real": FLOAT4, "float8": FLOAT8, "numeric": NUMERIC,
    "decimal": NUMERIC, "double precision": FLOAT8, "date": DATE, "character varying": VARCHAR,
}  # fmt: skip


def named(name: str, is_array: bool = False) -> int:
    """The type of this name; 0 where it is not known here."""
    oid = _NAMES.get(name.lower(), 0)
    return ARRAYS.get(oid, 0) if is_array else oid


_SPELLED = {
    BOOL: "boolean", BYTEA: "bytea", INT2: "smallint", INT4: "integer", INT8: "bigint",
    TEXT: "text", VARCHAR: "character varying", NAME: "name", OID: "oid", FLOAT4: "real",
    FLOAT8: "double precision", NUMERIC: "numeric", DATE: "date", TIME: "time",
    TIMESTAMP: "timestamp", TIMESTAMPTZ: "timestamp with time zone", INTERVAL: "interval",
    UUID: "uuid", JSON: "json",
}  # fmt: skip


def name_of(oid: int) -> str:
    """The type's name as PostgreSQL tells it; its number where it has none here."""
    if oid in ELEMENTS:
        return f"{name_of(ELEMENTS[oid])}[]"
    return _SPELLED.get(oid, str(oid))
