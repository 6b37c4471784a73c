"""Made-up numbers beside the true ones, for the curator: what drawing inside bands comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.database import PrivateDatabase
from adomnia.curator.releases.bands import Bands
from adomnia.curator.releases.release import Release
from adomnia.review.exact_columns import exact_numbers

__all__ = ["ComparedNumbers", "compare_numbers"]

SHARES = tuple(step / 20 for step in range(1, 20))
"""The quantiles that are told."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ComparedNumbers:
    """A column of numbers: the largest difference of the shares below a value, and quantiles.

    >>> ComparedNumbers("age", 0.01, ((0.5, 40.0, 41.0),)).distance
    0.01
    """

    column: str
    distance: float
    quantiles: tuple[tuple[float, float, float], ...]
    """Shares, with the true and the made-up value that so many lie below."""

    def to_json(self) -> dict[str, Any]:
        """It as plain JSON values."""
        told = [dict(zip(("share", "true", "made"), one, strict=True)) for one in self.quantiles]
        return {"column": self.column, "distance": self.distance, "quantiles": told}


def compare_numbers(database: PrivateDatabase, release: Release) -> Iterator[ComparedNumbers]:
    """Every column whose numbers were drawn inside bands, by the law that they were drawn by."""
    layout, records = release.plan.layout, release.microdata
    assert records is not None
    places = {key.name: place for place, key in enumerate(layout.keys)}
    for bands in release.plan.bands:
        counts = records.tabulate(layout.measured.sizes, (places[bands.name],))
        values, rows = exact_numbers(database, bands.column, layout.reads.where)
        yield _compared(bands, counts[: len(bands.parts)], values, rows)


def _compared(
    bands: Bands, counts: NDArray[np.int64], values: NDArray[np.int64], rows: NDArray[np.int64]
) -> ComparedNumbers:
    """Between two true values the true share stands still and the made-up one only rises, so they
    are furthest apart at a true value, or one step before it."""
    made = _MadeUp(bands, counts)
    total = int(rows.sum())
    if not total or not made.total:
        return ComparedNumbers(bands.column, float(bool(total) != bool(made.total)), ())
    below = np.cumsum(rows) / total
    before = np.concatenate([[0.0], below[:-1]])
    distance = max(
        float(np.abs(below - made.share(values)).max()),
        float(np.abs(before - made.share(values - 1)).max()),
    )
    step = float(bands.grid.step)
    wanted = np.array(SHARES)
    true = values[np.searchsorted(below, wanted - 1e-12).clip(max=len(values) - 1)]
    drawn = made.quantile(wanted)
    told = zip(SHARES, (true * step).tolist(), (drawn * step).tolist(), strict=True)
    return ComparedNumbers(bands.column, distance, tuple(told))


class _MadeUp:
    """The law of the made-up numbers: how many records are in each segment, even inside."""

    def __init__(self, bands: Bands, counts: NDArray[np.int64]) -> None:
        segments = [one for part in bands.parts for one in part]
        self.lows = np.array([one.low for one in segments], np.float64)
        self.steps = np.array([one.steps for one in segments], np.float64)
        mass = [
            count * one.weight / sum(other.weight for other in part)
            for count, part in zip(counts.tolist(), bands.parts, strict=True)
            for one in part
        ]
        self.mass = np.array([float(one) for one in mass])
        self.total = float(self.mass.sum())

    def share(self, values: NDArray[np.int64]) -> Floats:
        """The share of numbers that are at most each of these."""
        place = (np.searchsorted(self.lows, values, "right") - 1).clip(0)
        inside = ((values - self.lows[place] + 1) / self.steps[place]).clip(0, 1)
        before = np.concatenate([[0.0], np.cumsum(self.mass)])[place]
        found: Floats = (before + inside * self.mass[place]) / self.total
        return found

    def quantile(self, shares: Floats) -> Floats:
        """The first value that so many numbers are at most."""
        ends = np.cumsum(self.mass) / self.total
        place = np.searchsorted(ends, shares - 1e-12).clip(max=len(ends) - 1)
        inside = (shares - (ends - self.mass / self.total)[place]) * self.total / self.mass[place]
        found: Floats = self.lows[place] + np.ceil(inside * self.steps[place] - 1e-9).clip(1) - 1
        return found
