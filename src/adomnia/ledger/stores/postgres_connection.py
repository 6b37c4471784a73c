"""Connections to the PostgreSQL server of a ledger: durable ones, and what their failures say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adomnia.errors import LedgerError
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.storage import driver as storage

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["Interrupted", "connect", "failures"]

DURABLE = ("fsync", "full_page_writes")
AGAIN = {"25P02", "25P03", "40001", "40P01", "53300", "55P03", "57P01", "57P02", "57P03", "57P05"}
"""SQLSTATEs of what may go well next time: conflicts, a long wait, a server that restarts."""
HINTS = {
    "42501": "docs/ledger.md says which rights a role needs, and who makes the tables",
    "3F000": "docs/ledger.md says who makes the schema",
    "42P01": "the tables are gone: restore the database, up to its last entry",
    "25006": "this server is a standby: name the primary, or use target_session_attrs=read-write",
}
HINTS["0A000"] = HINTS["25006"]  # what a standby says to BEGIN READ WRITE


class Interrupted(LedgerError):
    """The connection or the transaction was lost: nothing was stored, and it may be tried again."""


@contextmanager
def failures(address: LedgerAddress) -> Iterator[None]:
    """Turn what PostgreSQL raises into one line for a person."""
    psycopg = _psycopg()
    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate is None:  # these words may repeat the address, password and all
            raise _told(address, error) from None
        raise _failure(address, error) from error
    except UnicodeError as error:
        raise LedgerError(f"the ledger {address} is damaged: a text in it is broken") from error


def connect(address: LedgerAddress) -> Connection[Any]:
    """A connection to a server that keeps what it acknowledges; any other is refused."""
    psycopg = _psycopg()  # its client's cursor can send several statements at once
    connection = storage.connect(address.conninfo, cursor_factory=psycopg.ClientCursor)
    try:
        if not address.unsafe:
            _refuse_forgetful(connection, address)
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_forgetful(connection: Connection[Any], address: LedgerAddress) -> None:
    asked = ", ".join(f"pg_catalog.current_setting('{name}')" for name in DURABLE)
    found = connection.execute(f"SELECT {asked}").fetchone() or ()
    for setting, value in zip(DURABLE, found, strict=True):
        if value != "on":
            raise LedgerError(
                f"the server of the ledger {address} runs with {setting} = off: "
                "what is paid could be lost",
                hint=f"set {setting} = on there",
            )


def _psycopg() -> Any:
    """The driver, loaded when a ledger in PostgreSQL is first used."""
    return storage.driver("a ledger in PostgreSQL", LedgerError)


def _told(address: LedgerAddress, error: Any) -> LedgerError:
    """A failure of the client, or before there was a session, without the names it quotes."""
    if isinstance(error, _psycopg().ProgrammingError):
        return LedgerError(f"the ledger {address} cannot be used: its address is not understood")
    reason = (str(error).strip().splitlines() or ["it failed"])[0]
    message = f"the ledger {address} cannot be used: PostgreSQL: {_unquoted(reason)}"
    lost = isinstance(error, _psycopg().OperationalError)
    return Interrupted(message) if lost else LedgerError(message)


def _unquoted(reason: str) -> str:
    """What is quoted is from the address: a password there was taken for a name.

    >>> _unquoted('FATAL:  database "books;password=sesame" does not exist')
    'FATAL:  database "…" does not exist'
    """
    return re.sub('".*"', '"…"', reason)


def _failure(address: LedgerAddress, error: Any) -> LedgerError:
    state = error.sqlstate
    if state == "22012":  # how a commit refuses to go on (`database`)
        return LedgerError(
            f"the ledger {address} did not take the entries: something holds them up"
        )
    reason = error.diag.message_primary or "it failed"
    message = f"the ledger {address} cannot be used: PostgreSQL: {reason}"
    again = state in AGAIN or state.startswith("08")
    return Interrupted(message) if again else LedgerError(message, HINTS.get(state, ""))
