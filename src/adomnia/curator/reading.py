"""Readings: noisy measurements, as they were released and as the ledger keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.derived import Derived
from adomnia.curator.plan import Plan, Step
from adomnia.engines.engine import Engine, Request
from adomnia.errors import MachineryError
from adomnia.mechanisms.choosing import choose_modes
from adomnia.mechanisms.conditioned import add_conditioned
from adomnia.mechanisms.keyed import release_keyed
from adomnia.mechanisms.margin import Noise
from adomnia.mechanisms.mechanism import (
    add_gaussian,
    add_laplace,
    choose_quantiles,
    noisy_quantiles,
)
from adomnia.mechanisms.row_limit import limit_histogram, limit_rows
from adomnia.privacy.contribution import ROWS, Contribution, Ranked, Tally
from adomnia.queries.grouping import cell_count, visible
from adomnia.queries.measurement import Counts, Distinct, Mode, Quantile, width_of
from adomnia.queries.ranges import count_cells
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = ["Reading", "Readings", "from_json", "measured", "prepare", "take", "to_json"]


@dataclass(frozen=True)
class Reading:
    """Noisy components, one row per cell; `terms` says of how many draws each cell is a sum.

    Cells that are `tied` share draws. `fitted` ones were moved to agree with what is public.
    Of noise inside the kernel, `widths` say how far each cell strays at each of its levels. The
    `law` names noise that follows the data.
    """

    values: NDArray[Any]
    noise: Noise | None
    terms: NDArray[np.int64]
    eta: Fraction = Fraction(0)
    tied: bool = False
    fitted: bool = False
    widths: NDArray[np.float64] | None = None
    law: str = ""


@dataclass(frozen=True)
class Readings:
    """What was released for a question: a reading per measurement, and the selected keys."""

    parts: tuple[Reading, ...]
    keys: tuple[tuple[Any, ...], ...] | None = None


def take(plan: Plan, table: Table, engine: Engine) -> Readings:
    """Read the data, add the noise. The plan's event must be in the ledger by now."""
    question = plan.question
    additive = tuple(_enforced(step) for step in plan.steps if _is_plain(step))
    request = Request(table, question.where, question.keys, additive)
    if plan.threshold is not None:
        return _keyed(plan, request, engine)
    sealed = iter(measured(engine, request, plan.most) if additive else ())
    parts = []
    for step in plan.steps:
        if isinstance(step.measurement, Quantile):
            parts.append(_quantile(step, request, engine, plan.most))
        elif isinstance(step.measurement, Mode):
            parts.append(_mode(step, step.measurement, request, engine, plan.most))
        elif step.derived is not None:
            parts.append(_derived(step, step.derived, request, engine))
        else:
            parts.append(_visible(_noisy(step, next(sealed)), step, request))
    return Readings(tuple(parts))


def prepare(plan: Plan, table: Table, engine: Engine) -> None:
    """Refuse what cannot be read safely, before anything is paid; no row is looked at."""
    wanted = tuple(_enforced(step) for step in plan.steps)
    engine.prepare(Request(table, plan.question.where, plan.question.keys, wanted))


def measured(engine: Engine, request: Request, most: int | None) -> tuple[Sealed[Any], ...]:
    """What the request measures, of no more than `most` rows where that is set, sealed."""
    if most is None:
        return engine.measure(request)
    wanted = (*request.contributions, ROWS)  # in one statement: of the same state of the data
    *found, rows = engine.measure(replace(request, contributions=wanted))
    return tuple(limit_rows(part, rows, most) for part in found)


def _enforced(step: Step) -> Contribution:
    """What the statement enforces, and the step's noise is scaled by."""
    assert step.contribution is not None
    return step.contribution


def _is_plain(step: Step) -> bool:
    """Whether all of it is measured, with noise on each component."""
    return not isinstance(step.measurement, Quantile | Mode) and step.derived is None


def _derived(step: Step, derived: Derived, request: Request, engine: Engine) -> Reading:
    """The asked counts, from those that are measured and from what is public."""
    assert step.noise is not None
    noisy: NDArray[Any] = np.zeros(0, np.int64)  # what is public needs no data at all
    if derived.places is None and derived.counts is not None:
        cells = Tally(derived.counts.conditions)
        (sealed,) = engine.measure(Request(request.table, None, (), (cells,)))
        noisy = _with_noise(sealed, step, derived, range(len(derived.counts.conditions)))
    elif derived.places:
        (sealed,) = engine.measure(replace(request, contributions=(_enforced(step),)))
        noisy = _with_noise(sealed, step, derived, derived.places)
    values, fitted = derived.fill(noisy)
    widths = None if derived.widths is None else derived.widths * float(step.noise.parameter)
    return Reading(values, step.noise, derived.terms, Fraction(0), derived.is_tied, fitted, widths)


def _with_noise(sealed: Any, step: Step, derived: Derived, places: Sequence[int]) -> NDArray[Any]:
    assert step.noise is not None
    scale = step.noise.parameter
    if scale == 0:
        raise MachineryError("without noise nothing is opened")
    if derived.measured.basis is not None:
        share = scale / derived.bound  # of one unit of sensitivity
        groups = [(group, part * share) for group, part in derived.groups]
        return add_conditioned(sealed, derived.measured.basis, scale, groups=groups, places=places)
    add = add_laplace if step.noise.kind == "laplace" else add_gaussian
    return add(sealed, scale, places=places)


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


def _quantile(step: Step, request: Request, engine: Engine, most: int | None) -> Reading:
    ranked, cells = step.contribution, cell_count(request.keys)
    assert isinstance(ranked, Ranked)
    assert step.target is not None
    sealed = engine.histogram(request, ranked)
    if most is not None:
        sealed = limit_histogram(sealed, most)
    if step.smooth is None:
        chosen = choose_quantiles(sealed, cells, ranked.low, ranked.high, step.target, step.eta)
    else:
        grid = (ranked.low, ranked.high)
        chosen = noisy_quantiles(sealed, cells, grid, step.target, step.smooth)
    return Reading(chosen.reshape(-1, 1), None, np.ones(cells, np.int64), step.eta, law=step.law)


def _mode(step: Step, mode: Mode, request: Request, engine: Engine, most: int | None) -> Reading:
    """The place of each cell's mode among the values, from a count of every value."""
    values, cells = count_cells(mode.argument.range), cell_count(request.keys)
    assert values is not None
    keys = (*request.keys, mode.argument)
    by_value = Request(request.table, request.where, keys, (ROWS,), len(request.keys))
    (sealed,) = measured(engine, by_value, most)
    chosen = choose_modes(sealed, cells, values, step.eta)
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
        **({"tied": True} if part.tied else {}),
        **({"fitted": True} if part.fitted else {}),
        **({} if part.widths is None else {"widths": part.widths.tolist()}),
        **({"law": part.law} if part.law else {}),
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
    tied, fitted = part.get("tied", False), part.get("fitted", False)
    widths = None if part.get("widths") is None else np.array(part["widths"], np.float64)
    eta, law = Fraction(part["eta"]), part.get("law", "")
    return Reading(values, noise, terms, eta, tied, fitted, widths, law)
