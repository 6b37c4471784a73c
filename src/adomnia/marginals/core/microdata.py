"""Whole records whose marginals come close to given tables (`microdata.md`).

Each kind of record is kept once, with how often it occurs, so that many rows cost no more than
few. Nothing here touches data: the tables aimed at are made of noisy measurements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.workload import Subset

__all__ = ["NEVER", "Aim", "SyntheticRecords", "cell_codes"]

Floats = NDArray[np.float64]
NEVER = 1e9
"""The surplus of a cell that is forbidden."""


@dataclass(frozen=True, eq=False)
class SyntheticRecords:
    """Records, one of each kind in a row, and how many rows of the file each stands for.

    >>> import numpy as np
    >>> made = SyntheticRecords(np.array([[0, 1], [1, 1]]), np.array([2, 1]))
    >>> made.rows, made.tabulate((2, 2), (0,)).tolist()
    (3, [2, 1])
    """

    records: NDArray[Any]
    times: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.times.sum())

    @property
    def usual(self) -> int:
        """How many rows a record stands for, in the middle."""
        return int(np.median(self.times)) if len(self.times) else 1

    def tabulate(self, sizes: Sequence[int], subset: Subset) -> NDArray[np.int64]:
        """A marginal."""
        shape = tuple(sizes[place] for place in subset)
        code = cell_codes(self.records, sizes, subset)
        found = np.bincount(code, self.times, prod(shape))  # floats hold whole numbers to 2^53
        return found.astype(np.int64).reshape(shape)

    def merged(self) -> SyntheticRecords:
        """The same rows, with equal records put together."""
        if len(self.records) == 0:
            return self
        order = np.lexsort(self.records.T[::-1])
        sorted_ = self.records[order]
        new = np.concatenate([[True], (sorted_[1:] != sorted_[:-1]).any(axis=1)])
        starts = np.flatnonzero(new)
        return SyntheticRecords(sorted_[starts], np.add.reduceat(self.times[order], starts))

    def __len__(self) -> int:
        return self.rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All rows, written out."""
        whole = [*self.pieces(), self.records[:0]]
        return np.concatenate(whole).astype(dtype or np.int64)

    def pieces(self, rows: int = 1 << 18) -> Iterator[NDArray[Any]]:
        """All rows, so many at a time; kinds are mixed, so that the first are like the rest."""
        total, ends = self.rows, np.cumsum(self.times)
        step = _stride(total)
        for start in range(0, total, rows):
            seats = np.arange(start, min(start + rows, total)) * step % total
            yield self.records[np.searchsorted(ends, seats, "right")]


def _stride(total: int) -> int:
    """A step of about the golden ratio that comes by every row once."""
    step = max(1, round(total * (5**0.5 - 1) / 2))
    while gcd(step, total) > 1:
        step += 1
    return step


@dataclass(frozen=True, eq=False)
class Aim:
    """A table that the records' marginal should come close to; `forbidden` cells stay empty.

    `noise` is the deviation of the noise that its cells still have: gains that it alone would
    make are left.
    """

    subset: Subset
    table: Floats
    weight: float = 1.0
    noise: float = 0.0
    forbidden: NDArray[np.bool_] | None = None

    def surplus(self, made: SyntheticRecords, sizes: Sequence[int]) -> NDArray[np.float32]:
        """By how much the records have more than is aimed at; without end where it is forbidden."""
        found = self.weight * (made.tabulate(sizes, self.subset) - self.table)
        if self.forbidden is not None:
            found = np.where(self.forbidden, NEVER, found)
        return found.astype(np.float32)


def cell_codes(records: NDArray[Any], sizes: Sequence[int], subset: Subset) -> NDArray[np.int64]:
    """The number of each record's cell in a table."""
    code: NDArray[np.int64] = np.zeros(len(records), np.int64)
    for place in subset:
        code = code * np.int64(sizes[place]) + records[:, place]
    return code
