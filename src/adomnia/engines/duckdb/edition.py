"""Editions in a DuckDB file: a source is read once, coded by the policy, and asked from there.

The file has one table of whole numbers, a row for each row of the source that somebody owns, and a
table of words for each column of undeclared text and for the units, by which these are numbers
too. Ranks of a unit's rows are worked out when it is written (`units.py`). Which number a word or
a unit has depends on other rows, so nothing is ordered or chosen by it (`edition.md`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.reader import DuckDBReader, connected
from adomnia.engines.duckdb.source_rows import SourceRows, check_space, source_rows
from adomnia.engines.edition_store import EditionFacts, Means, check_same_table, damaged, is_open
from adomnia.engines.engine import quietly
from adomnia.engines.interrupts import interruptible
from adomnia.engines.source_files import Source, find, reading_failure, state, unreadable
from adomnia.engines.sql.coding import coding, lost_columns
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.engines.sql.sql_engine import refuse_varied_unit
from adomnia.engines.sql.statement import DATA, CodedRows
from adomnia.engines.sql.units import FIRST, MARKS, RANK, UNIT, ranked
from adomnia.errors import MachineryError
from adomnia.schema.domain import Domain, Open
from adomnia.schema.table import Table

__all__ = ["DuckDBEdition", "number_words", "rows_digest", "write_edition"]

ROWS = "adomnia_rows"


def write_edition(
    path: Path,
    source: str | Path,
    relation: str,
    table: Table,
    means: Means = Means(),  # noqa: B008 (frozen)
) -> EditionFacts:
    """Read a source once and write its edition to a new file; whatever fails, fails quietly."""
    found, failure = find(str(source)), partial(unreadable, str(source))
    before = quietly(lambda: state(found), failure)
    with TemporaryDirectory(prefix="adomnia-", dir=path.parent) as room:
        made = quietly(
            lambda: _written((path, Path(room)), found, relation, table, means),
            reading_failure(found, before),
        )
    if quietly(lambda: state(found), failure) != before:
        raise MachineryError("the source changed while it was read", "load it again")
    return made


def _written(
    places: tuple[Path, Path], source: Source, relation: str, table: Table, means: Means
) -> EditionFacts:
    path, room = places
    connection = connected(means.memory, room / "spill")
    with connection, interruptible(connection.interrupt):
        connection.execute("SET preserve_insertion_order = false")
        owner: dict[str, Domain] = {} if table.unit is None else {table.unit: Open()}
        domains = owner | {name: one.domain for name, one in table.attributes.items()}
        rows = source_rows(connection, source, relation, domains, means.tell)
        means.check(rows.types)
        refuse_varied_unit(table, rows.varied)
        check_space(path.parent, rows.size)
        connection.execute(f"ATTACH {literal(str(path))} AS edition")
        path.chmod(0o600)
        words, (count, digest) = _store(connection, rows, table, room)
        connection.execute("CHECKPOINT edition")
        connection.execute("DETACH edition")
    return EditionFacts(rows.types, words, source.rows_stay, count, digest)


def _store(
    connection: duckdb.DuckDBPyConnection, rows: SourceRows, table: Table, room: Path
) -> tuple[list[str], tuple[int, str]]:
    """Make the tables of an edition; which columns are kept as words, how many rows there are and
    their digest are given back."""
    words = [name for name in rows.types if is_open(table, name)]
    select = _coded(rows, table)
    if not words and table.unit is None:
        connection.execute(f"CREATE TABLE edition.{ROWS} AS {select}")
        return words, rows_digest(connection, f"edition.{ROWS}")
    # Words are numbered once they are all known: until then the rows stand in a place of their own.
    connection.execute(f"ATTACH {literal(str(room / 'stage.duckdb'))} AS stage")
    connection.execute(f"CREATE TABLE stage.{ROWS} AS {select}")
    numbered = words if table.unit is None else [*words, UNIT]
    joins, replaced = [], []
    for place, name in enumerate(numbered):
        number_words(connection, f"edition.{_words(place)}", f"stage.{ROWS}", name)
        joins.append(
            f"LEFT JOIN edition.{_words(place)} w{place} "
            f"ON r.{quoted(name)} IS NOT DISTINCT FROM w{place}.word"
        )
        replaced.append(f"w{place}.code AS {quoted(name)}")
    connection.execute(
        f"CREATE TABLE edition.{ROWS} AS SELECT r.* REPLACE ({', '.join(replaced)}) "
        f"FROM stage.{ROWS} r {' '.join(joins)}"
    )
    if table.unit is not None:  # who they are is no question's matter
        connection.execute(f"DROP TABLE edition.{_words(len(words))}")
    found = rows_digest(
        connection, f"stage.{ROWS}"
    )  # before words were numbers: these differ each time
    connection.execute("DETACH stage")
    return words, found


def number_words(connection: duckdb.DuckDBPyConnection, words: str, rows: str, name: str) -> None:
    """Make a table of the words of a column, each once with a number."""
    column = quoted(name)
    distinct = f"SELECT DISTINCT {column} AS word FROM {rows} WHERE {column} IS NOT NULL"
    connection.execute(
        f"CREATE TABLE {words} AS "
        f"SELECT CAST(ROW_NUMBER() OVER () AS BIGINT) AS code, word FROM ({distinct})"
    )


def _coded(rows: SourceRows, table: Table) -> str:
    """The select list that codes all columns, with their marks."""
    names, source = [*rows.types, *lost_columns(table, rows.types)], f"({rows.select}) AS source"
    codes = list(coding(table, rows.types, DUCKDB, names))
    if table.unit is not None:
        source = ranked(source, table, rows.types, rows.types, DUCKDB)
        codes += [quoted(UNIT), f"CAST({quoted(RANK)} AS INTEGER) AS {quoted(RANK)}", quoted(FIRST)]
    return f"SELECT {', '.join(codes)} FROM {source}"


def rows_digest(connection: duckdb.DuckDBPyConnection, rows: str) -> tuple[int, str]:
    """How many rows there are, and a sum over all that they hold that forgets their order."""
    found = connection.execute(f"DESCRIBE {rows}").fetchall()
    mixed = f"HASH({', '.join(quoted(str(row[0])) for row in found)})"
    total = f"COALESCE(SUM(CAST({mixed} AS HUGEINT)), 0)"
    count, mix = connection.execute(f"SELECT COUNT(*), {total} FROM {rows}").fetchall()[0]
    return int(count), f"{mix} {count}"


def _words(place: int) -> str:
    return f"adomnia_words{place}"


class DuckDBEdition(DuckDBReader):
    """An edition that is asked; it never changes."""

    def __init__(
        self, path: Path, facts: EditionFacts, table: Table, name: str, memory: int | None = None
    ) -> None:
        super().__init__(memory)
        self.facts = facts
        self._path, self._table, self._edition = path, table, name
        self._types, self._mutex = facts.types, threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows rested on no value where they were read."""
        return self.facts.rows_stay

    def version(self) -> str:
        """Which edition it is."""
        return self._edition

    @property
    def stored(self) -> tuple[Path, Mapping[str, str]]:
        """Its file, and the tables there of the columns that are words."""
        return self._path, {name: _words(at) for at, name in enumerate(self.facts.words)}

    def ready(self) -> None:
        """Open the file anew where the engine has died."""
        with self._mutex:
            if not self._alive():
                self._open()

    def _open(self) -> None:
        def opened() -> duckdb.DuckDBPyConnection:
            connection = connected(self._memory, Path(self._room.name) / "spill")
            connection.execute(f"ATTACH {literal(str(self._path))} AS edition (READ_ONLY)")
            connection.execute(f"CREATE VIEW {DATA} AS SELECT * FROM edition.{ROWS}")
            return connection

        self._connection = quietly(opened, damaged)

    def _coded(self, table: Table) -> CodedRows:
        """The coded rows, by the policy that they were coded by."""
        names = (*self._types, *lost_columns(self._table, self._types))
        return CodedRows(names, DUCKDB, self._source)

    def _source(self, table: Table, needed: Sequence[str]) -> str:
        """The rows with their words, where a question reads any."""
        check_same_table(table, self._table)
        words = [(place, name) for place, name in enumerate(self.facts.words) if name in needed]
        if not words:
            return DATA
        marks = MARKS if table.unit is not None else ()
        open_names = {name: place for place, name in words}
        columns = [
            f"w{open_names[name]}.word AS {quoted(name)}" if name in open_names
            else f"r.{quoted(name)}"
            for name in (*needed, *marks)
        ]  # fmt: skip
        joins = " ".join(
            f"LEFT JOIN edition.{_words(place)} w{place} ON r.{quoted(name)} = w{place}.code"
            for place, name in words
        )
        return f"(SELECT {', '.join(columns)} FROM {DATA} r {joins}) AS {quoted('adomnia coded')}"
