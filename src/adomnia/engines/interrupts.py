"""Interrupts: a statement that runs in one thread can be ended from another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from adomnia.errors import CancelledError

__all__ = ["Interrupts", "interruptible", "watched"]

SPENT = "what was reserved stays spent; ask again with what is left"
AGAIN = 0.2  # seconds


class Interrupts:
    """What to call so that the statements of one question end; it may be used by any thread."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._running: list[Callable[[], object]] = []
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the question shall end."""
        return self._ended

    def check(self) -> None:
        """Refuse to go on where the question shall end."""
        if self._ended:
            raise CancelledError("the question was cancelled", SPENT)

    def interrupt(self) -> None:
        """End what runs, and whatever would run next."""
        with self._mutex:
            first, self._ended = not self._ended, True
        if self._stop() and first:
            threading.Thread(target=self._insist, daemon=True).start()

    def _insist(self) -> None:
        """A statement that had not quite begun when it was told to end is told again."""
        while self._stop():
            time.sleep(AGAIN)

    def _stop(self) -> bool:
        """Tell what runs to end; whether there was anything."""
        with self._mutex:  # so nothing is told that has let go of its connection
            for stop in self._running:
                with suppress(Exception):  # it may have ended by itself
                    stop()
            return bool(self._running)

    @contextmanager
    def running(self, stop: Callable[[], object]) -> Iterator[None]:
        """While the block runs, `stop` ends it."""
        with self._mutex:
            self.check()
            self._running.append(stop)
        try:
            yield
        finally:
            with self._mutex:
                self._running.remove(stop)


_current: ContextVar[Interrupts | None] = ContextVar("interrupts", default=None)


@contextmanager
def watched(interrupts: Interrupts) -> Iterator[None]:
    """Statements that run in the block can be ended through `interrupts`."""
    token = _current.set(interrupts)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def interruptible(stop: Callable[[], object]) -> Iterator[None]:
    """For engines: while the block runs, `stop` ends the statement in it from another thread."""
    interrupts = _current.get()
    if interrupts is None:
        yield
        return
    with interrupts.running(stop):
        yield
