"""The plan: which noise each measurement gets, what that costs, and what it protects.

It rests on the question and the policy alone; no data is read and nothing is spent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from adomnia.curator.access import Error
from adomnia.curator.planning.found_bounds import found_bound, needs_bound
from adomnia.curator.planning.mechanism_choice import (
    LossRequest,
    QuantileContext,
    Taken,
    candidates_of,
    mechanism_of,
)
from adomnia.curator.planning.quantile_choice import Candidates
from adomnia.curator.planning.strategy import Derived, derive
from adomnia.curator.planning.strategy_noise import StrategyNoise
from adomnia.errors import QuestionError
from adomnia.limits import MAX_CELLS
from adomnia.mechanisms.counts.selected_keys import SelectedKeys
from adomnia.mechanisms.counts.selection import threshold
from adomnia.mechanisms.joins.measured_at_bound import MeasuredAtBound
from adomnia.mechanisms.measurement_mechanisms import AddedNoise, Measuring
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.mechanisms.noisy_values import Measured
from adomnia.policy.policy import Policy
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.priors.sensitivity import PUBLIC, refuse_hopeless, sensitivity
from adomnia.privacy.contribution import Contribution
from adomnia.privacy.events import Event, Free, composed
from adomnia.privacy.premises import ExactReleasesHold, Premise, RowsStay
from adomnia.privacy.proposal import contribution_of
from adomnia.privacy.sensitivity import Sensitivity, Setting
from adomnia.privacy.sensitivity import sensitivity as plain
from adomnia.queries.canonical import digest, expression_json, measurement_json
from adomnia.queries.grouping import cell_count, visible
from adomnia.queries.measurement import Counts, Distinct, Measurement, Mode, Moments, Quantile, Sum
from adomnia.queries.question import Question
from adomnia.queries.ranges import count_cells
from adomnia.queries.rows_record import rows_json
from adomnia.queries.strategy import Strategy, plan_measurements

__all__ = ["LossRequest", "Plan", "make_plan"]

SUMMED = (Counts, Sum, Moments)
"""Measurements whose cells can be summed to coarser ones."""


@dataclass(frozen=True)
class Plan:
    """All that happens when the question is asked at this loss.

    `steps` has the mechanism of each measurement. With a threshold, keys are selected, and one
    mechanism releases them all together.
    """

    question: Question
    strategy: Strategy
    steps: tuple[Measuring, ...]
    threshold: int | None = None
    priors: int = 0
    most: int | None = None
    """The most rows that may count, where the sensitivity rests on it."""
    error: Error = "rank"
    chooses: bool = False
    """Whether a unit keeps other rows in the groups of another question."""
    unit: str | None = None
    units: tuple[str, ...] = ()
    """The tables whose rows are units, in the place of a column that names them."""
    candidates: tuple[Candidates | None, ...] = ()
    """For each step that is a quantile, the mechanisms it was chosen from."""
    row_level: Callable[[], Plan] | None = field(default=None, compare=False, repr=False)
    """With a unit, the plan that would protect single rows, for comparison."""

    @property
    def mechanisms(self) -> tuple[Mechanism[Any], ...]:
        """What is released, each by itself; all together where keys are selected."""
        if self.threshold is None:
            return self.steps
        parts = tuple(step for step in self.steps if isinstance(step, AddedNoise))
        counts = next(i for i, s in enumerate(parts) if isinstance(s.measurement, Counts))
        listed = self.strategy.measurements[counts]
        assert isinstance(listed, Counts)
        return (SelectedKeys(parts, self.threshold, (counts, listed.conditions.index(None))),)

    def measured(self, released: tuple[Any, ...]) -> Measured:
        """What the mechanisms released, by measurement."""
        return Measured(released) if self.threshold is None else released[0]

    @cached_property
    def of(self) -> dict[str, Any]:
        """The rows and cells that are measured, as the ledger records them."""
        keys = [expression_json(key) for key in self.question.keys]
        rows = {} if self.question.rows is None else {"rows": rows_json(self.question.rows)}
        return {"where": expression_json(self.question.where), "keys": keys, **rows}

    def findable(self, version: str) -> tuple[str, ...]:
        """The digests by which later questions find what is released; those of tables too."""
        names = [self.found_by(step, version) for step in self.steps]
        summed = any(isinstance(step.measurement, SUMMED) and not isinstance(step, MeasuredAtBound)
                     for step in self.steps)  # fmt: skip
        if self.question.keys and summed and self.threshold is None:
            names.append(tables_of(version))
        return tuple(names)

    def found_by(self, step: Measuring, version: str) -> str:
        """The digest of one measurement of this question, of this state of the data."""
        return digest([self.of, measurement_json(step.measurement), step.law, version])

    @property
    def event(self) -> Event:
        """The use of the data as the ledger records it."""
        return composed(step.event for step in self.steps)


def tables_of(version: str) -> str:
    """The digest under which all tables of a state of the data are found."""
    return digest(["tables", version])


def make_plan(
    question: Question, policy: Policy, asked: LossRequest, known: PriorKnowledge | None = None
) -> Plan:
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
    paid = sum(
        (bound.l1 if way is None else way.bound) > 0 for bound, way in zip(found, ways, strict=True)
    )
    delta, share = _delta(question, policy, asked), asked.share(max(1, paid))
    if delta is not None and (policy.automatic or policy.owners > 1):
        raise QuestionError(
            "groups whose names are not declared need a bound that is declared",
            "say max_rows of each table in the policy, or declare the key's values",
        )
    context = replace(QuantileContext.of(question, policy, known), selects=delta)
    steps = tuple(
        _step((m, one, bound), way, share, _at(m, bound, context, policy, known))
        if not needs_bound(policy, one)
        else found_bound((m, one, bound), share, context.place, policy)
        for m, one, bound, way in zip(strategy.measurements, added, found, ways, strict=True)
    )
    selected = _threshold(steps, policy, delta)
    single = None
    if policy.neighbors.rows is not None and not (policy.automatic or policy.owners > 1):
        rows = replace(policy, unit=None, neighbors=policy.neighbors.of_rows())
        single = partial(make_plan, question, rows, asked, known)
    return Plan(
        question,
        strategy,
        steps,
        selected,
        most=policy.neighbors.most,
        error=asked.error,
        chooses=policy.neighbors.chooses,
        unit=policy.unit,
        candidates=tuple(_candidates(m, bound, share, context) for m, bound in
                     zip(strategy.measurements, found, strict=True)),
        row_level=single,
    )  # fmt: skip


def _candidates(
    measurement: Measurement, bound: Sensitivity, share: LossRequest, context: QuantileContext
) -> Candidates | None:
    if not isinstance(measurement, Quantile):
        return None
    return candidates_of(measurement, bound, share, context)


def _at(
    measurement: Measurement,
    bound: Sensitivity,
    context: QuantileContext,
    policy: Policy,
    known: PriorKnowledge | None,
) -> QuantileContext:
    """The context of one measurement: what leaves of it, and what it believes of the data."""
    premises: tuple[Premise, ...] = (ExactReleasesHold(),) if known else ()
    if bound.l1 == 0 and not known:
        premises = (RowsStay(),)
    shown = None
    if isinstance(measurement, Distinct) and context.selects is None:
        shown = tuple(visible(context.place.keys, policy.attributes))
    return replace(context, premises=premises, shown=shown)


def _setting(question: Question, policy: Policy, measurement: Measurement) -> Setting:
    shown = None
    if isinstance(measurement, Mode):
        _refuse_many(question, measurement)
    if isinstance(measurement, Distinct) and not question.open:
        shown = len(visible(question.keys, policy.attributes))  # no others are released
    return Setting(question.where, question.keys, policy.unit, shown, policy.rows_stay)


def _sensitivity(
    policy: Policy,
    measurement: Measurement,
    setting: Setting,
    contribution: Contribution,
    known: PriorKnowledge | None,
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
    question: Question, measurement: Measurement, asked: LossRequest, known: PriorKnowledge | None
) -> Derived | None:
    """How to measure less than is asked, where public numbers give the rest."""
    if not known or not isinstance(measurement, SUMMED):
        return None
    kind = "gaussian" if asked.rho is not None else "laplace"
    return derive(known, measurement, question.where, question.keys, kind)


def _step(
    taken: Taken, way: Derived | None, share: LossRequest, context: QuantileContext
) -> Measuring:
    """A mechanism that measures it all; or a part, or nothing where all of it is public."""
    measurement, contribution, bound = taken
    if way is None:
        return mechanism_of(measurement, contribution, bound, share, context)
    argument = f"{PUBLIC}: {way.measured.bound.argument}; measured: {way.name}"
    common = {"place": context.place, "premises": context.premises, "derived": way}
    if way.bound == 0:
        nothing = Sensitivity(Fraction(0), Fraction(0), True, argument)
        return StrategyNoise(measurement, contribution, nothing, Free(), **common)  # type: ignore[arg-type]
    group, gaussian = context.group, share.rho is not None
    exact = way.measured.bound.exact and bound.exact
    l1 = bound.l1 if gaussian else way.bound * group
    l2 = way.bound * group**2 if gaussian else min(bound.l2_squared, l1**2) or l1**2
    apart = Sensitivity(l1, l2, exact, argument)
    made = mechanism_of(measurement, contribution, apart, share, context)
    assert made.noise is not None
    paid = (made.sensitivity, made.event)
    return StrategyNoise(measurement, contribution, *paid, noise=made.noise, **common)  # type: ignore[arg-type]


def _delta(question: Question, policy: Policy, asked: LossRequest) -> Fraction | None:
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


def _threshold(steps: tuple[Measuring, ...], policy: Policy, delta: Fraction | None) -> int | None:
    if delta is None:
        return None
    counts = next(step for step in steps if isinstance(step.measurement, Counts))
    assert counts.noise is not None
    held, group = policy.neighbors.unit_bounds(grouped=True), policy.neighbors.group
    return threshold(counts.noise.parameter, delta, held.rows * group, held.groups * group)
