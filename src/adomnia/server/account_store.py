"""Where accounts are stored: a SQLite file, or a PostgreSQL server. Both keep text and numbers."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from adomnia.errors import MachineryError, PolicyError

__all__ = ["PostgresStore", "SqliteStore", "Store", "open_store"]

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


class Store(Protocol):
    """Statements over the three tables; parameters are written `?`, each statement is durable."""

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """What the statement selects."""

    def change(self, statement: str, *values: Any) -> int:
        """How many rows the statement has changed."""

    def close(self) -> None:
        """Let go of it."""


def open_store(url: str) -> Store:
    """The store at an address: `postgresql://…`, or the path of a file that is made if missing."""
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresStore(url)
    if "://" in url:
        hint = 'a file such as "adomnia.accounts", or postgresql://…'
        raise PolicyError("accounts cannot be stored there", hint)
    return SqliteStore(Path(url))


class SqliteStore:
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


class PostgresStore:
    """Accounts on a PostgreSQL server; a line that broke is opened again once.

    They are in the schema `public`, whatever the role's search path: tables of the same names
    elsewhere, which a stranger may have made, let nobody in.
    """

    def __init__(self, url: str) -> None:
        self._url, self._lock = url, threading.Lock()
        self._line: Any = None
        if self.rows("SELECT 1 WHERE to_regclass('adomnia_facts') IS NULL"):
            for statement in TABLES:
                self.change(statement)

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """What the statement selects."""
        with self._lock:
            return _kept(lambda: self._execute(statement, values).fetchall())

    def change(self, statement: str, *values: Any) -> int:
        """How many rows the statement has changed."""
        with self._lock:
            return _kept(lambda: int(self._execute(statement, values).rowcount))

    def close(self) -> None:
        """Close the line."""
        with self._lock:
            if self._line is not None:
                self._line.close()

    def _execute(self, statement: str, values: tuple[Any, ...]) -> Any:
        import psycopg  # noqa: PLC0415 (an extra)

        spelled = statement.replace("?", "%s").replace("adomnia_", "public.adomnia_")
        if self._line is not None:
            try:
                return self._line.execute(spelled, values)
            except psycopg.OperationalError:
                self._line.close()
        self._line = psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=10,
            prepare_threshold=None,  # a pool in between may forget what was prepared
        )
        return self._line.execute(spelled, values)


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
