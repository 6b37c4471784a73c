"""The journal in a SQLite file: for any number of threads and processes of one machine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from adomnia.errors import LedgerError
from adomnia.ledger.check import Check
from adomnia.ledger.entry import FORMAT, ROOT, Entry, Row, canonical, chained, opened
from adomnia.ledger.journal import Journal
from adomnia.ledger.stores.store import Lock, Mark, Since, earlier, only_head, unusable
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
            make(path, journal.entries())
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
                self._connection = connect(self.path)
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
            return rows(
                self.connection,
                f"SELECT number, at, kind, head, body_digest, digest{body} FROM journal"  # noqa: S608
                " WHERE number > ? ORDER BY number LIMIT ?",
                (*bodies, after, -1 if limit is None else limit),
            )

    def insert(self, entries: Sequence[Entry]) -> None:
        """Write entries and the new head, inside a transaction."""
        with _failures(self.path):
            insert(self.connection, entries)

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
            with _failures(self.path), closing(connect(self.path)) as connection:
                read(connection, check)
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
                begin(self.path, opening)


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


# The SQLite file itself: how one is made whole or not at all, recognised, and written.
#
# Nothing here opens the file but SQLite: closing any other descriptor of it would drop the locks
# that SQLite has on it in this process, and another process could take its log away.

APPLICATION = 0x41444F4D  # "ADOM"
PATIENCE = 60.0  # seconds; only a foreign program can make us wait in SQLite itself
TABLES = """
    CREATE TABLE journal (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL,
                          head TEXT NOT NULL, body_digest BLOB, digest BLOB NOT NULL, body TEXT);
    CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER, digest BLOB);
    INSERT INTO head VALUES (1, 0, x'');
"""
ROWS = "SELECT number, at, kind, head, body_digest, digest, body FROM journal ORDER BY number"


def make(path: Path, entries: Iterable[Entry]) -> None:
    """Make a ledger with these entries, under another name, and move it into place."""
    if path.with_name(path.name + "-wal").exists():
        raise LedgerError(
            f"{path} is gone but its write-ahead log is still here",
            hint="restore the ledger, or move the log away to begin anew",
        )
    _build(new := path.with_name(path.name + ".new"), entries)
    new.rename(path)
    _sync(path.parent)


def begin(path: Path, more: Mapping[str, Any] | None = None) -> None:
    """Make a ledger that holds its opening, which says this as well."""
    make(path, [chained(opened(more), 1, ROOT)])


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the ledger; anything else at this path is refused."""
    _inspect(path)
    try:
        return _recognised(_connection(path, "mode=rw"), path)
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK) or path.with_name(path.name + "-wal").exists():
            raise
        # A reader who may not write here: without a log everything is in the one file.
        return _recognised(_connection(path, "mode=ro&immutable=1"), path)


def insert(connection: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Write entries and the new head, inside a transaction."""
    connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)", map(_row, entries))
    connection.execute(
        "UPDATE head SET (number, digest) ="
        " (SELECT number, digest FROM journal ORDER BY number DESC LIMIT 1)"
    )


def read(connection: sqlite3.Connection, check: Check) -> None:
    """Hand everything in the file, in one consistent view, to a check."""
    connection.execute("BEGIN")
    with _lenient(connection):
        check.rows(connection.execute(ROWS))
    heads = connection.execute("SELECT number, digest FROM head").fetchall()
    if len(heads) == 1:
        check.end(*heads[0])
    else:
        check.problem("the head is missing")
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            check.problem(f"SQLite: {line}")


def _inspect(path: Path) -> None:
    """Refuse what cannot be a ledger, before SQLite sees it."""
    if path.is_dir():
        raise LedgerError(f"{path} is a directory, not a ledger")
    if not path.exists():
        raise LedgerError(f"there is no ledger at {path}")
    if not os.access(path, os.R_OK):
        raise LedgerError(f"the ledger {path} may not be read by this user")
    if path.stat().st_size == 0:
        raise LedgerError(
            f"{path} is empty, not a ledger", hint="restore it, or remove it to begin anew"
        )


def _connection(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=PATIENCE,
    )
    return connection


def rows(connection: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> list[Row]:
    """What a statement selects; broken text is replaced, so that the entry's check names it."""
    try:
        return connection.execute(statement, values).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
    with _lenient(connection):
        return connection.execute(statement, values).fetchall()


@contextmanager
def _lenient(connection: sqlite3.Connection) -> Iterator[None]:
    """Read broken text as well; not always, because each text then is a call of Python."""
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        connection.text_factory = str


def _recognised(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """The connection, if what it leads to is a ledger."""
    try:
        if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise LedgerError(f"{path} is a SQLite file, but not a ledger")
        _refuse_format(connection.execute("PRAGMA user_version").fetchone()[0], path)
        connection.execute("SELECT COUNT(*) FROM sqlite_master")  # reads what a pragma does not
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_format(version: int, path: Path) -> None:
    """Refuse a ledger of another format; 0 is what files of before were marked with."""
    if version == 0:
        raise earlier(path)
    if version != FORMAT:
        raise LedgerError(
            f"the ledger {path} has a format that this version does not know",
            hint="use the version that wrote it, or a newer one",
        )


def _row(entry: Entry) -> Row:
    head = canonical(entry.head)
    before = (entry.number, entry.moment, entry.kind, head, entry.body_digest, entry.digest)
    return (*before, entry.text)


def _build(path: Path, entries: Iterable[Entry]) -> None:
    """Make a ledger with its entries, readable by its owner alone."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(_connection(path, "mode=rw")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION};"
            f" PRAGMA user_version = {FORMAT}; {TABLES}"
        )
        insert(connection, entries)
        connection.execute("COMMIT")


def _sync(folder: Path) -> None:
    """Put the new name itself on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
