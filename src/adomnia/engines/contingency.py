"""Contingency tables: many marginals of the same rows, from one pass over the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.privacy.reads import REST
from adomnia.schema.sealed import Sealed

__all__ = ["Axes", "Contingency", "ExactTables", "sealed", "tables_of"]

Axes = tuple[tuple[Any, ...], ...]
"""For each attribute its public values, in order; `REST`, if it is there, is the last."""

Contingency = Callable[
    [Sequence[tuple[int, ...]]], dict[tuple[int, ...], Sealed[NDArray[np.int64]]]
]
"""Gives the sealed tables of the asked subsets of attributes."""

ExactTables = Callable[[Sequence[tuple[int, ...]]], dict[tuple[int, ...], NDArray[np.int64]]]
"""The same unsealed; it leaves an engine by the auditor's view alone."""


def sealed(tables: ExactTables) -> Contingency:
    """The same tables in envelopes."""
    return lambda subsets: {subset: Sealed(table) for subset, table in tables(subsets).items()}


def tables_of(
    columns: Sequence[Sequence[Any]], counts: NDArray[np.int64], axes: Axes
) -> ExactTables:
    """Tables of groups that were counted or added up; a group with a value that is not on an axis
    is in the cell of the rest, or left out where there is none."""
    codes = [_codes(column, axis) for column, axis in zip(columns, axes, strict=True)]
    inside = np.ones(len(counts), dtype=bool)
    for code in codes:
        inside &= code >= 0
    kept = [code[inside] for code in codes]
    many = counts[inside]
    sizes = [len(axis) for axis in axes]

    return lambda subsets: {subset: _table(kept, many, sizes, subset) for subset in subsets}


def _codes(column: Sequence[Any], axis: tuple[Any, ...]) -> NDArray[np.int32]:
    place = {value: index for index, value in enumerate(axis)}
    rest = place.get(REST, -1)
    return np.fromiter((place.get(value, rest) for value in column), np.int32, len(column))


def _table(
    codes: Sequence[NDArray[np.int32]],
    counts: NDArray[np.int64],
    sizes: Sequence[int],
    subset: tuple[int, ...],
) -> NDArray[np.int64]:
    shape = tuple(sizes[place] for place in subset)
    cell = np.zeros(len(counts), dtype=np.int64)
    for place in subset:
        cell = cell * sizes[place] + codes[place]
    flat = np.zeros(prod(shape), np.int64)
    np.add.at(flat, cell, counts)
    return flat.reshape(shape)
