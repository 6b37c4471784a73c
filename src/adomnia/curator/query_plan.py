"""Query plans: the error that an answer would have, or the epsilon that an error needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from adomnia.curator.answers.answer import margin_unit
from adomnia.curator.answers.answer_shape import describe
from adomnia.curator.answers.estimate import ColumnNoise, Estimate, Unit, column_noise, estimates
from adomnia.curator.answers.estimated_margins import EstimatedMargin, estimated_margins
from adomnia.curator.answers.known_rows import KnownRows
from adomnia.curator.answers.omissions import Omission
from adomnia.curator.plan_view import assumptions, plan_lines
from adomnia.curator.planning.free_lunch_utility import worth_of
from adomnia.curator.planning.plan import Plan
from adomnia.errors import QuestionError
from adomnia.mechanisms.joins.measured_at_bound import MeasuredAtBound
from adomnia.mechanisms.measurement_mechanisms import Measuring
from adomnia.mechanisms.noisy_values import Measured
from adomnia.privacy.events import Free, Gaussian, cost_of
from adomnia.queries.grouping import cell_count
from adomnia.queries.post import known_beforehand, statistics
from adomnia.queries.question import Given, Question

__all__ = ["QueryPlan", "plan_free_query", "plan_query", "search"]

CLOSE = Fraction(101, 100)
"""An epsilon is looked for to within one part in a hundred."""


@dataclass(frozen=True, repr=False)
class QueryPlan:
    """What an answer would cost and how far off it would be.

    Margins of averages and variances depend on the number of rows, which is not public: they are
    None here, and come with the answer. `estimated_margins` says about what they will be, and what
    share of the rows a quantile's margin is, where it is known about how many rows there are:
    `known_rows` says by what, and what is assumed. The answer's own margin decides.

    `quantiles` says for each column that is one what each mechanism would err by and which is used;
    `worth` is about free-lunch privacy alone; `row_level` says what units cost: the margins of
    protecting single rows. `noise` is what would be added to one cell of each column that is one
    count, sum or moment.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     plan = database.session().plan("SELECT COUNT(*) AS n FROM people", epsilon=1)
    >>> plan.mechanism, plan.cells, round(plan.margins["n"]), plan.to_json()["sensitivity"]["value"]
    ('laplace', 1, 3, '1')
    >>> with town(rows=50).open() as database:
    ...     session = database.session()
    ...     counted = session.ask("SELECT COUNT(*) AS n FROM people", epsilon=100)
    ...     plan = session.plan("SELECT AVG(age) AS mean FROM people", epsilon=1)
    >>> plan.margins["mean"], round(plan.estimated_margins["mean"].margin), plan.known_rows.rows
    (None, 5, (50,))
    >>> plan.known_rows.source == counted.receipt
    True
    """

    spent: dict[str, Fraction]
    mechanism: str
    steps: tuple[Measuring, ...]
    margins: dict[str, float | None]
    margin_units: Mapping[str, Unit]
    confidence: float
    cells: int
    quantiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    worth: dict[str, dict[str, Any]] = field(default_factory=dict)
    row_level: dict[str, Any] = field(default_factory=dict)
    noise: Mapping[str, ColumnNoise] = field(default_factory=dict)
    left_out: tuple[Omission, ...] = ()
    estimated_margins: Mapping[str, EstimatedMargin] = field(default_factory=dict)
    known_rows: KnownRows | None = None
    paid_in: tuple[str, ...] = ()

    def __str__(self) -> str:
        """What it would cost, the margins, and why."""
        return "\n".join(plan_lines(self))

    __repr__ = __str__

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON values."""
        main = max(self.steps, key=lambda step: step.sensitivity.l1, default=None)
        return {
            **{name: str(value) for name, value in self.spent.items()},
            "mechanism": self.mechanism,
            "sensitivity": None if main is None else _sensitivity(main),
            "measurements": [_sensitivity(step) for step in self.steps],
            "margins": self.margins,
            "margin_units": dict(self.margin_units),
            "confidence": self.confidence,
            "cells": self.cells,
            "left_out": [part.to_json() for part in self.left_out],
            **({"quantiles": self.quantiles} if self.quantiles else {}),
            **({"worth": self.worth} if self.worth else {}),
            **({"row_level": self.row_level} if self.row_level else {}),
            **({"paid_in": self.paid_in[0]} if self.paid_in else {}),
            **self._estimated(),
        }

    def _estimated(self) -> dict[str, Any]:
        if self.known_rows is None or not self.estimated_margins:
            return {}
        margins = {name: one.to_json() for name, one in self.estimated_margins.items()}
        assumed = {"assumes": assumptions(self.known_rows, self.estimated_margins)}
        basis = {**self.known_rows.to_json(), **assumed}
        return {"estimated_margins": margins, "estimated_from": basis}


def _sensitivity(step: Measuring) -> dict[str, Any]:
    event, bound = step.event, step.sensitivity.l1
    gaussian = isinstance(event, Gaussian)
    if isinstance(event, Gaussian):
        bound = event.sensitivity
    return {
        "measurement": type(step.measurement).__name__.lower(),
        "value": str(bound),
        "norm": "l2" if gaussian else "l1",
        "exact": step.sensitivity.exact,
        "argument": step.sensitivity.argument,
    }


