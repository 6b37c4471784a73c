"""Arranging: the groups that an engine found are laid out on the cells of the public domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.queries.expression import Expr
from adomnia.queries.grouping import axes, cell_count

__all__ = ["exact", "grid", "lay_out", "places", "split"]


def places(
    keys: tuple[Expr, ...], columns: Sequence[Sequence[Any]], size: int
) -> NDArray[np.int64]:
    """The cell of each group: mixed radix over the keys' values, NULL last on each axis.

    A group outside the derived range is left out (-1).
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


def lay_out(
    cell: NDArray[np.int64], values: NDArray[Any], cells: int, largest: bool = False
) -> NDArray[Any]:
    """The groups' values on all cells, zero where there is no row.

    Groups of one cell are added up, so that every row counts there and none hides another; of
    distinct counts the `largest` is taken, so that a unit still moves a cell by one.
    """
    out = np.zeros(cells, dtype=values.dtype)
    if out.dtype == object:
        out[:] = 0
    inside = cell >= 0
    (np.maximum if largest else np.add).at(out, cell[inside], values[inside])
    return out


def exact(values: Sequence[int]) -> NDArray[Any]:
    """Whole numbers of any size: as 64-bit integers where they fit with room, else as Python's."""
    if all(-(2**62) < value < 2**62 for value in values):
        return np.array(values, dtype=np.int64)
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def split(
    keys: tuple[Expr, ...], found: list[NDArray[Any]]
) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Rows of (keys, value, count) as sorted values and counts per cell; groups of one cell are
    taken together."""
    *columns, values, counts = found
    cell = places(keys, [column.tolist() for column in columns], len(values))
    exact_values, many = values.astype(np.int64), counts.astype(np.int64)
    order = np.lexsort((exact_values, cell))
    cell, exact_values, many = cell[order], exact_values[order], many[order]
    if not len(cell):
        return {}
    starts = np.flatnonzero(np.diff(cell, prepend=-2))
    ends = np.append(starts[1:], len(cell))
    return {
        int(cell[a]): (exact_values[a:b], many[a:b])
        for a, b in zip(starts, ends, strict=True)
        if cell[a] >= 0
    }


def grid(keys: tuple[Expr, ...], rows: Sequence[tuple[Any, ...]]) -> tuple[NDArray[np.int64], int]:
    """The cell of each row that starts with the keys, and how many cells there are."""
    columns = list(zip(*rows, strict=True))[: len(keys)] or [()] * len(keys)
    return places(keys, columns, len(rows)), cell_count(keys)
