"""Sessions for tests: one that keeps every answer, and one that gives them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.curator.answers.answer import Answer
from adomnia.curator.query_plan import QueryPlan
from adomnia.curator.session import Session
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy
from adomnia.privacy.loss import Amount, exact
from adomnia.schema.table import Table

__all__ = ["RecordingSession", "ReplayingSession", "state_of"]

Asked = tuple[str, Fraction]


class RecordingSession:
    """A session that lets through what models may use, and keeps every answer in `answers`.

    >>> from adomnia.testing.worlds import town
    >>> with town(rows=10).open() as database:
    ...     session = RecordingSession(database.session())
    ...     answer = session.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    >>> [asked for asked, _ in session.answers]
    [('SELECT COUNT(*) AS n FROM people', Fraction(1, 1))]
    """

    def __init__(self, session: Session) -> None:
        self.answers: list[tuple[Asked, Answer]] = []
        self.plans: dict[Asked, QueryPlan] = {}
        self.table: Table = session.table
        self.policy: Policy = session.policy
        self._ask, self._plan = session.ask, session.plan

    def ask(self, sql: str, epsilon: Amount) -> Answer:
        """The session's answer, which is kept; raises what the session raises."""
        answer = self._ask(sql, epsilon=epsilon)
        self.answers.append(((sql, exact(epsilon)), answer))
        return answer

    def plan(self, sql: str, epsilon: Amount) -> QueryPlan:
        """The session's plan, which is kept; raises what the session raises."""
        plan = self._plan(sql, epsilon=epsilon)
        self.plans[sql, exact(epsilon)] = plan
        return plan


class ReplayingSession:
    """A session without data: it gives the answers that another has recorded, in their order.

    >>> from adomnia.testing import town
    >>> with town(rows=10).open() as database:
    ...     recording = RecordingSession(database.session())
    ...     answer = recording.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    >>> ReplayingSession(recording).ask("SELECT COUNT(*) AS n FROM people", 1) is answer
    True
    """

    def __init__(self, recorded: RecordingSession) -> None:
        self.table, self.policy, self._plans = recorded.table, recorded.policy, recorded.plans
        self._left = list(recorded.answers)

    def ask(self, sql: str, epsilon: Amount) -> Answer:
        """The next answer; raises a QuestionError where something else was asked the first time."""
        if not self._left or self._left[0][0] != (sql, exact(epsilon)):
            raise QuestionError("something else was asked the first time")
        return self._left.pop(0)[1]

    def plan(self, sql: str, epsilon: Amount) -> QueryPlan:
        """The plan of that time; raises a QuestionError where this was not planned."""
        found = self._plans.get((sql, exact(epsilon)))
        if found is None:
            raise QuestionError("something else was planned the first time")
        return found


def state_of(model: Any) -> dict[str, Any]:
    """What a model has learned, as plain values that can be compared; empty if it is unfitted.

    >>> from adomnia.mining import KMeans
    >>> state_of(KMeans())
    {}
    """
    state = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: _plain(value) for name, value in state.items() if not name.startswith("_")}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if is_dataclass(value):
        return [type(value).__name__, *(_plain(getattr(value, f.name)) for f in fields(value))]
    return value
