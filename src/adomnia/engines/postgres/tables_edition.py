"""Editions of several tables in PostgreSQL: all are read in one transaction, which sees one moment.

It has of each table what the edition of a single one has, and its marks (`owners.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adomnia.engines.edition_store import EditionFacts, Means, TablesFacts, is_open
from adomnia.engines.interrupts import interruptible
from adomnia.engines.postgres.edition import (
    EditionTables,
    ServerEdition,
    number_words,
    read_hash,
    rows_digest,
    write_facts,
)
from adomnia.engines.postgres.relation import PostgresRelation, first_row
from adomnia.engines.sql.tables.owners import NAMED, OwnedRows
from adomnia.engines.sql.tables_engine import TablesEngine
from adomnia.engines.sql.units import FIRST, UNIT
from adomnia.errors import PolicyError
from adomnia.schema.tables import Tables

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresTablesEdition", "write_tables"]

NUMBER = "ROW_NUMBER() OVER ()"


def write_tables(
    connection: psycopg.Connection[Any], sources: Mapping[str, PostgresRelation], tables: Tables,
    places: EditionTables, means: Means,
) -> TablesFacts:  # fmt: skip
    """Read each table once and write their edition, in the transaction that was begun."""
    writing = _TablesWriting(connection, tables, places)
    for name, source in sources.items():
        with means.about(name):
            _check(tables, name, source, means)
    with interruptible(connection.cancel):
        for name in tables.in_order():
            with means.about(name):
                writing.write(name, sources[name])
        writing.drop()
        ordered = {name: writing.facts[name] for name in tables.tables}
        facts = TablesFacts(ordered, {name: writing.nobody[name] for name in tables.tables})
        write_facts(connection, places, facts.to_json())
    return facts


def _check(tables: Tables, name: str, source: PostgresRelation, means: Means) -> None:
    table = tables.tables[name]
    means.check_table(name, source.types)
    for column in table.names:
        if column not in source.types:
            known = "its columns are: " + ", ".join(list(source.types)[:30])
            raise PolicyError(f"the table {name!r} has no column {column!r}", known)
    source.check({column: attribute.domain for column, attribute in table.attributes.items()})


@dataclass
class _TablesWriting:
    """An edition while it is written, one table after the other."""

    connection: psycopg.Connection[Any]
    tables: Tables
    places: EditionTables
    facts: dict[str, EditionFacts] = field(default_factory=dict)
    nobody: dict[str, int] = field(default_factory=dict)
    units: int = 0
    staged: list[str] = field(default_factory=list)

    def write(self, name: str, source: PostgresRelation) -> None:
        """Read a table and write its rows that somebody owns."""
        owned = OwnedRows(self.tables, name, source.types, source.dialect, short=True)
        read, rows = self._at("read")(name), self._at("rows")(name)
        self._stage(read, owned.reaching(source.reading, self._at("reached")))
        if self.tables.tables[name].key is not None:
            self._stage(self._at("reached")(name), owned.reached(read))
        if name in self.tables.units:
            self._number_units(owned)
        self._stage(rows, owned.coded(read))
        if self.tables.tables[name].key is not None:
            self._stage(self._at("keys")(name), owned.keys(rows, NUMBER))
        words = [column for column in source.types if is_open(owned.table, column)]
        kept, digest = rows_digest(self.connection, rows)
        self._number(owned, words)
        self.facts[name] = EditionFacts(source.types, words, True, kept, digest)
        self.nobody[name] = self._count(read) - kept
        self.drop(read, rows)

    def drop(self, *staged: str) -> None:
        """Drop these tables that are on the way to others, or all that are left."""
        for table in staged or tuple(self.staged):
            self._run(f"DROP TABLE {table}")
            self.staged.remove(table)

    def _number_units(self, owned: OwnedRows) -> None:
        """Give each unit of a table a number that no other unit has."""
        say, units = owned.dialect.quoted, self._at("units")(owned.name)
        number = f"{NUMBER} + {self.units} AS {say(UNIT)}"
        self._stage(units, f"SELECT {say(NAMED)}, {number} FROM {self._at('reached')(owned.name)}")
        self.units += self._count(units)

    def _number(self, owned: OwnedRows, words: Sequence[str]) -> None:
        """Write the rows with numbers in the place of words, units, keys and references."""
        part, rows = self._part(owned.name), self._at("rows")(owned.name)
        codes, joins = {FIRST: f"CAST(r.{owned.dialect.quoted(FIRST)} AS UUID)"}, []
        for at, word in enumerate(words):
            column = owned.stored[word]
            count = number_words(self.connection, part.words(at), rows, column)
            joins.append(f"LEFT JOIN {part.words(at)} w{at} ON r.{column} = w{at}.word")
            codes[word] = f"CAST(w{at}.code AS {owned.dialect.narrow(0, count)})"
        columns, others = owned.final(self._at("units"), self._at("keys"), codes)
        self._run(
            f"CREATE TABLE {part.rows} AS SELECT {columns} "
            f"FROM {rows} r {' '.join([*joins, *others])}"
        )
        self._run(f"ANALYZE {part.rows}")

    def _stage(self, table: str, select: str) -> None:
        """Make a table on the way to others; without counts of it joins would be slow."""
        self._run(f"CREATE UNLOGGED TABLE {table} AS {select}")
        self._run(f"ANALYZE {table}")
        self.staged.append(table)

    def _at(self, kind: str) -> Callable[[str], str]:
        return lambda name: self._part(name).of(kind)

    def _part(self, name: str) -> EditionTables:
        return self.places.part(list(self.tables.tables).index(name))

    def _count(self, rows: str) -> int:
        statement = f"SELECT COUNT(*) FROM {rows}"
        return int(first_row(self.connection.execute(statement.encode()))[0])

    def _run(self, statement: str) -> None:
        self.connection.execute(statement.encode())


class PostgresTablesEdition(TablesEngine, ServerEdition):
    """An edition of several tables on a server."""

    _short = True

    def __init__(self, url: str, places: EditionTables, tables: Tables, name: str) -> None:
        super().__init__(url, places, name)
        self.tables = tables

    def _learn(self, facts: str) -> None:
        self.facts = TablesFacts.from_json(facts)

    def _names(self) -> list[str]:
        parts = enumerate(self.facts.tables.values())
        found = (self._tables.part(place).own(len(facts.words)) for place, facts in parts)
        return [name for names in found for name in names]

    def _rows_at(self, place: int) -> str:
        return self._tables.part(place).rows

    def _words_at(self, place: int, at: int) -> str:
        return self._tables.part(place).words(at)

    def _stored(self, column: str, stored: str) -> str:
        return read_hash(f"r.{stored}") if column == FIRST else f"r.{stored}"
