"""How a question reads a server: every transaction only reads, and sees one moment.

It has the same settings whatever the role or the server is set to. What the server says can quote
data or the address, so it never leaves: callers fail quietly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import PolicyError
from adomnia.storage.driver import driver
from adomnia.storage.pool import Pool

if TYPE_CHECKING:
    import psycopg

__all__ = ["reading_pool"]

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


def _begin(connection: psycopg.Connection[Any]) -> None:
    """Nothing is set for longer than a transaction: a pool before the server may give each of
    ours to another of its own connections, and take ours for others."""
    settings = "".join(f"SET LOCAL {name} = {value}; " for name, value in SETTINGS.items())
    # The first query fixes the moment that all of them see.
    begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {settings}{_LIMIT}"
    connection.execute(begin.encode())
