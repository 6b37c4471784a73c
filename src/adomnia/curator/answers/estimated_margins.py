"""Margins told beforehand where they depend on the number of rows: estimates, marked as such.

Averages, variances and what is computed of them err by less where there are more rows. A plan says
by how much on about so many rows as are known of (`known_rows.py`), spread evenly over the declared
range; the answer's own margin decides.
"""

from __future__ import annotations

import statistics as middling
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from adomnia.curator.answers.column_margins import column_margin, jointly
from adomnia.curator.answers.estimate import Estimate, estimates
from adomnia.curator.answers.known_rows import KnownRows
from adomnia.curator.planning.plan import Plan
from adomnia.mechanisms.measurement_mechanisms import Measuring
from adomnia.mechanisms.noisy_values import Measured, Noisy
from adomnia.queries.measurement import Counts, Moments, Quantile, Sum, number, unit_of
from adomnia.queries.post import statistics
from adomnia.queries.question import Given, Post

__all__ = ["EstimatedMargin", "estimated_margins"]

MOST_SIZES = 100
"""Of so many different numbers of rows each is reckoned with; of more, so many among them."""


@dataclass(frozen=True)
class EstimatedMargin:
    """About how far a column will be off: in a group of middling size, in the one where it is most,
    and in each, where each is known of.

    `unit` says in what: as the column itself; or of a quantile, whose margin in rows is known, what
    `share` of the rows that is.
    """

    margin: float
    most: float
    unit: Literal["value", "share"] = "value"
    by_group: tuple[float, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        each = {} if self.by_group is None else {"by_group": list(self.by_group)}
        return {"margin": self.margin, "most": self.most, "unit": self.unit, **each}


def estimated_margins(
    plan: Plan, told: Mapping[str, float | None], known: KnownRows, confidence: float
) -> dict[str, EstimatedMargin]:
    """An estimate for each column whose margin is not `told` beforehand, and for quantiles."""
    sizes = _sizes(known.rows)
    found = _Expected(plan, sizes, confidence)
    out = {}
    for output in plan.question.outputs:
        rows = told.get(output.name)
        if rows is not None and _is_rank(plan, output.value):
            margins: Sequence[float | None] = [min(1.0, rows / size) for size in sizes]
            unit: Literal["value", "share"] = "share"
        elif rows is None and statistics(output.value):
            margins, unit = found.margins(output.value), "value"
        else:
            continue
        by_size = {s: m for s, m in zip(sizes, margins, strict=True) if m is not None}
        if len(by_size) == len(sizes):
            out[output.name] = _summed_up(by_size, known, unit)
    return out


def _summed_up(
    by_size: Mapping[int, float], known: KnownRows, unit: Literal["value", "share"]
) -> EstimatedMargin:
    near = {size: _nearest(size, by_size) for size in known.rows}
    each = tuple(near[size] for size in known.rows)
    middle = near[middling.median_low(known.rows)]
    return EstimatedMargin(middle, max(each), unit, None if known.groups is None else each)


def _nearest(size: int, by_size: Mapping[int, float]) -> float:
    """The margin at the largest number of rows that is no larger: never one too narrow."""
    return by_size[max(one for one in by_size if one <= size)]


def _sizes(rows: Sequence[int]) -> list[int]:
    """The different numbers of rows; of very many, some from the least on."""
    listed = sorted({*rows})
    if len(listed) <= MOST_SIZES:
        return listed
    return [listed[i * len(listed) // MOST_SIZES] for i in range(MOST_SIZES)]


def _is_rank(plan: Plan, post: Post) -> bool:
    if not isinstance(post, Given):
        return False
    at = plan.strategy.source[plan.question.statistics[post.index]]
    return isinstance(plan.steps[at].measurement, Quantile)


class _Expected:
    """What would be told of rows that are spread evenly, so many in each cell."""

    def __init__(self, plan: Plan, sizes: Sequence[int], confidence: float) -> None:
        readings = Measured(tuple(_reading(step, sizes) for step in plan.steps))
        self._plan, self._cells = plan, len(sizes)
        self._single = estimates(plan, readings, confidence)
        self._joint = jointly(plan, readings, confidence)

    def margins(self, post: Post) -> list[float | None]:
        """The margin of a column for each number of rows."""
        trusted: list[Estimate] = self._joint.get(len(statistics(post)), self._single)
        keys = (None,) * len(self._plan.question.keys)
        return [column_margin(post, keys, cell, trusted) for cell in range(self._cells)]


def _reading(step: Measuring, sizes: Sequence[int]) -> Noisy:
    """A release without noise of so many rows in each cell, with the noise that it would have."""
    blank, cells = step.blank, len(sizes)
    values = np.array([[_value(step, size, at) for at in range(blank.values.shape[1])]
                       for size in sizes], object)  # fmt: skip
    widths = None if blank.widths is None else np.repeat(blank.widths, cells, axis=1)
    terms = np.repeat(blank.terms, cells)
    return Noisy(values, blank.noise, terms, blank.eta, widths=widths, law=blank.law)


def _value(step: Measuring, size: int, place: int) -> int:
    """One component on rows that are spread evenly: each of Bernstein's polynomials has the same
    mean; NULLs have none."""
    measurement = step.measurement
    if isinstance(measurement, Counts):
        return size
    if isinstance(measurement, Moments):
        null = place > measurement.degree
        return 0 if null else size * unit_of(measurement) // (measurement.degree + 1)
    if isinstance(measurement, Sum):
        return size * (number(measurement.argument).low + number(measurement.argument).high) // 2
    return 0
