"""How many rows units have: the largest, and what half, nine of ten and more of them have."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

__all__ = ["row_sizes"]

QUANTILES = (0.5, 0.9, 0.99, 0.999)


def row_sizes(sizes: Mapping[int, int]) -> dict[str, Any]:
    """Units by their number of rows, in short.

    >>> row_sizes({1: 8, 2: 1, 5: 1})["quantiles"]
    {'0.5': 1, '0.9': 2, '0.99': 5, '0.999': 5}
    """
    rows, units = sorted(sizes), sum(sizes.values())
    upto = list(accumulate(sizes[size] for size in rows))
    quantiles = {
        f"{part:g}": next(size for size, many in zip(rows, upto, strict=True)
                          if many >= part * units)
        for part in QUANTILES
    } if units else {}  # fmt: skip
    return {
        "units": units,
        "unique": rows in ([], [1]),
        "largest": max(rows, default=0),
        "quantiles": quantiles,
    }
