"""Spark: files or a table that a cluster reads, or a DataFrame that is handed in.

The exact part of a question is one statement that the cluster computes; the driver sees its groups
alone. Nothing is written. `docs/sources.md` says how to name a source.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from adomnia.engines.engine import quietly
from adomnia.engines.exact import Survey
from adomnia.engines.spark.columns import check_domains, reading, types_of
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.reader import SparkReader, lost, unreadable
from adomnia.engines.spark.tables import relation, state_digest
from adomnia.engines.sql.inspection.survey import survey
from adomnia.engines.sql.statement import DATA
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Spark"]


class Spark(SparkReader):
    """A table in a cluster; several threads may ask at once.

    All marginals of a release come from one GROUP BY of their finest table: each executor shrinks
    its rows to the cells that occur before anything is sent. GROUPING SETS would first make of
    every row one for each marginal.
    """

    def __init__(self, source: Any, table: str, domains: Mapping[str, Domain]) -> None:
        self._held: str | None = None
        self._source, self._table, self._mutex = source, table, threading.Lock()
        self._relation = quietly(lambda: relation(source, table), unreadable)
        try:
            schema = quietly(lambda: self._relation.read().schema, unreadable)
            self._types = types_of(schema)
            quietly(lambda: check_domains(self._types, domains), unreadable)
        except BaseException:
            self.close()
            raise
        self._reading = reading(self._types)

    def ready(self) -> None:
        """Start the application anew where it has ended; one that was handed in cannot be."""
        with self._mutex:
            if not self._relation.ended():
                return
            if not isinstance(self._source, str):
                raise lost("the application that was handed in has ended")
            self._relation.leave()
            self._relation = quietly(lambda: relation(self._source, self._table), lost)
            schema = quietly(lambda: self._relation.read().schema, lost)
        if types_of(schema) != self._types:
            raise PolicyError("the columns of the source have changed", "open it anew")

    def version(self) -> str:
        """A digest that changes when the data does, without reading a row.

        It is of the names, sizes and times of the files. A table that has none is new each time,
        and what is handed in is new each time it is opened.
        """
        return quietly(lambda: state_digest(self._relation), lost)

    @contextmanager
    def snapshot(self) -> Iterator[Spark]:
        """The engine for one question: all that is read through it is of the same files."""
        if self._held is not None:
            yield self
            return
        moment, name = copy(self), f"adomnia_{uuid4().hex}"
        quietly(lambda: self._relation.read().createTempView(name), lost)
        moment._held = name
        try:
            yield moment
        finally:
            with suppress(Exception):  # the application may have ended
                self._relation.session.catalog.dropTempView(name)

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        with self.snapshot() as moment:
            return quietly(lambda: survey(self._types, DATA, moment._fetched, SPARK), unreadable)

    def close(self) -> None:
        """Let go of the cluster; an application that was started for the last engine ends."""
        self._relation.leave()

    @property
    def _session(self) -> SparkSession:
        return self._relation.session

    def _text(self, statement: str) -> str:
        return f"WITH {DATA} AS ({self._reading} FROM {self._held}) {statement}"
