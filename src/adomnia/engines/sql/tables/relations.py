"""Relations: rows of several tables become one FROM, in which every row has one unit and a rank.

Whatever a question joins or computes, both sides of a join have the same unit, a group is of one
unit, and of each table only the rows up to its bound are read: it stands in the statement, not in
what was asked (`queries/rows.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adomnia.engines.sql.coding import Coded, clamped
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.extent import foreign, kind_of_domain
from adomnia.engines.sql.statement import CodedRows
from adomnia.engines.sql.tables.owners import PAIR, UNIT_2
from adomnia.engines.sql.translation import Texts
from adomnia.engines.sql.units import FIRST, MARKS, RANK, UNIT
from adomnia.errors import MachineryError, QuestionError
from adomnia.limits import MAX_JOINED_ROWS
from adomnia.queries.calendar import seconds_of
from adomnia.queries.derived_table import DerivedTable, derived_table
from adomnia.queries.expression import Column, Expr, columns
from adomnia.queries.operations import LIMIT, inside, nearest
from adomnia.queries.ranges import Day, Moment, Number, Range, Text
from adomnia.queries.row_columns import attributes_of, column_names, combined_range, total_range
from adomnia.queries.rows import (
    HERE,
    MEAN_STEPS,
    OWNER,
    ROW,
    Combined,
    Filtered,
    Joined,
    Numbered,
    PerUnit,
    Projected,
    Rows,
    Scan,
    Total,
    is_met_once,
    is_one_group,
    is_owner,
    meets_one,
    most_of_sides,
    most_rows,
    multiplies,
    point_to,
    scans,
    units_of_row,
)
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["Relations"]

SIDE = "adomnia side"
"""Where rows of two sides stand under each other: 0 on those of the left, 1 of the right."""

_SIDES = {"except": "MAX({0}) = 0", "intersect": "MIN({0}) = 0 AND MAX({0}) = 1"}
"""On which sides a value must be to stay."""


USUAL_ROWS = 1_000
"""So many rows of a unit are reckoned with in joins, of a table whose bound is found."""


@dataclass(frozen=True)
class Relations:
    """The tables of an edition: their declared shape, the columns of each, and how its stored rows
    are scanned (the needed columns, and all marks)."""

    tables: Tables
    columns: Mapping[str, tuple[str, ...]]
    scan: Callable[[str, Sequence[str]], str]
    dialect: Dialect

    def coded(self, table: Table) -> CodedRows:
        """The rows of a question's table, as statements read them."""
        if not isinstance(table, DerivedTable) or table.rows is None:
            raise QuestionError("a question of several tables names those that it reads")
        if table != derived_table(table.rows, self.tables, table):
            raise MachineryError("these rows are bounded otherwise here", "open the data again")
        self._check(table.rows)
        return CodedRows(self._names(table.rows), self.dialect, self._source)

    def _check(self, rows: Rows) -> None:
        """Refuse what would compare columns of two kinds, which the engine would convert or fail
        on, and what would rest on others' rows: what is computed of rows of two units."""
        if isinstance(rows, Filtered | PerUnit | Projected | Numbered):
            self._check(rows.rows)
        if isinstance(rows, Combined):
            self._check_combined(rows)
        if isinstance(rows, Joined):
            self._check(rows.left)
            self._check(rows.right)
            compared = [p for p in rows.pairs if point_to(p, rows, self.tables) is None]
            if any(self._kind(rows.left, a) != self._kind(rows.right, b) for a, b in compared):
                raise foreign("a join compares columns of two kinds")
            if not self._two(rows):
                self._refuse_many(rows)
        alone = isinstance(rows, PerUnit | Combined | Numbered) or (
            isinstance(rows, Joined) and rows.outer is not None
        )
        if self._two(rows) and (alone or units_of_row(rows, self.tables) > len(PAIR)):
            raise foreign("rows of two units are counted and added up as they are")

    def _check_combined(self, rows: Combined) -> None:
        """Refuse columns of two sides that are not stored alike."""
        texts = [self._texts(side) for side in (rows.left, rows.right)]
        declared = attributes_of(rows, self.tables)
        for side in (rows.left, rows.right):
            self._check(side)
        for name, *both in rows.columns:
            attribute = declared.get(f"{rows.name}.{name}")
            known = "text" if attribute is None else kind_of_domain(attribute.domain)
            kinds = {one.kind(expr) for one, expr in zip(texts, both, strict=True)}
            if not kinds <= {known, "any"}:
                raise foreign("two sides have columns of two kinds")
        if most_rows(rows, self.tables) > LIMIT:
            raise QuestionError(f"a unit can have more than {LIMIT:,} of these rows")

    def _refuse_many(self, rows: Joined) -> None:
        """Refuse joins by which one unit could make the engine work without end: what fails for
        that would fail after it was paid, and for that unit alone."""
        most, tables = LIMIT, self.tables
        if multiplies(rows, tables):
            most, tables = MAX_JOINED_ROWS, self._usual
        if most_rows(rows, tables) > most:
            said = f"a unit can have more than {most:,} of the joined rows"
            raise QuestionError(said, "join fewer tables on the unit alone, or lower max_rows")

    @property
    def _usual(self) -> Tables:
        """The tables, with a number of rows that units may have where no bound is declared."""
        found = {
            name: replace(table, max_rows=min(table.max_rows, USUAL_ROWS)) if table.auto else table
            for name, table in self.tables.tables.items()
        }
        return replace(self.tables, tables=found)

    def _kind(self, rows: Rows, column: Column) -> str:
        return "unit" if is_owner(column.name) else self._coded(rows).kind(column.name)

    def _names(self, rows: Rows) -> tuple[str, ...]:
        return (*column_names(rows, self.columns), OWNER)

    def _source(self, table: Table, needed: Sequence[str]) -> str:
        assert isinstance(table, DerivedTable)
        assert table.rows is not None
        return self._item(table.rows, needed)

    def _item(self, rows: Rows, needed: Collection[str]) -> str:
        """The rows as a FROM item, with the needed columns and the marks."""
        return f"({self._text(rows, needed)}) AS {self.dialect.quoted('adomnia derived')}"

    def _text(self, rows: Rows, needed: Collection[str]) -> str:
        wanted = [name for name in dict.fromkeys(needed) if name != OWNER]
        texts: Mapping[type[Rows], Callable[[Any, Sequence[str]], str]] = {
            Scan: self._scanned,
            Filtered: self._filtered,
            Joined: self._joined,
            Projected: self._projected,
            Combined: self._combined,
            Numbered: self._numbered,
            PerUnit: self._grouped,
        }
        return texts[type(rows)](rows, wanted)

    def _scanned(self, rows: Scan, needed: Sequence[str]) -> str:
        say, prefix = self.dialect.quoted, f"{rows.name}."
        names = [name.removeprefix(prefix) for name in needed]
        read = [name for name in names if name in self.columns[rows.table]]
        listed = [
            f"{say(UNIT if name == OWNER else name)} AS {say(prefix + name)}" for name in names
        ]
        text = (
            f"SELECT {', '.join([*listed, *self._marks(rows)])} FROM {self.scan(rows.table, read)}"
        )
        if self._two(rows):  # of two units: what both may add is bounded once all is known
            return text
        return f"{text} WHERE {say(RANK)} <= {self.tables.tables[rows.table].max_rows}"

    def _filtered(self, rows: Filtered, needed: Sequence[str]) -> str:
        texts = self._texts(rows.rows)
        test = texts.where(rows.where)
        source = texts.around(self._item(rows.rows, [*needed, *_read([rows.where])]))
        listed = ", ".join([*map(self.dialect.quoted, needed), *self._marks(rows)])
        return f"SELECT {listed} FROM {source} WHERE {test}"

    def _projected(self, rows: Projected, needed: Sequence[str]) -> str:
        texts, say = self._texts(rows.rows), self.dialect.quoted
        made = {name: expr for name, expr in rows.columns if name in needed}
        codes = [f"{self._code(expr, texts.key(expr))} AS {say(name)}"
                 for name, expr in made.items()]  # fmt: skip
        source = texts.around(self._item(rows.rows, [*_read([*made.values()])]))
        return f"SELECT {', '.join([*codes, *self._marks(rows)])} FROM {source}"

    def _two(self, rows: Rows) -> bool:
        return units_of_row(rows, self.tables) > 1

    def _marks(self, rows: Rows) -> list[str]:
        """The marks that these rows have."""
        return [*map(self.dialect.quoted, (*MARKS, *([UNIT_2] if self._two(rows) else [])))]

    def _texts(self, rows: Rows) -> Texts:
        return Texts(self._coded(rows))

    def _coded(self, rows: Rows) -> Coded:
        table = DerivedTable("", attributes_of(rows, self.tables), OWNER, rows=rows)
        return Coded(table, self._names(rows), self.dialect)

    def _numbered(self, rows: Numbered, needed: Sequence[str]) -> str:
        say, own = self.dialect.quoted, f"{rows.name}.{ROW}"
        others = [name for name in needed if name != own]
        listed = [*map(say, others), *self._marks(rows)]
        if own in needed:
            listed.append(f"CAST({say(RANK)} AS BIGINT) - 1 AS {say(own)}")
        return f"SELECT {', '.join(listed)} FROM {self._item(rows.rows, others)}"

    # Two sides under each other

    def _combined(self, rows: Combined, needed: Sequence[str]) -> str:
        say, prefix = self.dialect.quoted, f"{rows.name}."
        owner = [f"{say(UNIT)} AS {say(prefix + OWNER)}"] * (prefix + OWNER in needed)
        kept = {name: both for name, *both in rows.columns
                if rows.kind != "all" or prefix + name in needed}  # fmt: skip
        both = " UNION ALL ".join(self._part(rows, place, kept) for place in range(2))
        source = f"({both}) AS {say('adomnia sides')}"
        shown = [say(prefix + name) for name in kept if prefix + name in needed]
        if rows.kind == "all":
            return f"SELECT {', '.join([*shown, *owner, *self._marks(rows)])} FROM {source}"
        marks = [say(UNIT), f"{self._least_rank(rows)} AS {say(RANK)}",
                 f"MIN({say(FIRST)}) AS {say(FIRST)}"]  # fmt: skip
        group = ", ".join([say(UNIT), *(say(prefix + name) for name in kept)])
        having = f" HAVING {_SIDES[rows.kind].format(say(SIDE))}" if rows.kind in _SIDES else ""
        listed = ", ".join([*shown, *owner, *marks])
        return f"SELECT {listed} FROM {source} GROUP BY {group}{having}"

    def _part(self, rows: Combined, place: int, kept: Mapping[str, Sequence[Expr]]) -> str:
        """The rows of one side, with the codes that both have, and ranks of their own."""
        say, side = self.dialect.quoted, (rows.left, rows.right)[place]
        texts, declared = self._texts(side), attributes_of(rows, self.tables)
        codes = []
        for name, both in kept.items():
            full, expr = f"{rows.name}.{name}", nearest(inside(both[place]))
            text = texts.of(expr)
            if full in declared:
                text = _recoded(text, combined_range(both[0], both[1]), self.dialect)
            codes.append(f"{text} AS {say(full)}")
        before = most_of_sides(rows, self.tables)[0] if rows.kind in ("all", "union") else 0
        rank = "1" if self._is_same(rows, place) else f"CAST({say(RANK)} AS BIGINT)"
        marks = [say(UNIT), f"{rank} + {before * place} AS {say(RANK)}", say(FIRST)]
        source = texts.around(self._item(side, [*_read([both[place] for both in kept.values()])]))
        return f"SELECT {', '.join([*codes, *marks, f'{place} AS {say(SIDE)}'])} FROM {source}"

    def _is_same(self, rows: Combined, place: int) -> bool:
        """Whether all rows of a unit on one side are one: they then have its rank."""
        return rows.kind != "all" and most_of_sides(rows, self.tables)[place] == 1

    def _least_rank(self, rows: Combined) -> str:
        """A number of the group that no other of its unit has: the least of a side's rows."""
        if not rows.columns:
            return "1"
        rank = self.dialect.quoted(RANK)
        if rows.kind == "union":
            return f"MIN({rank})"
        left, right = most_of_sides(rows, self.tables)
        side = 1 if rows.kind == "intersect" and right < left else 0
        return f"MIN(CASE WHEN {self.dialect.quoted(SIDE)} = {side} THEN {rank} END)"

    # Joins

    def _joined(self, rows: Joined, needed: Sequence[str]) -> str:
        say, here = self.dialect.quoted, f"{rows.outer}.{HERE}"
        sides, tests = [], self._same_units(rows)
        pointers = [point_to(pair, rows, self.tables) for pair in rows.pairs]
        for place, side in enumerate((rows.left, rows.right)):
            sides.append(self._side(rows, side, place, pointers, needed))
        tests += [f"l.{p} = r.{p}" for p in map(self._pair, range(len(rows.pairs)))]
        tests = tests or ["TRUE"]
        listed = [f"{'lr'[self._place(rows, name)]}.{say(name)} AS {say(name)}"
                  for name in needed if name != here]  # fmt: skip
        if here in needed:
            listed.append(f"(r.{say(UNIT)} IS NOT NULL) AS {say(here)}")
        first = "l" if self._two(rows.left) or not self._two(rows.right) or rows.apart else "r"
        marks = [f"{first}.{say(UNIT)} AS {say(UNIT)}", f"{self._rank(rows)} AS {say(RANK)}",
                 f"{self._mixed(rows, first)} AS {say(FIRST)}"]  # fmt: skip
        if self._two(rows):
            second = f"r.{say(UNIT)}" if rows.apart else self._second(rows)
            marks.append(f"{second} AS {say(UNIT_2)}")
        kind = "JOIN" if rows.outer is None else "LEFT JOIN"
        joined = f"({sides[0]}) AS l {kind} ({sides[1]}) AS r ON {' AND '.join(tests)}"
        return f"SELECT {', '.join([*listed, *marks])} FROM {joined}"

    def _side(
        self,
        rows: Joined,
        side: Rows,
        place: int,
        pointers: Sequence[tuple[str, str] | None],
        needed: Sequence[str],
    ) -> str:
        """One side of a join, with what it is joined by as columns of their own."""
        texts, names = self._texts(side), {*self._names(side)}
        own = [name for name in needed if name in names or self._belongs(name, side)]
        read, listed = [*own], [self.dialect.quoted(name) for name in own]
        for at, (pair, pointer) in enumerate(zip(rows.pairs, pointers, strict=True)):
            column = pair[place]
            if pointer is None:
                owner = is_owner(column.name)
                text = self.dialect.quoted(column.name) if owner else texts.of(inside(column))
                read.append(column.name)
            else:
                mark = next(name for name in pointer if self._belongs(name, side))
                text = self.dialect.quoted(mark)
                read.append(mark)
            listed.append(f"{text} AS {self._pair(at)}")
        source = texts.around(self._item(side, read))
        return f"SELECT {', '.join([*listed, *self._marks(side)])} FROM {source}"

    def _same_units(self, rows: Joined) -> list[str]:
        """What makes both sides rest on the units of the joined row alone."""
        say, two = self.dialect.quoted, [self._two(side) for side in (rows.left, rows.right)]
        if rows.apart:
            return []
        if two[0] != two[1]:
            many, one = "lr" if two[0] else "rl"
            return [f"{one}.{say(UNIT)} IN ({many}.{say(UNIT)}, {many}.{say(UNIT_2)})"]
        marks = PAIR if two[0] else (UNIT,)
        return [f"l.{say(mark)} = r.{say(mark)}" for mark in marks]

    def _mixed(self, rows: Joined, first: str) -> str:
        """A hash that rests on the row's own units alone: of both, where they are two."""
        mark = self.dialect.quoted(FIRST)
        return self.dialect.order([f"l.{mark}", f"r.{mark}"]) if rows.apart else f"{first}.{mark}"

    def _second(self, rows: Joined) -> str:
        return f"{'l' if self._two(rows.left) else 'r'}.{self.dialect.quoted(UNIT_2)}"

    def _belongs(self, name: str, side: Rows) -> bool:
        """Whether a pointer or key is one of this side's tables."""
        return any(name.startswith(f"{scan.name}.adomnia ") for scan in scans(side))

    def _pair(self, place: int) -> str:
        return self.dialect.quoted(f"adomnia pair {place}")

    def _place(self, rows: Joined, name: str) -> int:
        """The side that a column is of."""
        return 0 if name in self._names(rows.left) or self._belongs(name, rows.left) else 1

    def _rank(self, rows: Joined) -> str:
        """A number of the joined row that no other of its unit has."""
        say = self.dialect.quoted
        if self._two(rows):
            return "1"
        left, right = f"l.{say(RANK)}", f"r.{say(RANK)}"
        many = most_rows(rows.left, self.tables), most_rows(rows.right, self.tables)
        if meets_one(rows, self.tables):
            return left
        if is_met_once(rows, self.tables):
            beyond = left if many[0] == 1 else f"{many[1]} + {left}"
            return right if rows.outer is None else f"COALESCE({right}, {beyond})"
        within = right if rows.outer is None else f"COALESCE({right}, 1)"
        return f"(CAST({left} AS BIGINT) - 1) * {many[1]} + {within}"

    # Groups of a unit

    def _grouped(self, rows: PerUnit, needed: Sequence[str]) -> str:
        say, texts, prefix = self.dialect.quoted, self._texts(rows.rows), f"{rows.name}."
        keys = {prefix + name: key for name, key in rows.keys}
        totals = {prefix + name: total for name, total in rows.totals if prefix + name in needed}
        spread = {name: total_range(total, most_rows(rows.rows, self.tables))
                  for name, total in totals.items()}  # fmt: skip
        made = {name: self._code(key, texts.key(key)) for name, key in keys.items()}
        computed = {name: self._total(total, texts, at, made.values())
                    for at, (name, total) in enumerate(totals.items())}  # fmt: skip
        exprs = [*keys.values(), *(e for t in totals.values() for e in (t.argument, t.by))]
        source = texts.around(self._item(rows.rows, [*_read(exprs)]))
        turns = [turn for _, turn in computed.values() if turn is not None]
        if turns:
            source = f"(SELECT *, {', '.join(turns)} FROM {source}) AS {say('adomnia turns')}"
        listed = [f"{made[name]} AS {say(name)}" for name in keys if name in needed]
        if prefix + OWNER in needed:
            listed.append(f"{say(UNIT)} AS {say(prefix + OWNER)}")
        listed += [f"{_recoded(text, spread[name], self.dialect)} AS {say(name)}"
                   for name, (text, _) in computed.items()]  # fmt: skip
        rank = "1" if is_one_group(rows, self.tables) else f"MIN({say(RANK)})"
        marks = [say(UNIT), f"{rank} AS {say(RANK)}", f"MIN({say(FIRST)}) AS {say(FIRST)}"]
        group = ", ".join([say(UNIT), *made.values()])
        return f"SELECT {', '.join([*listed, *marks])} FROM {source} GROUP BY {group}"

    def _code(self, key: Expr, text: str) -> str:
        """A key's code: a column keeps the one that it has."""
        is_plain = isinstance(key, Column) or (isinstance(key.range, Text) and not key.range.values)
        return text if is_plain else _recoded(text, key.range, self.dialect)

    def _total(
        self, total: Total, texts: Texts, place: int, keys: Collection[str]
    ) -> tuple[str, str | None]:
        """The SQL of a total, and of the turn that its rows are taken in, where that counts."""
        if total.argument is None:
            return "COUNT(*)", None
        text = texts.of(total.argument)
        if texts.is_unit(total.argument) and total.kind not in ("count", "distinct"):
            raise foreign("units are counted, and nothing else is computed of them")
        if total.kind in _TOTALS:
            return _TOTALS[total.kind](text, self.dialect), None
        say, way = self.dialect.quoted, "DESC" if total.kind == "last" else "ASC"
        known = [f"CASE WHEN {text} IS NULL THEN 1 ELSE 0 END"] if total.known else []
        by = [] if total.by is None else [f"{texts.of(total.by)} {way} NULLS LAST"]
        order, part = ", ".join([*known, *by, say(RANK)]), ", ".join([say(UNIT), *keys])
        turn = f"ROW_NUMBER() OVER (PARTITION BY {part} ORDER BY {order})"
        name = say(f"adomnia turn {place}")
        return f"MAX(CASE WHEN {name} = 1 THEN {text} END)", f"{turn} AS {name}"


