"""Estimates: statistics and their margins from noisy measurements (`estimate.md`).

All of it is post-processing. Averages and variances are ratios of measured moments; their
margins are those of the noise in the moments, at the worst mean and variance within reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.planning.plan import Plan
from adomnia.curator.planning.strategy import LEVELS
from adomnia.mechanisms.choices.choosing import mode_margin
from adomnia.mechanisms.interval_quantile import IntervalQuantile
from adomnia.mechanisms.margins.combination import margins
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.measurement_mechanisms import ExponentialQuantile, Measuring
from adomnia.mechanisms.noisy_values import Measured, Noisy
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Mode,
    Moments,
    Quantile,
    Sum,
    number,
    unit_of,
)
from adomnia.queries.post import at_step
from adomnia.queries.question import Given, Statistic
from adomnia.queries.ranges import cells, show
from adomnia.queries.strategy import condition_of

__all__ = ["ColumnNoise", "Estimate", "Interval", "Unit", "column_noise", "estimates", "scaled"]

Unit = Literal["value", "rows", "share"]
"""In what a margin is: as the value itself, in rows, or in shares of all rows."""

Interval = tuple[Any, Any]
"""From which number, day or moment to which, both included."""

Floats = NDArray[np.float64]
ONE = Fraction(1)
ROUNDING = 1e-6
"""By so much floats of counts may be off."""
LARGEST = 10**300
"""Larger numbers stay integers: floats end soon after."""


@dataclass(frozen=True)
class Estimate:
    """A statistic in each cell, and how far off it is at the asked confidence.

    `unit` says in what: in the unit of the `value`, or in `rows`, by which its rank or its count is
    off. A margin is None where none holds on all data. `intervals` are of quantiles that were paid
    with one: between which values the exact one lies.
    """

    values: list[Any]
    margins: Sequence[float | None]
    unit: Unit = "value"
    intervals: Sequence[Interval] | None = None


def estimates(plan: Plan, readings: Measured, confidence: float) -> list[Estimate]:
    """One estimate for each statistic of the plan's question, in its order."""
    found = []
    for statistic in plan.question.statistics:
        at = plan.strategy.source[statistic]
        found.append(_estimate(statistic, plan.steps[at], readings.parts[at], confidence))
    return found


def _estimate(statistic: Statistic, step: Measuring, noisy: Noisy, confidence: float) -> Estimate:
    return _ESTIMATES[type(step.measurement)](statistic, step, noisy, confidence)


def _plain(statistic: Statistic, step: Measuring, noisy: Noisy, confidence: float) -> Estimate:
    """A count of values: one component, with the noise that it got."""
    return Estimate(noisy.values[:, 0].tolist(), _plain_margins(noisy, ONE, confidence))


def _counts(statistic: Statistic, step: Measuring, noisy: Noisy, confidence: float) -> Estimate:
    """The component of the statistic's condition."""
    assert isinstance(step.measurement, Counts)
    column = step.measurement.conditions.index(condition_of(statistic))
    return Estimate(noisy.values[:, column].tolist(), _plain_margins(noisy, ONE, confidence))


def _summed(statistic: Statistic, step: Measuring, noisy: Noisy, confidence: float) -> Estimate:
    """A sum of steps, in the unit of its expression."""
    assert isinstance(step.measurement, Sum)
    spread = number(step.measurement.argument)
    values = [scaled(value, spread.step) for value in noisy.values[:, 0].tolist()]
    return Estimate(values, _plain_margins(noisy, spread.step, confidence))


def scaled(steps: float, step: Fraction) -> int | float:
    """So many steps as the decimal that they are: of floats a product would end in 00000002."""
    if isinstance(steps, float) and not math.isfinite(steps):
        return steps
    exact = Fraction(steps) * step
    whole = exact.denominator == 1 or abs(exact) > LARGEST
    return int(exact) if whole else float(exact)


