"""Estimates: statistics and their margins from noisy measurements (`estimate.md`).

All of it is post-processing. Averages and variances are ratios of measured moments; their
margins come from the noise through the derivative at what was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.plan import Plan, Step
from adomnia.curator.reading import Reading, Readings
from adomnia.mechanisms.combination import margins
from adomnia.mechanisms.margin import margin
from adomnia.mechanisms.quantile import rank_margin
from adomnia.queries.measurement import Counts, Moments, Quantile, Sum, number, unit_of
from adomnia.queries.question import Statistic
from adomnia.queries.strategy import condition_of

__all__ = ["Estimate", "estimates"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A statistic in each cell, and how far off it is at the asked confidence."""

    values: list[Any]
    margins: list[float]


def estimates(plan: Plan, readings: Readings, confidence: float) -> list[Estimate]:
    """One estimate for each statistic of the plan's question, in its order."""
    found = []
    for statistic in plan.question.statistics:
        at = plan.strategy.source[statistic]
        found.append(_estimate(statistic, plan.steps[at], readings.parts[at], confidence))
    return found


def _estimate(statistic: Statistic, step: Step, reading: Reading, confidence: float) -> Estimate:
    measurement = step.measurement
    if isinstance(measurement, Quantile):
        return _quantile(step, reading, confidence)
    if isinstance(measurement, Moments):
        return _moments(statistic, measurement, reading, confidence)
    column, scale = 0, 1.0
    if isinstance(measurement, Counts):
        column = measurement.conditions.index(condition_of(statistic))
    values = reading.values[:, column].tolist()
    if isinstance(measurement, Sum):
        spread = number(measurement.argument)
        values = [_scaled(value, spread.step) for value in values]
        scale = float(spread.step)
    return Estimate(values, _plain_margins(reading, scale, confidence))


def _scaled(value: int, step: Any) -> int | float:
    exact = value * step
    return int(exact) if exact.denominator == 1 else float(exact)


def _plain_margins(reading: Reading, scale: float, confidence: float) -> list[float]:
    """Margins of single components: exact, one for each number of draws that a cell sums."""
    assert reading.noise is not None
    known: dict[int, float] = {}
    for terms in np.unique(reading.terms).tolist():
        found = margin([(1, reading.noise)], confidence, [terms]) if terms else 0
        known[terms] = found if scale == 1.0 else found * scale
    return [known[terms] for terms in reading.terms.tolist()]


def _quantile(step: Step, reading: Reading, confidence: float) -> Estimate:
    """A quantile's margin is in rows: how far its rank may be from the asked one."""
    assert isinstance(step.measurement, Quantile)
    assert step.target is not None
    spread = number(step.measurement.argument)
    rows = rank_margin(spread.width + 1, reading.eta, step.target, confidence)
    values = [_scaled(int(value), spread.step) for value in reading.values[:, 0]]
    return Estimate(values, [rows] * len(values))


# Moments


@dataclass(frozen=True)
class _Powers:
    """Σ1, Σj, Σj² of the offsets j = x - low, and what each component adds to them."""

    count: Floats
    first: Floats
    second: Floats
    weights: Floats


def _moments(
    statistic: Statistic, measurement: Moments, reading: Reading, confidence: float
) -> Estimate:
    assert reading.noise is not None
    values, weights = _DERIVED[statistic.kind](statistic, measurement, reading)
    spread = margins(weights, reading.noise, reading.terms, confidence)
    if statistic.kind == "count":
        whole = [round(value) for value in values.tolist()]
        return Estimate(whole, np.ceil(spread).astype(int).tolist())
    widest = _widest(statistic, measurement)
    limited = spread if widest is None else np.minimum(spread, widest)
    return Estimate(values.tolist(), limited.tolist())


def _widest(statistic: Statistic, measurement: Moments) -> float | None:
    """No average or variance is further off than its bounds allow."""
    width = number(measurement.argument).width * float(number(measurement.argument).step)
    return {"avg": width, "var": width**2 / 2}.get(statistic.kind)


def _powers(measurement: Moments, reading: Reading) -> _Powers:
    parts = reading.values.astype(float)
    width, degree = float(max(1, number(measurement.argument).width)), measurement.degree
    ones, zeros = np.full(degree + 1, width**-degree), np.zeros(int(measurement.rest))
    firsts = np.arange(degree + 1) / degree * width ** (1 - degree)
    seconds = np.array([0.0] * degree + [width ** (2 - degree)])
    rows = [np.concatenate([row, zeros]) for row in (ones, firsts, seconds)]
    count, first, second = (parts @ row for row in rows)
    return _Powers(np.maximum(count, 1.0), first, second, np.stack(rows))


def _count(statistic: Statistic, measurement: Moments, reading: Reading) -> tuple[Floats, Floats]:
    weights = np.full(reading.values.shape[1], 1 / unit_of(measurement))
    if statistic.argument is not None and measurement.rest:
        weights[-1] = 0.0
    return reading.values.astype(float) @ weights, np.tile(weights, (len(reading.values), 1))


def _sum(statistic: Statistic, measurement: Moments, reading: Reading) -> tuple[Floats, Floats]:
    spread, powers = number(measurement.argument), _powers(measurement, reading)
    weights = float(spread.step) * (spread.low * powers.weights[0] + powers.weights[1])
    return reading.values.astype(float) @ weights, np.tile(weights, (len(reading.values), 1))


def _average(statistic: Statistic, measurement: Moments, reading: Reading) -> tuple[Floats, Floats]:
    spread, powers = number(measurement.argument), _powers(measurement, reading)
    step, mean = float(spread.step), np.clip(powers.first / powers.count, 0, spread.width)
    slope = powers.weights[1] - mean[:, None] * powers.weights[0]
    return step * (spread.low + mean), step * slope / powers.count[:, None]


def _variance(
    statistic: Statistic, measurement: Moments, reading: Reading
) -> tuple[Floats, Floats]:
    spread, powers = number(measurement.argument), _powers(measurement, reading)
    square, mean = float(spread.step) ** 2, np.clip(powers.first / powers.count, 0, spread.width)
    less = 0 if statistic.population else 1
    below = np.maximum(powers.count - less, 1.0)
    spread_out = powers.second - 2 * mean * powers.first + mean**2 * powers.count
    value = np.clip(spread_out / below, 0, spread.width**2 / 2)
    slope = powers.weights[2] - 2 * mean[:, None] * powers.weights[1]
    slope = slope + (mean**2 - value)[:, None] * powers.weights[0]
    return square * value, square * slope / below[:, None]


_DERIVED: dict[str, Callable[[Statistic, Moments, Reading], tuple[Floats, Floats]]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "var": _variance,
}
