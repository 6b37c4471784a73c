"""Statements: one aggregate query for what a question needs of the data, in one pass over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adomnia.engines.engine import Request
from adomnia.engines.sql.clean import Cleaned
from adomnia.engines.sql.components import Aggregate, aggregates_of
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.translation import Texts
from adomnia.engines.sql.units import ChosenGroups, bounded, per_unit
from adomnia.privacy.contribution import ROWS, DistinctUnits, Ranked, arguments
from adomnia.queries.expression import Column, Expr, columns
from adomnia.queries.ranges import Text, count_cells
from adomnia.schema.table import Table

__all__ = ["DATA", "Statement", "aggregates", "listing", "numbering"]

DATA = "adomnia_data"
"""The name of the private table in the engine."""

MAX_RAW_GROUPS = 100_000
"""Rows are grouped by their raw columns first when the public domain promises no more groups."""


@dataclass(frozen=True)
class Statement:
    """A query for keys, then aggregates, of each group that occurs; for each contribution, which
    of the aggregates are its own."""

    text: str
    aggregates: tuple[Aggregate, ...]
    places: tuple[tuple[int, ...], ...]


def aggregates(request: Request, types: Mapping[str, str], dialect: Dialect) -> Statement:
    """The statement that measures what a request may add up, in one pass."""
    cleaned = Cleaned(request.table, types, dialect)
    texts = Texts(cleaned)
    parts = [aggregates_of(one, texts, cleaned) for one in request.contributions or (ROWS,)]
    needed = tuple(dict.fromkeys(part for one in parts for part in one))
    places = tuple(tuple(needed.index(part) for part in one) for one in parts)
    short = None
    if request.where is None and not request.keys:
        short = per_unit(DATA, request.table, request.contributions, dialect)
    text = _text(request, needed, cleaned, texts) if short is None else short
    return Statement(text, needed, places)


def _text(request: Request, needed: Sequence[Aggregate], cleaned: Cleaned, texts: Texts) -> str:
    dialect = cleaned.dialect
    # What has no contribution is a whole table, with noise for all rows that a unit keeps.
    chosen = _choice(request.table, request.groups if request.contributions else ())
    raw = [] if chosen else _raw(request, needed, cleaned)
    values = [aggregate.text for aggregate in needed]
    where = _where(request.where, texts)
    keys = [_key(texts.of(key), i, dialect) for i, key in enumerate(request.keys)]
    rows = texts.around(_rows(cleaned, _read(request), chosen)) + where
    if chosen:
        rows, keys = _chosen(request, chosen, keys, rows, dialect)
    found = _grouped(raw or keys, values, rows, dialect)
    if not raw:
        return found
    # The raw groups are few: cleaning their keys and adding them up costs nothing.
    outer = Texts(cleaned)
    keys = [_key(outer.of(key), i, dialect) for i, key in enumerate(request.keys)]
    sums = [_added(aggregate, _name("p", i, dialect)) for i, aggregate in enumerate(needed)]
    groups = f"({found}) AS {dialect.quoted('adomnia groups')}"
    return _grouped(keys, sums, outer.around(groups), dialect)


def listing(request: Request, ranked: Ranked, types: Mapping[str, str], dialect: Dialect) -> str:
    """The query for keys, the clamped values that are not NULL, and their counts."""
    cleaned = Cleaned(request.table, types, dialect)
    texts = Texts(cleaned)
    value = texts.within(ranked.argument, ranked.low, ranked.high)
    keys = [*(texts.of(key) for key in request.keys), value]
    where = _where(request.where, texts)
    present = f"{where} AND {keys[-1]} IS NOT NULL" if where else f" WHERE {keys[-1]} IS NOT NULL"
    chosen = _choice(request.table, request.groups)
    read = (request.where, *request.keys, ranked.argument)
    rows = texts.around(_rows(cleaned, read, chosen)) + present
    named = [_key(key, i, dialect) for i, key in enumerate(keys)]
    if chosen:
        rows, named = _chosen(request, chosen, named, rows, dialect)
    return _grouped(named, ["COUNT(*)"], rows, dialect)


def _name(letter: str, index: int, dialect: Dialect) -> str:
    """A name that no column of the data has."""
    return dialect.quoted(f"adomnia {letter}{index}")


def _key(text: str, index: int, dialect: Dialect) -> str:
    return f"{text} AS {_name('k', index, dialect)}"


def _grouped(keys: Sequence[str], values: Sequence[str], source: str, dialect: Dialect) -> str:
    listed = [*keys, *(f"{text} AS {_name('p', i, dialect)}" for i, text in enumerate(values))]
    group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join(listed)} FROM {source}{group}"


def _where(where: Expr | None, texts: Texts) -> str:
    return "" if where is None else f" WHERE {texts.where(where)}"


def _read(request: Request) -> list[Expr | None]:
    """What the question reads of a row; of units that are counted, the unit too."""
    found = [expr for one in request.contributions for expr in arguments(one)]
    if any(isinstance(one, DistinctUnits) for one in request.contributions):
        found.append(Column(str(request.table.unit), Text(None)))
    return [request.where, *request.keys, *found]


def _choice(table: Table, keys: Sequence[Expr]) -> ChosenGroups | None:
    """Which groups of a unit are used; nothing is chosen where rows are nobody's."""
    return None if table.unit is None else ChosenGroups.of(table, keys)