def plan_query(plan: Plan, confidence: float, known: KnownRows | None = None) -> QueryPlan:
    """What the plan costs, and the margins that can be told beforehand; or estimated, where it is
    known about how many rows there are."""
    found = _estimates(plan, confidence)
    margins = _margins(plan, found)
    return QueryPlan(
        cost_of(plan.event),
        _mechanism(plan),
        plan.steps,
        margins,
        _units(plan, found),
        confidence,
        _cells(plan),
        _quantiles(plan),
        worth_of(plan, margins, confidence),
        _row_level(plan, confidence),
        {}
        if any(isinstance(step, MeasuredAtBound) for step in plan.steps)
        else column_noise(plan, _nothing(plan), [0]),
        estimated_margins={}
        if known is None
        else estimated_margins(plan, margins, known, confidence),
        known_rows=known,
    )


def plan_free_query(question: Question, confidence: float) -> QueryPlan:
    """The plan of an answer that is the same whatever the data."""
    noisy = [column.name for column in describe(question) if column.is_noisy]
    margins: dict[str, float | None] = dict.fromkeys(noisy, 0.0)
    cells = 0 if question.empty else cell_count(question.keys)
    units: dict[str, Unit] = dict.fromkeys(noisy, "value")
    return QueryPlan(cost_of(Free()), "none", (), margins, units, confidence, cells)


def _row_level(plan: Plan, confidence: float) -> dict[str, Any]:
    """The margins that protecting single rows would have, and how much wider units make them."""
    if plan.row_level is None:
        return {}
    single = plan.row_level()
    pairs = zip(plan.steps, single.steps, strict=True)
    ratios = [
        ours.width / rows.width
        for ours, rows in pairs
        if type(ours.event) is type(rows.event) and ours.law == rows.law and rows.width
    ]
    margins = _margins(single, _estimates(single, confidence))
    named = {"units": list(plan.units)} if plan.units else {"unit": plan.unit}
    return {**named, "margins": margins, "ratio": max(ratios, default=None)}


def _quantiles(plan: Plan) -> dict[str, dict[str, Any]]:
    """For each column that is one quantile, the mechanisms it was chosen from."""
    found = {}
    for output in plan.question.outputs:
        if isinstance(output.value, Given):
            at = plan.strategy.source[plan.question.statistics[output.value.index]]
            candidates = plan.candidates[at]
            if candidates is not None:
                found[output.name] = candidates.to_json(plan.error)
    return found


def _mechanism(plan: Plan) -> str:
    return " + ".join(dict.fromkeys(step.name for step in plan.steps)) or "none"


def _cells(plan: Plan) -> int:
    return 0 if plan.question.open else cell_count(plan.question.keys)


def _margins(plan: Plan, found: Sequence[Estimate]) -> dict[str, float | None]:
    """Margins of the columns that are one statistic each; None where rows must be known."""
    out: dict[str, float | None] = {}
    for output in plan.question.outputs:
        if known_beforehand(output.value) and not statistics(output.value):
            out[output.name] = 0.0
        elif isinstance(output.value, Given):
            statistic = plan.question.statistics[output.value.index]
            step = plan.steps[plan.strategy.source[statistic]]
            known = statistic.kind not in ("avg", "var") and not isinstance(step, MeasuredAtBound)
            out[output.name] = found[output.value.index].margins[0] if known else None
        elif statistics(output.value):
            out[output.name] = None
    return out


def _units(plan: Plan, found: Sequence[Estimate]) -> dict[str, Unit]:
    """In what the margin of each noisy column is."""
    noisy = {column.name for column in describe(plan.question) if column.is_noisy}
    outputs = [output for output in plan.question.outputs if output.name in noisy]
    return {output.name: margin_unit(output.value, found) for output in outputs}


def _estimates(plan: Plan, confidence: float) -> list[Estimate]:
    """What would be told of a release of nothing: its margins are those that rest on no row."""
    return estimates(plan, _nothing(plan), confidence)


def _nothing(plan: Plan) -> Measured:
    """A release of nothing in one cell, by measurement."""
    return Measured(tuple(step.blank for step in plan.steps))


def search(
    make: Callable[[Fraction], Plan],
    margin: float,
    confidence: float,
    known: KnownRows | None = None,
) -> QueryPlan:
    """The plan_query with about the smallest epsilon whose margins are all within the asked one;
    those that depend on the rows by their estimates in the group where they are most."""
    if not margin > 0 or margin == float("inf"):
        raise QuestionError("margin must be a finite number above zero", "for example margin = 50")

    def enough(epsilon: Fraction) -> bool:
        plan = make(epsilon)
        told = _told(plan, confidence, known)
        if None in told or not told:
            raise QuestionError(
                "the margin of this question depends on the rows, which are not public",
                "plan with an epsilon, plan the COUNT and SUM behind it, or ask a private count of "
                "these rows first: then it is estimated",
            )
        return all(value is not None and value <= margin for value in told)

    low, high = Fraction(1, 10**12), Fraction(1)
    while not enough(high):
        high *= 8
        if high > 10**12:
            raise QuestionError("no epsilon gives this margin", "ask for a wider one")
    while high > low * CLOSE:
        middle = _between(low, high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return plan_query(make(high), confidence, known)


def _told(plan: Plan, confidence: float, known: KnownRows | None) -> list[float | None]:
    """The margin of each column, or its estimate."""
    margins = _margins(plan, _estimates(plan, confidence))
    about = {} if known is None else estimated_margins(plan, margins, known, confidence)
    return [about[name].most if off is None and name in about else off
            for name, off in margins.items()]  # fmt: skip


def _between(low: Fraction, high: Fraction) -> Fraction:
    """A short fraction near the geometric mean."""
    middle = float(low * high) ** 0.5
    return max(low, min(high, Fraction(f"{middle:.4g}")))
