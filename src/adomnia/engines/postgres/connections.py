"""How a question reads a server: every transaction only reads, and sees one moment. A load writes.

It has the same settings whatever the role or the server is set to. What the server says can quote
data or the address, so it never leaves: callers fail quietly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import PolicyError
from adomnia.storage.driver import connect, driver
from adomnia.storage.pool import Pool

if TYPE_CHECKING:
    import psycopg

__all__ = ["begin_writing", "reading_pool", "writing_connection"]

MOST = 4
"""So many questions read at once; others wait."""

TIMEOUT = 600_000
"""How long a statement may take, in milliseconds, unless the address or the role says."""

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


def reading_pool(url: str) -> Pool:
    """Connections to the server at an address, for questions."""
    driver("a source at postgresql://", PolicyError)
    return Pool(url, MOST, _begin)


def writing_connection(url: str) -> psycopg.Connection[Any]:
    """A connection to the server at an address, for a load."""
    driver("a source at postgresql://", PolicyError)
    return connect(url)


def begin_writing(connection: psycopg.Connection[Any], one_moment: bool = False) -> None:
    """Begin a transaction that may write, also for a role whose own only read; all of its
    statements may see `one_moment`, that of the first.

    Nothing limits how long it takes but what the role or the address says.
    """
    level = "REPEATABLE READ" if one_moment else "READ COMMITTED"
    connection.execute(f"BEGIN ISOLATION LEVEL {level}, READ WRITE; {_settings()}".encode())


def _settings() -> str:
    return "".join(f"SET LOCAL {name} = {value}; " for name, value in SETTINGS.items())


def _begin(connection: psycopg.Connection[Any]) -> None:
    """Nothing is set for longer than a transaction: a pool before the server may give each of
    ours to another of its own connections, and take ours for others."""
    # The first query fixes the moment that all of them see.
    begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {_settings()}{_LIMIT}"
    connection.execute(begin.encode())
