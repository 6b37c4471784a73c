"""The plan: which noise each measurement gets, what that costs, and what it protects.

It rests on the question and the policy alone; no data is read and nothing is spent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from adomnia.curator.derived import Derived, derive
from adomnia.curator.policy import Policy
from adomnia.curator.quantiles import Error
from adomnia.curator.steps import Asked, Scene, Step, step_of
from adomnia.errors import QuestionError
from adomnia.mechanisms.margin import Noise
from adomnia.mechanisms.selection import threshold
from adomnia.priors.known import Known
from adomnia.priors.sensitivity import PUBLIC, refuse_hopeless, sensitivity
from adomnia.privacy.contribution import Contribution
from adomnia.privacy.events import Composed, Event, Free
from adomnia.privacy.proposal import contribution_of
from adomnia.privacy.sensitivity import Sensitivity, Setting
from adomnia.privacy.sensitivity import sensitivity as plain
from adomnia.queries.grouping import cell_count, visible
from adomnia.queries.measurement import Counts, Distinct, Measurement, Mode, Moments, Sum
from adomnia.queries.question import Question
from adomnia.queries.ranges import count_cells
from adomnia.queries.sql.bind import MAX_CELLS
from adomnia.queries.strategy import Strategy, plan_measurements

__all__ = ["Asked", "Plan", "Step", "make_plan", "shape_of"]


@dataclass(frozen=True)
class Plan:
    """All that happens when the question is asked at this loss."""

    question: Question
    strategy: Strategy
    steps: tuple[Step, ...]
    threshold: int | None = None
    priors: int | None = None
    most: int | None = None
    """The most rows that may count, where the sensitivity rests on it."""
    error: Error = "rank"
    chooses: bool = False
    """Whether a unit keeps other rows in the groups of another question."""
    unit: str | None = None
    row_level: Callable[[], Plan] | None = field(default=None, compare=False, repr=False)
    """With a unit, the plan that would protect single rows, for comparison."""

    @property
    def shape(self) -> str:
        """A digest of what is measured, over which cells: an answer is read only as what it was."""
        return shape_of(self.question, self.strategy.measurements)

    @property
    def measured(self) -> dict[str, Any]:
        """What a later exact release must know to price this anew, beside the statement."""
        found: dict[str, Any] = {"shape": self.shape}
        paid = [i for i, step in enumerate(self.steps) if not isinstance(step.event, Free)]
        if len(paid) < len(self.steps):
            found["paid"] = paid
        derived = {i: step for i in paid if (step := self.steps[i].derived) is not None}
        if derived:
            found["outputs"] = {str(i): _outputs(step) for i, step in derived.items()}
            found["groups"] = {str(i): _groups(step) for i, step in derived.items() if step.groups}
        return found

    @property
    def event(self) -> Event:
        """The use of the data as the ledger records it."""
        parts = tuple(step.event for step in self.steps if not isinstance(step.event, Free))
        if not parts:
            return Free()
        return parts[0] if len(parts) == 1 else Composed(parts)


def shape_of(question: Question, measurements: tuple[Measurement, ...]) -> str:
    """A digest of what a question measures, over which cells."""
    facts = (question.where, question.keys, list(measurements))
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def make_plan(question: Question, policy: Policy, asked: Asked, known: Known | None = None) -> Plan:
    """The plan of a question: its loss is split evenly over the measurements that cost anything."""
    if known and question.open:
        raise QuestionError(
            "a key of GROUP BY has no declared domain, and exact releases are public",
            "declare its values in the policy: how far neighbours are apart depends on them",
        )
    try:
        strategy = plan_measurements(question)
        settings = [_setting(question, policy, m) for m in strategy.measurements]
        added = [
            contribution_of(m, setting, policy.neighbors)
            for m, setting in zip(strategy.measurements, settings, strict=True)
        ]
        found = [
            _sensitivity(policy, m, setting, one, known)
            for m, setting, one in zip(strategy.measurements, settings, added, strict=True)
        ]
    except ValueError as error:
        raise QuestionError(str(error), "declare a larger step for this attribute") from None
    ways = [_way(question, measurement, asked, known) for measurement in strategy.measurements]
    pairs = list(zip(found, ways, strict=True))
    paid = sum((bound.l1 if way is None else way.bound) > 0 for bound, way in pairs)
    delta = _delta(question, policy, asked)
    share, scene = asked.share(max(1, paid)), Scene.of(question, policy, known)
    steps = tuple(
        replace(
            step_of(measurement, bound, share, delta, scene)
            if way is None
            else _derived_step(way, policy, measurement, bound, share),
            contribution=one,
        )
        for measurement, (bound, way), one in zip(strategy.measurements, pairs, added, strict=True)
    )
    selected = _threshold(steps, policy, delta)
    most, chooses = policy.neighbors.most, policy.neighbors.chooses
    single = None
    if policy.neighbors.rows is not None:
        rows = replace(policy, unit=None, neighbors=policy.neighbors.of_rows())
        single = partial(make_plan, question, rows, asked, known)
    return Plan(
        question,
        strategy,
        steps,
        selected,
        most=most,
        error=asked.error,
        chooses=chooses,
        unit=policy.unit,
        row_level=single,
    )


def _setting(question: Question, policy: Policy, measurement: Measurement) -> Setting:
    shown = None
    if isinstance(measurement, Mode):
        _refuse_many(question, measurement)
    if isinstance(measurement, Distinct) and not question.open:
        shown = len(visible(question.keys, policy.attributes))  # `reading` releases no others
    return Setting(question.where, question.keys, policy.unit, shown)


def _sensitivity(
    policy: Policy,
    measurement: Measurement,
    setting: Setting,
    contribution: Contribution,
    known: Known | None,
) -> Sensitivity:
    """Of what the statement enforces, or, beside exact releases, among tables that agree."""
    alone = plain(contribution, setting, policy.neighbors)
    if not known:
        return alone
    bound = sensitivity(measurement, setting, policy.neighbors, known)
    refuse_hopeless(bound, alone)
    return bound


def _refuse_many(question: Question, mode: Mode) -> None:
    """Every value of every cell is counted for a mode."""
    values = (count_cells(mode.argument.range) or 0) + 1
    if cell_count(question.keys) * values > MAX_CELLS:
        raise QuestionError(
            f"this mode needs more than {MAX_CELLS:,} counts: every value in every group",
            "group more coarsely, or ask for the mode of something coarser",
        )


def _way(
    question: Question, measurement: Measurement, asked: Asked, known: Known | None
) -> Derived | None:
    """How to measure less than is asked, where public numbers give the rest."""
    if not known or not isinstance(measurement, Counts | Sum | Moments):
        return None
    kind = "gaussian" if asked.rho is not None else "laplace"
    return derive(known, measurement, question.where, question.keys, kind)


def _derived_step(
    found: Derived, policy: Policy, measurement: Measurement, bound: Sensitivity, share: Asked
) -> Step:
    """A step that measures a part, or nothing where all of it is public."""
    argument = f"{PUBLIC}: {found.measured.bound.argument}; measured: {found.name}"
    if found.bound == 0:
        nothing = Sensitivity(Fraction(0), Fraction(0), True, argument)
        return Step(measurement, nothing, Free(), Noise("laplace", Fraction(0)), derived=found)
    group, gaussian = policy.neighbors.group, share.rho is not None
    exact = found.measured.bound.exact and bound.exact
    l1 = bound.l1 if gaussian else found.bound * group
    l2 = found.bound * group**2 if gaussian else min(bound.l2_squared, l1**2) or l1**2
    step = step_of(measurement, Sensitivity(l1, l2, exact, argument), share)
    return replace(step, derived=found)


def _outputs(found: Derived) -> list[int] | str:
    """The counts that are measured; `cells` where others are measured in their place."""
    return "cells" if found.places is None else list(found.places)


def _groups(found: Derived) -> list[tuple[list[int] | str, str]]:
    """Of noise inside the kernel: the counts that are bounded together, and their bound."""
    if found.places is None:
        return [("cells", str(bound)) for _, bound in found.groups]
    places = found.places
    return [([places[i] for i in group], str(bound)) for group, bound in found.groups]


def _delta(question: Question, policy: Policy, asked: Asked) -> Fraction | None:
    """The delta that selecting the groups costs; None where all keys have public values."""
    if not question.open:
        return None
    if policy.budget.delta is None:
        raise QuestionError(
            "a key of GROUP BY has no declared domain, so its groups cannot all be shown",
            "declare its values in the policy, or give [privacy] a delta for private selection",
        )
    if policy.neighbors.most is not None:
        raise QuestionError(
            "free-lunch privacy cannot select groups: any group may be there or not",
            "declare the key's values in the policy",
        )
    if any(s.kind in ("quantile", "min", "max", "mode") for s in question.statistics):
        raise QuestionError(
            "quantiles and modes need groups whose keys have a declared domain",
            "declare the key's values in the policy",
        )
    return asked.delta if asked.delta is not None else policy.budget.delta / 100


def _threshold(steps: tuple[Step, ...], policy: Policy, delta: Fraction | None) -> int | None:
    if delta is None:
        return None
    counts = next(step for step in steps if isinstance(step.measurement, Counts))
    assert counts.noise is not None
    held, group = policy.neighbors.unit_bounds(grouped=True), policy.neighbors.group
    return threshold(counts.noise.parameter, delta, held.rows * group, held.groups * group)
