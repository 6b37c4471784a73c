"""Statements: one aggregate query for what a question needs of the data, in one pass over it.

They are over coded rows (`coding.py`): those of an edition, or of a source that is coded as it is
read. Keys that are columns are grouped by their codes and decoded afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.engines.engine import Request
from adomnia.engines.sql.coding import Coded, Decode, coding, lost
from adomnia.engines.sql.components import Aggregate, aggregates_of
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.extent import foreign
from adomnia.engines.sql.translation import Texts
from adomnia.engines.sql.units import MARKS, RANK, ChosenGroups, ranked
from adomnia.errors import QuestionError
from adomnia.privacy.contribution import ROWS, Ranked, arguments
from adomnia.privacy.reads import REST
from adomnia.queries.derived_table import owners_of
from adomnia.queries.expression import Column, Expr, columns
from adomnia.schema.table import Table

__all__ = [
    "DATA",
    "CodedRows",
    "Statement",
    "aggregates",
    "axis_codes",
    "coded_in_place",
    "kept_rows",
    "listing",
    "numbering",
    "place_on",
    "read_by",
    "tested",
]

DATA = "adomnia_data"
"""The name of the private table in the engine."""

Decodes = tuple[Decode | None, ...]
"""For each key how it is read from its code; None where it is read as it is."""


@dataclass(frozen=True)
class CodedRows:
    """The coded rows of a table: their columns, and where the needed ones are selected from.

    With a unit every row has its marks beside them (`units.py`).
    """

    names: tuple[str, ...]
    dialect: Dialect
    source: Callable[[Table, Sequence[str]], str]

    def columns(self, table: Table) -> Coded:
        """The columns as expressions read them."""
        return Coded(table, self.names, self.dialect)


def coded_in_place(types: Mapping[str, str], dialect: Dialect) -> CodedRows:
    """Rows that are coded as they are read from a source called `DATA`."""

    def source(table: Table, needed: Sequence[str]) -> str:
        codes, say = list(coding(table, types, dialect, needed)), dialect.quoted
        rows = DATA
        if table.unit is not None:
            read = [name for name in types if name in needed or lost(name) in needed]
            rows = ranked(DATA, table, types, read, dialect)
            codes += [say(mark) for mark in MARKS]
        text = f"SELECT {', '.join(codes) or '1 AS ' + say('adomnia one')} FROM {rows}"
        return f"({text}{dialect.barrier}) AS {say('adomnia coded')}"

    return CodedRows((*types, *(lost(name) for name in types)), dialect, source)


@dataclass(frozen=True)
class Statement:
    """A query for keys, then aggregates, of each group that occurs; for each contribution, which
    of the aggregates are its own."""

    text: str
    aggregates: tuple[Aggregate, ...]
    places: tuple[tuple[int, ...], ...]
    decodes: Decodes


def aggregates(request: Request, rows: CodedRows) -> Statement:
    """The statement that measures what a request may add up, in one pass."""
    coded = rows.columns(request.table)
    texts = Texts(coded)
    parts = [aggregates_of(one, texts, coded) for one in request.contributions or (ROWS,)]
    needed = tuple(dict.fromkeys(part for one in parts for part in one))
    places = tuple(tuple(needed.index(part) for part in one) for one in parts)
    text = _text(request, needed, rows, texts)
    return Statement(text, needed, places, _decodes(request.keys, coded))


def _text(request: Request, needed: Sequence[Aggregate], rows: CodedRows, texts: Texts) -> str:
    dialect = rows.dialect
    # What has no contribution is a whole table, with noise for all rows that a unit keeps.
    chosen = _choice(request.table, request.groups if request.contributions else ())
    values = [aggregate.text for aggregate in needed]
    where = tested(request.where, texts)
    keys = [_key(texts.key(key), i, dialect) for i, key in enumerate(request.keys)]
    source = texts.around(kept_rows(rows, request.table, read_by(request))) + where
    if chosen:
        source, keys = _chosen(request, chosen, keys, source, dialect)
    return _grouped(keys, values, source, dialect)


def listing(request: Request, ranked: Ranked, rows: CodedRows) -> tuple[str, Decodes]:
    """The query for keys, the clamped values that are not NULL, and their counts."""
    coded, dialect = rows.columns(request.table), rows.dialect
    texts = Texts(coded)
    value = texts.within(ranked.argument, ranked.low, ranked.high)
    keys = [*(texts.key(key) for key in request.keys), value]
    where = tested(request.where, texts)
    present = f"{where} AND {value} IS NOT NULL" if where else f" WHERE {value} IS NOT NULL"
    chosen = _choice(request.table, request.groups)
    read = (request.where, *request.keys, ranked.argument)
    source = texts.around(kept_rows(rows, request.table, read)) + present
    named = [_key(key, i, dialect) for i, key in enumerate(keys)]
    if chosen:
        source, named = _chosen(request, chosen, named, source, dialect)
    return _grouped(named, ["COUNT(*)"], source, dialect), _decodes(request.keys, coded)


def _decodes(keys: Sequence[Expr], columns: Coded) -> Decodes:
    return tuple(columns.decode(key) for key in keys)


def _name(letter: str, index: int, dialect: Dialect) -> str:
    """A name that no column of the data has."""
    return dialect.quoted(f"adomnia {letter}{index}")


def _key(text: str, index: int, dialect: Dialect) -> str:
    return f"{text} AS {_name('k', index, dialect)}"


def _grouped(keys: Sequence[str], values: Sequence[str], source: str, dialect: Dialect) -> str:
    listed = [*keys, *(f"{text} AS {_name('p', i, dialect)}" for i, text in enumerate(values))]
    group = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join(listed)} FROM {source}{group}"


def tested(where: Expr | None, texts: Texts) -> str:
    """The clause of a condition; nothing where there is none."""
    return "" if where is None else f" WHERE {texts.where(where)}"


def read_by(request: Request) -> list[Expr | None]:
    """What the question reads of a row."""
    found = [expr for one in request.contributions for expr in arguments(one)]
    return [request.where, *request.keys, *found]


def _choice(table: Table, keys: Sequence[Expr]) -> ChosenGroups | None:
    """Which groups of a unit are used; nothing is chosen where rows are nobody's."""
    return None if table.unit is None else ChosenGroups.of(table, keys)


