"""What both engines of PostgreSQL do alike: statements in transactions that only read.

`engine.py` reads a source as it is, `edition.py` an edition of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.interrupts import interruptible
from adomnia.engines.postgres.connections import reading_pool
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.errors import AdomniaError, MachineryError
from adomnia.storage.address import shown_address

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresReader"]


class PostgresReader(SqlEngine):
    """A table on a server; several threads may ask at once."""

    def __init__(self, url: str) -> None:
        self._place = shown_address(url)
        self._connections = reading_pool(url)
        self._held: psycopg.Connection[Any] | None = None

    def ready(self) -> None:
        """Connect anew where the connection was lost."""
        with self.snapshot():
            pass

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The engine for one question: all that is read through it is of one moment."""
        if self._held is not None:
            yield self
            return
        with ExitStack() as stack:
            opening = self._connections.connection()
            connection = quietly(lambda: stack.enter_context(opening), self._lost)
            moment = copy(self)
            moment._held = connection
            yield moment

    def close(self) -> None:
        """Let go of the server."""
        self._connections.close()

    # Asking

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self.snapshot() as moment:
            return quietly(lambda: moment._fetched(statement), unanswered)

    def _arrays(self, statement: str) -> list[NDArray[Any]]:
        with self.snapshot() as moment:
            return quietly(lambda: moment._turned(statement), unanswered)

    def _fetched(self, statement: str) -> list[tuple[Any, ...]]:
        found = self._executed(statement).fetchall()
        return [tuple(map(_plain, row)) for row in found]

    def _turned(self, statement: str) -> list[NDArray[Any]]:
        cursor = self._executed(statement)
        width, rows = len(cursor.description or ()), cursor.fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * width
        return [_array(column) for column in columns]

    def _executed(self, statement: str) -> psycopg.Cursor[Any]:
        with interruptible(self._connection.cancel):
            return self._connection.execute(self._text(statement).encode())

    def _text(self, statement: str) -> str:
        """A statement as the server is told it."""
        return statement

    @property
    def _connection(self) -> psycopg.Connection[Any]:
        assert self._held is not None
        return self._held

    def _lost(self, kind: str) -> AdomniaError:
        return MachineryError(
            f"the source {self._place} cannot be reached ({kind})",
            "is the server up, and are host, database, role and password right?",
        )


def _plain(value: Any) -> Any:
    """A value as other engines give it: sums come as decimals, and are whole."""
    return int(value) if isinstance(value, Decimal) else value


def _array(column: Sequence[Any]) -> NDArray[Any]:
    if all(type(value) is int and abs(value) < 2**62 for value in column):
        return np.array(column, np.int64)
    out = np.empty(len(column), object)
    out[:] = column
    return out
