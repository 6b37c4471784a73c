"""Shapes of what is released often: marginals of a table, and chains of overlapping pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["chain", "margins"]


def margins(sizes: Sequence[int], sets: Sequence[Sequence[int]]) -> Any:
    """The rows of the marginals over these sets of attributes, cells in C order.

    The empty set is the total. Rows of one marginal are in C order too.
    """
    cells = np.arange(math.prod(sizes))
    places = np.unravel_index(cells, tuple(sizes))
    parts = []
    for kept in sets:
        shape = tuple(sizes[axis] for axis in kept)
        row = np.zeros(cells.size, np.int64)
        for axis, size in zip(kept, shape, strict=True):
            row = row * size + places[axis]
        ones = np.ones(cells.size, np.int64)
        parts.append(sparse.csr_array((ones, (row, cells)), shape=(math.prod(shape), cells.size)))
    empty = sparse.csr_array((0, cells.size), dtype=np.int64)
    return sparse.csc_array(sparse.vstack([empty, *parts]), dtype=np.int64)


def chain(cells: int) -> Any:
    """The rows t_i + t_{i+1} over this many cells."""
    ones = np.ones(max(cells - 1, 0), np.int64)
    shape = (len(ones), cells)
    pairs = sparse.diags_array([ones, ones], offsets=[0, 1], shape=shape, dtype=np.int64)
    return sparse.csc_array(pairs)
