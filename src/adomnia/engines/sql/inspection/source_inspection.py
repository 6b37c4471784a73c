"""The inspection of a source: what cleaning by the policy does to each column, counted exactly.

It is for the curator alone (`exact.py`). Codes and numbers of all declared columns are worked out
once, and every count is of these; what is not listed or not read is looked up where there is any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from adomnia.engines.code_changes import codes_of
from adomnia.engines.source_facts import (
    Frequent,
    InspectedColumn,
    Inspection,
    Patterns,
    UndeclaredColumn,
)
from adomnia.engines.sql.coding import coded
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.inspection.number_inspection import inspect_numbers, number_text
from adomnia.engines.sql.inspection.unit_inspection import inspect_units
from adomnia.engines.sql.statement import DATA, CodedRows
from adomnia.schema.domain import Categories, Domain, Open, Value
from adomnia.schema.table import Table

__all__ = ["RowsToInspect", "inspect"]

FREQUENT = 10
"""So many of the most frequent values are named."""

LONG = 200
"""A text of more signs is no name, and no regular expression looks at it."""

Run = Callable[[str], Sequence[tuple[Any, ...]]]


@dataclass(frozen=True)
class RowsToInspect:
    """A source called `DATA`: the types of its columns, how statements are run, how its rows are
    coded, and a place where what a statement selects is kept for several others."""

    types: Mapping[str, str]
    dialect: Dialect
    run: Run
    coded: CodedRows
    staged: Callable[[str], AbstractContextManager[str]]


def inspect(source: RowsToInspect, table: Table, patterns: Patterns) -> Inspection:
    """All that is counted of a source."""
    names = list(source.types)
    domains = {name: _domain(table, name) for name in names}
    declared = [name for name in names if not isinstance(domains[name], Open)]
    others = [name for name in names if isinstance(domains[name], Open)]
    rows, repeated, most = _repeats(source)
    staging = [text for i, name in enumerate(declared)
               for text in _staged(i, name, domains[name], source)]  # fmt: skip
    listed = ", ".join(staging) or "1 AS " + source.dialect.quoted("adomnia one")
    with source.staged(f"SELECT {listed} FROM {DATA}") as stage:
        columns = [_column(source, stage, i, name, domains[name])
                   for i, name in enumerate(declared)]  # fmt: skip
    return Inspection(
        rows,
        columns,
        list(_undeclared(source, others, patterns)),
        repeated,
        most,
        None
        if table.unit is None
        else inspect_units(source.run, table, source.coded, source.staged),
    )


def _domain(table: Table, name: str) -> Domain:
    attribute = table.attributes.get(name)
    return Open() if attribute is None else attribute.domain


def _repeats(source: RowsToInspect) -> tuple[int, int, int]:
    """How many rows there are, how many are the same as an earlier one, and most of one kind."""
    say = source.dialect.quoted
    mixed, many = say("adomnia row"), say("adomnia many")
    hashed = source.dialect.order([say(name) for name in source.types])
    alike = f"SELECT COUNT(*) AS {many} FROM (SELECT {hashed} AS {mixed} FROM {DATA}) AS {say('a')}"
    grouped = f"{alike} GROUP BY {mixed}"
    found = source.run(
        f"SELECT COALESCE(SUM({many}), 0), COALESCE(SUM({many} - 1), 0), COALESCE(MAX({many}), 0) "
        f"FROM ({grouped}) AS {say('b')}"
    )[0]
    return int(found[0]), int(found[1]), int(found[2])


# Declared columns


def _staged(place: int, name: str, domain: Domain, source: RowsToInspect) -> Iterator[str]:
    """What is kept of a declared column: whether it is there, its code, and its number or whether
    it is in no list."""
    dialect, declared = source.dialect, source.types[name]
    present, code, third = _names(place, dialect)
    yield f"({dialect.quoted(name)} IS NOT NULL) AS {present}"
    yield f"{coded(name, domain, declared, dialect)} AS {code}"
    if isinstance(domain, Categories):
        yield f"{_unlisted(name, domain, declared, dialect)} AS {third}"
    else:
        yield f"{number_text(name, domain, declared, dialect)} AS {third}"


def _names(place: int, dialect: Dialect) -> tuple[str, str, str]:
    present, code, third = (dialect.quoted(f"adomnia {word}{place}") for word in "pcn")
    return present, code, third


def _unlisted(name: str, domain: Categories, declared: str, dialect: Dialect) -> str:
    """Whether a value is there and not in the list; `other` is no value of the list."""
    column, kind, first = dialect.quoted(name), dialect.family(declared), domain.values[0]
    if isinstance(first, bool):
        value = dialect.truth(column, kind)
    elif isinstance(first, int):
        value = dialect.integer(column, kind)
    else:
        value = dialect.words(column, kind)
    listed = ", ".join(dialect.constant(member) for member in domain.values)
    return f"({column} IS NOT NULL AND COALESCE({value} NOT IN ({listed}), TRUE))"


def _column(
    source: RowsToInspect, stage: str, place: int, name: str, domain: Domain
) -> InspectedColumn:
    """What is counted of a declared column."""
    if isinstance(domain, Categories):
        return _list_column(source, stage, place, name, domain)
    present, code, number = _names(place, source.dialect)
    found = source.run(
        f"SELECT COUNT(*), COUNT(CASE WHEN {present} THEN 1 END), "
        f"COUNT(CASE WHEN {present} AND {code} IS NULL THEN 1 END) FROM {stage}"
    )[0]
    rows, there, unread = map(int, found)
    names = (code, number)
    numbers = inspect_numbers(source.run, source.dialect, stage, names, domain)
    frequent = _frequent(source, name, domain) if unread else ()
    return InspectedColumn(name, rows, there, unread, frequent=frequent, numbers=numbers)


def _list_column(
    source: RowsToInspect, stage: str, place: int, name: str, domain: Categories
) -> InspectedColumn:
    """The rows of each listed value, and those that have none."""
    present, code, unlisted = _names(place, source.dialect)
    found = source.run(
        f"SELECT {code}, {present}, {unlisted}, COUNT(*) FROM {stage} GROUP BY 1, 2, 3"
    )
    values = codes_of(domain)
    counts: dict[Value, int] = dict.fromkeys(domain.members, 0)
    rows = there = unread = outside = moved = 0
    for key, held, foreign, many in found:
        rows, there = rows + many, there + many * bool(held)
        if key in values:
            counts[values[key]] += many
        unread += many * (bool(held) and key is None)
        outside += many * (key is not None and key not in values)
        moved += many * (key in values and bool(foreign))
    frequent = _frequent(source, name, domain) if unread or outside or moved else ()
    return InspectedColumn(name, rows, there, unread, outside, moved, frequent, counts)


def _frequent(source: RowsToInspect, name: str, domain: Domain) -> Frequent:
    """The most frequent values that are not listed, or not read."""
    dialect, declared, say = source.dialect, source.types[name], source.dialect.quoted
    column, word = say(name), say("adomnia word")
    if isinstance(domain, Categories):
        wrong = _unlisted(name, domain, declared, dialect)
    else:
        wrong = f"{column} IS NOT NULL AND {coded(name, domain, declared, dialect)} IS NULL"
    text = dialect.words(column, dialect.family(declared))
    return [
        (None if value is None else str(value), int(many))
        for value, many in source.run(
            f"SELECT {word}, COUNT(*) FROM (SELECT {text} AS {word} FROM {DATA} WHERE {wrong}) "
            f"AS {say('adomnia words')} GROUP BY {word} ORDER BY 2 DESC, 1 LIMIT {FREQUENT}"
        )
    ]


# Undeclared columns


def _undeclared(
    source: RowsToInspect, names: Sequence[str], patterns: Patterns
) -> Iterator[UndeclaredColumn]:
    """What matches of all of them in one pass; the different values of each in one of its own,
    which an engine can lay on the disk."""
    if not names:
        return
    parts = {name: _word_counts(source, name, patterns) for name in names}
    texts = [text for one in parts.values() for text in one.values()]
    row = iter(source.run(f"SELECT COUNT(*), {', '.join(texts)} FROM {DATA}")[0])
    rows = int(next(row))
    for name, counted in parts.items():
        found = {part: int(next(row)) for part in counted}
        present, long = found.pop(""), found.pop(" long")
        yield UndeclaredColumn(name, rows, present, *_different(source, name), found, long)


def _word_counts(source: RowsToInspect, name: str, patterns: Patterns) -> dict[str, str]:
    """The aggregates of a column, by what they are called; only texts are matched."""
    dialect = source.dialect
    column, kind = dialect.quoted(name), dialect.family(source.types[name])
    parts = {"": f"COUNT({column})", " long": "0"}
    if kind != "text":
        return parts
    short = f"LENGTH({column}) <= {LONG}"
    parts[" long"] = f"COUNT(CASE WHEN NOT ({short}) THEN 1 END)"
    for called, pattern in patterns.items():
        match = dialect.matches(f"CASE WHEN {short} THEN {column} END", pattern)
        parts[called] = f"COUNT(CASE WHEN {match} THEN 1 END)"
    return parts


def _different(source: RowsToInspect, name: str) -> tuple[int, int]:
    """How many different values a column has, and the most rows of one."""
    say = source.dialect.quoted
    column, many = say(name), say("adomnia many")
    counted = f"SELECT COUNT(*) AS {many} FROM {DATA} WHERE {column} IS NOT NULL GROUP BY {column}"
    found = source.run(f"SELECT COUNT(*), COALESCE(MAX({many}), 0) FROM ({counted}) AS {say('a')}")
    return int(found[0][0]), int(found[0][1])
