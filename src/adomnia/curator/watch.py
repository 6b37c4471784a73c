"""A watch over one question: how far it is, and a way to end it before its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adomnia.engines.interrupts import Interrupts, watched
from adomnia.errors import MachineryError

__all__ = ["Watch"]


class Watch:
    """Tells the stages of a question, and ends it on request from any thread.

    The stages are `planned`, `paid` and `answered`. How far the engine is through the data is
    not told: it would be about the data.

    >>> from adomnia.testing import town
    >>> stages = []
    >>> with town(rows=50).open() as database:
    ...     session, watch = database.session(), Watch(stages.append)
    ...     answer = session.ask("SELECT COUNT(*) AS n FROM people", epsilon=1, watch=watch)
    >>> stages
    ['planned', 'paid', 'answered']
    """

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell
        self._interrupts = Interrupts()

    def cancel(self) -> None:
        """End the question; what was reserved for it stays spent."""
        self._interrupts.interrupt()

    @property
    def cancelled(self) -> bool:
        """Whether somebody wants the question ended."""
        return self._interrupts.ended

    def stage(self, name: str) -> None:
        """The question has come this far; raises a CancelledError where it shall end."""
        self._interrupts.check()
        self.tell(name)

    def tell(self, name: str) -> None:
        """The question has come this far."""
        if self._tell is not None:
            self._tell(name)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Statements in the block end when the question is cancelled, by a CancelledError."""
        try:
            with watched(self._interrupts):
                yield
        except MachineryError:
            self._interrupts.check()  # it failed since it was ended
            raise
