"""Connections to PostgreSQL: few, checked before they are used, each question on its own.

Every transaction only reads, sees one moment, and has the same settings whatever the role or the
server is set to. What the server says can quote data or the address, so it never leaves: callers
fail quietly.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from adomnia.engines.sanitized_errors import ADDRESS
from adomnia.errors import PolicyError

if TYPE_CHECKING:
    import psycopg

__all__ = ["Connections", "place"]

MOST = 4
"""So many questions read at once; others wait."""

TIMEOUT = 600_000
"""How long a statement may take, in milliseconds, unless the address or the role says."""

HIDDEN = "postgresql://…"

SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "'UTC'",
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "bytea_output": "'hex'",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "jit": "off",
}
"""What the text of a value, or the meaning of a name, depends on; compiling the long expressions
of a question takes longer than computing them."""


_LIMIT = f"""
SELECT set_config('statement_timeout', '{TIMEOUT}', true)
WHERE current_setting('statement_timeout') = '0'
"""


def place(url: str) -> str:
    """An address as it may be shown: without role, password and options.

    In an address that is badly written, a part of the password can stand where it does not belong;
    so nothing is shown of one in which it could.
    """
    driver = _driver()
    try:
        known = driver.conninfo.conninfo_to_dict(url)
    except driver.Error:
        return HIDDEN
    host, port, name = (str(known.get(part) or "") for part in ("host", "port", "dbname"))
    if (ADDRESS | {" "}) & {*host, *name} or not (port + "0").isdecimal():
        return HIDDEN
    return f"postgresql://{host}{':' if port else ''}{port}/{name}"


def _driver() -> Any:
    with suppress(ImportError):
        import psycopg  # noqa: PLC0415 (only those who have PostgreSQL need it)

        return psycopg
    raise PolicyError(
        "a source at postgresql:// needs the package psycopg",
        "install it with: pip install 'adomnia[postgres]'",
    )


class Connections:
    """A small pool; it may be used by several threads."""

    def __init__(self, url: str) -> None:
        self._url, self._psycopg = url, _driver()
        self._slots = threading.BoundedSemaphore(MOST)
        self._idle: SimpleQueue[psycopg.Connection[Any]] = SimpleQueue()
        self._closed = False

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection in a transaction that reads one moment of the data."""
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

    def _begun(self) -> psycopg.Connection[Any]:
        with suppress(Empty):
            while True:
                connection = self._idle.get_nowait()
                try:
                    return _begin(connection)
                except self._psycopg.Error:  # the server went away since: a new one may be there
                    connection.close()
        return _begin(self._connect())

    def _connect(self) -> psycopg.Connection[Any]:
        known = self._psycopg.conninfo.conninfo_to_dict(self._url)
        named = {"connect_timeout": 10, "application_name": "adomnia"}
        connection: psycopg.Connection[Any] = self._psycopg.connect(
            self._url,
            autocommit=True,  # transactions are begun and ended here
            prepare_threshold=None,
            client_encoding="UTF8",
            **{name: value for name, value in named.items() if name not in known},
        )
        return connection

    def _return(self, connection: psycopg.Connection[Any]) -> None:
        try:
            connection.execute("ROLLBACK")
        except self._psycopg.Error:
            connection.close()
            return
        if self._closed:
            connection.close()
        else:
            self._idle.put(connection)


def _begin(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Nothing is set for longer than a transaction: a pool before the server may give each of
    ours to another of its own connections, and take ours for others."""
    settings = "".join(f"SET LOCAL {name} = {value}; " for name, value in SETTINGS.items())
    # The first query fixes the moment that all of them see.
    begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {settings}{_LIMIT}"
    connection.execute(begin.encode())
    return connection