def _plain_margins(reading: Noisy, step: Fraction, confidence: float) -> list[float]:
    """Margins of single components: exact, one for each number of draws that a cell sums."""
    assert reading.noise is not None
    if reading.widths is not None:
        return [scaled(width, step) for width in _inside(reading.widths, confidence)]
    known: dict[int, float] = {}
    for terms in {*reading.terms.tolist()}:
        found = margin([(1, reading.noise)], confidence, [terms]) if terms else 0
        known[terms] = found if step == 1 or found > LARGEST else scaled(found, step)
    return [known[terms] for terms in reading.terms.tolist()]


def _inside(widths: Floats, confidence: float) -> list[float]:
    """Margins of noise inside the kernel, at the next level that was simulated, in whole numbers.

    The noise is log-concave: past the last level a, P(|X| > k a) <= P(|X| > a)^((k + 1)/2).
    """
    level = next((i for i, known in enumerate(LEVELS) if known >= confidence), None)
    if level is not None:
        return [float(math.ceil(width)) for width in widths[level]]
    factor = max(1.0, 2 * math.log(1 - confidence) / math.log(1 - LEVELS[-1]) - 1)
    return [float(math.ceil(width * factor)) for width in widths[-1]]


def _quantile(statistic: Statistic, step: Measuring, noisy: Noisy, confidence: float) -> Estimate:
    """A quantile's margin is in rows: how far its rank may be from the asked one.

    Of noise that follows the data the scale is private, so there is no margin. One that was paid
    with an interval has its ends too, in values.
    """
    assert isinstance(step.measurement, Quantile)
    spread = number(step.measurement.argument)

    def shown(index: Any) -> Any:
        if statistic.calendar is not None:
            return at_step(statistic.calendar, int(index))
        return scaled(int(index), spread.step)

    values = [shown(value) for value in noisy.values[:, 0]]
    if noisy.law != step.law or not isinstance(step, ExponentialQuantile):
        return Estimate(values, [None] * len(values), "rows")
    margins = [step.rank_margin(noisy.eta, confidence)] * len(values)
    if not isinstance(step, IntervalQuantile):
        return Estimate(values, margins, "rows")
    ends = [(shown(low), shown(high)) for _, low, high in noisy.values]
    return Estimate(values, margins, "rows", ends)


def _mode(statistic: Statistic, step: Measuring, noisy: Noisy, confidence: float) -> Estimate:
    """A mode's margin is in rows: how many fewer have it than have the most frequent value."""
    assert isinstance(step.measurement, Mode)
    spread = step.measurement.argument.range
    listed = cells(spread)
    rows = mode_margin(len(listed), noisy.eta, confidence)
    values = [show(spread, listed[int(place)]) for place in noisy.values[:, 0]]
    return Estimate(values, [rows] * len(values), "rows")


# Moments


