"""The protocol of a store: what a journal needs of the storage that holds its entries; its lock."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from adomnia.errors import LedgerError
from adomnia.ledger.check import Check
from adomnia.ledger.entry import Entry, Row

__all__ = ["Lock", "Mark", "Since", "Store", "earlier", "only_head", "unusable"]

Mark = tuple[int, bytes]
"""The number and digest of an entry: all that is before it is held by it."""

Since = tuple[Mark, list[Row]]
"""The end, and the rows above a number, in order: what a journal that stood there has missed."""


class Store(Protocol):
    """One process's way to the storage. Not safe for several threads: the journal takes turns."""

    def held(self) -> AbstractContextManager[None]:
        """Queue with the other writers of this machine; taken before the journal's own turn."""
        ...

    def writing(self, after: int, durable: bool) -> AbstractContextManager[Since]:
        """One transaction, alone among all writers: gives what is new above number `after`, and
        commits at its end.

        Durable afterwards, if that was asked. What is raised inside, or by the commit, means
        that nothing was stored, or that nobody can know.
        """
        ...

    def since(self, after: int) -> Since:
        """What is new above number `after`, in one consistent view."""
        ...

    def rows(self, after: int, limit: int | None = None, bodies: Collection[str] = ()) -> list[Row]:
        """The rows (number, at, kind, head, body digest, digest) above `after`, in order.

        With `bodies`, each has a last column: the body of an entry of these kinds, else None.
        """
        ...

    def insert(self, entries: Sequence[Entry]) -> None:
        """Write entries and the new head, while writing."""
        ...

    def anchor(self) -> Mark | None:
        """The last entry noted outside the storage itself; None where nothing is."""
        ...

    def note(self, last: Mark) -> None:
        """Note the last durable entry outside the storage itself, while the queue is held."""
        ...

    def check(self, seen: Mark) -> Check:
        """What a reading of everything, over a connection of its own, finds.

        `seen` is the last entry that this process knows to have been there.
        """
        ...

    def disconnect(self) -> None:
        """Let go of the connection; the next use makes a new one."""
        ...

    def forked(self) -> None:
        """Forget, in a child, what stayed with the parent."""
        ...

    def close(self) -> None:
        """Let go of everything for good."""
        ...


def only_head(rows: Sequence[Row], ledger: object) -> Mark:
    """The head, of what was found in its table; anything but a number and a digest is damage."""
    if len(rows) != 1 or not isinstance(rows[0][0], int) or not isinstance(rows[0][1], bytes):
        raise LedgerError(f"the ledger {ledger} is damaged: its head is missing")
    return rows[0][0], rows[0][1]


def earlier(ledger: object) -> LedgerError:
    """What is said of a ledger of the format that was never published."""
    return LedgerError(
        f"the ledger {ledger} was written by version 0.1, whose format is not read any more",
        hint="begin a new one: move it away, and lower the budget by what was spent with it",
    )


# The lock file of a ledger: where writers queue, and where the end of the journal is noted.
#
# Writers of all processes of a machine wait on it (a blocking lock, where SQLite would poll). It
# also holds the *anchor*, the number and digest of the last durable entry: a lost write-ahead
# log, or an old backup of a database, takes the head inside the database with it, but not this.

DIGEST = re.compile(r"[0-9a-f]{64}")


@contextmanager
def unusable(ledger: object) -> Iterator[None]:
    """Turn what the file system raises into one line for a person."""
    try:
        yield
    except (OSError, ValueError) as error:  # a ValueError is a path no file can have
        reason = getattr(error, "strerror", None) or str(error)
        raise LedgerError(f"the ledger {ledger} cannot be used: {reason}") from error


class Lock:
    """The lock at `path` of a ledger. One thread of a process at a time may hold it."""

    def __init__(self, path: Path, ledger: object) -> None:
        self._path = path
        self._ledger = ledger
        self._descriptor: int | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only writer of all processes."""
        with unusable(self._ledger):
            lock = self._open()
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file without unlocking: after a fork the lock is still the parent's."""
        lock, self._descriptor = self._descriptor, None
        if lock is not None:
            os.close(lock)

    def anchor(self) -> tuple[int, bytes] | None:
        """The last durable entry; None where nothing is noted."""
        with unusable(self._ledger):
            text = self._text().decode("ascii", "replace")
        if not text:
            return None
        number, _, digest = text.strip().partition(" ")
        if not number.isdecimal() or not DIGEST.fullmatch(digest):
            raise LedgerError(
                f"{self._path} is damaged", hint="verify the ledger, then remove this file"
            )
        return int(number), bytes.fromhex(digest)

    def settled(self) -> tuple[int, bytes] | None:
        """The anchor, read until two readings agree: a writer may be in the middle of it."""
        anchor = self.anchor()
        while (again := self.anchor()) != anchor:
            anchor = again
        return anchor

    def note(self, number: int, digest: bytes) -> None:
        """Note the last durable entry."""
        with unusable(self._ledger):
            os.pwrite(self._open(), f"{number:020d} {digest.hex()}\n".encode(), 0)

    def never_made(self) -> None:
        """Refuse to take a ledger that is gone for one that was never made: its anchor remains."""
        if self.anchor() is not None:
            raise LedgerError(
                f"the ledger {self._ledger} is gone, and what was spent with it",
                hint=f"restore it, or remove {self._path} to begin anew",
            )

    def _open(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(self._path, flags, 0o600)
        return self._descriptor

    def _text(self) -> bytes:
        if self._descriptor is not None:
            return os.pread(self._descriptor, 200, 0)
        return self._path.read_bytes()[:200] if self._path.exists() else b""
