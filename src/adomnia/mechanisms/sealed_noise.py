"""What the curator calls: sealed exact values in, noisy values out; nothing else leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise import gaussian, laplace
from adomnia.mechanisms.noise.admissible import Admissible
from adomnia.mechanisms.quantiles.quantile import Target, quantile
from adomnia.mechanisms.quantiles.smooth import Grid, smooth_quantile
from adomnia.mechanisms.quantiles.value_margin import Around, Beyond
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.sealed import Sealed

__all__ = [
    "add_gaussian",
    "add_laplace",
    "choose_intervals",
    "choose_quantiles",
    "noisy_quantiles",
    "select_keys",
    "select_partitions",
]

SAFE = 1 << 62
Cells = dict[int, tuple[NDArray[Any], NDArray[Any]]]
NOTHING = np.zeros(0, np.int64)


def add_laplace(
    sealed: Sealed[NDArray[Any]],
    scale: Fraction,
    bits: Bits = SYSTEM,
    places: Sequence[int] | None = None,
) -> NDArray[Any]:
    """The integers with integer Laplace noise (`laplace.md`); scale 0 returns them as they are.

    Scale 0 stands for sensitivity 0: no neighbour has other values, so they are public. With
    `places`, only the values there are opened, in a row.
    """
    values = _integers(_at(unseal(sealed), places))
    noise = laplace.sample(scale, values.size, bits)
    return _sum(values, noise.reshape(values.shape))


def add_gaussian(
    sealed: Sealed[NDArray[Any]],
    variance: Fraction,
    bits: Bits = SYSTEM,
    places: Sequence[int] | None = None,
) -> NDArray[Any]:
    """The integers with integer Gaussian noise (`gaussian.md`); variance 0 as scale 0 above."""
    values = _integers(_at(unseal(sealed), places))
    noise = gaussian.sample(variance, values.size, bits)
    return _sum(values, noise.reshape(values.shape))


def _at(values: NDArray[Any], places: Sequence[int] | None) -> NDArray[Any]:
    return values if places is None else values.reshape(-1)[list(places)]


def _integers(values: NDArray[Any]) -> NDArray[Any]:
    """The values, refused if they are floats: integer noise would not hide their fractions."""
    whole = values.dtype.kind in "iu" or all(isinstance(value, int) for value in values.flat)
    if not whole:
        raise TypeError("noise is added to integers; scale the values to the grid first")
    return values


def _sum(values: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The exact sum: int64 where both fit in 62 bits, Python integers otherwise."""
    if _fits(values) and _fits(noise):
        return values.astype(np.int64) + noise.astype(np.int64)
    total: NDArray[Any] = values.astype(object) + noise.astype(object)
    return total


def _fits(values: NDArray[Any]) -> bool:
    return values.size == 0 or bool(values.min() > -SAFE and values.max() < SAFE)


def choose_quantiles(  # noqa: PLR0913, PLR0917
    sealed: Sealed[Cells],
    cells: int,
    low: int,
    high: int,
    target: Target,
    eta: Fraction,
    bits: Bits = SYSTEM,
) -> NDArray[Any]:
    """One private quantile for each cell 0..cells-1 (`quantile.md`); a missing cell has no rows."""
    return _by_cell(sealed, cells, lambda v, n: quantile(v, n, low, high, target, eta, bits))


def choose_intervals(
    sealed: Sealed[Cells], cells: int, grid: Grid, around: Around | Beyond, bits: Bits = SYSTEM
) -> NDArray[Any]:
    """A private quantile and the ends of its interval for each cell (`value_margin.md`)."""
    found = _by_cell(sealed, cells, lambda v, n: around.draw(v, n, grid, bits))
    return np.array([*found], object).reshape(cells, 3)


def noisy_quantiles(
    sealed: Sealed[Cells],
    cells: int,
    grid: Grid,
    target: Target,
    noise: Admissible,
    bits: Bits = SYSTEM,
) -> NDArray[Any]:
    """One quantile for each cell with noise that follows its smooth sensitivity (`smooth.md`)."""
    return _by_cell(sealed, cells, lambda v, n: smooth_quantile(v, n, grid, target, noise, bits))


def _by_cell(
    sealed: Sealed[Cells], cells: int, choose: Callable[[NDArray[Any], NDArray[Any]], Any]
) -> NDArray[Any]:
    """What is chosen of the values and counts of each cell; a missing cell has no rows."""
    exact = unseal(sealed)
    chosen = np.empty(cells, object)
    for cell in range(cells):
        chosen[cell] = choose(*exact.get(cell, (NOTHING, NOTHING)))
    return chosen


def select_partitions(
    sealed: Sealed[tuple[list[Any], NDArray[Any]]],
    scale: Fraction,
    threshold: int,
    bits: Bits = SYSTEM,
) -> tuple[list[int], NDArray[Any]]:
    """Places of the keys whose noisy count passes the threshold, and these counts.

    Both come in the order of the keys themselves; a place is for looking up other sealed values
    of its key and is not to be published, since it depends on the keys that are not shown.
    """
    _, places, noisy = select_keys(sealed, scale, threshold, bits)
    return places, noisy


def select_keys(
    sealed: Sealed[tuple[list[Any], NDArray[Any]]],
    scale: Fraction,
    threshold: int,
    bits: Bits = SYSTEM,
) -> tuple[list[Any], list[int], NDArray[Any]]:
    """The keys that may be shown, their places and their noisy counts (`selection.md`)."""
    keys, counts = unseal(sealed)
    noisy = _sum(counts, laplace.sample(scale, counts.size, bits))
    kept: list[int] = np.flatnonzero(noisy >= threshold).tolist()
    kept.sort(key=lambda place: _written(keys[place]))
    return [keys[place] for place in kept], kept, noisy[kept]


def _written(key: object) -> tuple[tuple[str, str], ...]:
    """The key as text with its type: an order that depends on nothing but the key."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple((type(part).__name__, str(part)) for part in parts)
