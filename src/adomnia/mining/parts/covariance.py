"""Noisy covariances of positions, asked in the way that promises the least error.

Four ways, compared by what is public and a noisy number of rows: joint grids of blocks of
columns; moments alone; moments and products of pairs, which are asked at once or, where there is
much noise, cut off around the means; and moments followed by joint grids of the sides on which
columns lie of their means (`components.md`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from adomnia.curator.answers.answer import Answer
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.histogram import ask_histogram, cells_of
from adomnia.mining.parts.moments import (
    ask_moments,
    believed,
    moment_outputs,
    read_moments,
    scale_of,
    shrunk,
)
from adomnia.mining.parts.statements import Bounds, decimal, identifier, select

__all__ = [
    "Covariance",
    "CovarianceMethod",
    "by_grids",
    "by_moments",
    "by_products",
    "covariance_methods",
]

SPREAD, REACH = 0.2, 3.0
"""The standard deviation of a column that is expected before anything is known, as a share of its
bounds (they lie two and a half of it to both sides), and how many the products reach."""
UNSEEN, MODEL = 3**-0.5, 2 / math.pi - 0.5
"""Correlations that moments alone leave out, if any is as likely as another; and what the normal
law behind `sides` gets wrong where columns have two values, in the mean over such correlations."""
LOST = 0.005
"""The share of a normal column's variance that lies past the reach."""
MOST_CELLS, MOST_GRIDS, MOST_IN_ALL, PAIRS, LEAST = 20_000, 60, 60_000, 100, 1e-9


@dataclass(frozen=True)
class Covariance:
    """Means and covariances of positions, and the standard deviation of the noise in each."""

    mean: Floats
    matrix: Floats
    noise: Floats


@dataclass(frozen=True)
class CovarianceMethod:
    """A way to ask: its name, the error of an entry to be expected, and the shape of its grids.

    `whole`: there is so little noise that cutting products off would do more harm.
    """

    name: str
    error: float
    block: int = 0
    bins: int = 0
    whole: bool = False

    def at_once(self, count: int) -> bool:
        """Whether moments and products of so many columns are one question."""
        return self.whole and math.comb(count, 2) + count <= PAIRS


