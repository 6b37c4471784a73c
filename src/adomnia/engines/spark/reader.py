"""What both engines of Spark do alike: statements whose jobs can be ended.

`engine.py` reads a source as it is, `edition.py` an edition of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.interrupts import interruptible
from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.errors import AdomniaError, MachineryError, PolicyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkReader", "computed", "lost", "unreadable"]

T = TypeVar("T")

GROUP = "spark.jobGroup.id"
"""The property of a thread by which its jobs can be ended."""


class SparkReader(SqlEngine):
    """A table in a cluster; several threads may ask at once."""

    _dialect = SPARK

    @property
    @abstractmethod
    def _session(self) -> SparkSession:
        """Our session in the application."""

    def _text(self, statement: str) -> str:
        """A statement as Spark is told it."""
        return statement

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

    def _computed(self, statement: str, fetch: Callable[[DataFrame], T]) -> T:
        return computed(self._session, self._text(statement), fetch)


def computed(session: SparkSession, text: str, fetch: Callable[[DataFrame], T]) -> T:
    """What a statement gives; its jobs are a group, which ends when the question shall."""
    context, group = session.sparkContext, f"adomnia {uuid4()}"
    before = context.getLocalProperty(GROUP)

    def stop() -> None:
        # A statement is several jobs, and the next may be about to start.
        context._jsc.sc().cancelJobGroupAndFutureJobs(group)

    with interruptible(stop):
        context.setLocalProperty(GROUP, group)
        try:
            return fetch(session.sql(text))
        finally:
            context.setLocalProperty(GROUP, before)  # type: ignore[arg-type]


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


def unreadable(kind: str) -> AdomniaError:
    """The failure of opening or loading a source."""
    return PolicyError(f"the source in Spark cannot be read ({kind})", "check [data]")


def lost(kind: str) -> AdomniaError:
    """The failure of a source that was open."""
    return MachineryError(
        f"the source in Spark cannot be read any more ({kind})",
        "is the cluster up, and are the files still there?",
    )
