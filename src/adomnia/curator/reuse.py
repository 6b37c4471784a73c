"""Reuse: a question that earlier answers already answer costs nothing (`reuse.md`).

What was released is known; computing with it is post-processing. An earlier reading serves when
it is the same measurement, or a finer table of it whose cells can be filtered and summed, and
when it is at least as accurate as what is asked. So asking the same again gives the same answer:
it cannot be averaged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.plan import Plan, Step
from adomnia.curator.reading import Reading, Readings
from adomnia.mechanisms.margin import Noise
from adomnia.queries.expression import Call, Column, Expr, columns, rewrite
from adomnia.queries.grouping import axes, cell_count
from adomnia.queries.measurement import Counts, Measurement, Mode, Moments, Quantile, Sum, width_of
from adomnia.queries.operations import evaluate

__all__ = ["Known", "Memory", "agreeing", "reuse"]

MAX_TABLES = 100
"""Only the latest tables are tried for a coarser one, so that asking stays fast."""

WIDEST = Fraction(10**300)
"""Variances past this are not told apart."""


@dataclass(frozen=True)
class Known:
    """One measurement that was released: of which rows, over which cells, and how it came out.

    The cells of a `single` one are not independent, so they can be taken but not summed.
    """

    where: Expr | None
    keys: tuple[Expr, ...]
    measurement: Measurement
    reading: Reading
    selected: tuple[tuple[object, ...], ...] | None = None
    single: bool = False
    receipt: str = ""


class Memory:
    """What one analyst has been told; of equal measurements the sharpest is kept."""

    def __init__(self) -> None:
        self._same: dict[tuple[object, ...], Known] = {}

    def add(self, known: Known) -> None:
        """Take in one more released measurement."""
        place = (known.where, known.keys, known.measurement, known.reading.law)
        old = self._same.get(place)
        if old is None or _sharper(known.reading, old.reading):
            self._same[place] = known

    def candidates(self, plan: Plan, step: Step) -> Iterator[Known]:
        """The same measurement if there is one, then tables that might be summed to it."""
        question = plan.question
        same = self._same.get((question.where, question.keys, step.measurement, step.law))
        if same is not None:
            yield same
        if isinstance(step.measurement, Counts | Sum | Moments):
            listed = list(self._same.values())  # at once: another thread may be adding
            tables = [k for k in listed if k.keys and k is not same]
            yield from tables[-MAX_TABLES:]


def _sharper(new: Reading, old: Reading) -> bool:
    if new.noise is None or old.noise is None:
        return new.eta > old.eta
    return _spread(new, new.noise) < _spread(old, old.noise)


def _spread(reading: Reading, noise: Noise) -> float:
    """The variance of the cell that sums the most draws."""
    return int(reading.terms.max(initial=0)) * _variance(noise)


def reuse(plan: Plan, memory: Memory) -> tuple[Readings, tuple[str, ...]] | None:
    """Readings for the plan from what is known already, and the receipts that it was told under;
    None where something is missing."""
    parts: list[Reading] = []
    selections: list[_Selected] = []
    receipts: list[str] = []
    for step in plan.steps:
        tried = ((known, _serve(plan, step, known)) for known in memory.candidates(plan, step))
        known, found = next((pair for pair in tried if pair[1] is not None), (None, None))
        if known is None or found is None:
            return None
        parts.append(found[0])
        selections.append(found[1])
        receipts.append(known.receipt)
    if not parts or any(keys != selections[0] for keys in selections):
        return None  # groups selected on two occasions need not be the same ones
    return Readings(tuple(parts), selections[0]), tuple(dict.fromkeys(receipts))


def agreeing(plan: Plan, found: Readings) -> Readings:
    """Earlier readings, moved so that they agree with what was released exactly since."""
    parts = []
    for step, part in zip(plan.steps, found.parts, strict=True):
        values = None
        if step.derived is not None and not part.fitted:
            values = step.derived.agreeing(part.values)
        parts.append(part if values is None else replace(part, values=values, fitted=True))
    return replace(found, parts=tuple(parts))


_Selected = tuple[tuple[object, ...], ...] | None
_Served = tuple[Reading, _Selected]


def _serve(plan: Plan, step: Step, known: Known) -> _Served | None:
    question = plan.question
    same = (question.where, question.keys, step.measurement)
    if same == (known.where, known.keys, known.measurement):
        kept = (plan.threshold is None) == (known.selected is None)
        accurate = kept and _accurate(step, known.reading)
        return (known.reading, known.selected) if accurate else None
    if plan.threshold is not None or known.selected is not None:
        return None
    if plan.chooses:
        return None  # units kept other rows in the groups of another question
    if _hopeless(step, known.reading):
        return None
    coarser = _coarser(plan, step, known)
    if coarser is not None and known.single and coarser.terms.max(initial=0) > 1:
        return None
    return (coarser, None) if coarser is not None and _accurate(step, coarser) else None


def _hopeless(step: Step, reading: Reading) -> bool:
    """Whether already a single draw of the reading is wider than what is asked."""
    if reading.noise is None or step.noise is None:
        return True
    return _variance(reading.noise) > _variance(step.noise) * (1 + 1e-12)


def _accurate(step: Step, reading: Reading) -> bool:
    """Whether the reading is at least as sharp as the step would make it."""
    if isinstance(step.measurement, Quantile | Mode):
        return reading.law == step.law and reading.eta >= step.eta
    if reading.noise is None or step.noise is None:
        return False
    return _spread(reading, reading.noise) <= _variance(step.noise) * (1 + 1e-12)


def _variance(noise: Noise) -> float:
    """The spread of a noise, for comparison; both kinds on one scale."""
    exact = 2 * noise.parameter**2 if noise.kind == "laplace" else noise.parameter
    return float(min(exact, WIDEST))


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
    return _summed(plan, step, known, (tests, [key for key in keys if key is not None], conditions))


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
        return Column(_place(keys.index(part)), part.range) if part in keys else None

    changed = rewrite(expr, place)
    own = {_place(index) for index in range(len(keys))}
    return changed if all(column.name in own for column in columns(changed)) else None


def _place(index: int) -> str:
    return f"\0{index}"  # no column of a table has such a name


_Tests = tuple[list[Expr | None], list[Expr], list[Expr | None]]
_Axes = list[tuple[Any, ...]]


def _summed(plan: Plan, step: Step, known: Known, over: _Tests) -> Reading | None:
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
        source = known.reading.values[:, 0 if isinstance(step.measurement, Counts) else place]
        np.add.at(values[:, place], target[own], source[cells[own]])
        counted |= own
    terms = np.zeros(len(values), dtype=np.int64)
    np.add.at(terms, target[counted], known.reading.terms[cells[counted]])
    return Reading(values, known.reading.noise, terms)


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