def covariance_methods(
    bounds: Sequence[Bounds], rows: float, epsilon: float, split: float
) -> list[CovarianceMethod]:
    """All ways, the most exact first; `split` is the moments' share where others follow."""
    count, unit = len(bounds), max(epsilon * rows, 1e-300)
    alone = math.hypot(min(count / unit, SPREAD**2), UNSEEN * SPREAD**2 * math.sqrt(count - 1))
    found = [CovarianceMethod("moments", alone), *_grids(bounds, unit)]
    if count > 1 and 0 < split < 1:
        own, rest = min(count / (unit * split), SPREAD**2), unit * (1 - split)
        pairs = math.sqrt(2) * math.comb(count, 2) / rest
        whole = pairs < LOST * SPREAD**2
        error = _both(own, pairs * (REACH * SPREAD) ** 2, count)
        found.append(CovarianceMethod("products", error, whole=whole))
        for block in range(1, (count + 1) // 2 + 1):
            joined = list(_joined(count, block))
            cells = 2 ** max(len(part) for part in joined)
            if _is_quick(len(joined), cells):
                apart = math.sqrt(2 * cells) * len(joined) * SPREAD**2 / rest
                error = math.hypot(_both(own, apart, count), MODEL * SPREAD**2)
                found.append(CovarianceMethod("sides", error, block, 2))
    return sorted(found, key=lambda way: way.error)


def _both(own: float, apart: float, count: int) -> float:
    """The error of an entry, in the mean over variances and covariances."""
    return math.sqrt((own**2 + (count - 1) * apart**2) / count)


def _grids(bounds: Sequence[Bounds], unit: float) -> Iterator[CovarianceMethod]:
    count = len(bounds)
    for block in range(1, (count + 1) // 2 + 1):
        joined = list(_joined(count, block))
        for bins in range(3, 17):
            cells = max(cells_of([bounds[i] for i in part], bins) for part in joined)
            if not _is_quick(len(joined), cells):
                break
            noise = math.sqrt(2 * cells) / 12 * len(joined) / unit
            yield CovarianceMethod("grids", math.hypot(noise, 0.5 / (12 * bins**2)), block, bins)


def _is_quick(grids: int, cells: int) -> bool:
    """Whether so many grids with so many cells each are asked within seconds."""
    return grids <= MOST_GRIDS and cells <= MOST_CELLS and grids * cells <= MOST_IN_ALL


def _joined(count: int, block: int) -> Iterator[list[int]]:
    """Sets of columns that hold every pair of columns: pairs of blocks."""
    blocks = [list(range(i, min(i + block, count))) for i in range(0, count, block)]
    if len(blocks) == 1:
        yield blocks[0]
    for one, other in itertools.combinations(blocks, 2):
        yield one + other


# Grids


def by_grids(
    fit: Fitting, bounds: Sequence[Bounds], way: CovarianceMethod, epsilon: Fraction, rows: float
) -> Covariance:
    """Moments around the middle of the bounds, summed over the cells of joint grids."""
    count = len(bounds)
    first, second = np.zeros(count), np.zeros((count, count))
    noise, times = np.zeros((count, count)), np.zeros((count, count))
    joined = list(_joined(count, way.block))
    fit.total = 1 + len(joined)
    for part in joined:
        some = [bounds[i] for i in part]
        grid = ask_histogram(fit, some, way.bins, epsilon / len(joined))
        off = grid.points() - 0.5
        at = np.ix_(part, part)
        times[at] += 1
        first[part] += off.T @ grid.counts.ravel() / rows
        second[at] += off.T @ (grid.counts.ravel()[:, None] * off) / rows - _within(grid.centers)
        noise[at] += 2 * (grid.scale / rows) ** 2 * ((off**2).T @ off**2)
    mean = first / np.diag(times)
    matrix = second / times - np.outer(mean, mean)
    return Covariance(mean + 0.5, matrix, np.sqrt(noise) / times)


def _within(centers: Sequence[Floats]) -> Floats:
    """What cutting a smooth distribution into cells adds to its variances (Sheppard)."""
    width = [float(axis[1] - axis[0]) if len(axis) > 1 else 0.0 for axis in centers]
    return np.diag(np.square(width) / 12)


# Moments and products


def by_moments(
    fit: Fitting,
    bounds: Sequence[Bounds],
    way: CovarianceMethod,
    epsilon: Fraction,
    pairs: Fraction,
) -> Covariance:
    """Variances from moments; then what the way asks of pairs, if anything."""
    found = ask_moments(fit, bounds, epsilon)
    off = found.scale / found.rows[0]
    mean = np.clip(found.mean[0], 0.0, 1.0)
    made = Covariance(mean, np.diag(found.variance[0]), np.diag(np.full(len(bounds), off)))
    if way.name == "moments":
        return made
    variance = np.clip(shrunk(found.variance[0], off)[0], LEAST, 0.25)
    if way.name == "sides":
        _correlate(fit, bounds, way, pairs, (made, variance))
    else:
        reach = REACH * np.sqrt(variance + min(off, 0.25) / 4)
        if way.whole:
            reach = np.ones(len(bounds))
        columns = [_clipped(*each) for each in zip(bounds, mean, reach, strict=True)]
        _multiply(fit, columns, pairs, made, float(found.rows[0]))
    return made


def _correlate(
    fit: Fitting,
    bounds: Sequence[Bounds],
    way: CovarianceMethod,
    epsilon: Fraction,
    known: tuple[Covariance, Floats],
) -> None:
    """Covariances from the sides of the means on which rows lie, as if columns were normal.

    For normal columns cut at their medians the sides' correlation is 2/pi asin(rho) (Sheppard).
    """
    made, variance = known
    count = len(bounds)
    total, noise, times = (np.zeros((count, count)) for _ in range(3))
    joined = list(_joined(count, way.block))
    fit.total = fit.done + len(joined)
    cut = believed(made.mean, float(made.noise[0, 0]))
    for part in joined:
        some, cuts = [bounds[i] for i in part], [float(cut[i]) for i in part]
        grid = ask_histogram(fit, some, 2, epsilon / len(joined), cuts)
        sides = np.stack(np.unravel_index(np.arange(grid.counts.size), grid.counts.shape), axis=1)
        counts = grid.counts.ravel()
        rows = max(1.0, float(counts.sum()))
        share = np.clip(sides.T @ counts / rows, 0.05, 0.95)
        off = (sides - share) / np.sqrt(share * (1 - share))
        at = np.ix_(part, part)
        times[at] += 1
        total[at] += off.T @ (counts[:, None] * off) / rows
        noise[at] += 2 * (grid.scale / rows) ** 2 * ((off**2).T @ off**2)
    apart = ~np.eye(count, dtype=bool)
    unit = np.sqrt(np.outer(variance, variance))
    found = np.sin(np.pi / 2 * np.clip(total / np.maximum(times, 1), -1, 1)) * unit
    made.matrix[apart] = found[apart]
    made.noise[apart] = (np.pi / 2 * np.sqrt(noise) / np.maximum(times, 1) * unit)[apart]


@dataclass(frozen=True)
class _Clipped:
    """A column less its center and cut off at a reach: its SQL, how far its mean is from there
    (a position), and the width of its bounds."""

    sql: str
    rest: float
    width: float


def _clipped(bound: Bounds, mean: float, reach: float) -> _Clipped:
    """Center and reach are multiples of the column's step, so that products stay on a lattice."""
    steps = bound.width / bound.step
    center = bound.low + round(Fraction(mean) * steps) * bound.step
    most = max(1, math.ceil(Fraction(min(reach, 1.0)) * steps)) * bound.step
    offset = f"({identifier(bound.name)} - {decimal(center)})"
    width = float(bound.width) or 1.0
    rest = mean - float(center - bound.low) / width
    if most < bound.width:
        offset = f"LEAST(GREATEST({offset}, {decimal(-most)}), {decimal(most)})"
    return _Clipped(offset, rest, width)


def _multiply(
    fit: Fitting, columns: Sequence[_Clipped], epsilon: Fraction, made: Covariance, rows: float
) -> None:
    """The mean products of all pairs, and their noise, into the covariances."""
    pairs = _pairs(columns)
    fit.total = fit.done + 1 + (len(pairs) - 1) // PAIRS
    for start in range(0, len(pairs), PAIRS):
        part = pairs[start : start + PAIRS]
        share = epsilon * len(part) / len(pairs)
        sql = select(fit.session, _product_outputs(columns, part))
        answer = fit.ask(sql, share, "products")
        (row,) = answer.rows
        units = [columns[i].width * columns[j].width * rows for i, j in part]
        noise = _relative(answer, part, units)
        for (i, j), value, unit, off in zip(part, row, units, noise, strict=True):
            made.matrix[i, j] = value / unit - columns[i].rest * columns[j].rest
            made.matrix[j, i] = made.matrix[i, j]
            made.noise[i, j] = made.noise[j, i] = off


def by_products(fit: Fitting, bounds: Sequence[Bounds], epsilon: Fraction) -> Covariance:
    """Moments, and products around the middle of the bounds, from one pass over the rows.

    No product is larger there than a quarter, and no mean need be known before.
    """
    fit.total = fit.done + 1
    columns = [_clipped(bound, 0.5, 1.0) for bound in bounds]
    pairs = _pairs(columns)
    sql = select(fit.session, {**moment_outputs(bounds), **_product_outputs(columns, pairs)})
    answer = fit.ask(sql, epsilon, "products")
    (row,) = answer.rows
    own = np.array(row[: -len(pairs)], np.float64).reshape(1, len(bounds), -1)
    found = read_moments(own, bounds, scale_of(answer))
    off, mean = found.scale / found.rows[0], np.clip(found.mean[0], 0.0, 1.0)
    away = mean - 0.5 + np.array([column.rest for column in columns])
    made = Covariance(mean, np.diag(found.variance[0]), np.diag(np.full(len(bounds), off)))
    units = [columns[i].width * columns[j].width * found.rows[0] for i, j in pairs]
    noise = _relative(answer, pairs, units)
    for (i, j), total, unit, wrong in zip(pairs, row[-len(pairs) :], units, noise, strict=True):
        made.matrix[i, j] = made.matrix[j, i] = total / unit - away[i] * away[j]
        made.noise[i, j] = made.noise[j, i] = math.hypot(wrong, off * away[i], off * away[j])
    return made


def _pairs(columns: Sequence[object]) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(len(columns)), 2))


def _product_outputs(
    columns: Sequence[_Clipped], pairs: Sequence[tuple[int, int]]
) -> dict[str, str]:
    return {_product_name(i, j): f"SUM({columns[i].sql} * {columns[j].sql})" for i, j in pairs}


def _product_name(i: int, j: int) -> str:
    return f"p{i}_{j}"


def _relative(
    answer: Answer, pairs: Sequence[tuple[int, int]], units: Sequence[float]
) -> list[float]:
    """The standard deviation of the noise in each sum, in these units."""
    noises = [answer.noise.get(_product_name(i, j)) for i, j in pairs]
    widest = max((noise.widest for noise in noises if noise), default=0.0)
    scales = [noise.widest if noise else widest for noise in noises]
    return [math.sqrt(2) * scale / unit for scale, unit in zip(scales, units, strict=True)]
