"""Sums of whole numbers by place, exact whatever they add up to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SAFE", "dense", "sums", "times", "total", "whole"]

Integers = NDArray[np.int64]
Whole = NDArray[Any]
"""Whole numbers: of 64 bits, or Python's own."""
SAFE = float(1 << 61)
"""What is below this in floats is below 2^62 without rounding."""
DOUBLES = float(1 << 52)
"""Whole numbers whose magnitudes add up to less are added without rounding as floats."""
LARGEST = 2.0**100
"""Larger floats are no proposals of anybody; products of these still fit floats."""
SPARSE = 4
"""Keys are numbered anew where they span more than so many times as many numbers as there are."""


def sums(places: Integers, values: Whole, size: int) -> Whole:
    """What the values at each place 0 to size - 1 add up to."""
    floats = values.astype(np.float64)
    reach = np.bincount(places, np.abs(floats), size).max(initial=0.0)
    if reach < DOUBLES:
        return np.bincount(places, floats, size).astype(np.int64)
    exact: Whole = values if reach < SAFE else values.astype(object)
    found = np.zeros(size, exact.dtype)
    np.add.at(found, places, exact)
    return found


def total(values: Whole) -> int:
    """What all values add up to."""
    return int(sums(np.zeros(values.size, np.int64), values, 1)[0])


def times(left: Whole, right: Whole | int) -> Whole:
    """The products, in 64 bits where those hold them all."""
    other = np.asarray(right)
    reach = _reach(left) * _reach(other)
    product: Whole = left * other if reach < SAFE else left.astype(object) * other.astype(object)
    return product


def whole(values: NDArray[Any]) -> Whole:
    """Floats or fractions rounded down to whole numbers, from 0 to 2^100 if floats; 0 if none."""
    if values.dtype != object:
        values = np.clip(np.nan_to_num(values), 0.0, LARGEST)
        if values.max(initial=0.0) < SAFE:
            return values.astype(np.int64)
    return np.array([max(0, int(value)) for value in values], object)


def _reach(values: Whole) -> float:
    return float(np.abs(values.astype(np.float64)).max(initial=0.0))


def dense(keys: Integers) -> tuple[Integers, int]:
    """Keys as numbers from 0 on, equal where they are, and how many numbers may occur."""
    if not keys.size:
        return keys, 0
    low = int(keys.min())
    reach = int(keys.max()) - low + 1
    if reach <= SPARSE * keys.size:
        return keys - low, reach
    found, places = np.unique(keys, return_inverse=True)
    return places.reshape(keys.shape), found.size