def _rows(cleaned: Cleaned, read: Sequence[Expr | None], chosen: ChosenGroups | None) -> str:
    """The rows; with a unit, at most `max_rows` of each."""
    unit = cleaned.table.unit
    if unit is None:
        return DATA
    needed = {column.name for expr in read for column in columns(expr)}
    needed |= {unit, *chosen.needed} if chosen else set()
    return bounded(DATA, cleaned.table, cleaned.types, needed, cleaned.dialect)


def _chosen(
    request: Request, chosen: ChosenGroups, keys: Sequence[str], rows: str, dialect: Dialect
) -> tuple[str, list[str]]:
    """Of these rows those that a unit may have in its groups, and the keys as their columns."""
    named = [_name("k", i, dialect) for i in range(len(keys))]
    keyed = f"(SELECT *, {', '.join(keys)} FROM {rows}) AS {dialect.quoted('adomnia keyed')}"
    unit, groups = str(request.table.unit), named[: len(request.groups)]
    return chosen.rows(keyed, unit, groups, dialect), named


def _added(aggregate: Aggregate, name: str) -> str:
    """The sum over raw groups; a count of rows fits 64 bits, however many groups it is in."""
    return f"CAST(SUM({name}) AS BIGINT)" if aggregate.kind == "count" else f"SUM({name})"


def _raw(request: Request, needed: Sequence[Aggregate], cleaned: Cleaned) -> list[str]:
    """The raw columns to group by first, where that is no more work than the question itself."""
    if any(aggregate.kind == "distinct" for aggregate in needed):
        return []
    used = {column.name: column for key in request.keys for column in columns(key)}
    plain = ("integer", "text", "boolean", "date")
    if any(cleaned.dialect.family(cleaned.types[name]) not in plain for name in used):
        return []
    groups = 1
    for column in used.values():
        groups *= count_cells(column.range) or MAX_RAW_GROUPS
    # A raw key keeps its name: the groups are cleaned by it.
    names = [cleaned.dialect.quoted(name) for name in used]
    return names if groups <= MAX_RAW_GROUPS else []


def numbering(
    request: Request,
    axes: Sequence[Sequence[object]],
    cubes: Sequence[Sequence[int]],
    types: Mapping[str, str],
    dialect: Dialect,
) -> str:
    """The query for the number of each row's cell in several cubes of the keys.

    A cube lists keys by their place; an axis lists the values of a key. A row that has another
    value of any key is in no cube: it has the number past the last cell.
    """
    cleaned = Cleaned(request.table, types, dialect)
    texts = Texts(cleaned)
    places = [_place(texts.of(key), axis, key, dialect)
              for key, axis in zip(request.keys, axes, strict=True)]  # fmt: skip
    listed, whole = [], " AND ".join(f"{place} IS NOT NULL" for place in places)
    for i, cube in enumerate(cubes):
        number, cells = "CAST(0 AS BIGINT)", 1
        for place in cube:
            number = f"({number} * {len(axes[place])} + {places[place]})"
            cells *= len(axes[place])
        if len(cube) < len(places):
            number = f"CASE WHEN {whole} THEN {number} END"
        listed.append(f"COALESCE({number}, {cells}) AS {_name('n', i, dialect)}")
    where = _where(request.where, texts)
    rows = texts.around(_rows(cleaned, _read(request), _choice(request.table, ())))
    return f"SELECT {', '.join(listed)} FROM {rows}{where}"


def _place(text: str, axis: Sequence[object], key: Expr, dialect: Dialect) -> str:
    """The place of a value on its axis, as a number; NULL where it is not on it."""
    values = [value for value in axis if value is not None]
    first = values[0] if values else None
    if (
        isinstance(first, int)
        and not isinstance(first, bool)
        and values == list(range(first, first + len(values)))
    ):
        inside = f"{text} BETWEEN {first} AND {first + len(values) - 1}"
        found = f"CASE WHEN {inside} THEN {text} - CAST({first} AS BIGINT) END"
    else:
        whens = " ".join(
            f"WHEN {dialect.constant(value)} THEN {place}"
            for place, value in enumerate(axis)
            if value is not None
        )
        found = f"CASE {text} {whens} END" if whens else "CAST(NULL AS BIGINT)"
    if None not in axis:
        return f"({found})"
    return f"(CASE WHEN {text} IS NULL THEN {list(axis).index(None)} ELSE {found} END)"
