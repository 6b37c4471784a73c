"""The journal in a SQLite file: one writer with group commit, durable before it comes back."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self
from weakref import WeakSet

from adomnia.errors import LedgerError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry, chained, parsed
from adomnia.ledger.journal import Decide, Verification
from adomnia.ledger.store import Store
from adomnia.ledger.writer import Pending, Writer

__all__ = ["SqliteJournal"]

CHUNK = 1000


class SqliteJournal:
    """A journal for any number of threads and processes of one machine (`ledger.md`)."""

    def __init__(self, path: str | Path, create: bool = True) -> None:
        self._store = Store(Path(path), create)
        self._mutex = threading.RLock()
        self._writer = Writer(self._commit)
        self._account = Account()
        _LIVE.add(self)

    @classmethod
    def open(cls, path: str | Path, create: bool = True) -> Self:
        """The journal at this path; a missing one is made only with `create`."""
        return cls(path, create)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._store.path

    def append(self, decide: Decide, durable: bool = True) -> tuple[Entry, ...]:
        """Append what `decide` returns, and come back when it is on disk (see `Journal`)."""
        return self._writer.submit(Pending(decide, durable))

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries above number `after`, in order, each checked."""
        while rows := self._rows(after):
            for row in rows:
                entry = parsed(row)
                if entry.number != after + 1:
                    raise LedgerError(f"entry {after + 1} is missing")
                after = entry.number
                yield entry

    def account(self) -> Account:
        """What all entries so far add up to, those of other processes included."""
        with self._mutex, self._store.reading():
            self._catch_up()
            return self._account.snapshot()

    def verify(self) -> Verification:
        """Read the whole file anew and name what is wrong with it; others may go on writing."""
        return self._store.check().result()

    def close(self) -> None:
        """Finish what waits and let go of the file."""
        self._writer.close()
        with self._mutex:
            self._store.close()
        _LIVE.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _rows(self, after: int) -> list[tuple[object, ...]]:
        with self._mutex:
            return self._store.rows(after, CHUNK)

    def _commit(self, batch: list[Pending]) -> None:
        """Write a batch as one transaction and settle every outcome."""
        durable = any(pending.durable for pending in batch)
        try:
            with self._store.lock.held(), self._mutex:
                outcomes = self._write(batch, durable)
        except BaseException as error:  # whoever waits must hear of it
            outcomes = [_copy(error) for _ in batch]
        for pending, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                pending.outcome.set_exception(outcome)
            else:
                pending.outcome.set_result(outcome)

    def _write(
        self, batch: list[Pending], durable: bool
    ) -> list[tuple[Entry, ...] | BaseException]:
        try:
            with self._store.writing(durable):
                self._catch_up()
                self._not_behind()
                before = self._account.number
                outcomes = [self._decided(pending.decide) for pending in batch]
        except BaseException:
            self._account = Account()  # it may hold entries that were not written
            raise
        if durable and self._account.number > before:  # committing nothing syncs nothing
            self._store.lock.note(self._account.number, self._account.digest)
        return outcomes

    def _decided(self, decide: Decide) -> tuple[Entry, ...] | BaseException:
        """The entries of one request, written inside the transaction; or why there are none."""
        try:
            records = decide(self._account)
            entries: list[Entry] = []
            number, digest = self._account.number, self._account.digest
            for record in records:
                number += 1
                entries.append(chained(record, number, digest))
                digest = entries[-1].digest
            self._take(entries)
        except Exception as error:
            return error
        if entries:
            self._store.insert(entries)
        return tuple(entries)

    def _take(self, entries: list[Entry]) -> None:
        """Add all of the entries to the account, or none."""
        try:
            for entry in entries:
                self._account.add(entry)
        except LedgerError:
            self._account = Account()
            self._catch_up()
            raise

    def _catch_up(self) -> None:
        """Add what was written since, by whichever process, and check that it is all."""
        number, digest = self._store.head()
        if number != self._account.number:
            for row in self._store.rows(self._account.number):
                self._account.add(parsed(row))
        if (number, digest) != (self._account.number, self._account.digest):
            raise LedgerError(
                f"the journal ends at {self._account.number} but its head says {number}",
                hint="adomnia ledger --verify names what is wrong",
            )

    def _not_behind(self) -> None:
        """Refuse to write where entries that were durable are gone: they would be spent twice."""
        anchor = self._store.lock.anchor()
        if anchor is not None and anchor[0] > self._account.number:
            raise LedgerError(
                f"the journal ends at {self._account.number} but the anchor says {anchor[0]}",
                hint="restore the ledger with its write-ahead log from a backup",
            )

    def _after_fork(self) -> None:
        """Begin anew in the child: the writer's thread and the lock stayed with the parent."""
        self._mutex = threading.RLock()
        self._writer = Writer(self._commit)
        self._store.lock.close()


def _copy(error: BaseException) -> BaseException:
    """The same failure for each who waits: one exception raised in many threads mixes traces."""
    if isinstance(error, LedgerError):
        copy: BaseException = LedgerError(error.message, error.hint)
    else:
        copy = LedgerError(f"the ledger failed: {type(error).__name__}")
    copy.__cause__ = error
    return copy


_LIVE: WeakSet[SqliteJournal] = WeakSet()
_FORKING: list[SqliteJournal] = []


def _before_fork() -> None:
    """No connection crosses a fork: SQLite forbids using, and even closing, one in the child."""
    _FORKING[:] = list(_LIVE)
    for journal in _FORKING:
        journal._mutex.acquire()
        journal._store.disconnect()


def _in_parent() -> None:
    for journal in _FORKING:
        journal._mutex.release()


def _in_child() -> None:
    for journal in _FORKING:
        journal._after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