def _mean(text: str, say: Dialect) -> str:
    whole = f"CAST(SUM({text}) AS {say.wide}) * {MEAN_STEPS}"
    return say.quotient(whole, f"NULLIF(COUNT({text}), 0)")


_TOTALS: Mapping[str, Callable[[str, Dialect], str]] = {
    "count": lambda text, say: f"COUNT({text})",
    "distinct": lambda text, say: f"COUNT(DISTINCT {text})",
    "min": lambda text, say: f"MIN({text})",
    "max": lambda text, say: f"MAX({text})",
    "sum": lambda text, say: f"CAST(SUM({text}) AS {say.wide})",
    "avg": _mean,
}


def _read(exprs: Sequence[Expr | None]) -> Iterator[str]:
    for expr in exprs:
        yield from (column.name for column in columns(expr))


def _recoded(text: str, spread: Range, dialect: Dialect) -> str:
    """The code of a value by the domain of its range; beyond its ends it is the nearest."""
    if isinstance(spread, Number):
        number = clamped(text, str(spread.low), str(spread.high))
        return f"CAST({number} - ({spread.low}) AS BIGINT)"
    if isinstance(spread, Day):
        low, high = dialect.constant(spread.low), dialect.constant(spread.high)
        return dialect.days(clamped(text, low, high), low)
    if isinstance(spread, Moment):
        first, last = seconds_of(spread.low), seconds_of(spread.high)
        number = clamped(text, str(first), str(last))
        return dialect.quotient(f"({number} - ({first}))", str(spread.step))
    if isinstance(spread, Text) and spread.values is not None:
        whens = " ".join(
            f"WHEN {dialect.constant(v)} THEN {i}" for i, v in enumerate(spread.values)
        )
        return f"CASE {text} {whens} END"
    return text
