"""Reuse: a question that earlier answers already answer costs nothing (`reuse.md`).

What was released is known; computing with it is post-processing. An earlier reading serves when
it is the same measurement, or a finer table of it whose cells can be filtered and summed, and
when it is at least as accurate as what is asked. So asking the same again gives the same answer:
it cannot be averaged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.planning.plan import Plan
from adomnia.curator.planning.strategy_noise import StrategyNoise
from adomnia.mechanisms.measurement_mechanisms import Measuring, variance
from adomnia.mechanisms.noisy_values import Key, Measured, Noisy
from adomnia.queries.canonical import measurement_json
from adomnia.queries.expression import Call, Column, Expr, columns, rewrite
from adomnia.queries.grouping import axes, cell_count
from adomnia.queries.measurement import Counts, Measurement, width_of
from adomnia.queries.operations import evaluate

__all__ = ["Known", "Recall", "Reused", "agreeing", "reuse", "served_by"]

ROWS = Counts((None,))
_Selected = tuple[Key, ...] | None


@dataclass(frozen=True, eq=False)
class Known:
    """One measurement that was released: of which rows, over which cells, and under which receipt.

    Its values are loaded when they are needed. The cells of a `single` one are not independent,
    so they can be taken but not summed. One that is the `same` was found by the digest of what is
    asked.
    """

    where: Expr | None
    keys: tuple[Expr, ...]
    measurement: Measurement
    load: Callable[[], Noisy] = field(repr=False)
    receipt: str = ""
    load_keys: Callable[[], _Selected] = field(default=lambda: None, repr=False)
    single: bool = False
    same: bool = False

    @cached_property
    def noisy(self) -> Noisy:
        """How it came out."""
        return self.load()

    @cached_property
    def selected(self) -> _Selected:
        """The keys that were shown, where they are not all public."""
        return self.load_keys()


class Recall(Protocol):
    """What one analyst has been told."""

    def candidates(self, plan: Plan, step: Measuring) -> Iterator[Known]:
        """The same measurement if there is one, then tables that might be summed to it."""
        ...

    def same(self, plan: Plan, step: Measuring) -> Iterator[Known]:
        """The same measurement, the newest first."""
        ...


@dataclass(frozen=True)
class Reused:
    """What is known already, and the receipts under which it was paid."""

    measured: Measured
    receipts: tuple[str, ...]


def reuse(plan: Plan, memory: Recall) -> Reused | None:
    """Readings for the plan from what is known already; None where something is missing."""
    parts: list[Noisy] = []
    selections: list[_Selected] = []
    receipts: list[str] = []
    for step in plan.steps:
        found = served_by(plan, step, memory.candidates(plan, step))
        if found is None:
            return None
        parts.append(found[0])
        selections.append(found[1])
        receipts.append(found[2])
    if not parts or any(keys != selections[0] for keys in selections):
        return None  # groups selected on two occasions need not be the same ones
    return Reused(Measured(tuple(parts), selections[0]), tuple(dict.fromkeys(receipts)))


def served_by(
    plan: Plan, step: Measuring, candidates: Iterable[Known]
) -> tuple[Noisy, _Selected, str] | None:
    """What is known of one measurement of the plan's rows and cells: noisy values, the keys that
    were selected, and the receipt; None where no candidate is as sharp."""
    for known in candidates:
        served = _serve(plan, step, known)
        if served is not None:
            return *served, known.receipt
    return None


def agreeing(plan: Plan, found: Measured) -> Measured:
    """Earlier values, moved so that they agree with what was released exactly since."""
    parts = []
    for step, part in zip(plan.steps, found.parts, strict=True):
        values = None
        if isinstance(step, StrategyNoise) and not part.fitted:
            values = step.way.agreeing(part.values)
        parts.append(part if values is None else replace(part, values=values, fitted=True))
    return replace(found, parts=tuple(parts))


_Served = tuple[Noisy, _Selected]


def _serve(plan: Plan, step: Measuring, known: Known) -> _Served | None:
    if known.same or _is_same(plan, step, known):
        kept = (plan.threshold is None) == (known.selected is None)
        accurate = kept and step.at_least_as_sharp(known.noisy)
        return (known.noisy, known.selected) if accurate else None
    if plan.threshold is not None or plan.chooses or not _may_sum(plan, step, known):
        return None  # units kept other rows in the groups of another question
    if known.selected is not None or _hopeless(step, known.noisy):
        return None
    coarser = _coarser(plan, step, known)
    if coarser is None or (coarser.terms.max(initial=0) > 1 and (known.single or known.noisy.tied)):
        return None
    return (coarser, None) if step.at_least_as_sharp(coarser) else None


def _is_same(plan: Plan, step: Measuring, known: Known) -> bool:
    question = plan.question
    asked = (question.where, question.keys, step.measurement)
    return asked == (known.where, known.keys, known.measurement)


def _hopeless(step: Measuring, noisy: Noisy) -> bool:
    """Whether already a single draw of it is wider than what is asked."""
    if noisy.noise is None or step.noise is None:
        return True
    return variance(noisy.noise) > variance(step.noise) * (1 + 1e-12)


# A coarser table of a finer one


def _may_sum(plan: Plan, step: Measuring, known: Known) -> bool:
    """Whether the known cells tell all that is asked; nothing is loaded for it."""
    return _wanted(plan, step, known) is not None


def _wanted(plan: Plan, step: Measuring, known: Known) -> _Tests | None:
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
    return tests, [key for key in keys if key is not None], conditions


def _coarser(plan: Plan, step: Measuring, known: Known) -> Noisy | None:
    """The step's table, summed from the cells of a known one; None where cells do not tell."""
    over = _wanted(plan, step, known)
    return None if over is None else _summed(plan, step, known, over)


