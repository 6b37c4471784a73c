"""Editions of several tables in one DuckDB file: all sources are read once, at one moment.

Tables are read in an order in which each comes after those that it refers to. Rows stand in a file
of their own until their owners are known and their words are numbered; the edition has of each
table what that of a single one has, and its marks (`owners.md`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.edition import number_words, rows_digest
from adomnia.engines.duckdb.reader import DuckDBReader, connected
from adomnia.engines.duckdb.source_rows import SourceRows, check_space, source_rows
from adomnia.engines.edition_store import (
    EditionFacts,
    Means,
    Relations,
    TablesFacts,
    damaged,
    is_open,
)
from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.interrupts import interruptible
from adomnia.engines.source_facts import InspectedUnits, RowChanges
from adomnia.engines.source_files import Source, find, reading_failure, state, unreadable
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.engines.sql.tables.owners import NAMED, OwnedRows
from adomnia.engines.sql.tables_engine import TablesEngine
from adomnia.engines.sql.units import UNIT
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.queries.derived_table import DerivedTable
from adomnia.queries.rows import Scan
from adomnia.schema.domain import Domain, Open
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["DuckDBTablesEdition", "write_tables"]

NUMBER = "ROW_NUMBER() OVER ()"


def write_tables(
    path: Path,
    relations: Relations,
    tables: Tables,
    means: Means = Means(),  # noqa: B008 (frozen)
) -> TablesFacts:
    """Read the source of each table once and write their edition to a new file; whatever fails,
    fails quietly."""
    sources = {name: _found(name, relations[name][0], means) for name in tables.tables}
    before = {name: _state(found) for name, found in sources.items()}
    with TemporaryDirectory(prefix="adomnia-", dir=path.parent) as room:
        connection = connected(means.memory, Path(room) / "spill")
        with connection, interruptible(connection.interrupt):
            writing = _Writing(connection, tables, means)
            quietly(lambda: writing.open(path, Path(room)), _unwritten)
            for name in tables.in_order():
                read = partial(writing.write, name, sources[name], relations[name][1], path.parent)
                with means.about(name):
                    quietly(read, reading_failure(sources[name], before[name]))
            quietly(writing.close, _unwritten)
    if {name: _state(found) for name, found in sources.items()} != before:
        raise MachineryError("a source changed while it was read", "load it again")
    ordered = {name: writing.facts[name] for name in tables.tables}
    return TablesFacts(ordered, {name: writing.nobody[name] for name in tables.tables})


def _found(name: str, source: str, means: Means) -> Source:
    with means.about(name):
        return find(source)


def _state(found: Source) -> object:
    return quietly(lambda: state(found), partial(unreadable, found.path))


def _unwritten(kind: str) -> AdomniaError:
    return MachineryError(f"the edition could not be written ({kind})", "load it again")


@dataclass
class _Writing:
    """An edition while it is written, one table after the other."""

    connection: duckdb.DuckDBPyConnection
    tables: Tables
    means: Means
    facts: dict[str, EditionFacts] = field(default_factory=dict)
    nobody: dict[str, int] = field(default_factory=dict)
    units: int = 0
    read: int = 0

    def open(self, path: Path, room: Path) -> None:
        """Make the file of the edition, and one for what is on the way to it."""
        self._run("SET preserve_insertion_order = false")
        self._run(f"ATTACH {literal(str(path))} AS edition")
        path.chmod(0o600)
        self._run(f"ATTACH {literal(str(room / 'stage.duckdb'))} AS stage")

    def close(self) -> None:
        """Have all of it in the file."""
        self._run("CHECKPOINT edition")
        self._run("DETACH edition")

    def write(self, name: str, source: Source, relation: str, folder: Path) -> None:
        """Read a table's source and write its rows that somebody owns."""
        known: dict[str, Domain] = dict.fromkeys(self.tables.tables[name].names, Open()) | {
            column: attribute.domain
            for column, attribute in self.tables.tables[name].attributes.items()
        }
        rows = source_rows(self.connection, source, relation, known, self._telling())
        self.means.check_table(name, rows.types)
        self._check_names(name, rows)
        check_space(folder, 2 * rows.size)  # rows are written twice before they are coded
        owned = OwnedRows(self.tables, name, rows.types, DUCKDB)
        count = self._stage(owned, rows.select)
        if source.kind == "database":
            self._run("DETACH source")
        words = [column for column in rows.types if is_open(owned.table, column)]
        kept, digest = rows_digest(self.connection, self._stage_of("rows", name))
        self._number(owned, words)
        self.facts[name] = EditionFacts(rows.types, words, source.rows_stay, kept, digest)
        self.nobody[name] = count - kept
        self.read += count

    def _stage(self, owned: OwnedRows, select: str) -> int:
        """Write the rows with what they reach, and then those that somebody owns, coded; how many
        were read."""
        name, read, rows = owned.name, "stage.adomnia_read", self._stage_of("rows", owned.name)
        self._run(f"CREATE TABLE {read} AS {owned.reaching(select, self._at('reached'))}")
        if self.tables.tables[name].key is not None:
            self._run(f"CREATE TABLE {self._stage_of('reached', name)} AS {owned.reached(read)}")
        if name in self.tables.units:
            self._number_units(name)
        self._run(f"CREATE TABLE {rows} AS {owned.coded(read)}")
        if self.tables.tables[name].key is not None:
            self._run(f"CREATE TABLE {self._stage_of('keys', name)} AS {owned.keys(rows, NUMBER)}")
        count = self._count(read)
        self._run(f"DROP TABLE {read}")
        return count

    def _number_units(self, name: str) -> None:
        """Give each unit of a table a number that no other unit has."""
        reached, units = self._stage_of("reached", name), self._stage_of("units", name)
        number = f"{NUMBER} + {self.units} AS {quoted(UNIT)}"
        self._run(f"CREATE TABLE {units} AS SELECT {quoted(NAMED)}, {number} FROM {reached}")
        self.units += self._count(units)

    def _number(self, owned: OwnedRows, words: Sequence[str]) -> None:
        """Write the rows with numbers in the place of words, units, keys and references."""
        place, rows = self._place(owned.name), self._stage_of("rows", owned.name)
        codes, joins = {}, []
        for at, word in enumerate(words):
            number_words(self.connection, f"edition.{_words(place, at)}", rows, word)
            same = f"r.{quoted(word)} IS NOT DISTINCT FROM w{at}.word"
            joins.append(f"LEFT JOIN edition.{_words(place, at)} w{at} ON {same}")
            codes[word] = f"w{at}.code"
        columns, others = owned.final(self._at("units"), self._at("keys"), codes)
        self._run(
            f"CREATE TABLE edition.{_rows(place)} AS SELECT {columns} "
            f"FROM {rows} r {' '.join([*joins, *others])}"
        )
        self._run(f"DROP TABLE {rows}")

    def _check_names(self, name: str, rows: SourceRows) -> None:
        """Refuse a key or a reference that is not there, or may be written in two ways."""
        for column in self.tables.tables[name].names:
            if column not in rows.types:
                known = "its columns are: " + ", ".join(list(rows.types)[:30])
                raise PolicyError(f"the table {name!r} has no column {column!r}", known)
            if column.lower() in rows.varied:
                raise PolicyError(
                    f"the column {column!r} of {name!r} has another type in another file",
                    "write it as one type in all files",
                )

    def _telling(self) -> Callable[[int], None] | None:
        """Who is told how many rows were read in all."""
        tell, before = self.means.tell, self.read
        return None if tell is None else lambda rows: tell(before + rows)

    def _at(self, kind: str) -> Callable[[str], str]:
        return partial(self._stage_of, kind)

    def _stage_of(self, kind: str, name: str) -> str:
        return f"stage.adomnia_{kind}{self._place(name)}"

    def _place(self, name: str) -> int:
        return list(self.tables.tables).index(name)

    def _count(self, rows: str) -> int:
        return int(self.connection.execute(f"SELECT COUNT(*) FROM {rows}").fetchall()[0][0])

    def _run(self, statement: str) -> None:
        self.connection.execute(statement)


