"""Joint histograms of number columns over grids of equal cells: each is one question.

Values are positions in [0, 1] between the public bounds, so that all columns weigh alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np

from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.moments import onto_simplex, scale_of, shrunk
from adomnia.mining.parts.statements import Bounds, decimal, identifier, present, select

__all__ = ["Histogram", "ask_histogram", "cells_of"]


@dataclass(frozen=True)
class Histogram:
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


def ask_histogram(
    fit: Fitting,
    bounds: Sequence[Bounds],
    bins: int,
    epsilon: Fraction,
    cuts: Sequence[float] | None = None,
) -> Histogram:
    """A joint histogram of columns cut into so many bins each; it costs what a count costs.

    With `cuts` each column has two bins, which meet at its position there.
    """
    places = cuts if cuts is not None else [None] * len(bounds)
    axes = [_axis(bound, bins, cut) for bound, cut in zip(bounds, places, strict=True)]
    keys = {f"b{place}": axis[0] for place, axis in enumerate(axes) if len(axis[1]) > 1}
    sql = select(fit.session, {"n": "COUNT(*)"}, keys=keys, where=present(bounds))
    shape = tuple(len(axis[1]) for axis in axes)
    counts = np.zeros([size for size in shape if size > 1])
    answer = fit.ask(sql, epsilon, "grid")
    for *cell, count in answer.rows:
        counts[tuple(int(part) for part in cell)] = count
    return Histogram(counts.reshape(shape), tuple(axis[1] for axis in axes), scale_of(answer))


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
