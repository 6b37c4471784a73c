"""Whose rows they are where there are several private tables: texts of SQL for any engine.

A row refers to rows of other tables by their keys, and so to units, by one way or by two. Where it
reaches exactly one unit by each way, it belongs to these; else it is nobody's (`owners.md`). Tables
are read in an order in which each comes after those it refers to; each that others refer to leaves
behind which units are reached by each of its keys, least and greatest, and the numbers of its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adomnia.engines.sql.coding import codes, lost_columns
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.units import FIRST, RANK, UNIT, ranked
from adomnia.queries.ranges import Text
from adomnia.queries.rows import KEY, pointer
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["NAMED", "PAIR", "UNIT_2", "OwnedRows", "key_text", "table_marks"]

UNIT_2 = "adomnia unit 2"
"""Whose row it is, too."""

PAIR = (UNIT, UNIT_2)
"""The marks of the units that a row may have."""

NAMED, WHOSE = "adomnia named", "adomnia whose"
"""What a row's key is as text, and to whom it belongs; both are gone once they are numbers."""

Place = Callable[[str], str]
"""Where something of a table is, by the table's name."""


def table_marks(tables: Tables, name: str) -> tuple[str, ...]:
    """The marks that every row of a table has in an edition."""
    second = (UNIT_2,) if len(tables.owners(name)) > 1 else ()
    key = () if tables.tables[name].key is None else (KEY,)
    return (UNIT, *second, RANK, FIRST, *key, *map(pointer, tables.tables[name].references))


def key_text(column: str, declared: str, dialect: Dialect) -> str:
    """The text by which keys are compared: whole numbers are written alike in every type."""
    kind = dialect.family(declared)
    text = dialect.words(column, kind)
    if kind == "real":
        whole = dialect.integer(column, kind)
        same = f"CAST({whole} AS {dialect.double}) = CAST({column} AS {dialect.double})"
        return f"CASE WHEN {same} THEN {dialect.words(whole, 'integer')} ELSE {text} END"
    if kind == "decimal":
        short = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {text}))"
        return f"CASE WHEN {text} LIKE '%.%' THEN {short} ELSE {text} END"
    if kind == "text":  # a whole number that a program took for a real one: 7.0
        real = f"{text} LIKE '%.0' AND {dialect.matches(text, '^-?(0|[1-9][0-9]*)[.]0$')}"
        return f"CASE WHEN {real} THEN LEFT({text}, LENGTH({text}) - 2) ELSE {text} END"
    return text


