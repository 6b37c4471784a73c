"""About how many rows a question is of, from what is public or what the asker was shown.

A plan rests on it where an error depends on the number of rows. No row is read: it is `[data]
rows`, or a private count that this analyst has an answer of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.curator.answers.reuse import Recall, served_by
from adomnia.curator.planning.plan import Plan
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.measurement_mechanisms import AddedNoise
from adomnia.policy.policy import Policy
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.events import Free
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.queries.measurement import Counts, Measurement, Moments, Quantile, unit_of
from adomnia.queries.question import Apply, Question
from adomnia.queries.shown_groups import shown_rows

__all__ = ["DECLARED", "KnownRows", "known_rows", "table_rows"]

DECLARED = "declared rows"
"""The source of rows that the policy tells."""

ANYTHING = Noise("laplace", Fraction(10**149))
"""Noise that everything known is as sharp as."""
Keys = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class KnownRows:
    """About how many rows there are in each group, by what that is known, and what is assumed.

    `source` is a receipt, or says that they were declared. Without `groups` all are taken as
    alike, and there is one number.
    """

    rows: tuple[int, ...]
    source: str
    assumes: tuple[str, ...] = ()
    groups: Keys | None = None

    @property
    def total(self) -> int:
        """All of them, or those of one group where all are taken as alike."""
        return sum(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What a plan says of it, as plain JSON values."""
        keys = None if self.groups is None else [[*map(_plain, key)] for key in self.groups]
        return {
            "source": DECLARED if self.source == DECLARED else "receipt",
            **({} if self.source == DECLARED else {"receipt": self.source}),
            "rows": list(self.rows),
            **({} if keys is None else {"groups": keys}),
            "assumes": list(self.assumes),
        }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def known_rows(plan: Plan, policy: Policy, memory: Recall) -> KnownRows | None:
    """What is known of the rows of the plan's question; None where nothing is, or where no margin
    depends on them.

    The newest count of the same rows in the same groups, else of the same rows, else `rows` of the
    policy: spread evenly over the groups.
    """
    question = plan.question
    if not _depends(plan):
        return None
    found = _counted(plan, memory)
    if found is not None:
        return _by_group(plan, policy, *found)
    if question.open:
        return None  # nobody knows how many groups there are
    groups = sum(1 for _ in _shown(question, policy)) if question.keys else 1
    evenly = (f"they are spread evenly over {groups:,} groups",) if groups > 1 else ()
    whole = replace(plan, question=replace(question, keys=()))
    counted = _counted(whole, memory) if question.keys else None
    if counted is not None:
        rows, _, receipt = counted
        return KnownRows((max(1, rows[0] // max(1, groups)),), receipt, evenly)
    if policy.rows is None:
        return None
    all_met = ("all of them meet the condition",) if question.where is not None else ()
    return KnownRows((max(1, policy.rows // max(1, groups)),), DECLARED, (*all_met, *evenly))


def table_rows(plan: Plan, policy: Policy, memory: Recall) -> int | None:
    """About how many rows are used in all, by a private count that this analyst was shown, else by
    `rows` of the policy; None where neither says."""
    whole = replace(plan, question=replace(plan.question, keys=(), where=None))
    counted = _counted(whole, memory)
    return policy.rows if counted is None else counted[0][0]


def _shown(question: Question, policy: Policy) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The groups that the answer has."""
    return shown_rows(question.keys, policy.attributes, question.where)


def _depends(plan: Plan) -> bool:
    """Whether a margin depends on the number of rows."""
    measured = any(isinstance(step.measurement, Moments | Quantile) for step in plan.steps)
    return measured or any(isinstance(output.value, Apply) for output in plan.question.outputs)


_Counted = tuple[list[int], Keys | None, str]


def _counted(plan: Plan, memory: Recall) -> _Counted | None:
    """A private count in each cell that this analyst was shown, or that its moments tell."""
    for measurement in _telling(plan):
        one = Sensitivity(Fraction(1), Fraction(1), True, "")
        step = AddedNoise(measurement, ROWS, one, Free(), noise=ANYTHING)
        counts = isinstance(measurement, Counts)
        listed = memory.candidates(plan, step) if counts else memory.same(plan, step)
        found = served_by(plan, step, listed)
        if found is not None:
            noisy, selected, receipt = found
            return _rows(measurement, noisy.values), selected, receipt
    return None


def _telling(plan: Plan) -> Iterator[Measurement]:
    """Measurements that tell how many rows there are: of rows, and of what is averaged anyhow."""
    yield Counts((None,))
    for step in plan.steps:
        if isinstance(step.measurement, Moments):
            for degree in (1, 2):
                for rest in (True, False):
                    yield replace(step.measurement, degree=degree, rest=rest)


def _rows(measurement: Measurement, values: Any) -> list[int]:
    if not isinstance(measurement, Moments):
        return [max(1, int(value)) for value in values[:, 0]]
    present = np.array(values[:, : measurement.degree + 1], object).sum(axis=1)
    return [max(1, int(value) // unit_of(measurement)) for value in present]


def _by_group(
    plan: Plan, policy: Policy, rows: list[int], selected: Keys | None, receipt: str
) -> KnownRows:
    """Of the groups that are shown."""
    question = plan.question
    if not question.keys:
        return KnownRows(tuple(rows[:1]), receipt)
    if selected is not None:
        return KnownRows(tuple(rows), receipt, (), selected)
    listed = list(_shown(question, policy))
    shown = tuple(rows[cell] for cell, _ in listed)
    return KnownRows(shown, receipt, (), tuple(keys for _, keys in listed))
