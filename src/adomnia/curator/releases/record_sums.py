"""Shares of sums for made-up records, so that all tables of them agree (`magnitudes.md`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.releases.magnitudes import Magnitude
from adomnia.marginals.core.microdata import SyntheticRecords, cell_codes
from adomnia.marginals.workload import Subset

__all__ = ["fit_sums", "tabulate_sums"]

Floats = NDArray[np.float64]
WORK = 1 << 31
"""Cells of records that a fit may look at, all its steps together: about half a minute."""
STEPS = 500


def tabulate_sums(
    records: SyntheticRecords, steps: NDArray[np.int64], sizes: Sequence[int], subset: Subset
) -> NDArray[np.int64]:
    """What the records' shares add up to in a table."""
    shape = tuple(sizes[place] for place in subset)
    found = np.zeros(prod(shape), np.int64)
    np.add.at(found, cell_codes(records.records, sizes, subset), steps)
    return found.reshape(shape)


def fit_sums(
    records: SyntheticRecords,
    sizes: Sequence[int],
    magnitude: Magnitude,
    aims: Mapping[Subset, NDArray[Any]],
    deviations: Mapping[Subset, float],
) -> NDArray[np.int64]:
    """Whole steps from the middle for every kind of record, within what its rows may have, so
    that their tables come as close to the `aims` as they can, each by its own deviation.

    Beyond that, records are as alike as they can be: all begin with the average of all.
    """
    many = records.times.astype(np.float64)
    if not many.size:
        return np.zeros(0, np.int64)
    low, high = magnitude.low - magnitude.centre, magnitude.high - magnitude.centre
    total = np.mean([float(table.sum()) for table in aims.values()])
    start = np.clip(total / many.sum(), low, high) * many
    fit = _Fit(records, sizes, aims, deviations, np.sqrt(many))
    return _rounded(fit.solved(start, low * many, high * many))


class _Fit:
    """Least squares over shares, each divided by the root of its record's rows: what a cell lacks
    is then spread over its rows."""

    def __init__(
        self,
        records: SyntheticRecords,
        sizes: Sequence[int],
        aims: Mapping[Subset, NDArray[Any]],
        deviations: Mapping[Subset, float],
        root: Floats,
    ) -> None:
        self._codes = [cell_codes(records.records, sizes, subset) for subset in aims]
        self._aims = [table.reshape(-1).astype(np.float64) for table in aims.values()]
        self._weights = [max(deviations[subset], 1e-9) ** -2 for subset in aims]
        self._root = root

    def solved(self, start: Floats, low: Floats, high: Floats) -> Floats:
        """The shares themselves."""
        from scipy.optimize import Bounds, minimize  # noqa: PLC0415 (slow to import)

        work = len(self._codes) * self._root.size
        steps = max(10, min(STEPS, WORK // (4 * work)))
        unit = max(1.0, float(np.abs([low, high]).max()))
        scale = self._root / unit
        found = minimize(
            lambda x: self._value(x / scale, 1 / scale),
            start * scale,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(low * scale, high * scale),
            options={"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-12, "gtol": 1e-9},
        )
        shares: Floats = np.clip(found.x / scale, low, high)
        return shares

    def _value(self, shares: Floats, slope: Floats) -> tuple[float, Floats]:
        value, gradient = 0.0, np.zeros_like(shares)
        for code, aim, weight in zip(self._codes, self._aims, self._weights, strict=True):
            off = np.bincount(code, shares, aim.size) - aim
            value += weight * float(off @ off) / 2
            gradient += weight * off[code]
        return value, gradient * slope


def _rounded(shares: Floats) -> NDArray[np.int64]:
    """Whole numbers of nearly the same sums along the records' order; none passes a whole bound."""
    ends = np.floor(np.cumsum(shares) + 0.5).astype(np.int64)
    return np.diff(ends, prepend=0)
