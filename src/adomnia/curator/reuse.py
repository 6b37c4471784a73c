"""Reuse: a question that earlier answers already answer costs nothing (`reuse.md`).

What was released is known; computing with it is post-processing. An earlier reading serves when
it is the same measurement, or a finer table of it whose cells can be filtered and summed, and
when it is at least as accurate as what is asked. So asking the same again gives the same answer:
it cannot be averaged.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from adomnia.curator.plan import Plan, Step
from adomnia.curator.reading import Reading, Readings
from adomnia.mechanisms.margin import Noise
from adomnia.queries.expression import Call, Column, Expr, columns, rewrite
from adomnia.queries.grouping import axes, cell_count
from adomnia.queries.measurement import Counts, Measurement, Moments, Quantile, Sum, width_of
from adomnia.queries.operations import evaluate

__all__ = ["Known", "reuse"]


@dataclass(frozen=True)
class Known:
    """One measurement that was released: of which rows, over which cells, and how it came out."""

    where: Expr | None
    keys: tuple[Expr, ...]
    measurement: Measurement
    reading: Reading
    selected: tuple[tuple[object, ...], ...] | None = None


def reuse(plan: Plan, known: Iterable[Known]) -> Readings | None:
    """Readings for the plan from what is known already; None where something is missing."""
    listed = list(known)
    parts: list[Reading] = []
    selected = None
    for step in plan.steps:
        found = next((r for k in listed if (r := _serve(plan, step, k)) is not None), None)
        if found is None:
            return None
        parts.append(found[0])
        selected = found[1]
    if plan.threshold is not None and len({len(part.values) for part in parts}) > 1:
        return None  # groups selected on two occasions do not fit together
    return Readings(tuple(parts), selected) if parts else None


_Served = tuple[Reading, tuple[tuple[object, ...], ...] | None]


def _serve(plan: Plan, step: Step, known: Known) -> _Served | None:
    question = plan.question
    same = (question.where, question.keys, step.measurement)
    if same == (known.where, known.keys, known.measurement):
        kept = (plan.threshold is None) == (known.selected is None)
        accurate = kept and _accurate(step, known.reading)
        return (known.reading, known.selected) if accurate else None
    if plan.threshold is not None or known.selected is not None:
        return None
    coarser = _coarser(plan, step, known)
    return (coarser, None) if coarser is not None and _accurate(step, coarser) else None


def _accurate(step: Step, reading: Reading) -> bool:
    """Whether the reading is at least as sharp as the step would make it."""
    if isinstance(step.measurement, Quantile):
        return reading.eta >= step.eta
    if reading.noise is None or step.noise is None:
        return False
    worst = int(reading.terms.max(initial=0))
    return worst * _variance(reading.noise) <= _variance(step.noise) * (1 + 1e-12)


def _variance(noise: Noise) -> float:
    """The spread of a noise, for comparison; both kinds on one scale."""
    return float(2 * noise.parameter**2 if noise.kind == "laplace" else noise.parameter)


# A coarser table of a finer one


def _coarser(plan: Plan, step: Step, known: Known) -> Reading | None:
    """The step's table, summed from the cells of a known one; None where cells do not tell."""
    question = plan.question
    columns_wanted = _components(step.measurement, known.measurement)
    extra = _beyond(question.where, known.where)
    if columns_wanted is None or extra is None:
        return None
    tests = [_on_cells(test, known.keys) for test in extra]
    keys = [_on_cells(key, known.keys) for key in question.keys]
    conditions = [test and _on_cells(test, known.keys) for test in columns_wanted]
    wanted = [*tests, *keys, *(c for c, t in zip(conditions, columns_wanted, strict=True) if t)]
    if any(expr is None for expr in wanted):
        return None
    found = _summed(plan, step, known, (tests, keys, conditions))
    return found


def _components(asked: Measurement, known: Measurement) -> list[Expr | None] | None:
    """For each asked component the condition under which a known cell counts for it."""
    if isinstance(asked, Counts) and known == Counts((None,)):
        return list(asked.conditions)
    if isinstance(asked, Sum | Moments) and asked == known:
        return [None] * width_of(asked)
    return [None] if asked == known == Counts((None,)) else None


def _beyond(where: Expr | None, known: Expr | None) -> list[Expr] | None:
    """What the question filters beyond the known rows; None where it needs others."""
    asked, had = _conjuncts(where), _conjuncts(known)
    if not set(had) <= set(asked):
        return None
    return [test for test in asked if test not in had]


def _conjuncts(test: Expr | None) -> list[Expr]:
    if test is None:
        return []
    return list(test.args) if isinstance(test, Call) and test.op == "and" else [test]


def _on_cells(expr: Expr, keys: tuple[Expr, ...]) -> Expr | None:
    """The expression over the keys of a cell, named by their place; None where it needs more."""

    def place(part: Expr) -> Expr | None:
        return Column(f"#{keys.index(part)}", part.range) if part in keys else None

    changed = rewrite(expr, place)
    return changed if all(column.name.startswith("#") for column in columns(changed)) else None


_Tests = tuple[list[Expr | None], list[Expr | None], list[Expr | None]]


def _summed(plan: Plan, step: Step, known: Known, over: _Tests) -> Reading | None:
    tests, keys, conditions = over
    wanted = plan.question.keys
    values = np.zeros((cell_count(wanted), width_of(step.measurement)), dtype=object)
    terms = np.zeros(len(values), dtype=np.int64)
    places = [{value: i for i, value in enumerate(axis)} for axis in axes(wanted)]
    per_condition = isinstance(step.measurement, Counts)
    for number, cell in enumerate(itertools.product(*axes(known.keys))):
        row = {f"#{i}": value for i, value in enumerate(cell)}
        if not all(evaluate(test, row) is True for test in tests if test is not None):
            continue
        target = 0
        for key, place in zip(keys, places, strict=True):
            position = place.get(evaluate(key, row) if key is not None else None)
            if position is None:
                return None
            target = target * len(place) + position
        met = [c is None or evaluate(c, row) is True for c in conditions]
        source = known.reading.values[number]
        values[target] += [source[0 if per_condition else i] * m for i, m in enumerate(met)]
        terms[target] += int(known.reading.terms[number]) if any(met) else 0
    return Reading(values, known.reading.noise, terms)
