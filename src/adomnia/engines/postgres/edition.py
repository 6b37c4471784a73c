"""Editions in PostgreSQL: the source's rows, coded by the policy, in a table beside it.

All of it is written in one transaction, by one statement that reads the source. Undeclared text and
units are numbers, by tables of words, as in a file (`duckdb/edition.py`); a hash is a UUID, which
is half as long as its text.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from adomnia.engines.edition_store import EditionFacts, Means, is_open
from adomnia.engines.engine import quietly
from adomnia.engines.interrupts import interruptible
from adomnia.engines.postgres.dialect import PostgresDialect
from adomnia.engines.postgres.reader import PostgresReader
from adomnia.engines.postgres.relation import PostgresRelation, first_row, server_dialect
from adomnia.engines.sql.edition_rows import EditionRows
from adomnia.engines.sql.statement import CodedRows
from adomnia.engines.sql.units import FIRST, UNIT
from adomnia.errors import MachineryError
from adomnia.schema.table import Table

if TYPE_CHECKING:
    import psycopg

__all__ = ["EditionTables", "PostgresEdition", "ServerEdition", "number_words", "read_hash",
           "rows_digest", "write_edition", "write_facts"]  # fmt: skip

_FACTS = """
SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind = 'r'
  AND pg_get_userbyid(c.relowner) = current_user
"""

# Who owns the schema may drop a table and put a view in its place, whose functions run with the
# rights of the role that reads it.
_OWN = """
SELECT pg_get_userbyid(n.nspowner) = current_user, COUNT(c.oid) FILTER
       (WHERE c.relkind = 'r' AND pg_get_userbyid(c.relowner) = current_user)
FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = ANY(%s)
WHERE n.nspname = %s GROUP BY n.nspowner
"""


@dataclass(frozen=True)
class EditionTables:
    """The names of an edition's tables: rows, words of each column that is kept as words, facts."""

    schema: str
    name: str

    @property
    def rows(self) -> str:
        """The table of codes."""
        return self._said(self.name)

    @property
    def facts(self) -> str:
        """The table of what is known beside the rows."""
        return self._said(f"{self.name}_facts")

    @property
    def stage(self) -> str:
        """Rows with their words, while these are numbered."""
        return self._said(f"{self.name}_stage")

    def words(self, place: int) -> str:
        """The table of a column's words."""
        return self._said(f"{self.name}_w{place}")

    def part(self, place: int) -> EditionTables:
        """Those of one of several tables."""
        return EditionTables(self.schema, f"{self.name}_t{place}")

    def own(self, words: int) -> list[str]:
        """The names of rows and words, of so many columns."""
        return [self.name, *(f"{self.name}_w{place}" for place in range(words))]

    def of(self, kind: str) -> str:
        """A table that is there while others are made."""
        return self._said(f"{self.name}_{kind}")

    def _said(self, table: str) -> str:
        say = PostgresDialect().quoted
        return f"{say(self.schema)}.{say(table)}"


def write_edition(
    connection: psycopg.Connection[Any], source: PostgresRelation, table: Table,
    tables: EditionTables, means: Means,
) -> EditionFacts:  # fmt: skip
    """Read a source once and write its edition, in the transaction that was begun."""
    means.check(source.types)
    source.check({name: attribute.domain for name, attribute in table.attributes.items()})
    rows = EditionRows(table, source.types, source.dialect)
    words = [name for name in source.types if is_open(table, name)]
    with interruptible(connection.cancel):
        count, digest = _store(connection, rows, source.reading, words, tables)
        facts = EditionFacts(source.types, words, True, count, digest)
        write_facts(connection, tables, facts.to_json())
    return facts


def write_facts(connection: psycopg.Connection[Any], tables: EditionTables, text: str) -> None:
    """Write what is known beside the rows."""
    _run(connection, f"CREATE TABLE {tables.facts} (facts TEXT)")
    connection.execute(f"INSERT INTO {tables.facts} VALUES (%s)".encode(), [text])


def _store(
    connection: psycopg.Connection[Any], rows: EditionRows, reading: str, words: Sequence[str],
    tables: EditionTables,
) -> tuple[int, str]:  # fmt: skip
    """Make the tables of rows and words; how many rows there are, and a digest of them."""
    numbered = words if rows.table.unit is None else [*words, UNIT]
    coded = rows.written(reading)
    if not numbered:
        _run(connection, f"CREATE TABLE {tables.rows} AS {coded}")
        facts = rows_digest(connection, tables.rows)
    else:
        # Words are numbered once they are all known: until then rows stand in a table of their own.
        _run(connection, f"CREATE UNLOGGED TABLE {tables.stage} AS {coded}")
        facts = rows_digest(connection, tables.stage)
        _number(connection, rows, numbered, tables)
        _run(connection, f"DROP TABLE {tables.stage}")
    if rows.table.unit is not None:  # who they are is no question's matter
        _run(connection, f"DROP TABLE {tables.words(len(words))}")
    for made in (tables.rows, *(tables.words(place) for place in range(len(words)))):
        _run(connection, f"ANALYZE {made}")
    return facts


