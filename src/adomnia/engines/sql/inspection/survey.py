"""The survey behind a first draft of a policy: all columns in one pass, short lists in a second.

It looks at the data, so what it finds is not public until a curator says so. Text that holds
numbers or dates, but for a few odd cells (a CSV file has only text), is surveyed as what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.inspection.spikes import DAY_CODES, NUMBER_CODES, find_spikes

__all__ = ["SHORT", "survey"]

SHORT = 100
"""A list of values may be this long."""

MOST_PLACES = 4
"""A number with more decimal places has no step that can be proposed."""

MOSTLY = 0.9
"""Text is numbers or days where at least this share of it is: a few odd cells change no column."""

ALMOST = 0.99
"""Decimal places beyond those of so large a share of numbers are not looked at."""

NUMERIC = ("integer", "real", "decimal", "text")
DAYS = ("date", "moment", "text")

LARGEST = 1.7976931348623157e308
NEAR = "DATE '1800-01-01' AND DATE '2199-12-31'"
"""Days that are meant; others mostly stand for a day that is not known, or for one without end."""

FORMS = {
    "uuids": "^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$",
    "mails": "^[^@ ]{1,64}@[^@ ]{1,100}$",
    "spaced": " ",
    "padded": "^\\s*[-+]?0[0-9]",
    "dotted days": "^\\s*[0-9]{1,2}\\.[0-9]{1,2}\\.[12][0-9]{3}($|\\s)",
    "slashed days": "^\\s*[0-9]{1,2}/[0-9]{1,2}/[12][0-9]{3}($|\\s)",
    "dashed days": "^\\s*[0-9]{1,2}-[0-9]{1,2}-[12][0-9]{3}($|\\s)",
    "thousands": "^\\s*[-+]?[0-9]{1,3}(,[0-9]{3})*(\\.[0-9]+)?\\s*$",
    "commas": "^\\s*[-+]?[0-9]+(\\.[0-9]{3})*(,[0-9]+)?\\s*$",
}
"""How a text can look: as an identifier, as several words, as a code that begins with 0, or as days
and numbers that are not read."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]


