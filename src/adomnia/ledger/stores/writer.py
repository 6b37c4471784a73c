"""The writer: one thread that commits everything that waits as one batch.

A thread of its own, because a signal (Ctrl-C) reaches only the main thread: no commit is torn
by one, and nobody waits for a leader that left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from adomnia.errors import LedgerError
from adomnia.ledger.entry import Entry
from adomnia.ledger.journal import Decide

__all__ = ["LONGEST", "Pending", "Writer"]

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
