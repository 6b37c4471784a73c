"""Readings: noisy measurements, as they were released and as the ledger keeps them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.plan import Plan, Step
from adomnia.engines.engine import Engine, Request
from adomnia.mechanisms.keyed import release_keyed
from adomnia.mechanisms.margin import Noise
from adomnia.mechanisms.mechanism import add_gaussian, add_laplace, choose_quantiles
from adomnia.queries.grouping import cell_count, visible
from adomnia.queries.measurement import Counts, Distinct, Quantile, number, width_of
from adomnia.schema.table import Table

__all__ = ["Reading", "Readings", "from_json", "take", "to_json"]


@dataclass(frozen=True)
class Reading:
    """Noisy components, one row per cell; `terms` says of how many draws each cell is a sum."""

    values: NDArray[Any]
    noise: Noise | None
    terms: NDArray[np.int64]
    eta: Fraction = Fraction(0)


@dataclass(frozen=True)
class Readings:
    """What was released for a question: a reading per measurement, and the selected keys."""

    parts: tuple[Reading, ...]
    keys: tuple[tuple[Any, ...], ...] | None = None


def take(plan: Plan, table: Table, engine: Engine) -> Readings:
    """Read the data, add the noise. The plan's event must be in the ledger by now."""
    question = plan.question
    additive = tuple(s.measurement for s in plan.steps if not isinstance(s.measurement, Quantile))
    request = Request(table, question.where, question.keys, additive)
    if plan.threshold is not None:
        return _keyed(plan, request, engine)
    sealed = iter(engine.measure(request) if additive else ())
    parts = []
    for step in plan.steps:
        if isinstance(step.measurement, Quantile):
            parts.append(_quantile(step, request, engine))
        else:
            parts.append(_visible(_noisy(step, next(sealed)), step, request))
    return Readings(tuple(parts))


def _noisy(step: Step, sealed: Any) -> Reading:
    assert step.noise is not None
    add = add_laplace if step.noise.kind == "laplace" else add_gaussian
    values = add(sealed, step.noise.parameter)
    return Reading(values, step.noise, np.ones(len(values), np.int64))


def _visible(found: Reading, step: Step, request: Request) -> Reading:
    """A distinct count is paid for in the cells that are shown, so no other leaves this room."""
    if not isinstance(step.measurement, Distinct):
        return found
    values = np.zeros_like(found.values)
    shown = visible(request.keys, request.table.attributes)
    values[shown] = found.values[shown]
    return replace(found, values=values)


def _quantile(step: Step, request: Request, engine: Engine) -> Reading:
    assert isinstance(step.measurement, Quantile)
    assert step.target is not None
    spread, cells = number(step.measurement.argument), cell_count(request.keys)
    sealed = engine.histogram(request, step.measurement)
    chosen = choose_quantiles(sealed, cells, spread.low, spread.high, step.target, step.eta)
    return Reading(chosen.reshape(-1, 1), None, np.ones(cells, np.int64), step.eta)


def _keyed(plan: Plan, request: Request, engine: Engine) -> Readings:
    noises = [n for s in plan.steps if (n := s.noise) for _ in range(width_of(s.measurement))]
    starts = np.cumsum([0, *(width_of(step.measurement) for step in plan.steps)])
    place = next(i for i, s in enumerate(plan.steps) if isinstance(s.measurement, Counts))
    counts = plan.steps[place].measurement
    assert isinstance(counts, Counts)
    assert plan.threshold is not None
    column = int(starts[place]) + counts.conditions.index(None)
    keys, values = release_keyed(engine.keyed(request), column, plan.threshold, noises)
    terms = np.ones(len(keys), np.int64)
    parts = [
        Reading(values[:, a:b], step.noise, terms)
        for step, a, b in zip(plan.steps, starts, starts[1:], strict=False)
    ]
    return Readings(tuple(parts), tuple(keys))


def to_json(readings: Readings) -> dict[str, Any]:
    """Readings as the ledger keeps them: they are released, so they are no secret."""
    body: dict[str, Any] = {"readings": [_part_json(part) for part in readings.parts]}
    if readings.keys is not None:
        body["keys"] = [[_key_json(value) for value in key] for key in readings.keys]
    return body


def _part_json(part: Reading) -> dict[str, Any]:
    noise = None if part.noise is None else [part.noise.kind, str(part.noise.parameter)]
    return {
        "values": part.values.tolist(),
        "width": part.values.shape[1],
        "noise": noise,
        "eta": str(part.eta),
        "terms": part.terms.tolist() if (part.terms != 1).any() else None,
    }


def _key_json(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def from_json(body: Any) -> Readings:
    """The readings of a ledger entry."""
    parts = tuple(_part(part) for part in body["readings"])
    keys = body.get("keys")
    return Readings(parts, None if keys is None else tuple(tuple(key) for key in keys))


def _part(part: Any) -> Reading:
    rows = part["values"]
    # No groups may have been selected: then only the record knows the width.
    width = part.get("width") or (len(rows[0]) if rows else 1)
    values = np.array(rows, dtype=object).reshape(len(rows), width)
    kind = part["noise"]
    noise = None if kind is None else Noise(kind[0], Fraction(kind[1]))
    terms = np.array(part["terms"] or [1] * len(values), dtype=np.int64)
    return Reading(values, noise, terms, Fraction(part["eta"]))
