"""Where accounts are stored: a SQLite file, or a PostgreSQL server. Both keep text and numbers."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from adomnia.errors import MachineryError, PolicyError
from adomnia.storage.address import SCHEMES
from adomnia.storage.driver import driver
from adomnia.storage.pool import Pool

__all__ = ["AccountStore", "PostgresAccountStore", "SqliteAccountStore", "open_store"]

T = TypeVar("T")
Row = tuple[Any, ...]

TABLES = (
    """CREATE TABLE IF NOT EXISTS adomnia_accounts (
        name TEXT PRIMARY KEY, role TEXT NOT NULL, hashed TEXT NOT NULL, verifier TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS adomnia_keys (
        identity TEXT PRIMARY KEY, label TEXT NOT NULL, hashed TEXT NOT NULL, made_at TEXT NOT NULL,
        name TEXT NOT NULL REFERENCES adomnia_accounts ON DELETE CASCADE)""",
    "CREATE TABLE IF NOT EXISTS adomnia_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


class AccountStore(Protocol):
    """Statements over the three tables; parameters are written `?`, each statement is durable."""

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """What the statement selects."""

    def change(self, statement: str, *values: Any) -> int:
        """How many rows the statement has changed."""

    def close(self) -> None:
        """Let go of it."""


def open_store(url: str) -> AccountStore:
    """The store at an address: `postgresql://…`, or the path of a file that is made if missing."""
    if url.startswith(SCHEMES):
        return PostgresAccountStore(url)
    if "://" in url:
        hint = 'a file such as "adomnia.accounts", or postgresql://…'
        raise PolicyError("accounts cannot be stored there", hint)
    return SqliteAccountStore(Path(url))


class SqliteAccountStore:
    """Accounts in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        _private(path)
        self._line = _kept(lambda: sqlite3.connect(path, timeout=30, check_same_thread=False,
                                                   isolation_level=None))  # fmt: skip
        for statement in ("PRAGMA foreign_keys = ON", *TABLES):
            self.change(statement)

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """What the statement selects."""
        with self._lock:
            return _kept(lambda: self._line.execute(statement, values).fetchall())

    def change(self, statement: str, *values: Any) -> int:
        """How many rows the statement has changed."""
        with self._lock:
            return _kept(lambda: self._line.execute(statement, values).rowcount)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._line.close()


class PostgresAccountStore:
    """Accounts on a PostgreSQL server; a connection that broke is made again once.

    They are in the schema `public`, whatever the role's search path: tables of the same names
    elsewhere, which a stranger may have made, let nobody in.
    """

    def __init__(self, url: str) -> None:
        driver("accounts at postgresql://", PolicyError)
        self._pool = Pool(url, 1, lambda connection: connection.execute("SELECT 1"))
        if self.rows("SELECT 1 WHERE to_regclass('adomnia_facts') IS NULL"):
            for statement in TABLES:
                self.change(statement)

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """What the statement selects."""
        return _kept(lambda: self._execute(statement, values, lambda cursor: cursor.fetchall()))

    def change(self, statement: str, *values: Any) -> int:
        """How many rows the statement has changed."""
        return _kept(lambda: self._execute(statement, values, lambda cursor: int(cursor.rowcount)))

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def _execute(self, statement: str, values: tuple[Any, ...], take: Callable[[Any], T]) -> T:
        written = statement.replace("?", "%s").replace("adomnia_", "public.adomnia_")
        with self._pool.connection() as connection:
            return take(connection.execute(written, values))


def _private(path: Path) -> None:
    """Make the file so that only its owner can read it, also where it was more open before."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError as error:
        # The path is not repeated: it may be an address, wrongly written, with a password.
        wrong = f"the file of the accounts cannot be opened: {error.strerror}"
        raise PolicyError(wrong, "see [accounts] url") from None


def _kept(work: Callable[[], T]) -> T:
    """What `work` gives; a failure tells its kind alone, since its message could quote a hash."""
    try:
        return work()
    except Exception as error:
        kind = type(error).__name__
    raise MachineryError(f"the accounts cannot be read or written ({kind})", "see [accounts] url")
