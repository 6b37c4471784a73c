"""Spark: files or a table that a cluster reads, or a DataFrame that is handed in.

The exact part of a question is one statement that the cluster computes; the driver sees its groups
alone. Nothing is written. `docs/sources.md` says how to name a source.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.exact import Survey
from adomnia.engines.interrupts import interruptible
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.spark.tables import relation
from adomnia.engines.sql.coding import coded
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.engines.sql.statement import DATA
from adomnia.engines.survey import survey
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.schema.domain import Domain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

__all__ = ["Spark"]

GROUP = "spark.jobGroup.id"
"""The property of a thread by which its jobs can be ended."""

FIXED = "__CHAR_VARCHAR_TYPE_STRING"
"""What is kept of a text's type beside it."""


class Spark(SqlEngine):
    """A table in a cluster; several threads may ask at once.

    All marginals of a release come from one GROUP BY of their finest table: each executor shrinks
    its rows to the cells that occur before anything is sent. GROUPING SETS would first make of
    every row one for each marginal.
    """

    _dialect = SPARK

    def __init__(self, source: Any, table: str, domains: Mapping[str, Domain]) -> None:
        self._held: str | None = None
        self._source, self._table, self._mutex = source, table, threading.Lock()
        self._relation = quietly(lambda: relation(source, table), _unreadable)
        try:
            schema = quietly(lambda: self._relation.read().schema, _unreadable)
            self._types = _types(schema)
            quietly(lambda: _check(self._types, domains), _unreadable)
        except BaseException:
            self.close()
            raise
        columns = [SPARK.read(name, declared) for name, declared in self._types.items()]
        self._reading = f"SELECT {', '.join(columns)}"

    def ready(self) -> None:
        """Start the application anew where it has ended; one that was handed in cannot be."""
        with self._mutex:
            if not self._relation.ended():
                return
            if not isinstance(self._source, str):
                raise _lost("the application that was handed in has ended")
            self._relation.leave()
            self._relation = quietly(lambda: relation(self._source, self._table), _lost)
            schema = quietly(lambda: self._relation.read().schema, _lost)
        if _types(schema) != self._types:
            raise PolicyError("the columns of the source have changed", "open it anew")

    def version(self) -> str:
        """A digest that changes when the data does, without reading a row.

        It is of the names, sizes and times of the files. A table that has none is new each time,
        and what is handed in is new each time it is opened.
        """
        state = quietly(self._relation.state, _lost)
        return hashlib.sha256(repr(state).encode()).hexdigest()

    @contextmanager
    def snapshot(self) -> Iterator[Spark]:
        """The engine for one question: all that is read through it is of the same files."""
        if self._held is not None:
            yield self
            return
        moment, name = copy(self), f"adomnia_{uuid4().hex}"
        quietly(lambda: self._relation.read().createTempView(name), _lost)
        moment._held = name
        try:
            yield moment
        finally:
            with suppress(Exception):  # the application may have ended
                self._relation.session.catalog.dropTempView(name)

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        with self.snapshot() as moment:
            return quietly(lambda: survey(self._types, DATA, moment._fetched, SPARK), _unreadable)

    def close(self) -> None:
        """Let go of the cluster; an application that was started for the last engine ends."""
        self._relation.leave()

    # Asking

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.snapshot() as moment:
            return quietly(lambda: moment._fetched(statement), unanswered)

    def _arrays(self, statement: str) -> list[NDArray[Any]]:
        with self.snapshot() as moment:
            found = quietly(lambda: moment._computed(statement, _arrow), unanswered)
        return [_array(column) for column in found.columns]

    def _fetched(self, statement: str) -> list[tuple[Any, ...]]:
        rows = self._computed(statement, lambda frame: frame.collect())
        return [tuple(map(_plain, row)) for row in rows]

    def _computed(self, statement: str, fetch: Callable[[DataFrame], Any]) -> Any:
        """What a statement gives; its jobs are a group, which ends when the question shall."""
        context, group = self._relation.session.sparkContext, f"adomnia {uuid4()}"
        before = context.getLocalProperty(GROUP)

        def stop() -> None:
            # A statement is several jobs, and the next may be about to start.
            context._jsc.sc().cancelJobGroupAndFutureJobs(group)

        with interruptible(stop):
            context.setLocalProperty(GROUP, group)
            try:
                text = f"WITH {DATA} AS ({self._reading} FROM {self._held}) {statement}"
                return fetch(self._relation.session.sql(text))
            finally:
                context.setLocalProperty(GROUP, before)  # type: ignore[arg-type]


def _types(schema: StructType) -> dict[str, str]:
    names = [field.name for field in schema.fields]
    if len({name.lower() for name in names}) < len(names):
        raise PolicyError("two columns differ by case alone, or not at all", "rename one")
    if any(name.lower().startswith("adomnia ") for name in names):
        raise PolicyError("a column's name begins with 'adomnia '", "rename it")
    return {field.name: _declared(field) for field in schema.fields}


def _declared(field: StructField) -> str:
    """The type of a column; that a text is of fixed length, Spark keeps beside it."""
    declared, beside = field.dataType.simpleString(), field.metadata.get(FIXED, "")
    return str(beside) if declared == "string" and beside.startswith("char") else declared


def _check(types: Mapping[str, str], domains: Mapping[str, Domain]) -> None:
    """Refuse now a domain that no number can hold."""
    for name, domain in domains.items():
        if name in types:
            coded(name, domain, types[name], SPARK)


def _arrow(frame: DataFrame) -> Any:
    return frame.toArrow()


def _array(column: Any) -> NDArray[Any]:
    """An Arrow column as numpy: whole numbers as such, all else as objects."""
    if column.null_count == 0 and str(column.type) == "int64":
        found: NDArray[Any] = column.to_numpy()
        return found
    out = np.empty(len(column), object)
    out[:] = column.to_pylist()
    return out


def _plain(value: Any) -> Any:
    """A value as other engines give it: sums come as decimals, and are whole."""
    return int(value) if isinstance(value, Decimal) else value


def _unreadable(kind: str) -> AdomniaError:
    return PolicyError(f"the source in Spark cannot be read ({kind})", "check [data]")


def _lost(kind: str) -> AdomniaError:
    return MachineryError(
        f"the source in Spark cannot be read any more ({kind})",
        "is the cluster up, and are the files still there?",
    )
