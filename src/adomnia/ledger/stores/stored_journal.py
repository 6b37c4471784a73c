"""What journals in any store share: one writer with group commit, a chain, a derived account."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

from adomnia.errors import LedgerError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import KINDS, ROOT, Entry, Row, chained, parsed, receipt
from adomnia.ledger.journal import Decide, Verification
from adomnia.ledger.stores.store import Mark, Store

__all__ = ["Outcome", "Pending", "StoredJournal"]

# The writer: one thread that commits everything that waits as one batch.
#
# A thread of its own, because a signal (Ctrl-C) reaches only the main thread: no commit is torn
# by one, and nobody waits for a leader that left.

LONGEST = 512
"""Requests in one batch at most, so that nobody waits for a very long one."""


@dataclass(frozen=True)
class Pending:
    """A request that waits for the writer, and where its outcome goes."""

    decide: Decide
    durable: bool
    outcome: Future[tuple[Entry, ...]] = field(default_factory=Future)


class Writer:
    """Hands batches, in the order of arrival, to `commit`, which settles every outcome."""

    def __init__(self, commit: Callable[[list[Pending]], None]) -> None:
        self._commit = commit
        self._queue: SimpleQueue[Pending | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, pending: Pending) -> tuple[Entry, ...]:
        """What was written for this request, once it is."""
        if threading.current_thread() is self._thread:
            raise LedgerError("a decision must not append to the journal itself")
        with self._gate:
            if self._closed:
                raise LedgerError("the ledger was closed")
            self._start()
            self._queue.put(pending)
        return pending.outcome.result()

    def close(self) -> None:
        """Let the waiting requests finish; later ones are refused."""
        with self._gate:
            self._closed = True
            self._queue.put(None)
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, last = self._waiting(first)
            self._commit(batch)
            if last:
                return

    def _waiting(self, first: Pending) -> tuple[list[Pending], bool]:
        """Everything in the queue, and whether the end of it was reached for good."""
        batch = [first]
        try:
            while len(batch) < LONGEST:
                pending = self._queue.get_nowait()
                if pending is None:
                    return batch, True
                batch.append(pending)
        except Empty:
            pass
        return batch, False


CHUNK = 10_000
HEAVY = 50
"""Rows that are read at once, without and with their bodies: an answer can be large."""

Outcome = tuple[Entry, ...] | BaseException
"""What became of one request of a batch: its entries, or why there are none."""


class StoredJournal:
    """A journal over a store (`ledger.md`); see `Journal` for what its methods promise."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mutex = threading.RLock()
        self._writer = Writer(self._commit)
        self._account = Account()
        self._seen: Mark = (0, ROOT)  # the last entry that this process knows to be stored
        _LIVE.add(self)

    def append(self, decide: Decide, durable: bool = True) -> tuple[Entry, ...]:
        """Append what `decide` returns, and come back when it is durable (see `Journal`)."""
        return self._writer.submit(Pending(decide, durable))

    def entries(self, after: int = 0, bodies: Collection[str] | None = None) -> Iterator[Entry]:
        """The entries above number `after`, in order, each checked."""
        kinds = KINDS if bodies is None else bodies
        size, previous = HEAVY if kinds else CHUNK, self._digest(after)
        while rows := self._rows(after, size, kinds):
            for row in rows:
                if row[0] != after + 1:
                    raise LedgerError(f"entry {after + 1} is missing")
                entry = parsed(row if row[2] in kinds else row[:6], previous)
                after, previous = entry.number, entry.digest
                yield entry

    def reservation(self, receipt: str) -> Entry | None:
        """The reservation with this receipt, with its body."""
        use = self.account().use(receipt)
        return None if use is None else self._paid(receipt, use.number)

    def answer(self, receipt: str) -> Mapping[str, Any] | None:
        """What was recorded as the answer to this receipt."""
        account = self.account()
        use = account.use(receipt)
        if use is None or not account.is_answered(receipt):
            return None
        return self._entry(use.answered).body

    def find(self, analyst: str, key: str | None) -> Entry | None:
        """The reservation under this key: the first that was answered, otherwise the latest."""
        use = self.account().find(analyst, key)
        return None if use is None else self._paid(use.receipt, use.number)

    def account(self) -> Account:
        """What all entries so far add up to, those of other processes included."""
        with self._mutex:
            if self._account.number == 0:
                self._read_ahead()
            self._catch_up(*self._store.since(self._account.number))
            return self._account.snapshot()

    def verify(self) -> Verification:
        """Read everything anew and name what is wrong with it; others may go on writing."""
        return self._store.check(self._seen).result()

    def close(self) -> None:
        """Finish what waits and let go of the storage."""
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

    def _rows(self, after: int, limit: int, bodies: Collection[str] = ()) -> list[Row]:
        with self._mutex:
            return self._store.rows(after, limit, bodies)

    def _entry(self, number: int) -> Entry:
        """The entry of this number, with its body."""
        rows = self._rows(number - 1, 1, KINDS)
        if not rows or rows[0][0] != number:
            raise LedgerError(f"entry {number} is missing")
        return parsed(rows[0], self._digest(number - 1))

    def _digest(self, number: int) -> bytes:
        """The digest of an entry, as it is stored; of entry 0, what the first one follows."""
        if number <= 0:
            return ROOT
        rows = self._rows(number - 1, 1)
        if rows and rows[0][0] != number:
            raise LedgerError(f"entry {number} is missing")
        return bytes(rows[0][5]) if rows else ROOT  # above the end there is nothing to check

    def _paid(self, wanted: str, number: int) -> Entry:
        entry = self._entry(number)
        if receipt(entry) != wanted:
            raise LedgerError(f"entry {number} is not the one this process saw")
        return entry

    def _commit(self, batch: list[Pending]) -> None:
        """Write a batch as one transaction and settle every outcome."""
        durable = any(pending.durable for pending in batch)
        try:
            outcomes = self._turn(batch, durable)
        except BaseException as error:  # whoever waits must hear of it
            outcomes = [_copy(error) for _ in batch]
        for pending, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                pending.outcome.set_exception(outcome)
            else:
                pending.outcome.set_result(outcome)

    def _turn(self, batch: list[Pending], durable: bool) -> list[Outcome]:
        """Write a batch, while no other thread or process of this machine does."""
        with self._store.held(), self._mutex:
            return self._write(batch, durable)

    def _write(self, batch: list[Pending], durable: bool) -> list[Outcome]:
        if not self._account.number:
            self._read_ahead()  # long, so not while the others wait
        try:
            with self._store.writing(self._account.number, durable) as (head, rows):
                self._catch_up(head, rows)
                self._not_behind()
                outcomes, written = self._decided(batch, head)
                if written:
                    self._store.insert(written)
        except BaseException:
            self._account = Account()  # it may hold entries that were not written
            raise
        self._seen = (self._account.number, self._account.digest)
        if durable and written:  # committing nothing syncs nothing
            self._store.note(self._seen)
        return outcomes

    def _decided(self, batch: list[Pending], head: Mark) -> tuple[list[Outcome], list[Entry]]:
        """The outcome of each request, in order, and all entries that are to be written."""
        outcomes: list[Outcome] = []
        written: list[Entry] = []
        for pending in batch:
            try:
                entries = self._chained(pending.decide)
            except Exception as error:
                outcomes.append(error)
                continue
            try:
                self._take(entries)
            except Exception as error:
                outcomes.append(error)
                self._account = Account()  # it may hold some of them, or half of one
                self._catch_up(head, self._store.rows(0))
                self._take(written)
                continue
            outcomes.append(entries)
            written.extend(entries)
        return outcomes, written

    def _chained(self, decide: Decide) -> tuple[Entry, ...]:
        """The entries of one request, at the end of the chain."""
        entries: list[Entry] = []
        number, digest = self._account.number, self._account.digest
        for record in decide(self._account):
            number += 1
            entries.append(chained(record, number, digest))
            digest = entries[-1].digest
        return tuple(entries)

    def _take(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._account.add(entry)

    def _catch_up(self, head: Mark, rows: Sequence[Row]) -> None:
        """Add what was written since, by whichever process, and check that it is all."""
        if head[0] < self._seen[0]:
            raise _behind(head[0], f"this process saw entry {self._seen[0]}")
        self._replay(rows)
        if head != (self._account.number, self._account.digest):
            raise LedgerError(
                f"the journal ends at {self._account.number} but its head says {head[0]}",
                hint="adomnia ledger --verify names what is wrong",
            )
        self._seen = head

    def _read_ahead(self) -> None:
        """Add most of a long journal a part at a time, so that it is never in memory as a whole.

        What is left, and that it ends where its head says, is for `_catch_up`.
        """
        while len(rows := self._store.rows(self._account.number, CHUNK)) == CHUNK:
            self._replay(rows)

    def _replay(self, rows: Sequence[Row]) -> None:
        place = self._seen[0] - self._account.number - 1
        if 0 <= place < len(rows) and rows[place][5] != self._seen[1]:
            raise LedgerError(f"entry {self._seen[0]} is not the one this process saw")
        try:
            self._account.replay(rows)
        except BaseException:
            self._account = Account()  # it may hold some of them, or half of one
            raise

    def _not_behind(self) -> None:
        """Refuse to write where entries that were durable are gone: they would be spent twice."""
        anchor = self._store.anchor()
        if anchor is None or anchor == self._seen:
            return
        if anchor[0] > self._account.number:
            raise _behind(self._account.number, f"the anchor says {anchor[0]}")
        noted = self._store.rows(anchor[0] - 1, 1)
        if not noted or noted[0][5] != anchor[1]:
            raise LedgerError(
                f"the anchor does not match entry {anchor[0]}",
                hint="this is another history: restore the ledger that the anchor belongs to",
            )

    def _after_fork(self) -> None:
        """Begin anew in the child: the writer's thread and the lock stayed with the parent."""
        self._mutex = threading.RLock()
        self._writer = Writer(self._commit)
        self._store.forked()


def _behind(end: int, but: str) -> LedgerError:
    return LedgerError(
        f"the journal ends at {end} but {but}",
        hint="restore the whole ledger, with its log, from the newest backup",
    )


def _copy(error: BaseException) -> BaseException:
    """The same failure for each who waits: one exception raised in many threads mixes traces."""
    if isinstance(error, LedgerError):
        copy: BaseException = LedgerError(error.message, error.hint)
    else:
        copy = LedgerError(f"the ledger failed: {type(error).__name__}")
    copy.__cause__ = error
    return copy


_LIVE: WeakSet[StoredJournal] = WeakSet()
_FORKING: list[StoredJournal] = []


def _before_fork() -> None:
    """No connection crosses a fork.

    SQLite forbids using, and even closing, one in the child; of a connection to a server, the
    child's end would close the parent's.
    """
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
