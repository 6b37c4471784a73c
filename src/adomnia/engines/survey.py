"""The survey behind a first draft of a policy: all columns in one pass, short lists in a second.

It looks at the data, so what it finds is not public until a curator says so. Text that holds
nothing but numbers or dates (a CSV file has only text) is surveyed as what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adomnia.engines.clean import family
from adomnia.engines.literals import quoted

__all__ = ["SHORT", "survey"]

SHORT = 100
"""A list of values may be this long."""

PLACES = (0, 1, 2, 3, 4)
"""Decimal places that are tried as the step of a number."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]


def survey(types: Mapping[str, str], source: str, run: Run) -> dict[str, dict[str, Any]]:
    """For each column its kind, extremes, NULLs, how many values there are, and a short list.

    `kind` is number, date, text, truth or other; `places` are the decimal places of a number.
    """
    counted = {name: _counts(name, family(declared)) for name, declared in types.items()}
    texts = [text for parts in counted.values() for text in parts.values()]
    row = iter(run(f"SELECT COUNT(*), {', '.join(texts)} FROM {source}")[0])
    rows = next(row)
    found = {name: {part: next(row) for part in parts} for name, parts in counted.items()}
    return {
        name: {"type": types[name], "rows": rows} | _column(name, family(types[name]), facts, rows)
        | _listed(name, family(types[name]), facts, (source, run))
        for name, facts in found.items()
    }  # fmt: skip


def _counts(name: str, kind: str) -> dict[str, str]:
    """The aggregates that are needed of a column, by what they will be called."""
    column = quoted(name)
    parts = {"present": f"COUNT({column})"}
    if kind == "other":
        return parts
    parts["distinct"] = f"APPROX_COUNT_DISTINCT({column})"
    if kind in ("integer", "real", "text"):
        plain = f"TRY_CAST(TRIM({column}) AS DOUBLE)"
        number = plain if kind == "text" else f"CAST({column} AS DOUBLE)"
        finite = f"CASE WHEN ISFINITE({number}) THEN {number} END"
        parts |= {"numbers": f"COUNT({number})", "low": f"MIN({finite})", "high": f"MAX({finite})"}
        parts |= {
            f"off{p}": f"COUNT(*) FILTER (WHERE ROUND({finite}, {p}) <> {finite})" for p in PLACES
        }
    if kind in ("date", "moment", "text"):
        day = f"TRY_CAST(TRY_CAST({column} AS TIMESTAMP) AS DATE)"
        parts |= {"days": f"COUNT({day})", "first": f"MIN({day})", "last": f"MAX({day})"}
    if kind == "text":
        parts["padded"] = f"COUNT(*) FILTER (WHERE REGEXP_MATCHES({column}, '^\\s*[-+]?0[0-9]'))"
    return parts


def _column(name: str, kind: str, facts: Mapping[str, Any], rows: int) -> dict[str, Any]:
    common = {
        "nulls": facts["present"] < rows,
        "distinct": facts.get("distinct"),
        "low": None,
        "high": None,
        "places": None,
    }
    held = _held(kind, facts)
    if held == "number":
        places = next((p for p in PLACES if not facts[f"off{p}"]), None)
        common |= {"low": facts["low"], "high": facts["high"], "places": places}
    if held == "date":
        common |= {"low": facts["first"], "high": facts["last"]}
    return common | {"kind": held}


def _held(kind: str, facts: Mapping[str, Any]) -> str:
    """What a column holds; text that is all numbers (but no codes like 007) counts as numbers."""
    present = facts["present"]
    if kind != "text":
        names = {"integer": "number", "real": "number", "moment": "date", "boolean": "truth"}
        return names.get(kind, kind)
    if present and facts["numbers"] == present and not facts["padded"]:
        return "number"
    return "date" if present and facts["days"] == present else "text"


def _listed(
    name: str, kind: str, facts: Mapping[str, Any], source: tuple[str, Run]
) -> dict[str, Any]:
    """The values themselves, where they are few; the count above is only approximate."""
    if kind not in ("integer", "text", "boolean") or facts["distinct"] > 2 * SHORT:
        return {"values": None}
    table, run = source
    column = quoted(name)
    few = run(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {SHORT + 1}")
    values = list(_values(few)) if len(few) <= SHORT else None
    return {"values": values} if values is None else {"values": values, "distinct": len(values)}


def _values(rows: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    yield from sorted(row[0] for row in rows)
