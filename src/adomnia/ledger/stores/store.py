"""The protocol of a store: what a journal needs of the storage that holds its entries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from adomnia.errors import LedgerError
from adomnia.ledger.check import Check
from adomnia.ledger.entry import Entry, Row

__all__ = ["Mark", "Since", "Store", "earlier", "only_head"]

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
