"""The noise of an answer's columns: what was added, which is public; how it fell out is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from adomnia.curator.planning.plan import Plan
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noisy_values import Measured
from adomnia.queries.measurement import Counts, Measurement, Moments, Sum, number, unit_of
from adomnia.queries.question import Given

__all__ = ["ColumnNoise", "column_noise"]


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