def kept_rows(rows: CodedRows, table: Table, read: Sequence[Expr | None], units: int = 1) -> str:
    """The rows; with a unit, at most `max_rows` of each. Rows of two units have no ranks that bound
    them: whoever asks for these bounds what both may add."""
    if owners_of(table) > units:
        hint = "join on a key that leads to the unit, as declared in references"
        raise QuestionError("rows that belong to two units each cannot be asked for this", hint)
    needed = {column.name for expr in read for column in columns(expr)}
    source = rows.source(table, [name for name in rows.names if name in needed])
    if table.unit is None:
        return source
    say = rows.dialect.quoted
    kept = f"SELECT * FROM {source} WHERE {say(RANK)} <= {table.max_rows}"
    return f"({kept}) AS {say('adomnia kept')}"


def _chosen(
    request: Request, chosen: ChosenGroups, keys: Sequence[str], rows: str, dialect: Dialect
) -> tuple[str, list[str]]:
    """Of these rows those that a unit may have in its groups, and the keys as their columns."""
    named = [_name("k", i, dialect) for i in range(len(keys))]
    keyed = f"(SELECT *, {', '.join(keys)} FROM {rows}) AS {dialect.quoted('adomnia keyed')}"
    return chosen.rows(keyed, named[: len(request.groups)], dialect), named


def numbering(
    request: Request, axes: Sequence[Sequence[object]], cubes: Sequence[Sequence[int]],
    rows: CodedRows,
) -> str:  # fmt: skip
    """The query for the number of each row's cell in several cubes of the keys.

    A cube lists keys by their place; an axis lists the values of a key. A row that has another
    value of any key is in the cell of the rest; where an axis has none it is in no cube, and has
    the number past the last cell.
    """
    coded, dialect = rows.columns(request.table), rows.dialect
    texts = Texts(coded)
    places = [place_on(texts.key(key), axis_codes(key, axis, coded), dialect)
              for key, axis in zip(request.keys, axes, strict=True)]  # fmt: skip
    strict = {i for i, axis in enumerate(axes) if REST not in axis}
    listed, whole = [], " AND ".join(f"{places[i]} IS NOT NULL" for i in sorted(strict))
    for i, cube in enumerate(cubes):
        number, cells = "CAST(0 AS BIGINT)", 1
        for place in cube:
            number = f"({number} * {len(axes[place])} + {places[place]})"
            cells *= len(axes[place])
        if not strict <= {*cube}:
            number = f"CASE WHEN {whole} THEN {number} END"
        listed.append(f"COALESCE({number}, {cells}) AS {_name('n', i, dialect)}")
    where = tested(request.where, texts)
    source = texts.around(kept_rows(rows, request.table, read_by(request)))
    return f"SELECT {', '.join(listed)} FROM {source}{where}"


def axis_codes(key: Expr, axis: Sequence[object], columns: Coded) -> list[Any]:
    """The values of an axis as the key's text has them."""
    if not isinstance(key, Column) or columns.decode(key) is None:
        return list(axis)
    codes = [v if v in (None, REST) else columns.encoded(key.name, v) for v in axis]
    if any((code is None) != (value is None) for code, value in zip(codes, axis, strict=True)):
        raise foreign("a value on the side of a table is none of its column")
    return codes


def place_on(text: str, axis: Sequence[Any], dialect: Dialect) -> str:
    """The place of a value on its axis, as a number; where it is not on it, that of the rest, or
    NULL."""
    if REST in axis:
        return f"COALESCE({place_on(text, axis[:-1], dialect)}, {len(axis) - 1})"
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