def _number(
    connection: psycopg.Connection[Any], rows: EditionRows, numbered: Sequence[str],
    tables: EditionTables,
) -> None:  # fmt: skip
    """Make the tables of words, and of the staged rows those with numbers in their place."""
    texts, joins = {FIRST: f"CAST(r.{rows.stored.get(FIRST)} AS UUID)"}, []
    for place, name in enumerate(numbered):
        column, made = rows.stored[name], tables.words(place)
        count = number_words(connection, made, tables.stage, column)
        texts[name] = f"CAST(w{place}.code AS {rows.dialect.narrow(0, count)})"
        joins.append(f"LEFT JOIN {made} w{place} ON r.{column} = w{place}.word")
    listed = ", ".join(
        f"{texts.get(name, f'r.{column}')} AS {column}" for name, column in rows.stored.items()
    )
    _run(
        connection,
        f"CREATE TABLE {tables.rows} AS SELECT {listed} FROM {tables.stage} r {' '.join(joins)}",
    )


def number_words(connection: psycopg.Connection[Any], words: str, rows: str, column: str) -> int:
    """Make a table of the words of a column, each once with a number; how many there are."""
    distinct = f"SELECT DISTINCT {column} AS word FROM {rows} WHERE {column} IS NOT NULL"
    _run(
        connection,
        f"CREATE TABLE {words} AS SELECT ROW_NUMBER() OVER () AS code, word FROM ({distinct}) d",
    )
    _run(connection, f"ANALYZE {words}")
    (count,) = first_row(connection.execute(f"SELECT COUNT(*) FROM {words}".encode()))
    return int(count)


def rows_digest(connection: psycopg.Connection[Any], rows: str) -> tuple[int, str]:
    """How many rows there are, and a sum over them that forgets their order."""
    hashed = "CAST(HASHTEXTEXTENDED(CAST(r AS TEXT), 0) AS NUMERIC)"
    statement = f"SELECT COUNT(*), COALESCE(SUM({hashed}), 0) FROM {rows} r"
    count, total = first_row(connection.execute(statement.encode()))
    return int(count), f"{total} {count}"


def read_hash(stored: str) -> str:
    """A hash as the text that it was before it was stored as a UUID."""
    return f"(REPLACE(CAST({stored} AS TEXT), '-', '') COLLATE \"C\")"


def _run(connection: psycopg.Connection[Any], statement: str) -> None:
    connection.execute(statement.encode())


class ServerEdition(PostgresReader):
    """An edition on a server; it never changes."""

    def __init__(self, url: str, tables: EditionTables, name: str) -> None:
        super().__init__(url)
        self._tables, self._edition = tables, name

    @abstractmethod
    def _learn(self, facts: str) -> None:
        """Take what is known of it beside its rows."""

    @abstractmethod
    def _names(self) -> list[str]:
        """The names of its tables, but for the one of facts."""

    def found(self) -> bool:
        """Whether it is there and the role's own; then it can be asked."""
        with super().snapshot() as moment:
            text = quietly(lambda: self._read(moment._connection), self._lost)
            if text is None:
                return False
            self._learn(text)
            quietly(lambda: self._check_own(moment._connection), self._lost)
        return True

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The engine for one question, which begins with whose the tables are at this moment."""
        with super().snapshot() as moment:
            if self._held is None:
                quietly(lambda: self._check_own(moment._connection), self._lost)
            yield moment

    def version(self) -> str:
        """Which edition it is."""
        return self._edition

    def _read(self, connection: psycopg.Connection[Any]) -> str | None:
        tables = self._tables
        self._dialect = server_dialect(connection, self._place)
        if not connection.execute(_FACTS, [tables.schema, f"{tables.name}_facts"]).fetchall():
            return None
        (text,) = first_row(connection.execute(f"SELECT facts FROM {tables.facts}".encode()))
        return str(text)

    def _check_own(self, connection: psycopg.Connection[Any]) -> None:
        """Refuse whatever is not a table of the role's own, in a schema of its own."""
        tables, names = self._tables, [f"{self._tables.name}_facts", *self._names()]
        found = connection.execute(_OWN, [names, tables.schema]).fetchall()
        if found and not found[0][0]:
            schema = PostgresDialect().quoted(tables.schema)
            raise MachineryError(
                f"the schema of editions {tables.schema!r} at {self._place} is not the role's own: "
                "its owner could put other tables there",
                f"let the owner run ALTER SCHEMA {schema} OWNER TO and the role's name",
            )
        if not found or found[0][1] != len(names):
            raise MachineryError(
                f"{self._edition} at {self._place} is gone, or not the role's own tables",
                "load it again: adomnia load",
            )


class PostgresEdition(ServerEdition):
    """An edition of a table."""

    facts: EditionFacts

    def __init__(self, url: str, tables: EditionTables, table: Table, name: str) -> None:
        super().__init__(url, tables, name)
        self._table = table

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows rested on no value where they were read."""
        return self.facts.rows_stay

    def _learn(self, facts: str) -> None:
        self.facts = EditionFacts.from_json(facts)
        self._types = self.facts.types

    def _names(self) -> list[str]:
        return self._tables.own(len(self.facts.words))

    def _coded(self, table: Table) -> CodedRows:
        """The coded rows, by the policy that they were coded by."""
        rows = EditionRows(self._table, self._types, self._dialect)
        stored, texts, joins = rows.stored, {}, {}
        for place, name in enumerate(self.facts.words):
            texts[name] = f"w{place}.word"
            made, column = self._tables.words(place), stored[name]
            joins[name] = f"LEFT JOIN {made} w{place} ON r.{column} = w{place}.code"
        if FIRST in stored:
            texts[FIRST] = read_hash(f"r.{stored[FIRST]}")
        return rows.read(self._tables.rows, texts, joins)
