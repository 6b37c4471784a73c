"""Editions of several tables in Spark: a folder of Parquet files for each.

All sources are looked at before the first and after the last is read, so that they are of one
moment. Rows stand in files of their own until their owners are known (`owners.md`); texts
stay texts, and units and keys are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from adomnia.engines.edition_store import EditionFacts, Means, TablesFacts, is_open
from adomnia.engines.spark.columns import check_domains, reading, types_of
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.edition import ROWS, FilesEdition, rows_digest
from adomnia.engines.spark.folders import SparkFolder
from adomnia.engines.spark.reader import computed
from adomnia.engines.spark.tables import SparkRelation
from adomnia.engines.sql.tables.owners import NAMED, OwnedRows
from adomnia.engines.sql.tables_engine import TablesEngine
from adomnia.engines.sql.units import UNIT
from adomnia.errors import MachineryError, PolicyError
from adomnia.schema.tables import Tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkTablesEdition", "write_tables"]

NUMBER = "MONOTONICALLY_INCREASING_ID()"
STAGE = "stage"


def write_tables(
    sources: Mapping[str, SparkRelation], tables: Tables, folder: SparkFolder, means: Means
) -> TablesFacts:
    """Read the source of each table once and write their edition to a new folder."""
    writing = _FilesWriting(folder, tables)
    before = {name: source.state() for name, source in sources.items()}
    steady = [name for name, source in sources.items() if source.state() == before[name]]
    try:
        for name in tables.in_order():
            with means.about(name):
                writing.write(name, sources[name], means)
    finally:
        with suppress(Exception):  # the application may have ended
            writing.forget()
    if any(sources[name].state() != before[name] for name in steady):
        raise MachineryError("a source changed while it was read", "load it again")
    folder.remove(STAGE)
    ordered = {name: writing.facts[name] for name in tables.tables}
    return TablesFacts(ordered, {name: writing.nobody[name] for name in tables.tables})


@dataclass
class _FilesWriting:
    """An edition while it is written, one table after the other."""

    folder: SparkFolder
    tables: Tables
    facts: dict[str, EditionFacts] = field(default_factory=dict)
    nobody: dict[str, int] = field(default_factory=dict)
    views: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def session(self) -> SparkSession:
        """The one in which all statements are run."""
        return self.folder.session

    def write(self, name: str, source: SparkRelation, means: Means) -> None:
        """Read a table's source and write its rows that somebody owns."""
        frame = source.read()
        types = types_of(frame.schema)
        means.check_table(name, types)
        self._check(name, types)
        owned = OwnedRows(self.tables, name, types, SPARK, short=True)
        with _shown(frame) as view:
            select = f"{reading(types)} FROM {view}"
            read = self._stage("read", name, owned.reaching(select, self._at("reached")))
        if self.tables.tables[name].key is not None:
            self._stage("reached", name, owned.reached(read))
        if name in self.tables.units:
            self._stage("units", name, self._units(name))
        rows = self._stage("rows", name, owned.coded(read))
        if self.tables.tables[name].key is not None:
            self._stage("keys", name, owned.keys(rows, NUMBER))
        columns, joins = owned.final(self._at("units"), self._at("keys"), {})
        final = f"SELECT {columns} FROM {rows} r {' '.join(joins)}"
        self._write(f"{ROWS}{self._place(name)}", final)
        count, digest = rows_digest(self.session, self._path("rows", name))
        words = [column for column in types if is_open(owned.table, column)]
        self.facts[name] = EditionFacts(types, words, True, count, digest)
        self.nobody[name] = self.session.table(read).count() - count

    def forget(self) -> None:
        """Drop the names of what was on the way."""
        for view in self.views.values():
            self.session.catalog.dropTempView(view)

    def _units(self, name: str) -> str:
        """A number for each unit of a table that no unit of another has."""
        say, every = SPARK.quoted, self.tables.units
        number = f"{NUMBER} * {len(every)} + {every.index(name)}"
        return f"SELECT {say(NAMED)}, {number} AS {say(UNIT)} FROM {self._at('reached')(name)}"

    def _check(self, name: str, types: Mapping[str, str]) -> None:
        table = self.tables.tables[name]
        for column in table.names:
            if column not in types:
                known = "its columns are: " + ", ".join(list(types)[:30])
                raise PolicyError(f"the table {name!r} has no column {column!r}", known)
        check_domains(types, {column: one.domain for column, one in table.attributes.items()})

    def _stage(self, kind: str, name: str, select: str) -> str:
        """Write what a statement selects on the way to others; its name for them."""
        path = self._path(kind, name)
        computed(self.session, select, lambda made: made.write.parquet(path))
        view = self.views[kind, name] = f"adomnia_{uuid4().hex}"
        self.session.read.parquet(path).createTempView(view)
        return view

    def _write(self, part: str, select: str) -> None:
        path = f"{self.folder.address}/{part}"
        computed(self.session, select, lambda made: made.write.parquet(path))

    def _at(self, kind: str) -> Callable[[str], str]:
        return lambda name: self.views[kind, name]

    def _path(self, kind: str, name: str) -> str:
        return f"{self.folder.address}/{STAGE}/{kind}{self._place(name)}"

    def _place(self, name: str) -> int:
        return list(self.tables.tables).index(name)


@contextmanager
def _shown(frame: DataFrame) -> Iterator[str]:
    """A name for a source that all sessions know: each source has one of its own."""
    name = f"adomnia_{uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        yield f"global_temp.{name}"
    finally:
        with suppress(Exception):  # the application may have ended
            frame.sparkSession.catalog.dropGlobalTempView(name)


class SparkTablesEdition(TablesEngine, FilesEdition):
    """An edition of several tables in files."""

    _short = True

    def __init__(self, source: str, path: str, tables: Tables, name: str) -> None:
        self.tables = tables
        super().__init__(source, path, name)

    def _learn(self, facts: str) -> None:
        self.facts = TablesFacts.from_json(facts)

    def _parts(self) -> list[str]:
        return [f"{ROWS}{place}" for place in range(len(self.facts.tables))]

    def _rows_at(self, place: int) -> str:
        return self._views[place]

    def _words_at(self, place: int, at: int) -> str | None:
        return None
