"""Rows taken apart: a row that holds others loses them, which leaves the kernel as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["difference"]

WORK = 200_000_000
Integers = NDArray[np.int64]


def difference(rows: Any, values: list[int | None]) -> tuple[Any, list[int | None]]:
    """Equivalent rows, shorter where one plain row holds others, with their values.

    Plain rows have one coefficient; they are taken as sums of cells. A value that its coefficient
    does not divide is dropped: whether values contradict each other is not asked here.
    """
    counts = np.bincount(rows.indices, minlength=rows.shape[1]).astype(np.int64)
    plain = _plain(rows)
    if len(plain) < 2 or int((counts * counts).sum()) > WORK:
        return rows, values
    sizes = np.diff(rows.indptr)
    order = plain[np.argsort(sizes[plain], kind="stable")]
    sums = rows[order]
    known = [_divided(values[row], int(rows.data[rows.indptr[row]])) for row in order.tolist()]
    sums.data = np.ones_like(sums.data)
    short, left = _shortened(sums, known)
    others = np.setdiff1d(np.arange(rows.shape[0]), plain)
    stacked = sparse.csr_array(sparse.vstack([short, rows[others]]), dtype=np.int64)
    return stacked, left + [values[row] for row in others.tolist()]


def _plain(rows: Any) -> Integers:
    """Rows whose entries are all equal."""
    sizes = np.diff(rows.indptr)
    filled = np.flatnonzero(sizes)
    starts = rows.indptr[:-1][filled]
    if not len(filled):
        return filled
    same = np.maximum.reduceat(rows.data, starts) == np.minimum.reduceat(rows.data, starts)
    found: Integers = filled[same]
    return found


def _divided(known: int | None, factor: int) -> int | None:
    return None if known is None or known % factor else known // factor


def _shortened(sums: Any, known: list[int | None]) -> tuple[Any, list[int | None]]:
    """Each row without the larger disjoint rows inside it; what is then empty is left out."""
    overlaps = sparse.csr_array(sums @ sums.T)
    sizes = np.diff(sums.indptr)
    seen = np.full(sums.shape[1], -1)
    kept: list[Integers] = []
    left: list[int | None] = []
    for row in range(sums.shape[0]):
        cells = sums.indices[sums.indptr[row] : sums.indptr[row + 1]]
        near = slice(overlaps.indptr[row], overlaps.indptr[row + 1])
        others, shared = overlaps.indices[near], overlaps.data[near]
        inside = np.sort(others[(shared == sizes[others]) & (others < row)])[::-1]
        seen[cells] = row
        rest = known[row]
        for other in inside.tolist():
            taken = sums.indices[sums.indptr[other] : sums.indptr[other + 1]]
            if (seen[taken] == row).all():
                seen[taken] = -1
                part = known[other]
                rest = None if rest is None or part is None else rest - part
        remaining = cells[seen[cells] == row]
        if remaining.size:
            kept.append(np.sort(remaining))
            left.append(rest)
    ends = np.cumsum([0, *(len(cells) for cells in kept)])
    indices = np.concatenate([np.zeros(0, np.int64), *kept])
    data = np.ones(len(indices), np.int64)
    return sparse.csr_array((data, indices, ends), shape=(len(kept), sums.shape[1])), left
