"""A pool of connections: few, checked before they are used, each use on its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from adomnia.storage.driver import connect

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["Pool"]


class Pool:
    """At most `most` connections to one server; it may be used by several threads.

    `begin` is what every use starts with. It shows as well whether an idle connection still
    lives: where it fails on one, the next is tried, and at last a new one.
    """

    def __init__(self, conninfo: str, most: int, begin: Callable[[Connection[Any]], Any]) -> None:
        self._conninfo, self._begin = conninfo, begin
        self._slots = threading.BoundedSemaphore(most)
        self._idle: SimpleQueue[Connection[Any]] = SimpleQueue()
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[Connection[Any]]:
        """A connection for one use; what it has begun and not ended is rolled back."""
        with self._slots:
            connection = self._begun()
            try:
                yield connection
            finally:
                self._return(connection)

    def close(self) -> None:
        """Close what is idle, and what is in use when it comes back."""
        self._closed = True
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    def _begun(self) -> Connection[Any]:
        from psycopg import Error  # noqa: PLC0415 (an extra)

        with suppress(Empty):
            while True:
                connection = self._idle.get_nowait()
                try:
                    self._begin(connection)
                except Error:  # the server went away since: a new one may be there
                    connection.close()
                else:
                    return connection
        connection = connect(self._conninfo)
        try:
            self._begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _return(self, connection: Connection[Any]) -> None:
        from psycopg import Error  # noqa: PLC0415 (an extra)
        from psycopg.pq import TransactionStatus  # noqa: PLC0415

        try:
            if connection.info.transaction_status != TransactionStatus.IDLE:
                connection.execute("ROLLBACK")  # where nothing was begun, no journey for nothing
        except Error:
            connection.close()
            return
        if self._closed:
            connection.close()
        else:
            self._idle.put(connection)
