"""Statements: one aggregate query for what a question needs of the data, in one pass over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adomnia.engines.columns import Cleaned
from adomnia.engines.dialect import Dialect
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.engine import Request
from adomnia.engines.translate import Texts
from adomnia.engines.units import Chosen, bounded, per_unit, unit_present
from adomnia.queries.expression import Expr, columns
from adomnia.queries.measurement import Primitive, number
from adomnia.queries.ranges import count_cells

__all__ = ["DATA", "aggregates", "listing", "shift"]

DATA = "adomnia_data"
"""The name of the private table in the engine."""

MAX_RAW_GROUPS = 100_000
"""Rows are grouped by their raw columns first when the public domain promises no more groups."""


def aggregates(
    request: Request,
    needed: Sequence[Primitive],
    types: Mapping[str, str],
    dialect: Dialect = DUCKDB,
) -> str:
    """The query for keys, then primitives, of each group that occurs."""
    short = None
    if request.where is None and not request.keys:
        short = per_unit(DATA, request.table, needed, dialect)
    if short is not None:
        return short
    cleaned = Cleaned(request.table, types, dialect)
    # What is not measured is a whole table, with noise for all rows that a unit keeps.
    chosen = Chosen.of(request.table, request.groups if request.measurements else ())
    texts, raw = Texts(cleaned), [] if chosen else _raw(request, needed, cleaned)
    values = [_aggregate(primitive, needed, texts, cleaned) for primitive in needed]
    where = _where(request.where, texts)
    keys = [_key(texts.of(key), i, dialect) for i, key in enumerate(request.keys)]
    read = (request.where, *request.keys, *(primitive.argument for primitive in needed))
    rows = texts.around(_rows(cleaned, read, chosen)) + where
    if chosen:
        rows, keys = _chosen(request, chosen, keys, rows, dialect)
    found = _grouped(raw or keys, values, rows, dialect)
    if not raw:
        return found
    # The raw groups are few: cleaning their keys and adding them up costs nothing.
    outer = Texts(cleaned)
    keys = [_key(outer.of(key), i, dialect) for i, key in enumerate(request.keys)]
    sums = [_added(primitive, _name("p", i, dialect)) for i, primitive in enumerate(needed)]
    groups = f"({found}) AS {dialect.quoted('adomnia groups')}"
    return _grouped(keys, sums, outer.around(groups), dialect)


def listing(
    request: Request, value: Expr, types: Mapping[str, str], dialect: Dialect = DUCKDB
) -> str:
    """The query for keys, the values of an expression that are not NULL, and their counts."""
    cleaned = Cleaned(request.table, types, dialect)
    texts = Texts(cleaned)
    keys = [texts.of(key) for key in (*request.keys, value)]
    where = _where(request.where, texts)
    present = f"{where} AND {keys[-1]} IS NOT NULL" if where else f" WHERE {keys[-1]} IS NOT NULL"
    chosen = Chosen.of(request.table, request.groups)
    rows = texts.around(_rows(cleaned, (request.where, *request.keys, value), chosen)) + present
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


def _rows(cleaned: Cleaned, read: Sequence[Expr | None], chosen: Chosen) -> str:
    """The rows; with a unit, at most `max_rows` of each."""
    unit = cleaned.table.unit
    if unit is None:
        return DATA
    needed = {column.name for expr in read for column in columns(expr)} | chosen.needed
    needed |= {unit} if chosen else set()
    return bounded(DATA, cleaned.table, cleaned.types, needed, cleaned.dialect)


def _chosen(
    request: Request, chosen: Chosen, keys: Sequence[str], rows: str, dialect: Dialect
) -> tuple[str, list[str]]:
    """Of these rows those that a unit may have in its groups, and the keys as their columns."""
    named = [_name("k", i, dialect) for i in range(len(keys))]
    keyed = f"(SELECT *, {', '.join(keys)} FROM {rows}) AS {dialect.quoted('adomnia keyed')}"
    unit, groups = str(request.table.unit), named[: len(request.groups)]
    return chosen.rows(keyed, unit, groups, dialect), named


def _aggregate(
    primitive: Primitive, needed: Sequence[Primitive], texts: Texts, cleaned: Cleaned
) -> str:
    """The SQL of what is computed in a group; never NULL."""
    if primitive.argument is None:
        return "COUNT(*)"
    present = unit_present(primitive, cleaned.table)
    if present is not None:
        unit = cleaned.dialect.quoted(str(cleaned.table.unit))
        return f"COUNT(DISTINCT CASE WHEN {texts.of(present)} THEN {unit} END)"
    if primitive.kind == "rows":
        return f"COUNT(*) FILTER (WHERE {texts.where(primitive.argument)})"
    text = texts.of(primitive.argument)
    if primitive.kind == "squares":
        return _squares(text, primitive.argument, shift(primitive, needed), cleaned.dialect)
    return {
        "sum": f"COALESCE({cleaned.dialect.total(text)}, 0)",
        "values": f"COUNT({text})",
        "distinct": f"COUNT(DISTINCT {text})",
    }[primitive.kind]


def _added(primitive: Primitive, name: str) -> str:
    """The sum over raw groups; a count of rows fits 64 bits, however many groups it is in."""
    counts = primitive.kind in ("rows", "values")
    return f"CAST(SUM({name}) AS BIGINT)" if counts else f"SUM({name})"


def shift(primitive: Primitive, needed: Sequence[Primitive]) -> int:
    """What is taken off each value before it is squared, so that the squares stay small.

    Σx² = Σ(x - s)² + 2s·Σx - s²·n, so it can be undone where sum and number are there too.
    """
    if primitive.kind != "squares" or primitive.argument is None:
        return 0
    others = {Primitive("sum", primitive.argument), Primitive("values", primitive.argument)}
    return number(primitive.argument).low if others <= {*needed} else 0


def _squares(text: str, argument: Expr, off: int, dialect: Dialect) -> str:
    spread = number(argument)
    moved = text if off == 0 else f"({text} - CAST({off} AS BIGINT))"
    narrow = max(abs(spread.low - off), abs(spread.high - off)) <= 3 * 10**9
    first = moved if narrow else f"CAST({moved} AS {dialect.wide})"
    return f"COALESCE({dialect.total(f'{first} * {moved}')}, 0)"


def _raw(request: Request, needed: Sequence[Primitive], cleaned: Cleaned) -> list[str]:
    """The raw columns to group by first, where that is no more work than the question itself."""
    if any(primitive.kind == "distinct" for primitive in needed):
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
    dialect: Dialect = DUCKDB,
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
    rows = texts.around(_rows(cleaned, request.keys, Chosen.of(request.table, ())))
    return f"SELECT {', '.join(listed)} FROM {rows}"


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
