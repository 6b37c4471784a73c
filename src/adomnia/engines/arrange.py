"""Arranging: the groups that an engine found are laid out on the cells of the public domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.queries.expression import Expr
from adomnia.queries.grouping import axes

__all__ = ["lay_out", "places"]


def places(
    keys: tuple[Expr, ...], columns: Sequence[Sequence[Any]], size: int
) -> NDArray[np.int64]:
    """The cell of each group: mixed radix over the keys' values, NULL last on each axis.

    A group outside the derived range cannot occur; were there one it would be left out (-1).
    """
    cell = np.zeros(size, dtype=np.int64)
    outside = np.zeros(size, dtype=bool)
    for axis, column in zip(axes(keys), columns, strict=True):
        position = {value: index for index, value in enumerate(axis)}
        codes = np.fromiter((position.get(value, -1) for value in column), np.int64, size)
        outside |= codes < 0
        cell = cell * len(axis) + codes
    cell[outside] = -1
    return cell


def lay_out(cell: NDArray[np.int64], values: NDArray[Any], cells: int) -> NDArray[Any]:
    """The groups' values on all cells, zero where there is no row."""
    out = np.zeros(cells, dtype=values.dtype)
    if out.dtype == object:
        out[:] = 0
    inside = cell >= 0
    np.add.at(out, cell[inside], values[inside])
    return out
