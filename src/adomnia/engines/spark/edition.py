"""Editions in Spark: the source's rows, coded by the policy, in Parquet files.

Parquet keeps each column's words once in a file, so undeclared text and units stand there as they
are. Ranks of a unit's rows are worked out when it is written.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from adomnia.engines.edition_store import EditionFacts, Means, is_open
from adomnia.engines.engine import quietly
from adomnia.engines.spark.columns import check_domains, reading, types_of
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.folders import SparkFolder
from adomnia.engines.spark.reader import SparkReader, computed, lost
from adomnia.engines.spark.sessions import address, application, own, stopped
from adomnia.engines.spark.tables import SparkRelation
from adomnia.engines.sql.edition_rows import EditionRows
from adomnia.engines.sql.statement import CodedRows
from adomnia.errors import MachineryError
from adomnia.schema.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FACTS", "ROWS", "FilesEdition", "SparkEdition", "rows_digest", "write_edition"]

ROWS, FACTS = "rows", "edition.json"


def write_edition(source: SparkRelation, table: Table, path: str, means: Means) -> EditionFacts:
    """Read a source once and write its edition to a new folder."""
    frame, session = source.read(), source.session
    types = types_of(frame.schema)
    means.check(types)
    check_domains(types, {name: one.domain for name, one in table.attributes.items()})
    before = source.state()
    steady = source.state() == before  # of a view nobody knows when it changed
    view = f"adomnia_{uuid4().hex}"
    frame.createTempView(view)
    try:
        rows = EditionRows(table, types, SPARK)
        text = rows.written(f"{reading(types)} FROM {view}")
        computed(session, text, lambda made: made.write.parquet(path))
    finally:
        with suppress(Exception):  # the application may have ended
            session.catalog.dropTempView(view)
    if steady and source.state() != before:
        raise MachineryError("the source changed while it was read", "load it again")
    count, digest = rows_digest(session, path)
    words = [name for name in types if is_open(table, name)]
    return EditionFacts(types, words, True, count, digest)


def rows_digest(session: SparkSession, path: str) -> tuple[int, str]:
    """How many rows there are, and a sum over them that forgets their order."""
    frame, view = session.read.parquet(path), f"adomnia_{uuid4().hex}"
    frame.createTempView(view)
    hashed = f"CAST({SPARK.order([*map(SPARK.quoted, frame.columns)])} AS DECIMAL(20,0))"
    statement = f"SELECT COUNT(*), COALESCE(SUM({hashed}), 0) FROM {view}"
    try:
        ((count, total),) = computed(session, statement, lambda found: found.collect())
    finally:
        session.catalog.dropTempView(view)
    return int(count), f"{total} {count}"


class FilesEdition(SparkReader):
    """An edition in files; it never changes."""

    _views: list[str]
    """The names of its parts in statements."""

    def __init__(self, source: str, path: str, name: str) -> None:
        self._source, self._path, self._edition = source, path, name
        self._mutex = threading.Lock()
        self._enter()

    @abstractmethod
    def _learn(self, facts: str) -> None:
        """Take what is known of it beside its rows."""

    @abstractmethod
    def _parts(self) -> list[str]:
        """The folders of its rows."""

    def found(self) -> bool:
        """Whether it is there; then it can be asked."""
        text = quietly(lambda: SparkFolder(self._own, self._path).read(FACTS), lost)
        if text is None:
            return False
        self._learn(text)
        quietly(self._show, lost)
        return True

    def version(self) -> str:
        """Which edition it is."""
        return self._edition

    def ready(self) -> None:
        """Start the application anew where it has ended."""
        with self._mutex:
            if stopped(self._own.sparkContext):
                self._leave()
                self._enter()
                quietly(self._show, lost)

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The engine for one question, in the session that there is now."""
        yield copy(self)

    def close(self) -> None:
        """Let go of the cluster; an application that was started for the last engine ends."""
        self._leave()

    def _enter(self) -> None:
        started, self._leave = application(address(self._source))
        try:
            self._own = own(started)
        except BaseException:
            self._leave()
            raise

    def _show(self) -> None:
        """Let statements name the rows; they have the columns that were written."""
        self._views = []
        for part in self._parts():
            self._views.append(f"adomnia_{uuid4().hex}")
            self._own.read.parquet(f"{self._path}/{part}").createTempView(self._views[-1])

    @property
    def _session(self) -> SparkSession:
        return self._own


class SparkEdition(FilesEdition):
    """An edition of a table."""

    facts: EditionFacts

    def __init__(self, source: str, path: str, table: Table, name: str) -> None:
        self._table = table
        super().__init__(source, path, name)

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows rested on no value where they were read."""
        return self.facts.rows_stay

    def _learn(self, facts: str) -> None:
        self.facts = EditionFacts.from_json(facts)
        self._types = self.facts.types

    def _parts(self) -> list[str]:
        return [ROWS]

    def _coded(self, table: Table) -> CodedRows:
        """The coded rows, by the policy that they were coded by."""
        return EditionRows(self._table, self._types, SPARK).read(self._views[0])
