"""What a DuckDB database may hold in a column that is no value of its type (`coding.md`, Claim 7).

DuckDB stores a time, a moment or a decimal as a whole number, takes any from other programs, and
dies of some where it writes them as text. Each is compared with the ends of its type first.
"""

from __future__ import annotations

from typing import Any

import duckdb
from duckdb import sqltype

from adomnia.engines.sql.dialect import literal, quoted

__all__ = ["FAR", "total"]

FAR = 106_000_000
"""A day or a moment so many days from 1970, some 290,000 years, is none."""

_FIRST, _LAST = (f"(DATE '1970-01-01' {sign} {FAR})" for sign in "-+")
_MOMENTS = {
    "timestamp": "TIMESTAMP",
    "timestamp_s": "TIMESTAMP_S",
    "timestamp_ms": "TIMESTAMP_MS",
    "timestamp with time zone": "TIMESTAMPTZ",
}
_TIMES = {"time": "TIME", "time_ns": "TIME_NS"}


def total(column: str, declared: str) -> str | None:
    """The SQL of a column that is NULL where it holds no value; None where there is no such SQL."""
    try:
        kind = sqltype(declared)
    except duckdb.Error:  # it has no name in SQL: fields without names, or nothing but NULL
        return None if declared.endswith((")", "]")) else column
    return _whole(column, kind)


def _whole(value: str, kind: Any, depth: int = 0) -> str | None:
    if not _risky(kind):
        return value
    if kind.id in _MOMENTS:
        return _moment(value, _MOMENTS[kind.id])
    if kind.id in _TIMES:
        last = f"CAST('24:00:00' AS {_TIMES[kind.id]})"
        return _kept(value, f"{value} BETWEEN CAST('00:00:00' AS {_TIMES[kind.id]}) AND {last}")
    if kind.id == "decimal":
        return _decimal(value, dict(kind.children))
    if kind.id in ("list", "array", "map"):
        return _list(value, kind, depth)
    return _struct(value, kind, depth) if kind.id == "struct" else None


def _risky(kind: Any) -> bool:
    """Whether there are numbers that a column of this type can hold and that are no value of it."""
    if kind.id in ("list", "array", "map", "struct", "union"):
        return any(_risky(inner) for _, inner in kind.children if not isinstance(inner, int))
    return kind.id in _MOMENTS or kind.id in _TIMES or kind.id in ("decimal", "variant")


def _kept(value: str, test: str) -> str:
    return f"CASE WHEN {test} THEN {value} END"


def _moment(value: str, name: str) -> str:
    """A moment that is not too far, or is endless."""
    first, last = (f"CAST({end} AS {name})" for end in (_FIRST, _LAST))
    endless = ", ".join(f"CAST({literal(text)} AS {name})" for text in ("infinity", "-infinity"))
    return _kept(value, f"{value} BETWEEN {first} AND {last} OR {value} IN ({endless})")


def _decimal(value: str, parts: dict[str, int]) -> str:
    digits, scale = "9" * parts["precision"], parts["scale"]
    most = f"{digits[scale:]}.{digits[:scale]}" if scale else digits
    kind = f"DECIMAL({parts['precision']},{scale})"
    low, high = (f"CAST({literal(sign + most)} AS {kind})" for sign in ("-", ""))
    return _kept(value, f"{value} BETWEEN {low} AND {high}")


def _list(value: str, kind: Any, depth: int) -> str | None:
    """A list of values; a map as its entries, since a key that is none would be NULL."""
    inner, entry = dict(kind.children), f"entry{depth}"
    if kind.id == "map":
        parts = [_whole(f"{entry}.{name}", inner[name], depth + 1) for name in ("key", "value")]
        each = None if None in parts else f"{{'key': {parts[0]}, 'value': {parts[1]}}}"
        source = f"MAP_ENTRIES({value})"
    else:
        each = _whole(entry, inner["child"], depth + 1)
        source = value if kind.id == "list" else f"CAST({value} AS {inner['child']}[])"
    return None if each is None else f"[{each} FOR {entry} IN {source}]"


def _struct(value: str, kind: Any, depth: int) -> str | None:
    parts = {name: _whole(f"{value}.{quoted(name)}", inner, depth) for name, inner in kind.children}
    if None in parts.values():
        return None
    made = ", ".join(f"{literal(name)}: {part}" for name, part in parts.items())
    return _kept(f"{{{made}}}", f"{value} IS NOT NULL")
