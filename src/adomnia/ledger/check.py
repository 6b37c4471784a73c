"""Checking a journal line by line, trusting nothing, and naming what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from adomnia.errors import LedgerError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import ROOT, Row, parsed
from adomnia.ledger.journal import Verification

__all__ = ["Check"]

SHOWN = 100


@dataclass
class Check:
    """The state of one reading: all `rows` in order, then `end` and `marks`, then `result`."""

    count: int = 0
    last: int = 0
    digests: list[bytes] = field(default_factory=lambda: [ROOT])
    problems: list[str] = field(default_factory=list)
    account: Account = field(default_factory=Account)

    def rows(self, rows: Iterable[Row]) -> None:
        """Check every row, its body with it, against its digest and the row before."""
        for row in rows:
            self.count += 1
            if self._follows(row):
                self._content(row)
            self._pass(row)

    def mark(self, name: str, number: object, digest: object) -> None:
        """Check what was noted elsewhere as the end of the journal (or as an earlier entry)."""
        if not isinstance(number, int) or number > self.last or number < 0:
            self.problem(f"the journal ends at {self.last} but {name} says {number}")
        elif self._digest(number) != digest:
            self.problem(f"{name} does not match entry {number}")

    def marks(self, anchor: tuple[int, bytes] | None, seen: tuple[int, bytes]) -> None:
        """Check what was noted outside the storage, and what was seen in it before."""
        if anchor is not None:
            self.mark("the anchor", *anchor)
        if seen[0]:
            self.mark("the memory of this process", *seen)

    def end(self, number: object, digest: object) -> None:
        """Check the head, which must be the very last entry."""
        if isinstance(number, int) and number < self.last:
            self.problem(f"the journal ends at {self.last} but its head says {number}")
        else:
            self.mark("its head", number, digest)

    def problem(self, text: str) -> None:
        """Note one more thing that is wrong."""
        self.problems.append(text)

    def result(self) -> Verification:
        """What was found, the first hundred problems by name."""
        more = len(self.problems) - SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        return Verification(self.count, (*self.problems[:SHOWN], *rest))

    def _follows(self, row: Row) -> bool:
        """Whether the row before is there; what it says is checked with its digest alone."""
        number = row[0]
        if not isinstance(number, int) or number <= self.last:
            self.problem(f"entry {number}: it is out of order")
            return False
        gap = range(self.last + 1, number)
        if len(gap) == 1:
            self.problem(f"entry {gap[0]} is missing")
        elif gap:
            self.problem(f"entries {gap[0]} to {gap[-1]} are missing")
        if gap:
            self.problem(f"entry {number}: it cannot be checked without the entry before")
        return not gap

    def _content(self, row: Row) -> None:
        """Name what is wrong with the row itself; while all is well, add it up as well."""
        try:
            entry = parsed(row, self.digests[-1])
            _ = entry.body  # it is JSON
            if not self.problems:
                self.account.add(entry)
        except LedgerError as error:
            self.problem(error.message)

    def _pass(self, row: Row) -> None:
        number, digest = row[0], row[5]
        if isinstance(number, int) and number > self.last:
            self.last = number
            self.digests.append(digest if isinstance(digest, bytes) else b"")

    def _digest(self, number: int) -> bytes | None:
        """The stored digest of an entry; with entries missing only that of the last is known."""
        if number == self.last:
            return self.digests[-1]
        return self.digests[number] if self.count == self.last else None
