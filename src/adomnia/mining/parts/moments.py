"""Synopses of number columns: moments and grids, each of them one question or a few.

Values are positions in [0, 1] between the public bounds, so that all columns weigh alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adomnia.mining.parts.estimator import Fitting
from adomnia.mining.parts.statements import Bounds, decimal, identifier, select
from adomnia.queries.measurement import Moments as Measured
from adomnia.queries.measurement import Sum, unit_of
from adomnia.schema.domain import Value

__all__ = [
    "Grid",
    "GroupKey",
    "Moments",
    "ask_grid",
    "ask_moments",
    "ask_rows",
    "believed",
    "cells_of",
    "moment_outputs",
    "onto_simplex",
    "present",
    "read_moments",
    "scale_of",
    "shrunk",
]

Floats = NDArray[np.float64]
ASSUMED, SURE = 1000.0, 5.0
CHUNK = 60
"""Columns in one statement: a statement has a limited number of words."""


def scale_of(fit: Fitting, sql: str, epsilon: Fraction) -> float:
    """The scale of the noise in an answer's counts and moments, in rows; from the session's plan,
    which is public."""
    steps = fit.plan(sql, epsilon).steps
    scales = [0.0]
    for step in steps:
        if step.noise is not None and not isinstance(step.measurement, Sum):
            unit = unit_of(step.measurement) if isinstance(step.measurement, Measured) else 1
            scales.append(float(step.noise.parameter / unit))
    return max(scales)


def believed(mean: Floats, off: float) -> Floats:
    """Noisy mean positions, drawn to the middle of the bounds as if even ones came before."""
    out: Floats = np.clip(0.5 + (mean - 0.5) / (1 + 12 * off**2), 0.0, 1.0)
    return out


def ask_rows(fit: Fitting, epsilon: Fraction) -> float:
    """About how many rows there are, at least one; some number where nothing is spent on it."""
    if not epsilon:
        return ASSUMED
    answer = fit.ask(select(fit.session, {"n": "COUNT(*)"}), epsilon, "rows")
    return max(1.0, float(answer.rows[0][0]))


def present(bounds: Sequence[Bounds]) -> str:
    """The condition that a row has a value in each of these columns."""
    return " AND ".join(f"{identifier(bound.name)} IS NOT NULL" for bound in bounds)


# Moments


@dataclass(frozen=True)
class Moments:
    """Of each cell: its rows, and the mean and variance of each column's positions.

    `scale` is that of the noise in a moment, in rows: a mean is off by about scale / rows, and
    lies outside [0, 1] where that is much.
    """

    rows: Floats
    mean: Floats
    variance: Floats
    scale: float


@dataclass(frozen=True)
class GroupKey:
    """What rows are grouped by: an expression of SQL and its values; a `source` that has it.

    Without an expression all rows of the source are one cell.
    """

    expression: str
    values: Sequence[Value]
    source: str | None = None


def ask_moments(
    fit: Fitting,
    bounds: Sequence[Bounds],
    epsilon: Fraction,
    cells: GroupKey | None = None,
    degree: int = 2,
) -> Moments:
    """The moments of all columns in each cell; up to the mean only if the degree is 1.

    One row adds one in all to the components of a column (`adomnia why measurement`), so a
    column costs what a count costs, and d columns share the epsilon.
    """
    found, scale = [], 0.0
    for part in _chunks(bounds):
        share = epsilon * len(part) / len(bounds)
        sql = _moments_sql(fit, part, cells, degree)
        rows = fit.ask(sql, share, "moments").rows
        if cells is not None and cells.expression:
            by_value = {row[0]: row[1:] for row in rows}
            rows = [by_value[value] for value in cells.values]
        found.append(np.array(rows, np.float64).reshape(len(rows), len(part), degree + 1))
        scale = max(scale, scale_of(fit, sql, share))
    return read_moments(np.concatenate(found, axis=1), bounds, scale)


def _moments_sql(fit: Fitting, part: Sequence[Bounds], cells: GroupKey | None, degree: int) -> str:
    outputs = moment_outputs(part, degree)
    if cells is None:
        return select(fit.session, outputs)
    keys = {"cell": cells.expression} if cells.expression else {}
    return select(fit.session, outputs, keys=keys, source=cells.source)


def moment_outputs(part: Sequence[Bounds], degree: int = 2) -> dict[str, str]:
    """What is asked of each column: its sum, count and, for the second degree, variance."""
    outputs = {}
    for place, bound in enumerate(part):
        offset = _offset(bound)
        outputs[f"s{place}"] = f"SUM({offset})"
        outputs[f"n{place}"] = f"COUNT({offset})"
        if degree == 2:
            outputs[f"v{place}"] = f"VAR_POP({offset})"
    return outputs


def _offset(bound: Bounds) -> str:
    """A column from its low bound on: its moments then rest on no large number."""
    column = identifier(bound.name)
    return column if bound.low == 0 else f"({column} - {decimal(bound.low)})"


def _chunks(bounds: Sequence[Bounds]) -> Iterator[Sequence[Bounds]]:
    for start in range(0, len(bounds), CHUNK):
        yield bounds[start : start + CHUNK]


def read_moments(table: Floats, bounds: Sequence[Bounds], scale: float) -> Moments:
    """Answers (cells × columns × outputs) as one set, without bias in rows and means.

    Every column counts the same rows, so their counts are averaged; only where a column's own is
    another beyond doubt, because of its NULLs, its means take that. A sum less half of the count
    is free of one component's noise, which makes it the least noisy way to a mean.
    """
    width = np.array([float(bound.width) or 1.0 for bound in bounds])
    sums, counts = table[..., 0] / width, table[..., 1]
    squares = table[..., 2] / width**2 if table.shape[-1] == 3 else np.zeros_like(sums)
    counted, off = counts.mean(axis=1), scale * (2 * table.shape[-1]) ** 0.5  # of one count
    rows = np.maximum(shrunk(counted, off / table.shape[1] ** 0.5)[0], 1.0)
    other = np.abs(counts - counted[:, None]) > SURE * off
    own = np.where(other, np.maximum(counts, 1.0), rows[:, None])
    mean = 0.5 + (sums - counts / 2) / own
    return Moments(rows, mean, np.clip(squares, 0.0, 0.25), scale)


def shrunk(values: Floats, off: Floats | float, apart: float = 0.0) -> tuple[Floats, Floats]:
    """Noisy numbers, moved towards their mean over the first axis as far as noise explains them.

    Empirical Bayes: what they scatter beyond the noise (`off`, its standard deviation) is how far
    they are apart, or `apart` if that is more. Also returns the variance that is left in each.
    """
    common, noise = values.mean(axis=0), np.broadcast_to(np.square(off), values.shape)
    degrees = max(1, len(values) - 1)
    scatter = ((values - common) ** 2).sum(axis=0) / degrees
    beyond = np.maximum(scatter - noise.mean(axis=0), apart)
    trust = beyond / np.maximum(beyond + noise, 1e-300)
    return common + trust * (values - common), trust * noise


def onto_simplex(values: Floats, total: Floats | float) -> Floats:
    """The nearest values that are not negative and have this sum, along the last axis."""
    ordered = -np.sort(-values, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - np.asarray(total)[..., None]
    rank = np.arange(1, values.shape[-1] + 1)
    last = (ordered - excess / rank > 0).sum(axis=-1, keepdims=True) - 1
    last = np.maximum(last, 0)
    shift = np.take_along_axis(excess, last, axis=-1) / (last + 1)
    out: Floats = np.maximum(values - shift, 0.0)
    return out


# Grids


@dataclass(frozen=True)
class Grid:
    """A histogram over cells of equal size: noisy counts, and where the cells of each axis lie."""

    counts: Floats
    centers: tuple[Floats, ...]
    scale: float

    def points(self) -> Floats:
        """The middle of every cell, one row each, in the order of `counts.ravel()`."""
        mesh = np.meshgrid(*self.centers, indexing="ij")
        return np.stack([axis.ravel() for axis in mesh], axis=1)

    def weights(self, rows: float) -> Floats:
        """Counts that are not negative and sum to these rows.

        They are shrunk to even ones as far as noise explains how they scatter; of such, the
        nearest to the noisy.
        """
        believed, _ = shrunk(self.counts.ravel(), 2**0.5 * self.scale)
        return onto_simplex(believed, rows)


def ask_grid(
    fit: Fitting,
    bounds: Sequence[Bounds],
    bins: int,
    epsilon: Fraction,
    cuts: Sequence[float] | None = None,
) -> Grid:
    """A joint histogram of columns cut into so many bins each; it costs what a count costs.

    With `cuts` each column has two bins, which meet at its position there.
    """
    places = cuts if cuts is not None else [None] * len(bounds)
    axes = [_axis(bound, bins, cut) for bound, cut in zip(bounds, places, strict=True)]
    keys = {f"b{place}": axis[0] for place, axis in enumerate(axes) if len(axis[1]) > 1}
    sql = select(fit.session, {"n": "COUNT(*)"}, keys=keys, where=present(bounds))
    shape = tuple(len(axis[1]) for axis in axes)
    counts = np.zeros([size for size in shape if size > 1])
    for *cell, count in fit.ask(sql, epsilon, "grid").rows:
        counts[tuple(int(part) for part in cell)] = count
    return Grid(counts.reshape(shape), tuple(axis[1] for axis in axes), scale_of(fit, sql, epsilon))


def _axis(bound: Bounds, bins: int, cut: float | None) -> tuple[str, Floats]:
    """The expression of a column's bin, and the middle of the values that each bin holds."""
    steps = int(bound.width / bound.step)
    bins = max(1, min(bins, steps + 1))
    firsts = [math.ceil(Fraction(i * (steps + 1), bins)) for i in range(bins)]
    if cut is not None and bins > 1:
        firsts = [0, max(1, min(steps, math.ceil(Fraction(cut) * steps)))]
    column = identifier(bound.name)
    tests = [
        f"WHEN {column} < {decimal(bound.low + first * bound.step)} THEN {place}"
        for place, first in enumerate(firsts[1:])
    ]
    middle = np.array([(a + b - 1) / 2 for a, b in pairwise([*firsts, steps + 1])])
    expression = f"CASE {' '.join(tests)} ELSE {bins - 1} END" if tests else "0"
    return expression, middle / max(1, steps)


def cells_of(bounds: Sequence[Bounds], bins: int) -> int:
    """How many cells a grid has: a column with few values has no more bins than these."""
    sizes = [min(bins, int(bound.width / bound.step) + 1) for bound in bounds]
    return reduce(lambda a, b: a * b, sizes, 1)