@dataclass(frozen=True)
class OwnedRows:
    """The rows of one of several tables, with the types of its columns where they are read."""

    tables: Tables
    name: str
    types: Mapping[str, str]
    dialect: Dialect
    short: bool = False
    """Whether columns are stored by numbers: a server may cut long names or take two for one."""

    @property
    def table(self) -> Table:
        """The table by itself: its rows are ranked within those of their owners."""
        return Table(self.name, self.tables.tables[self.name].attributes, WHOSE)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that questions read."""
        return (*self.types, *lost_columns(self.table, self.types))

    @property
    def stored(self) -> dict[str, str]:
        """Each column, and each mark, under the name that it is stored by."""
        names = enumerate((*self.names, *table_marks(self.tables, self.name)))
        return {n: f"c{place}" if self.short else self.dialect.quoted(n) for place, n in names}

    @property
    def ways(self) -> range:
        """The numbers of the ways to a unit."""
        return range(1, len(self.tables.owners(self.name)) + 1)

    def reaching(self, reading: str, reached: Place) -> str:
        """The statement for all rows of another with their keys as texts, and the least and the
        greatest unit that each reaches by each way; `reached` has these of the tables before."""
        say, one = self.dialect.quoted, self.tables.tables[self.name]
        named = {NAMED: one.key} if one.key else {}
        named |= {_refers(place): column for place, column in enumerate(one.references)}
        texts = "".join(
            f", {key_text(f'a.{say(column)}', self.types[column], self.dialect)} AS {say(mark)}"
            for mark, column in named.items()
        )
        rows = f"(SELECT a.*{texts} FROM ({reading}) a) r"
        ends, joins = [], ""
        if self.name in self.tables.units:
            ends = [f"r.{say(NAMED)} AS {say(end)}" for end in _ends(1)]
        for place, (column, other) in enumerate(one.references.items()):
            joins += (
                f" LEFT JOIN {reached(other)} t{place} "
                f"ON r.{say(_refers(place))} = t{place}.{say(NAMED)}"
            )
            for way in self._ways_by(column):
                found = _ends(1 + way - self._ways_by(column)[0])
                pairs = zip(found, _ends(way), strict=True)
                ends += [f"t{place}.{say(theirs)} AS {say(own)}" for theirs, own in pairs]
        return f"SELECT r.*, {', '.join(ends)} FROM {rows}{joins}"

    def reached(self, rows: str) -> str:
        """The statement for the least and the greatest unit that rows of each key reach, over what
        `reaching` gave."""
        say = self.dialect.quoted
        ends = [
            f"{function}({say(end)}) AS {say(end)}"
            for way in self.ways
            for function, end in zip(("MIN", "MAX"), _ends(way), strict=True)
        ]
        named = say(NAMED)
        return (
            f"SELECT {named}, {', '.join(ends)} FROM {rows} WHERE {named} IS NOT NULL "
            f"GROUP BY {named}"
        )

    def coded(self, rows: str) -> str:
        """The statement that codes the rows that somebody owns, over what `reaching` gave: with
        their ranks, and with owners, keys and references as texts still."""
        say, text = self.dialect.quoted, self.dialect.names[Text]
        whose = {f"{WHOSE} {way}": _single(*map(say, _ends(way))) for way in self.ways}
        owned = ", ".join(f"{owner} AS {say(mark)}" for mark, owner in whose.items())
        owners = [say(mark) for mark in whose]
        both = owners[0]
        if len(owners) > 1:  # of two texts no other two make the same one
            size = f"CAST(LENGTH({owners[0]}) AS {text})"
            both = f"{size} || ' ' || {owners[0]} || {owners[1]}"
        rows = f"(SELECT *, {owned} FROM {rows}) AS {say('adomnia reaching')}"
        rows = f"(SELECT *, {both} AS {say(WHOSE)} FROM {rows}) AS {say('adomnia owned')}"
        texts = self._texts()
        source = ranked(
            rows, self.table, self.types, self.types, self.dialect, beside=[*whose, *texts]
        )
        found = codes(self.table, self.types, self.dialect, self.names)
        listed = [f"{code} AS {self.stored[column]}" for column, code in found]
        units = zip(PAIR, owners, strict=False)
        listed += [f"{owner} AS {say(mark)}" for mark, owner in units]
        listed += [f"CAST({say(RANK)} AS INTEGER) AS {say(RANK)}", *map(say, (FIRST, *texts))]
        return f"SELECT {', '.join(listed)} FROM {source}"

    def keys(self, rows: str, number: str) -> str:
        """The statement that numbers the keys of each owner, over what `coded` gave: with the rank
        of the row that bears it."""
        say = self.dialect.quoted
        marks = ", ".join(map(say, (*self._units(), NAMED)))
        grouped = (
            f"SELECT {marks}, MIN({say(RANK)}) AS {say(RANK)} FROM {rows} "
            f"WHERE {say(NAMED)} IS NOT NULL GROUP BY {marks}"
        )
        return f"SELECT *, {number} AS {say(KEY)} FROM ({grouped}) k"

    def _numbered(self, units: Place, keys: Place) -> tuple[dict[str, str], list[str]]:
        """The marks by what they are over the rows `r` that `coded` gave and what must be joined
        to these: numbers of units by their keys' texts, and those of keys."""
        say, one = self.dialect.quoted, self.tables.tables[self.name]
        found = {RANK: f"r.{say(RANK)}", FIRST: f"r.{say(FIRST)}"}
        joins = []
        for place, (mark, way) in enumerate(
            zip(self._units(), self.tables.owners(self.name), strict=True)
        ):
            found[mark] = f"u{place}.{say(UNIT)}"
            held = units(self.tables.unit_of(self.name, way))
            joins.append(f"LEFT JOIN {held} u{place} ON r.{say(mark)} = u{place}.{say(NAMED)}")
        if one.key is not None:
            found[KEY] = f"k.{say(KEY)}"
            same = " AND ".join(
                f"r.{say(mark)} = k.{say(mark)}" for mark in (*self._units(), NAMED, RANK)
            )
            joins.append(f"LEFT JOIN {keys(self.name)} k ON {same}")
        for place, (column, other) in enumerate(one.references.items()):
            found[pointer(column)] = f"p{place}.{say(KEY)}"
            own = (self._units()[way - 1] for way in self._ways_by(column))
            pairs = {_refers(place): NAMED, **dict(zip(own, PAIR, strict=False))}
            same = " AND ".join(f"r.{say(a)} = p{place}.{say(b)}" for a, b in pairs.items())
            joins.append(f"LEFT JOIN {keys(other)} p{place} ON {same}")
        return found, joins

    def final(self, units: Place, keys: Place, words: Mapping[str, str]) -> tuple[str, list[str]]:
        """The columns of the edition over the rows `r` that `coded` gave, some as other `words`
        say, and what must be joined to these."""
        marks, joins = self._numbered(units, keys)
        found = {name: f"r.{self.stored[name]}" for name in self.names} | marks | {**words}
        return ", ".join(
            f"{found[name]} AS {stored}" for name, stored in self.stored.items()
        ), joins

    def _texts(self) -> list[str]:
        """The columns of keys and references as texts."""
        one = self.tables.tables[self.name]
        return [*([NAMED] if one.key else []), *map(_refers, range(len(one.references)))]

    def _units(self) -> tuple[str, ...]:
        return PAIR[: len(self.ways)]

    def _ways_by(self, column: str) -> list[int]:
        """The numbers of the ways that begin with a column."""
        paths = enumerate(self.tables.owners(self.name), start=1)
        return [number for number, path in paths if path[:1] == (column,)]


def _single(low: str, high: str) -> str:
    """The unit where it is one alone."""
    return f"CASE WHEN {low} = {high} THEN {low} END"


def _ends(way: int) -> tuple[str, str]:
    """The least and the greatest unit that are reached by a way."""
    return f"adomnia low {way}", f"adomnia high {way}"


def _refers(place: int) -> str:
    """A column that refers to a key, as text."""
    return f"adomnia refers {place}"