def survey(
    types: Mapping[str, str], source: str, run: Run, dialect: Dialect
) -> dict[str, dict[str, Any]]:
    """For each column its kind, extremes, NULLs, how many values there are, and a short list.

    `kind` is number, date, text, truth or other; `share` says how much of the column is of that
    kind, `places` are the decimal places of a number, `timed` the share of days with a time, and
    `counts` how many rows have each of the `values`. What may stand for missing are its
    `spikes`, and `rest_low` and `rest_high` the extremes of the others.
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
        | _spikes(dialect.quoted(name), kinds[name], facts, (source, run, dialect))
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
        parts |= _numbers(number, dialect)
    if kind in DAYS:
        parts |= _days(day)
        if kind != "date":
            timed = _timed(column, kind, dialect)
            parts["timed"] = f"COUNT(CASE WHEN {timed} THEN {day} END)"
    if kind == "text":
        looks = {name: dialect.matches(column, form) for name, form in FORMS.items()}
        short = f"LENGTH({column}) <= 200"
        parts |= {
            name: f"COUNT(CASE WHEN {short} AND {test} THEN 1 END)" for name, test in looks.items()
        }
        parts |= {"shortest": f"MIN(LENGTH({column}))", "longest": f"MAX(LENGTH({column}))"}
    return parts


def _numbers(number: str, dialect: Dialect) -> dict[str, str]:
    finite = f"CASE WHEN {number} BETWEEN -{LARGEST} AND {LARGEST} THEN {number} END"
    places = dialect.places(finite)
    return {
        "numbers": f"COUNT({number})", "low": f"MIN({finite})", "high": f"MAX({finite})",
        "places": f"MAX({places})", "finite": f"COUNT({finite})",
        "whole": f"COUNT(CASE WHEN {places} = 0 THEN 1 END)",
        "cents": f"COUNT(CASE WHEN {places} <= 2 THEN 1 END)",
    }  # fmt: skip


def _days(day: str) -> dict[str, str]:
    # Python's days end here; nobody is older, or will be.
    held = f"LEAST(GREATEST({day}, DATE '0001-01-01'), DATE '9999-12-31')"
    near = f"CASE WHEN {day} BETWEEN {NEAR} THEN {day} END"
    ends = [f"{end}(CASE WHEN {day} IS NOT NULL THEN {held} END)" for end in ("MIN", "MAX")]
    return {
        "days": f"COUNT({day})", "first": ends[0], "last": ends[1],
        "near": f"COUNT({near})", "near_first": f"MIN({near})", "near_last": f"MAX({near})",
    }  # fmt: skip


def _timed(column: str, kind: str, dialect: Dialect) -> str:
    """Whether a moment has a time of the day that is not midnight."""
    if kind == "text":
        return f"LENGTH({column}) <= 200 AND {dialect.matches(column, '[ T][0-9:.]*[1-9]')}"
    parts = (f"EXTRACT({part} FROM {column}) <> 0" for part in ("HOUR", "MINUTE", "SECOND"))
    return " OR ".join(parts)


def _column(kind: str, facts: Mapping[str, Any], rows: int) -> dict[str, Any]:
    present = facts["present"]
    common = {
        "nulls": present < rows,
        "present": present,
        "distinct": facts.get("distinct"),
        "low": None,
        "high": None,
        "places": None,
        "share": 1.0,
        "timed": 0.0,
        "width": (facts.get("shortest"), facts.get("longest")),
        "forms": {name: (facts.get(name) or 0) / max(1, present) for name in FORMS},
    }
    held = _held(kind, facts)
    if held == "number":
        common |= {"low": facts["low"], "high": facts["high"], "places": _places(facts)}
        common["share"] = facts["finite"] / max(1, present)
    if held == "date":
        common |= {"low": facts["first"], "high": facts["last"]}
        if facts["near"] and facts["near"] >= MOSTLY * facts["days"]:
            common |= {"near_low": facts["near_first"], "near_high": facts["near_last"]}
        common["share"] = facts["days"] / max(1, present)
        common["timed"] = facts.get("timed", 0) / max(1, facts["days"])
    return common | {"kind": held}


def _places(facts: Mapping[str, Any]) -> int | None:
    """The decimal places that almost all numbers are written with; None where they are many."""
    if facts["whole"] >= ALMOST * facts["finite"]:
        return 0
    if facts["cents"] >= ALMOST * facts["finite"]:
        return min(2, int(facts["places"]))
    places = int(facts["places"])
    return places if places <= MOST_PLACES else None


def _held(kind: str, facts: Mapping[str, Any]) -> str:
    """What a column holds; text that is mostly numbers (but no codes like 007) counts as such."""
    present = facts["present"]
    if kind != "text":
        names = dict.fromkeys(("integer", "real", "decimal"), "number")
        names |= {"moment": "date", "boolean": "truth"}
        return names.get(kind, kind)
    if present and facts["numbers"] >= MOSTLY * present and not _is_code(facts):
        return "number"
    return "date" if present and facts["days"] >= MOSTLY * present else "text"


def _is_code(facts: Mapping[str, Any]) -> bool:
    """Whether digits stand for no number: they have zeros in front, or all one length."""
    fixed = facts["shortest"] == facts["longest"] > 1
    return bool(facts["padded"] and (fixed or facts["padded"] > (1 - ALMOST) * facts["present"]))


def _listed(
    column: str, kind: str, facts: Mapping[str, Any], source: tuple[str, Run]
) -> dict[str, Any]:
    """The values themselves, where they are few; the count above is only approximate."""
    if kind not in ("integer", "text", "boolean") or facts["distinct"] > 2 * SHORT:
        return {"values": None, "counts": None}
    table, run = source
    few = run(
        f"SELECT {column}, COUNT(*) FROM {table} WHERE {column} IS NOT NULL "
        f"GROUP BY {column} LIMIT {SHORT + 1}"
    )
    if len(few) > SHORT:
        return {"values": None, "counts": None}
    pairs = sorted(few)
    values, counts = [value for value, _ in pairs], [int(many) for _, many in pairs]
    return {"values": values, "counts": counts, "distinct": len(values)}


def _spikes(
    column: str, kind: str, facts: Mapping[str, Any], source: tuple[str, Run, Dialect]
) -> dict[str, Any]:
    """Numbers and days that may stand for missing, and the extremes of the others."""
    table, run, dialect = source
    held = _held(kind, facts)
    if held == "number" and facts["low"] is not None:
        number, codes = dialect.number(column, kind), NUMBER_CODES
        value = f"CASE WHEN {number} BETWEEN -{LARGEST} AND {LARGEST} THEN {number} END"
        between = float(facts["low"]), float(facts["high"])
    elif held == "date" and facts["days"]:
        value, codes = _day_number(dialect.day(column, kind), dialect), DAY_CODES
        between = float(facts["first"].toordinal()), float(facts["last"].toordinal())
    else:
        return {"spikes": ()}
    spikes = find_spikes(run, (value, table), between, codes)
    if not spikes:
        return {"spikes": ()}
    left = ", ".join(repr(spike.value) for spike in spikes)
    numbers = f"(SELECT {value} AS v FROM {table}) AS n"
    ends = run(f"SELECT MIN(v), MAX(v) FROM {numbers} WHERE v NOT IN ({left})")[0]
    low, high = (date.fromordinal(int(end)) for end in ends) if codes.days else ends
    return {"spikes": spikes, "rest_low": low, "rest_high": high}


def _day_number(day: str, dialect: Dialect) -> str:
    """A day as the number of days since the year 1, which is 1; what Python cannot say is moved to
    its first or last one."""
    ends = (dialect.constant(end) for end in (date.min, date.max))
    held = "LEAST(GREATEST({}, {}), {})".format(day, *ends)
    counted = f"{dialect.days(held, dialect.constant(date.min))} + 1"
    return f"CASE WHEN {day} IS NOT NULL THEN {counted} END"