def _components(asked: Measurement, known: Measurement) -> list[Expr | None] | None:
    """For each asked component the condition under which a known cell counts for it."""
    if isinstance(asked, Counts) and known == ROWS:
        return list(asked.conditions)
    alike = measurement_json(asked) == measurement_json(known)
    return [None] * width_of(asked) if alike else None


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
        return Column(_place(keys.index(part)), part.range) if part in keys else None

    changed = rewrite(expr, place)
    own = {_place(index) for index in range(len(keys))}
    return changed if all(column.name in own for column in columns(changed)) else None


def _place(index: int) -> str:
    return f"\0{index}"  # no column of a table has such a name


_Tests = tuple[list[Expr | None], list[Expr], list[Expr | None]]
_Axes = list[tuple[Any, ...]]


def _summed(plan: Plan, step: Measuring, known: Known, over: _Tests) -> Noisy | None:
    tests, keys, conditions = over
    wanted, fine = plan.question.keys, axes(known.keys)
    kept = np.ones([len(axis) for axis in fine], dtype=bool)
    for test in tests:
        kept &= _met(test, fine)
    target = np.zeros(kept.shape, dtype=np.int64)
    for key, axis in zip(keys, axes(wanted), strict=True):
        places = {value: place for place, value in enumerate(axis)}
        found = _by_cell(key, fine, partial(_place_in, places))
        if (kept & (found < 0)).any():
            return None
        target = target * len(axis) + found
    cells = np.flatnonzero(kept)
    target = target.ravel()[cells]
    values = np.zeros((cell_count(wanted), width_of(step.measurement)), dtype=object)
    counted = np.zeros(len(cells), dtype=bool)
    for place, condition in enumerate(conditions):
        own = np.broadcast_to(_met(condition, fine), kept.shape).ravel()[cells]
        source = known.noisy.values[:, 0 if isinstance(step.measurement, Counts) else place]
        np.add.at(values[:, place], target[own], source[cells[own]])
        counted |= own
    terms = np.zeros(len(values), dtype=np.int64)
    np.add.at(terms, target[counted], known.noisy.terms[cells[counted]])
    return Noisy(values, known.noisy.noise, terms)


def _place_in(places: Mapping[object, int], value: object) -> int:
    return places.get(value, -1)


def _met(test: Expr | None, fine: _Axes) -> NDArray[np.bool_]:
    """Where a test is met, as an array that can be broadcast to all cells."""
    if test is None:
        return np.ones([1] * len(fine), dtype=bool)
    return _by_cell(test, fine, lambda value: value is True).astype(bool)


def _by_cell(expr: Expr, fine: _Axes, read: Callable[[object], int]) -> NDArray[np.int64]:
    """An expression over cells, read as numbers; only the axes that it depends on have a length,
    so it is worked out once for each of their values."""
    used = {column.name for column in columns(expr)}
    own = [axis if _place(i) in used else axis[:1] for i, axis in enumerate(fine)]
    names = [_place(i) for i in range(len(fine))]
    found = [
        read(evaluate(expr, dict(zip(names, cell, strict=True))))
        for cell in itertools.product(*own)
    ]
    return np.array(found, dtype=np.int64).reshape([len(axis) for axis in own])
