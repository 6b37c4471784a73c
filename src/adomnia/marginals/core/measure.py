"""The measurements: what is asked of the mechanisms, and what comes back (`measure.md`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.basis import DENSE, SubsetGroup, comparisons, norms, rows
from adomnia.marginals.core.cost import (
    WHOLE,
    SubsetShares,
    laplace_spread,
    one_row,
    row_sum,
    scales_of,
)
from adomnia.marginals.workload import Subset
from adomnia.mechanisms.randomness import Bits
from adomnia.mechanisms.tables.linear import Axis, Comparisons, Linear, measure
from adomnia.schema.sealed import Sealed

__all__ = [
    "MarginalStrategy",
    "NoisySubsets",
    "Tables",
    "as_float",
    "expected",
    "parameter",
    "take",
]

Tables = Callable[[Sequence[Subset]], dict[Subset, Sealed[NDArray[np.int64]]]]
"""Exact marginal tables on request, sealed; the empty subset's table is the number of rows."""

Progress = Callable[[float], None]
CHUNK = 1 << 20
LARGE = 1 << 26
MIXED = 6
SILENT = 100.0
"""Half a rate of Laplace noise above which its variance, below 10^-86, is not told apart."""
Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class MarginalStrategy:
    """What is measured: residual blocks, or full tables of views; with which noise.

    `factor` is what the neighbours' distance adds to the cost of a row that comes (`cost.md`),
    `budget` the epsilon of laplace noise or the rho of gaussian noise.
    """

    method: Literal["residual", "views"]
    kind: Literal["laplace", "gaussian"]
    parts: tuple[SubsetShares, ...]
    factor: Fraction
    budget: Fraction


@dataclass(frozen=True, eq=False)
class NoisySubsets:
    """Noisy values of the subsets of one shape, and the variance of each subset's values.

    Residual blocks come as coefficients of rows of length one, views as cells.
    """

    group: SubsetGroup
    values: Floats
    variances: NDArray[np.float64]
    room: Floats | None = None
    """The tables of the group, not yet made; `values` stand at its end (`measure.md`)."""


def parameter(strategy: MarginalStrategy, shape: tuple[int, ...], share: int) -> Fraction:
    """The noise parameter of a subset with this share of the budget; 0 for a public total."""
    if share == 0:
        return Fraction(0)
    rate = strategy.factor * Fraction(WHOLE, share) / strategy.budget
    if strategy.method == "views":
        return rate
    return rate * one_row(shape) / 2 if strategy.kind == "gaussian" else rate * row_sum(shape)


def expected(strategy: MarginalStrategy, shape: tuple[int, ...], share: int) -> float:
    """The variance of a noisy value, or a bound of it (exact in the binary case, `measure.md`)."""
    unit = as_float(parameter(strategy, shape, share))
    if strategy.kind == "gaussian":
        return unit
    spread = laplace_spread(shape) if strategy.method == "residual" else 1.0
    return _laplace_variance(unit) * spread if unit else 0.0


def _laplace_variance(scale: float) -> float:
    """The variance of integer Laplace noise; never so small that its inverse overflows."""
    half = min(1 / (2 * scale), SILENT)
    return float(1 / (2 * np.sinh(half) ** 2))


def as_float(number: Fraction) -> float:
    """The number, or one that no noise passes."""
    return float(number) if number < 10**300 else 1e300


def take(
    strategy: MarginalStrategy, tables: Tables, bits: Bits, progress: Progress | None = None
) -> list[NoisySubsets]:
    """Every part measured once; exact tables are asked for in pieces and never opened here."""
    work = list(_pieces(strategy))
    done, whole = 0, sum(_cells(piece) for piece in work)
    noisy = [_empty(strategy, part, whole) for part in strategy.parts]
    for batch in _batches(work):
        jobs = [_job(strategy, piece, tables) for piece in batch]
        for piece, values in zip(batch, measure(jobs, bits), strict=True):
            mine = noisy[piece.part]
            shape = piece.group.shape
            _write(mine.values, piece.where, values, _lengths(strategy, shape))
            mine.variances[piece.where] = expected(strategy, shape, piece.share)
        done += sum(_cells(piece) for piece in batch)
        if progress:
            progress(done / whole)
    return noisy


def _write(
    into: Floats, where: NDArray[np.int64], values: NDArray[Any], lengths: NDArray[np.float64]
) -> None:
    """The integers over their rows' lengths, in one pass where their places follow each other."""
    first, last = int(where[0]), int(where[-1])
    plain = values.astype(into.dtype)
    scale = (1 / lengths).astype(into.dtype)
    if last - first + 1 == len(where):
        np.multiply(plain, scale, out=into[first : last + 1])
    else:
        into[where] = plain * scale


def _empty(strategy: MarginalStrategy, part: SubsetShares, whole: int) -> NoisySubsets:
    """Room for a part's values; short floats where there are many."""
    dtype = np.float64 if whole < LARGE else np.float32
    many, shape = len(part.shares), part.group.shape
    room = np.empty((many, *shape), dtype)
    if strategy.method == "views":
        return NoisySubsets(part.group, room, np.zeros(many))
    inside = tuple(size - 1 for size in shape)
    values = room.reshape(-1)[room.size - many * prod(inside) :].reshape(many, *inside)
    return NoisySubsets(part.group, values, np.zeros(many), room)


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some subsets of a part that have the same share, and where they stand in it."""

    part: int
    group: SubsetGroup
    share: int
    where: NDArray[np.int64]


def _cells(piece: _Piece) -> int:
    return len(piece.where) * prod(piece.group.shape)


def _pieces(strategy: MarginalStrategy) -> Iterator[_Piece]:
    for number, part in enumerate(strategy.parts):
        most = max(1, CHUNK // prod(part.group.shape))
        for share in np.unique(part.shares):
            where = np.flatnonzero(part.shares == share)
            for start in range(0, len(where), most):
                some = where[start : start + most]
                yield _Piece(
                    number, SubsetGroup(part.group.shape, part.group.places[some]), int(share), some
                )


def _batches(work: list[_Piece]) -> Iterator[list[_Piece]]:
    """Pieces together up to a chunk of cells; more where they differ, to share the noise."""
    batch: list[_Piece] = []
    size = 0
    for piece in work:
        most = CHUNK if batch and batch[-1].part == piece.part else MIXED * CHUNK
        if batch and size + _cells(piece) > most:
            yield batch
            batch, size = [], 0
        batch.append(piece)
        size += _cells(piece)
    yield batch


def _job(strategy: MarginalStrategy, piece: _Piece, tables: Tables) -> Linear:
    subsets = piece.group.subsets
    sealed = tables(subsets)
    shape = piece.group.shape
    if strategy.method == "views":
        axes = tuple(Axis.identity(size) for size in shape)
    else:
        axes = tuple(Axis(_matrix(size), scales_of(size, strategy.kind)) for size in shape)
    unit = parameter(strategy, shape, piece.share)
    return Linear([sealed[subset] for subset in subsets], axes, strategy.kind, unit)


def _matrix(size: int) -> NDArray[np.int64] | Comparisons:
    return rows(size) if size <= DENSE else comparisons(size)


def _lengths(strategy: MarginalStrategy, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The length of the row of each coefficient; 1 for cells of views."""
    found = np.ones((1,) * len(shape))
    if strategy.method == "residual":
        for place, size in enumerate(shape):
            turn = [1] * len(shape)
            turn[place] = size - 1
            found = found * np.sqrt(norms(size)).reshape(turn)
    return found