def _rows(place: int) -> str:
    return f"adomnia_rows{place}"


def _words(place: int, at: int) -> str:
    return f"adomnia_words{place}_{at}"


class DuckDBTablesEdition(TablesEngine, DuckDBReader):
    """An edition of several tables that is asked."""

    _called = "edition"

    def __init__(
        self, path: Path, facts: TablesFacts, tables: Tables, name: str, memory: int | None = None
    ) -> None:
        super().__init__(memory)
        self.facts, self.tables = facts, tables
        self._path, self._edition, self._mutex = path, name, threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def ready(self) -> None:
        """Open the file anew where the engine has died."""
        with self._mutex:
            if not self._alive():
                self._open()

    def _owned_rows(self, table: Table, most: int) -> InspectedUnits:
        """How many rows each unit has and what bounds cut of them, if at most so many were used,
        for a curator's check."""
        from adomnia.engines.sql.inspection.unit_inspection import inspect_owned  # noqa: PLC0415 (rare)

        with self.snapshot() as moment:
            rows, bounded = moment._coded(table), replace(table, max_rows=most)
            return inspect_owned(moment._rows, bounded, rows, moment._staged)

    def _row_changes(self, table: Table, edition: DuckDBTablesEdition) -> RowChanges:
        """What the rows of one table are that those of an earlier edition are not, and the other
        way round, for a curator's check."""
        from adomnia.engines.duckdb.edition_changes import BEFORE, row_changes  # noqa: PLC0415 (rare)

        assert isinstance(table, DerivedTable)
        assert isinstance(table.rows, Scan)
        name, before = table.rows.table, copy(edition)
        before._called = BEFORE
        facts, there = self.facts.tables[name], edition.facts.tables[name]
        names = [column for column in facts.types if column in there.types]
        words = [column for column in names if column in facts.words and column in there.words]
        rows = (self.scan(name, names), before.scan(name, names))
        compare = partial(row_changes, path=edition._path, rows=rows, names=names, words=words)
        return quietly(lambda: self._run(compare), unanswered)

    def _rows_at(self, place: int) -> str:
        return f"{self._called}.{_rows(place)}"

    def _words_at(self, place: int, at: int) -> str:
        return f"{self._called}.{_words(place, at)}"

    def _few(self) -> bool:
        return False

    def _open(self) -> None:
        def opened() -> duckdb.DuckDBPyConnection:
            connection = connected(self._memory, Path(self._room.name) / "spill")
            connection.execute(f"ATTACH {literal(str(self._path))} AS edition (READ_ONLY)")
            connection.execute(f"SELECT 1 FROM edition.{_rows(0)} LIMIT 0").fetchall()
            return connection

        self._connection = quietly(opened, damaged)
