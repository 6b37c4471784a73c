"""The survey behind a first draft of a policy: all columns in one pass, short lists in a second.

It looks at the data, so what it finds is not public until a curator says so. Text that holds
nothing but numbers or dates (a CSV file has only text) is surveyed as what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adomnia.engines.sql.dialect import Dialect

__all__ = ["SHORT", "survey"]

SHORT = 100
"""A list of values may be this long."""

MOST_PLACES = 4
"""A number with more decimal places has no step that can be proposed."""

NUMERIC = ("integer", "real", "decimal", "text")
DAYS = ("date", "moment", "text")

LARGEST = 1.7976931348623157e308

Run = Callable[[str], Sequence[tuple[Any, ...]]]


def survey(
    types: Mapping[str, str], source: str, run: Run, dialect: Dialect
) -> dict[str, dict[str, Any]]:
    """For each column its kind, extremes, NULLs, how many values there are, and a short list.

    `kind` is number, date, text, truth or other; `places` are the decimal places of a number.
    """
    kinds = {name: dialect.family(declared) for name, declared in types.items()}
    read: list[str] = []
    counted = {}
    for place, (name, kind) in enumerate(kinds.items()):
        number, day = (dialect.quoted(f"adomnia {part}{place}") for part in ("n", "d"))
        read += _read(dialect.quoted(name), kind, (number, day), dialect)
        counted[name] = _counts(dialect.quoted(name), kind, (number, day), dialect)
    texts = [text for parts in counted.values() for text in parts.values()]
    rows = f"SELECT {', '.join(['*', *read])} FROM {source}{dialect.barrier}"
    aggregates = ", ".join(["COUNT(*)", *texts])
    row = iter(run(f"SELECT {aggregates} FROM ({rows}) AS {dialect.quoted('adomnia rows')}")[0])
    size = next(row)
    found = {name: {part: next(row) for part in parts} for name, parts in counted.items()}
    return {
        name: {"type": types[name], "rows": size} | _column(kinds[name], facts, size)
        | _listed(dialect.quoted(name), kinds[name], facts, (source, run))
        for name, facts in found.items()
    }  # fmt: skip


def _read(column: str, kind: str, names: tuple[str, str], dialect: Dialect) -> Iterator[str]:
    """A column as a number and as a day, computed once for each row."""
    if kind in NUMERIC:
        yield f"{dialect.number(column, kind)} AS {names[0]}"
    if kind in DAYS:
        yield f"{dialect.day(column, kind)} AS {names[1]}"


def _counts(column: str, kind: str, names: tuple[str, str], dialect: Dialect) -> dict[str, str]:
    """The aggregates that are needed of a column, by what they will be called."""
    number, day = names
    parts = {"present": f"COUNT({column})"}
    if kind == "other":
        return parts
    parts["distinct"] = dialect.distinct(column)
    if kind in NUMERIC:
        finite = f"CASE WHEN {number} BETWEEN -{LARGEST} AND {LARGEST} THEN {number} END"
        parts |= {"numbers": f"COUNT({number})", "low": f"MIN({finite})", "high": f"MAX({finite})"}
        parts["places"] = f"MAX({dialect.places(finite)})"
    if kind in DAYS:
        # Python's days end here; nobody is older, or will be.
        held = f"LEAST(GREATEST({day}, DATE '0001-01-01'), DATE '9999-12-31')"
        ends = [f"{end}(CASE WHEN {day} IS NOT NULL THEN {held} END)" for end in ("MIN", "MAX")]
        parts |= {"days": f"COUNT({day})", "first": ends[0], "last": ends[1]}
    if kind == "text":
        padded = dialect.matches(column, "^\\s*[-+]?0[0-9]")
        parts["padded"] = f"COUNT(*) FILTER (WHERE {padded})"
    return parts


def _column(kind: str, facts: Mapping[str, Any], rows: int) -> dict[str, Any]:
    common = {
        "nulls": facts["present"] < rows,
        "distinct": facts.get("distinct"),
        "low": None,
        "high": None,
        "places": None,
    }
    held = _held(kind, facts)
    if held == "number":
        places = facts["places"] or 0
        places = places if places <= MOST_PLACES else None
        common |= {"low": facts["low"], "high": facts["high"], "places": places}
    if held == "date":
        common |= {"low": facts["first"], "high": facts["last"]}
    return common | {"kind": held}


def _held(kind: str, facts: Mapping[str, Any]) -> str:
    """What a column holds; text that is all numbers (but no codes like 007) counts as numbers."""
    present = facts["present"]
    if kind != "text":
        names = dict.fromkeys(("integer", "real", "decimal"), "number")
        names |= {"moment": "date", "boolean": "truth"}
        return names.get(kind, kind)
    if present and facts["numbers"] == present and not facts["padded"]:
        return "number"
    return "date" if present and facts["days"] == present else "text"


def _listed(
    column: str, kind: str, facts: Mapping[str, Any], source: tuple[str, Run]
) -> dict[str, Any]:
    """The values themselves, where they are few; the count above is only approximate."""
    if kind not in ("integer", "text", "boolean") or facts["distinct"] > 2 * SHORT:
        return {"values": None}
    table, run = source
    few = run(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {SHORT + 1}")
    values = list(_values(few)) if len(few) <= SHORT else None
    return {"values": values} if values is None else {"values": values, "distinct": len(values)}


def _values(rows: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    yield from sorted(row[0] for row in rows)
