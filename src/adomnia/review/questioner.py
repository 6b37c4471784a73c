"""How an attacker asks a database: conditions in, noisy counts out, until it is refused."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.database import PrivateDatabase
from adomnia.curator.session import Session
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.errors import BudgetError
from adomnia.privacy.loss import Amount
from adomnia.review.exact_columns import column_names
from adomnia.schema.domain import Grid

__all__ = ["Questioner", "limited", "reworded", "subset_counting"]


@dataclass
class Questioner:
    """An attacker who asks how many fulfil a condition, each time for this epsilon.

    Who rewrites conditions wants noise that is new each time: an answer that costs nothing is one
    that was given before, and ends it like the end of a budget. `spent` is what all of it cost.
    """

    session: Session
    epsilon: Amount
    rewrite: Callable[[str], str] | None = None
    spent: Fraction = Fraction(0)

    def __call__(self, condition: str) -> float:
        """The noisy count."""
        asked = condition if self.rewrite is None else self.rewrite(condition)
        table = quoted(self.session.policy.table)
        answer = self.session.ask(f"SELECT COUNT(*) AS n FROM {table} WHERE {asked}", self.epsilon)  # noqa: S608
        if self.rewrite is not None and not any(answer.spent.values()):
            raise BudgetError("this was answered before", "in these or in other words")
        self.spent += answer.spent.get("epsilon", Fraction(0))
        return float(answer.rows[0][0])


def subset_counting(
    ask: Callable[[str], float], column: str, people: Sequence[Any], target: str
) -> Callable[[NDArray[Any]], float]:
    """How an attacker asks how many of some people, named by a column, fulfil the target."""
    names = [literal(value) for value in people]

    def count_chosen(chosen: NDArray[Any]) -> float:
        listed = ", ".join(names[index] for index in np.flatnonzero(chosen))
        return ask(f"({target}) AND {quoted(column)} IN ({listed})") if listed else 0.0

    return count_chosen


def limited(ask: Callable[[str], float], seconds: float) -> Callable[[str], float]:
    """The same until the time is over, which ends it as the end of a budget does."""
    end = time.monotonic() + seconds

    def timed(condition: str) -> float:
        if time.monotonic() > end:
            raise BudgetError("the time is over", "a higher time limit gives more")
        return ask(condition)

    return timed


def reworded(database: PrivateDatabase) -> Callable[[str], str]:
    """Puts a condition in other words every time, which mean the same.

    A part of those who are counted is counted, too; which part is another one each time.
    """
    turns, part = count(), _parts(database)

    def rewrite(condition: str) -> str:
        return f"({condition}) OR (({condition}) AND {part(next(turns))})"

    return rewrite


def _parts(database: PrivateDatabase) -> Callable[[int], str]:
    """Conditions that differ from turn to turn, over a column of this data."""
    attributes = database.policy.attributes
    for name, attribute in attributes.items():
        domain = attribute.domain
        if isinstance(domain, Grid) and domain.step == 1:
            low, size = int(domain.low), int(domain.high - domain.low) + 1
            return lambda turn: (
                f'"{name}" BETWEEN {low + turn % size} AND {low + turn % size + turn // size}'
            )
    free = [name for name in column_names(database) if name not in attributes]
    if free:
        return lambda turn: f"\"{free[0]}\" = '{turn}'"
    name = next(iter(attributes))
    return lambda turn: f'"{name}" IS NULL AND {turn} < {turn + 1}'
