"""Editions in a DuckDB file: a source is read once, coded by the policy, and asked from there.

The file has one table of whole numbers, a row for each row of the source that somebody owns, and a
table of words for each column of undeclared text and for the units, by which these are numbers
too. Ranks of a unit's rows are worked out when it is written (`units.py`). Which number a word or
a unit has depends on other rows, so nothing is ordered or chosen by it (`edition.md`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.reader import DuckDBReader, connected
from adomnia.engines.duckdb.source_rows import SourceRows, Tell, check_space, source_rows
from adomnia.engines.engine import quietly
from adomnia.engines.interrupts import interruptible
from adomnia.engines.source_files import Source, find, state, unreadable
from adomnia.engines.sql.coding import coding, lost_columns
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.engines.sql.sql_engine import refuse_varied_unit
from adomnia.engines.sql.statement import DATA, CodedRows
from adomnia.engines.sql.units import FIRST, MARKS, RANK, UNIT, ranked
from adomnia.errors import MachineryError
from adomnia.schema.domain import Open
from adomnia.schema.table import Table

__all__ = ["DuckDBEdition", "EditionFile", "Means", "write_edition"]

ROWS = "adomnia_rows"


@dataclass(frozen=True)
class EditionFile:
    """What is known of an edition beside its rows: the columns of its source, those that are kept
    as words, whether the number of rows rests on no value, and a digest of the rows.

    The digest is for the curator's eyes, and goes nowhere without a key (`editions.py`).
    """

    types: Mapping[str, str]
    words: Sequence[str]
    rows_stay: bool
    rows: int
    digest: str

    def to_json(self) -> str:
        """As it is written beside the rows."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> EditionFile:
        """What was written."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Means:
    """How a source is read: with so many megabytes, telling how many rows were read; before the
    first of them, `check` is told the columns that there are."""

    memory: int | None = None
    tell: Tell | None = None
    check: Callable[[Mapping[str, str]], None] = lambda types: None


def write_edition(
    path: Path,
    source: str | Path,
    relation: str,
    table: Table,
    means: Means = Means(),  # noqa: B008 (frozen)
) -> EditionFile:
    """Read a source once and write its edition to a new file; whatever fails, fails quietly."""
    found, failure = find(str(source)), partial(unreadable, str(source))
    before = quietly(lambda: state(found), failure)
    with TemporaryDirectory(prefix="adomnia-", dir=path.parent) as room:
        made = quietly(lambda: _written((path, Path(room)), found, relation, table, means), failure)
    if quietly(lambda: state(found), failure) != before:
        raise MachineryError("the source changed while it was read", "load it again")
    return made


def _written(
    places: tuple[Path, Path], source: Source, relation: str, table: Table, means: Means
) -> EditionFile:
    path, room = places
    connection = connected(means.memory, room / "spill")
    with connection, interruptible(connection.interrupt):
        connection.execute("SET preserve_insertion_order = false")
        domains = {name: attribute.domain for name, attribute in table.attributes.items()}
        rows = source_rows(connection, source, relation, domains, means.tell)
        means.check(rows.types)
        refuse_varied_unit(table, rows.varied)
        check_space(path.parent, rows.size)
        connection.execute(f"ATTACH {literal(str(path))} AS edition")
        path.chmod(0o600)
        words = _store(connection, rows, table, room)
        count, digest = connection.execute(_digest(connection)).fetchall()[0]
        connection.execute("CHECKPOINT edition")
        connection.execute("DETACH edition")
    return EditionFile(rows.types, words, source.rows_stay, int(count), str(digest))


def _store(
    connection: duckdb.DuckDBPyConnection, rows: SourceRows, table: Table, room: Path
) -> list[str]:
    """Make the tables of an edition; the columns that are kept as words are given back."""
    words = [name for name in rows.types if _is_open(table, name)]
    select = _coded(rows, table)
    if not words and table.unit is None:
        connection.execute(f"CREATE TABLE edition.{ROWS} AS {select}")
        return words
    # Words are numbered once they are all known: until then the rows stand in a place of their own.
    connection.execute(f"ATTACH {literal(str(room / 'stage.duckdb'))} AS stage")
    connection.execute(f"CREATE TABLE stage.{ROWS} AS {select}")
    numbered = words if table.unit is None else [*words, UNIT]
    joins, replaced = [], []
    for place, name in enumerate(numbered):
        _number_words(connection, place, quoted(name))
        joins.append(
            f"LEFT JOIN edition.{_words(place)} w{place} ON r.{quoted(name)} = w{place}.word"
        )
        replaced.append(f"w{place}.code AS {quoted(name)}")
    connection.execute(
        f"CREATE TABLE edition.{ROWS} AS SELECT r.* REPLACE ({', '.join(replaced)}) "
        f"FROM stage.{ROWS} r {' '.join(joins)}"
    )
    if table.unit is not None:  # who they are is no question's matter
        connection.execute(f"DROP TABLE edition.{_words(len(words))}")
    connection.execute("DETACH stage")
    return words


def _number_words(connection: duckdb.DuckDBPyConnection, place: int, column: str) -> None:
    distinct = f"SELECT DISTINCT {column} AS word FROM stage.{ROWS} WHERE {column} IS NOT NULL"
    connection.execute(
        f"CREATE TABLE edition.{_words(place)} AS "
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


def _digest(connection: duckdb.DuckDBPyConnection) -> str:
    """The statement for how many rows there are, and for a sum over them that forgets their order.

    Words have other numbers in every edition, so they are left out with what rests on them.
    """
    found = connection.execute(f"DESCRIBE edition.{ROWS}").fetchall()
    plain = [quoted(str(row[0])) for row in found if str(row[1]) != "BIGINT" or row[0] == FIRST]
    mixed = f"HASH({', '.join(plain)})" if plain else "0"
    total = f"COALESCE(SUM(CAST({mixed} AS HUGEINT)), 0)"
    return f"SELECT COUNT(*), CAST({total} AS VARCHAR) || ' ' || COUNT(*) FROM edition.{ROWS}"


def _is_open(table: Table, name: str) -> bool:
    attribute = table.attributes.get(name)
    return attribute is None or isinstance(attribute.domain, Open)


def _words(place: int) -> str:
    return f"adomnia_words{place}"


class DuckDBEdition(DuckDBReader):
    """An edition that is asked; it never changes."""

    def __init__(
        self, path: Path, facts: EditionFile, table: Table, name: str, memory: int | None = None
    ) -> None:
        super().__init__(memory)
        self._path, self._facts, self._table, self._edition = path, facts, table, name
        self._types, self._mutex = facts.types, threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows rested on no value where they were read."""
        return self._facts.rows_stay

    def version(self) -> str:
        """Which edition it is."""
        return self._edition

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

        self._connection = quietly(opened, _damaged)

    def _coded(self) -> CodedRows:
        """The coded rows, by the policy that they were coded by."""
        names = (*self._types, *lost_columns(self._table, self._types))
        return CodedRows(names, DUCKDB, self._source)

    def _source(self, table: Table, needed: Sequence[str]) -> str:
        """The rows with their words, where a question reads any."""
        if (table.attributes, table.unit) != (self._table.attributes, self._table.unit):
            raise MachineryError("this edition was made by another policy", "load it again")
        words = [(place, name) for place, name in enumerate(self._facts.words) if name in needed]
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


def _damaged(kind: str) -> MachineryError:
    return MachineryError(f"the edition cannot be read ({kind})", "make a new one: adomnia load")