@dataclass(frozen=True)
class _Powers:
    """Σ1, Σj, Σj² of the offsets j = x - low, and what each component adds to them; `off` is how
    far the first may be off."""

    rows: Floats
    first: Floats
    second: Floats
    weights: Floats
    off: Floats

    def divided(self, by: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The rows but so many, to divide by; and whether there are more than that for sure.

        Of no row there is no average, and where there may be none no margin but the whole range
        tells the truth.
        """
        rest = self.rows - by
        sure = rest > self.off + ROUNDING
        return np.where(sure, rest, np.maximum(rest, 1.0)), sure


def _moments(statistic: Statistic, step: Measuring, reading: Noisy, confidence: float) -> Estimate:
    measurement = step.measurement
    assert isinstance(measurement, Moments)
    assert reading.noise is not None
    values, spread = _DERIVED[statistic.kind](statistic, measurement, _Noisy(reading, confidence))
    if statistic.kind == "count":
        whole = [round(value) for value in values.tolist()]
        return Estimate(whole, [_ceil(value) for value in spread.tolist()])
    if statistic.kind == "sum":
        return _on_lattice(values, spread, number(measurement.argument).step)
    widest = _widest(statistic, measurement)
    limited = spread if widest is None else np.minimum(spread, widest)
    return Estimate(values.tolist(), limited.tolist())


def _on_lattice(values: Floats, margins: Floats, step: Fraction) -> Estimate:
    """Sums at the nearest step, as the truth is, with margins rounded up to whole ones."""
    size = float(step)
    near = [round(steps) if abs(steps) < LARGEST else steps for steps in (values / size).tolist()]
    wide = [_ceil(steps) for steps in (margins / size).tolist()]
    return Estimate([scaled(x, step) for x in near], [scaled(x, step) for x in wide])


def _ceil(value: float) -> float:
    return math.ceil(value) if math.isfinite(value) else value


@dataclass(frozen=True)
class _Noisy:
    """A reading in floats, and the margin of what is derived of it by weights."""

    reading: Noisy
    confidence: float

    @property
    def values(self) -> Floats:
        """The components, one row per cell."""
        exact = self.reading.values
        try:
            return exact.astype(np.float64)
        except OverflowError:  # noise past the range of floats: no number says more than this
            within: Floats = np.clip(exact, -LARGEST, LARGEST).astype(np.float64)
            return within

    def margin(self, weights: Floats) -> Floats:
        """The margin of a weighted sum of the components, with weights for each cell.

        Several sums for the same cells come in one array: one call of many rows is quick.
        """
        reading, flat = self.reading, weights.reshape(-1, weights.shape[-1])
        assert reading.noise is not None
        terms = np.broadcast_to(reading.terms, weights.shape[:-1]).ravel()
        found = margins(flat, reading.noise, terms, self.confidence)
        return found.reshape(weights.shape[:-1])


def _widest(statistic: Statistic, measurement: Moments) -> float | None:
    """No average or variance is further off than its bounds allow."""
    width = number(measurement.argument).width * float(number(measurement.argument).step)
    return {"avg": width, "var": width**2 / 2}.get(statistic.kind)


def _powers(measurement: Moments, noisy: _Noisy) -> _Powers:
    width, degree = float(max(1, number(measurement.argument).width)), measurement.degree
    ones, zeros = np.full(degree + 1, width**-degree), np.zeros(int(measurement.rest))
    firsts = np.arange(degree + 1) / degree * width ** (1 - degree)
    seconds = np.array([0.0] * degree + [width ** (2 - degree)])
    rows = [np.concatenate([row, zeros]) for row in (ones, firsts, seconds)]
    count, first, second = (noisy.values @ row for row in rows)
    off = noisy.margin(np.tile(rows[0], (len(count), 1)))
    return _Powers(count, first, second, np.stack(rows), off)


def _weighted(noisy: _Noisy, weights: Floats) -> _Derived:
    values = noisy.values
    return values @ weights, noisy.margin(np.tile(weights, (len(values), 1)))


def _count(statistic: Statistic, measurement: Moments, noisy: _Noisy) -> _Derived:
    weights = np.full(noisy.reading.values.shape[1], 1 / unit_of(measurement))
    if statistic.argument is not None and measurement.rest:
        weights[-1] = 0.0
    return _weighted(noisy, weights)


def _sum(statistic: Statistic, measurement: Moments, noisy: _Noisy) -> _Derived:
    spread, powers = number(measurement.argument), _powers(measurement, noisy)
    weights = float(spread.step) * (spread.low * powers.weights[0] + powers.weights[1])
    return _weighted(noisy, weights)


def _average(statistic: Statistic, measurement: Moments, noisy: _Noisy) -> _Derived:
    spread, powers = number(measurement.argument), _powers(measurement, noisy)
    step, (mean, off) = float(spread.step), _mean(spread.width, powers, noisy)
    return step * (spread.low + mean), step * off


def _mean(width: int, powers: _Powers, noisy: _Noisy) -> _Derived:
    """The mean offset, and how far it may be off: the widest margin that a mean within has."""
    rows, sure = powers.divided(0)
    mean = np.clip(powers.first / rows, 0, width)

    def off(at: Floats) -> Floats:
        slope = powers.weights[1] - at[..., None] * powers.weights[0]
        return noisy.margin(slope) / rows

    near = off(mean)
    ends = np.clip([mean - near, mean + near], 0, width)
    found = np.minimum(np.maximum(near, off(ends).max(axis=0)), width)
    return mean, np.where(sure, found, width)


def _variance(statistic: Statistic, measurement: Moments, noisy: _Noisy) -> _Derived:
    spread, powers = number(measurement.argument), _powers(measurement, noisy)
    square, (mean, off) = float(spread.step) ** 2, _mean(spread.width, powers, noisy)
    rows, (below, sure) = powers.divided(0)[0], powers.divided(0 if statistic.population else 1)
    most = spread.width**2 / 2
    spread_out = powers.second - 2 * mean * powers.first + mean**2 * rows
    value = np.clip(spread_out / below, 0, most)

    def wrong(center: Floats, around: Floats) -> Floats:
        slope = powers.weights[2] - 2 * center[..., None] * powers.weights[1]
        return noisy.margin(slope + (center**2 - around)[..., None] * powers.weights[0]) / below

    near = wrong(mean, value)
    centers = np.clip([mean - off, mean + off], 0, spread.width)
    values = np.clip([value - near, value + near], 0, most)
    corners = wrong(centers.repeat(2, axis=0), np.concatenate([values, values]))
    widest = np.maximum(near, corners.max(axis=0))
    shifted = (off / 2) ** 2 * rows / below  # around a mean that is off, it is less
    return square * value, square * np.where(sure, widest + shifted, most)


_Derived = tuple[Floats, Floats]
"""A statistic in each cell, and its margin."""

_DERIVED: dict[str, Callable[[Statistic, Moments, _Noisy], _Derived]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "var": _variance,
}

_ESTIMATES: dict[type[Any], Callable[[Statistic, Measuring, Noisy, float], Estimate]] = {
    Counts: _counts,
    Sum: _summed,
    Moments: _moments,
    Distinct: _plain,
    Quantile: _quantile,
    Mode: _mode,
}
"""How each kind of measurement answers a statistic."""


# The noise of an answer's columns: what was added, which is public; how it fell out is not.


@dataclass(frozen=True)
class ColumnNoise:
    """The noise in a column that is one count, sum or moment.

    `kind` is the law of a draw and `parameter` what it has: the scale of a laplace, the variance
    of a gaussian; 0 where nothing was added. `draws` says for each row of the answer how many
    draws its cell is the sum of: more than one where it was summed from an earlier table.

    `unit` says in what a draw is: `rows` in counts, and in what is reckoned from moments, where
    each of several measured numbers has a draw (`adomnia why measurement`); `value`, as the column
    itself, in sums and in counts of different values.

    >>> noise = ColumnNoise("laplace", Fraction(10), (1, 4), "rows")
    >>> noise.scale, noise.widest
    (10.0, 20.0)
    """

    kind: Literal["laplace", "gaussian"]
    parameter: Fraction
    draws: tuple[int, ...]
    unit: Literal["value", "rows"]

    @property
    def scale(self) -> float:
        """The scale of one draw: of a laplace its own, of a gaussian the standard deviation."""
        own = float(self.parameter)
        return math.sqrt(own) if self.kind == "gaussian" else own

    @property
    def widest(self) -> float:
        """The scale of the widest noise of a row, as if it were one draw of the same variance."""
        return self.scale * math.sqrt(max(self.draws, default=1))


def column_noise(plan: Plan, readings: Measured, cells: Sequence[int]) -> dict[str, ColumnNoise]:
    """The noise of each column that is one statistic with noise added, in the answer's rows.

    Quantiles, modes, and columns computed of several statistics have none of their own.
    """
    found, draws = {}, {}
    for output in plan.question.outputs:
        if not isinstance(output.value, Given):
            continue
        at = plan.strategy.source[plan.question.statistics[output.value.index]]
        measurement, part = plan.steps[at].measurement, readings.parts[at]
        if part.noise is None:
            continue
        if at not in draws:
            draws[at] = tuple(part.terms[list(cells)].tolist())
        counts = isinstance(measurement, Counts | Moments)
        unit: Literal["value", "rows"] = "rows" if counts else "value"
        parameter = _in_unit(part.noise, measurement)
        found[output.name] = ColumnNoise(part.noise.kind, parameter, draws[at], unit)
    return found


def _in_unit(noise: Noise, measurement: Measurement) -> Fraction:
    """The parameter of noise on whole numbers, in the unit that these are steps of."""
    step = Fraction(1, unit_of(measurement))
    if isinstance(measurement, Sum):
        step = number(measurement.argument).step
    return noise.parameter * (step**2 if noise.kind == "gaussian" else step)
