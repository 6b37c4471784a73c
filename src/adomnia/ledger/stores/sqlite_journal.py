"""The journal in a SQLite file: for any number of threads and processes of one machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from adomnia.errors import LedgerError
from adomnia.ledger.check import Check
from adomnia.ledger.entry import Entry, Row
from adomnia.ledger.journal import Journal
from adomnia.ledger.stores import sqlite_file
from adomnia.ledger.stores.store import Lock, Mark, Since, only_head, unusable
from adomnia.ledger.stores.stored_journal import StoredJournal

__all__ = ["SqliteJournal", "SqliteStore"]


class SqliteJournal(StoredJournal):
    """A journal in one file and its lock file (`ledger.md`)."""

    _store: SqliteStore

    def __init__(
        self, path: str | Path, create: bool = True, opening: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(SqliteStore(Path(path), create, opening))

    @classmethod
    def open(
        cls, path: str | Path, create: bool = True, opening: Mapping[str, Any] | None = None
    ) -> Self:
        """The journal at this path; a missing one is made only with `create`.

        `opening` is what the first entry of a new one says: of which data it is, and budgets.
        """
        return cls(path, create, opening)

    @classmethod
    def found(cls, path: Path) -> Self | None:
        """The journal at this path; None where none was ever made."""
        if path.exists():
            return cls(path, create=False)
        _lock(path).never_made()
        return None

    @classmethod
    def copied(cls, journal: Journal, path: Path) -> Self:
        """A new journal at this path, with all entries of another."""
        with _failures(path):
            sqlite_file.make(path, journal.entries())
        return cls(path, create=False)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._store.path


class SqliteStore:
    """The file and its lock."""

    def __init__(self, path: Path, create: bool, opening: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.lock = _lock(path)
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        try:
            with _failures(path):
                if create and not path.exists():
                    self._make(opening)
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
            with _failures(self.path):
                self._connection = sqlite_file.connect(self.path)
        return self._connection

    def disconnect(self) -> None:
        """Let go of the connection; the next use makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def forked(self) -> None:
        """Leave the lock to the parent."""
        self.lock.close()

    def close(self) -> None:
        """Let go of everything for good."""
        self._closed = True
        self.disconnect()
        self.lock.close()

    def held(self) -> AbstractContextManager[None]:
        """Be the only writer of all processes."""
        return self.lock.held()

    @contextmanager
    def writing(self, after: int, durable: bool) -> Iterator[Since]:
        """One transaction; on disk afterwards if it is durable."""
        with _failures(self.path):
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._head(), self.rows(after)
            with _failures(self.path):
                self.connection.execute("COMMIT")
        except BaseException:
            self.disconnect()  # rolls back, also where ROLLBACK itself would fail
            raise

    def since(self, after: int) -> Since:
        """What is new, in one consistent view of the file."""
        with _failures(self.path):
            self.connection.execute("BEGIN")
            try:
                return self._head(), self.rows(after)
            finally:
                self.connection.execute("ROLLBACK")

    def rows(self, after: int, limit: int | None = None, bodies: Collection[str] = ()) -> list[Row]:
        """The rows above number `after`, in order, with the bodies of entries of these kinds."""
        kinds = ", ".join("?" * len(bodies))
        body = f", CASE WHEN kind IN ({kinds}) THEN body END" if bodies else ""
        with _failures(self.path):
            return sqlite_file.rows(
                self.connection,
                f"SELECT number, at, kind, head, body_digest, digest{body} FROM journal"  # noqa: S608
                " WHERE number > ? ORDER BY number LIMIT ?",
                (*bodies, after, -1 if limit is None else limit),
            )

    def insert(self, entries: Sequence[Entry]) -> None:
        """Write entries and the new head, inside a transaction."""
        with _failures(self.path):
            sqlite_file.insert(self.connection, entries)

    def anchor(self) -> Mark | None:
        """The last durable entry, as noted in the lock file."""
        return self.lock.anchor()

    def note(self, last: Mark) -> None:
        """Note the last durable entry in the lock file."""
        self.lock.note(*last)

    def check(self, seen: Mark) -> Check:
        """What a reading of everything, over a connection of its own, finds."""
        check = Check()
        try:
            # The anchor first: it is written after the entries, so it is never ahead of them.
            anchor = self.lock.settled()
            with _failures(self.path), closing(sqlite_file.connect(self.path)) as connection:
                sqlite_file.read(connection, check)
            check.marks(anchor, seen)
        except LedgerError as error:
            check.problem(error.message)
        return check

    def _head(self) -> Mark:
        """The last entry, as noted in the database."""
        with _failures(self.path):
            rows = self.connection.execute("SELECT number, digest FROM head").fetchall()
        return only_head(rows, self.path)

    def _make(self, opening: Mapping[str, Any] | None) -> None:
        with self.lock.held():
            if not self.path.exists():  # or another process was first
                self.lock.never_made()
                sqlite_file.begin(self.path, opening)


def _lock(path: Path) -> Lock:
    with unusable(path):
        return Lock(path.with_name(path.name + ".lock"), path)


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    """Turn what the database or the file system raises into one line for a person."""
    try:
        with unusable(path):
            yield
    except sqlite3.Error as error:
        raise LedgerError(f"the ledger {path} cannot be used: SQLite: {error}") from error
