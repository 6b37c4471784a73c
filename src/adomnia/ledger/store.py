"""The store: one process's connection to the file of a journal, and its transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from adomnia.errors import LedgerError
from adomnia.ledger import file
from adomnia.ledger.check import Check
from adomnia.ledger.entry import Entry
from adomnia.ledger.lock import Lock, failures

__all__ = ["Store"]


class Store:
    """The file and its lock. Not safe for several threads: the journal takes turns."""

    def __init__(self, path: Path, create: bool) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        with failures(path):
            self.lock = Lock(path)
        try:
            with failures(path):
                if create and not path.exists():
                    self._make()
            _ = self.connection  # what is no ledger is refused now, not at the first question
        except LedgerError:
            self.close()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this process."""
        if self._closed:
            raise LedgerError("the ledger was closed")
        if self._connection is None:
            with failures(self.path):
                self._connection = file.connect(self.path)
        return self._connection

    def disconnect(self) -> None:
        """Let go of the connection; the next use makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def close(self) -> None:
        """Let go of everything for good."""
        self._closed = True
        self.disconnect()
        self.lock.close()

    @contextmanager
    def writing(self, durable: bool) -> Iterator[None]:
        """One transaction; on disk afterwards if it is durable."""
        with failures(self.path):
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with failures(self.path):
                self.connection.execute("COMMIT")
        except BaseException:
            self.disconnect()  # rolls back, also where ROLLBACK itself would fail
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent view of the file."""
        with failures(self.path):
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("ROLLBACK")

    def rows(self, after: int, limit: int = -1) -> list[tuple[Any, ...]]:
        """The rows above number `after`, in order."""
        with failures(self.path):
            return self.connection.execute(
                "SELECT number, at, kind, body, previous, digest FROM journal"
                " WHERE number > ? ORDER BY number LIMIT ?",
                (after, limit),
            ).fetchall()

    def head(self) -> tuple[int, str]:
        """The number and digest of the last entry, as noted in the database."""
        with failures(self.path):
            rows = self.connection.execute("SELECT number, digest FROM head").fetchall()
        if len(rows) != 1:
            raise LedgerError(f"the ledger {self.path} is damaged: its head is missing")
        return rows[0][0], rows[0][1]

    def insert(self, entries: Sequence[Entry]) -> None:
        """Write entries and the new head, inside a transaction."""
        with failures(self.path):
            file.insert(self.connection, entries)

    def check(self) -> Check:
        """What a reading of everything, over a connection of its own, finds."""
        check = Check()
        try:
            # The anchor first: it is written after the entries, so it is never ahead of them.
            anchor = self.lock.settled()
            with failures(self.path), closing(file.connect(self.path)) as connection:
                file.read(connection, check)
            if anchor is not None:
                check.mark("the anchor", *anchor)
        except LedgerError as error:
            check.problem(error.message)
        return check

    def _make(self) -> None:
        with self.lock.held():
            if self.path.exists():
                return  # another process was first
            if self.lock.anchor() is not None:
                raise LedgerError(
                    f"{self.path} is gone, and what was spent with it",
                    hint=f"restore it, or remove {self.path}.lock to begin anew",
                )
            file.make(self.path)
