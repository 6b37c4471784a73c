"""The system: what is public about the cells of a table, as integer rows A with A t = b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["Interval", "Row", "System", "sparse_rows", "whole"]

Interval = tuple[int, int]
"""The least and the greatest value that a released number can stand for; equal where exact."""


Row = dict[int, int]
"""A row of whole numbers: its coefficients by cell."""


@dataclass(frozen=True, eq=False)
class System:
    """Released rows over cells: `matrix` (rows by cells, whole numbers), and their values.

    A value is None where it is public but was not given here: bounds then hold for every value.
    A row whose interval is not one number was released rounded. `forbidden` cells are publicly
    empty. `names` say to people what a row is.

    >>> System.of([[1, 1, 0], [0, 1, 1]], values=[5, (3, 7)]).exact
    [0]
    """

    matrix: Any
    values: tuple[Interval | None, ...]
    names: tuple[str, ...]
    forbidden: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        rows: Any,
        values: Sequence[int | Interval | None] | None = None,
        names: Sequence[str] | None = None,
        forbidden: Sequence[int] = (),
    ) -> System:
        """The system of a dense or sparse matrix; values may be whole numbers or intervals.

        Raises a ValueError where there is not one value and one name for each row.
        """
        matrix = whole(rows)
        given = [None] * matrix.shape[0] if values is None else values
        known = tuple((v, v) if isinstance(v, int | np.integer) else v for v in given)
        named = [f"row {i + 1}" for i in range(matrix.shape[0])] if names is None else names
        if len(known) != matrix.shape[0] or len(named) != matrix.shape[0]:
            raise ValueError("one value and one name for each released row")
        return cls(matrix, known, tuple(named), frozenset(int(c) for c in forbidden))

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self.matrix.shape[1])

    @property
    def exact(self) -> list[int]:
        """The rows that were released as they are, not rounded, with their value given or not."""
        return [row for row, v in enumerate(self.values) if v is None or v[0] == v[1]]

    def only(self, rows: Sequence[int]) -> System:
        """The system of some of the rows, in their order."""
        if [*rows] == [*range(len(self.values))]:
            return self
        return replace(
            self,
            matrix=whole(sparse.csr_array(self.matrix)[list(rows)]),
            values=tuple(self.values[row] for row in rows),
            names=tuple(self.names[row] for row in rows),
        )


def whole(matrix: Any) -> Any:
    """The matrix as sparse columns of 64-bit integers; fractions are refused."""
    found = sparse.csc_array(matrix)
    if found.dtype.kind == "f" and (found.data != np.rint(found.data)).any():
        raise ValueError("released rows have whole coefficients")
    found = found.astype(np.int64)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def sparse_rows(matrix: Any) -> list[Row]:
    """The rows of a matrix of whole numbers, as Python integers."""
    held = sparse.csr_array(matrix)
    if not held.has_canonical_format:
        held = held.copy()
        held.sum_duplicates()
    cells, data = held.indices.tolist(), held.data.tolist()
    return [
        {c: int(x) for c, x in zip(cells[start:end], data[start:end], strict=True) if x}
        for start, end in pairwise(held.indptr.tolist())
    ]
