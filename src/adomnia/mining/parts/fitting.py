"""One fit under way: what it asks of the session, what that costs, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.answers.answer import Answer
from adomnia.curator.query_plan import QueryPlan
from adomnia.errors import AdomniaError, QuestionError
from adomnia.privacy.loss import Amount, exact

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["Fitting", "Watch", "check_whole", "shares", "watching"]

Watch = Callable[[str, int, int], None]
"""What a fit calls as it goes on: the step's name, how many are done, how many there are."""


def shares(
    epsilon: Amount, split: Mapping[str, Any] | None, default: Mapping[str, Any]
) -> dict[str, Fraction]:
    """The epsilon of each part of a fit: weights by name, which need not sum to one.

    A part with weight 0 is not asked; a name that is left out has weight 0. Raises a
    QuestionError for other names than those of `default`, and for weights that share nothing.

    >>> shares(1, None, {"start": 1, "steps": 3})
    {'start': Fraction(1, 4), 'steps': Fraction(3, 4)}
    """
    weights = default if split is None else split
    if not isinstance(weights, Mapping) or not set(weights) <= set(default):
        raise QuestionError(
            "split must give a weight to parts of the budget by name",
            "the parts are: " + ", ".join(default),
        )
    parts = {name: Fraction(str(weights.get(name, 0))) for name in default}
    if min(parts.values()) < 0 or sum(parts.values()) == 0:
        raise QuestionError("the weights of split must not be negative, nor all zero")
    total = exact(epsilon)
    return {name: total * part / sum(parts.values()) for name, part in parts.items()}


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse, by a QuestionError, a parameter that is not a whole number, or too small.

    >>> check_whole("bins", 1, 2)
    Traceback (most recent call last):
    adomnia.errors.QuestionError: bins must be a whole number of at least 2
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise QuestionError(f"{name} must be a whole number of at least {least}")


@dataclass
class Fitting:
    """One fit under way: asks the session, counts what was spent, tells who watches.

    A model gets it in `learn`. `features` are the columns that it was given, each once; `total` is
    about how many questions there will be, for who watches.

    >>> from adomnia.testing.worlds import town
    >>> with town(rows=10).open() as database:
    ...     fit = Fitting(database.session(), ("age",), print, total=1)
    ...     answer = fit.ask("SELECT COUNT(*) AS n FROM people", 1, "rows")
    rows 1 1
    >>> fit.spent
    Fraction(1, 1)
    """

    session: Session
    features: tuple[str, ...]
    watch: Watch
    total: int
    spent: Fraction = Fraction(0)
    done: int = 0
    notes: list[str] = field(default_factory=list)

    def ask(self, sql: str, epsilon: Amount, name: str = "") -> Answer:
        """A private answer, paid by the session; `name` is what who watches is told.

        A refusal by the session is raised as it is, and says what was spent before it.
        """
        try:
            answer = self.session.ask(sql, epsilon=epsilon)
        except AdomniaError as error:
            error.message += f" (spent by this fit before: epsilon = {self.spent})"
            raise
        self.spent += answer.spent["epsilon"]
        self.done += 1
        self.watch(name, self.done, max(self.total, self.done))
        return answer

    def plan(self, sql: str, epsilon: Amount) -> QueryPlan:
        """What the session would do for an answer: its noise is public, and costs nothing."""
        return self.session.plan(sql, epsilon=epsilon)

    def note(self, text: str) -> None:
        """Something the fitted model should say beside its results, once."""
        if text not in self.notes:
            self.notes.append(text)


@contextmanager
def watching(name: str, total: int, progress: bool | Watch) -> Iterator[Watch]:
    """Who is told of each step: a function that was given, a bar, or nobody."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield lambda *_: None
    else:
        from rich.progress import Progress  # noqa: PLC0415 (slow to import)

        with Progress(transient=True) as bar:
            task = bar.add_task(name, total=total)
            yield lambda step, done, most: bar.update(
                task, description=f"{name}: {step}", completed=done, total=most
            )
