"""What every door of the curator shares: who comes in, what they may say, how far they are, and
how it is shut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self, get_args

from adomnia.engines.interrupts import Interrupts, watched
from adomnia.errors import MachineryError, NotAllowedError, QuestionError
from adomnia.policy.policy import Policy

__all__ = [
    "CURATOR",
    "OWN_KEYS",
    "Closing",
    "Error",
    "Watch",
    "analyst_of",
    "confidence_of",
    "error_of",
    "key_of",
]

CURATOR = "curator"
"""The name under which questions are asked when no analyst is named."""

OWN_KEYS = "adomnia "
"""How the keys begin under which the database pays for uses of its own."""


Error = Literal["rank", "value", "interval"]
"""Which error of a quantile shall be small; or that there shall be an interval of values."""


class Closing:
    """Something to be closed; in a `with` statement it closes itself."""

    def close(self) -> None:
        """Let go of what is held."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def analyst_of(policy: Policy, analyst: str | None) -> str:
    """Who asks: the curator where nobody is named, else an analyst whom the policy knows."""
    if analyst is None:
        return CURATOR
    if policy.analysts and analyst not in policy.analysts:
        raise NotAllowedError(
            f"{str(analyst)[:80]!r} is not an analyst of this data",
            "the curator names analysts in the policy: [analysts.NAME]",
        )
    return analyst


def confidence_of(value: float) -> float:
    """How often a margin shall hold, checked."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0.5 <= number <= 0.999999:
        raise QuestionError("confidence must be between 0.5 and 0.999999", "for example 0.95")
    return number


def key_of(key: str | None) -> str | None:
    """A key that somebody gave to a request, if it is not one of the database itself."""
    if key is not None and key.startswith(OWN_KEYS):
        raise QuestionError(
            f"a key does not begin with {OWN_KEYS!r}: such keys are the database's own",
            "give another one, for example a random number",
        )
    return key


def error_of(name: Error) -> Error:
    """Which error of a quantile shall be small, checked."""
    if name not in get_args(Error):
        raise QuestionError(
            f"the error of a quantile is one of {', '.join(get_args(Error))}",
            "that of its rank, that of its value, or an interval of values around it",
        )
    return name


# A watch over one question: how far it is, and a way to end it before its answer.


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
