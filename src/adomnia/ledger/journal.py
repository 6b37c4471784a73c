"""The protocol of a journal: an append-only list of entries with one writer at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry, Record

__all__ = ["Decide", "Journal", "Verification"]

Decide = Callable[[Account], Sequence[Record]]
"""What to append, given everything that was appended before.

It must not call the journal. It may be called again, where its first answer was not stored.
"""


@dataclass(frozen=True)
class Verification:
    """What a full reading of the journal found: how many entries, and every problem by name.

    >>> Verification(3, ("entry 2 is missing",)).ok
    False
    """

    count: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


class Journal(Protocol):
    """Where entries are kept; the laws are in `tests/laws/test_journal.py`."""

    def append(self, decide: Decide, durable: bool = True) -> tuple[Entry, ...]:
        """Run `decide` alone, on the account of every entry so far, and append what it returns.

        Comes back when the entries are on disk (with `durable=False`: when they survive the
        death of the process, though perhaps not a loss of power). If `decide` raises, nothing
        is appended and the caller gets the exception.
        """
        ...

    def entries(self, after: int = 0, bodies: Collection[str] | None = None) -> Iterator[Entry]:
        """The entries above number `after`, in order, each checked against its digest.

        Bodies are read with them, or only those of these kinds of entries.
        """
        ...

    def reservation(self, receipt: str) -> Entry | None:
        """The reservation with this receipt, with its body."""
        ...

    def answer(self, receipt: str) -> Mapping[str, Any] | None:
        """What was recorded as the answer to this receipt."""
        ...

    def find(self, analyst: str, key: str | None) -> Entry | None:
        """The reservation under this key: the first that was answered, otherwise the latest."""
        ...

    def account(self) -> Account:
        """What all entries so far add up to; it does not change afterwards."""
        ...

    def verify(self) -> Verification:
        """Read everything anew, trusting nothing, and say what is wrong."""
        ...

    def close(self) -> None:
        """Finish what waits and let go of the storage; using the journal again is an error."""
        ...
