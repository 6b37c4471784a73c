"""Moments of number columns by group: rows, means and variances, asked in one question or a few.

Values are positions in [0, 1] between the public bounds, so that all columns weigh alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from adomnia.curator.answers.answer import Answer
from adomnia.curator.query_plan import QueryPlan
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.statements import Bounds, decimal, identifier, select
from adomnia.schema.domain import Value

__all__ = [
    "GroupKey",
    "PositionMoments",
    "ask_moments",
    "ask_rows",
    "believed",
    "moment_outputs",
    "onto_simplex",
    "read_moments",
    "scale_of",
    "shrunk",
]

ASSUMED, SURE = 1000.0, 5.0
CHUNK = 60
"""Columns in one statement: a statement has a limited number of words."""


def scale_of(answer: Answer | QueryPlan) -> float:
    """The scale of the noise in an answer's counts and moments, in rows."""
    noises = answer.noise.values()
    return max((noise.widest for noise in noises if noise.unit == "rows"), default=0.0)


def ask_rows(fit: Fitting, epsilon: Fraction) -> float:
    """About how many rows there are, at least one; some number where nothing is spent on it."""
    if not epsilon:
        return ASSUMED
    answer = fit.ask(select(fit.session, {"n": "COUNT(*)"}), epsilon, "rows")
    return max(1.0, float(answer.rows[0][0]))


@dataclass(frozen=True)
class PositionMoments:
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
) -> PositionMoments:
    """The moments of all columns in each cell; up to the mean only if the degree is 1.

    One row adds one in all to the components of a column (`adomnia why measurement`), so a
    column costs what a count costs, and d columns share the epsilon.
    """
    found, scale = [], 0.0
    for part in _chunks(bounds):
        share = epsilon * len(part) / len(bounds)
        sql = _moments_sql(fit, part, cells, degree)
        answer = fit.ask(sql, share, "moments")
        rows = answer.rows
        if cells is not None and cells.expression:
            by_value = {row[0]: row[1:] for row in rows}
            rows = [by_value[value] for value in cells.values]
        found.append(np.array(rows, np.float64).reshape(len(rows), len(part), degree + 1))
        scale = max(scale, scale_of(answer))
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


def read_moments(table: Floats, bounds: Sequence[Bounds], scale: float) -> PositionMoments:
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
    return PositionMoments(rows, mean, np.clip(squares, 0.0, 0.25), scale)


# Shrinkage: noisy numbers, moved to where they likely are; all of it is post-processing.


def believed(mean: Floats, off: float) -> Floats:
    """Noisy mean positions, drawn to the middle of the bounds as if even ones came before."""
    out: Floats = np.clip(0.5 + (mean - 0.5) / (1 + 12 * off**2), 0.0, 1.0)
    return out


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
