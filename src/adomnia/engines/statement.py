"""Statements: one aggregate query for what a question needs of the data, in one pass over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adomnia.engines.clean import family
from adomnia.engines.columns import Cleaned
from adomnia.engines.engine import Request
from adomnia.engines.literals import quoted
from adomnia.engines.translate import Texts
from adomnia.engines.units import bounded, is_unit, per_unit
from adomnia.queries.expression import Expr, columns
from adomnia.queries.measurement import Primitive, number
from adomnia.queries.ranges import count_cells

__all__ = ["DATA", "aggregates", "listing", "shift"]

DATA = "adomnia_data"
"""The name of the private table in the engine."""

MAX_RAW_GROUPS = 100_000
"""Rows are grouped by their raw columns first when the public domain promises no more groups."""


def aggregates(request: Request, needed: Sequence[Primitive], types: Mapping[str, str]) -> str:
    """The query for keys, then primitives, of each group that occurs."""
    short = None
    if request.where is None and not request.keys:
        short = per_unit(DATA, request.table, needed)
    if short is not None:
        return short
    cleaned = Cleaned(request.table, types)
    texts, raw = Texts(cleaned), _raw(request, needed, types)
    values = [_aggregate(primitive, needed, texts, request) for primitive in needed]
    where = _where(request.where, texts)
    keys = raw or [texts.of(key) for key in request.keys]
    read = (request.where, *request.keys, *(primitive.argument for primitive in needed))
    found = _grouped(keys, values, texts.around(_rows(request, types, read)) + where)
    if not raw:
        return found
    # The raw groups are few: cleaning their keys and adding them up costs nothing.
    outer = Texts(cleaned)
    keys = [outer.of(key) for key in request.keys]
    sums = [_added(primitive, _name("p", i)) for i, primitive in enumerate(needed)]
    return _grouped(keys, sums, outer.around(f"({found})"))


def listing(request: Request, value: Expr, types: Mapping[str, str]) -> str:
    """The query for keys, the values of an expression that are not NULL, and their counts."""
    texts = Texts(Cleaned(request.table, types))
    keys = [texts.of(key) for key in (*request.keys, value)]
    where = _where(request.where, texts)
    present = f"{where} AND {keys[-1]} IS NOT NULL" if where else f" WHERE {keys[-1]} IS NOT NULL"
    read = (request.where, *request.keys, value)
    return _grouped(keys, ["COUNT(*)"], texts.around(_rows(request, types, read)) + present)


def _name(letter: str, index: int) -> str:
    """A name that no column of the data has."""
    return quoted(f"adomnia {letter}{index}")


def _grouped(keys: Sequence[str], values: Sequence[str], source: str) -> str:
    # A raw key keeps its name: the groups are cleaned by it.
    listed = [
        key if key.startswith('"') else f"{key} AS {_name('k', i)}" for i, key in enumerate(keys)
    ]
    listed += [f"{value} AS {_name('p', i)}" for i, value in enumerate(values)]
    group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join(listed)} FROM {source}{group}"


def _where(where: Expr | None, texts: Texts) -> str:
    return "" if where is None else f" WHERE {texts.where(where)}"


def _rows(request: Request, types: Mapping[str, str], read: Sequence[Expr | None]) -> str:
    """The rows; with a unit, at most `max_rows` of each."""
    if request.table.unit is None:
        return DATA
    return bounded(DATA, request.table, types, {c.name for e in read for c in columns(e)})


def _aggregate(
    primitive: Primitive, needed: Sequence[Primitive], texts: Texts, request: Request
) -> str:
    """The SQL of what is computed in a group; never NULL."""
    if primitive.argument is None:
        return "COUNT(*)"
    if is_unit(primitive, request.table):
        return f"COUNT(DISTINCT {quoted(str(request.table.unit))})"
    if primitive.kind == "rows":
        return f"COUNT(*) FILTER (WHERE {texts.where(primitive.argument)})"
    text = texts.of(primitive.argument)
    if primitive.kind == "squares":
        return _squares(text, primitive.argument, shift(primitive, needed))
    return {
        "sum": f"COALESCE(SUM({text}), 0)",
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


def _squares(text: str, argument: Expr, off: int) -> str:
    spread = number(argument)
    moved = text if off == 0 else f"({text} - CAST({off} AS BIGINT))"
    narrow = max(abs(spread.low - off), abs(spread.high - off)) <= 3 * 10**9
    first = moved if narrow else f"CAST({moved} AS HUGEINT)"
    return f"COALESCE(SUM({first} * {moved}), 0)"


def _raw(request: Request, needed: Sequence[Primitive], types: Mapping[str, str]) -> list[str]:
    """The raw columns to group by first, where that is no more work than the question itself."""
    if any(primitive.kind == "distinct" for primitive in needed):
        return []
    used = {column.name: column for key in request.keys for column in columns(key)}
    if any(family(types[name]) in ("real", "moment", "other") for name in used):
        return []
    groups = 1
    for column in used.values():
        groups *= count_cells(column.range) or MAX_RAW_GROUPS
    return [quoted(name) for name in used] if groups <= MAX_RAW_GROUPS else []
