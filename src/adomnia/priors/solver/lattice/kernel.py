"""The kernel: every whole change of the cells that no released row sees, as a lattice basis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.priors.solver.lattice.elimination import eliminate

__all__ = ["SeriesClasses", "components", "kernel", "series_classes", "sparse_kernel", "triangular"]

Integers = NDArray[np.int64]
LARGEST = 1 << 62


@dataclass(frozen=True)
class SeriesClasses:
    """Classes of (cell, sign) that always move together, and the cells that never move."""

    classes: list[list[tuple[int, int]]]
    determined: list[int]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.classes, self.determined))


def kernel(matrix: Any) -> Integers:
    """Rows: a basis of all whole vectors g with A g = 0 (`kernel.md`).

    Dense, for some thousand cells; `sparse_kernel` is for more. Exact; raises OverflowError where
    an entry passes 64 bits.
    """
    found = eliminate(matrix)
    basis = np.zeros((len(found.free), found.cells), np.int64)
    basis[np.arange(len(found.free)), list(found.free)] = 1
    columns = np.ascontiguousarray(basis.T)
    sizes = np.abs(columns).max(axis=1).tolist() if columns.size else []
    for cell, row, _ in reversed(found.steps):
        if not sizes:
            break
        if sum(abs(factor) * sizes[other] for other, factor in row.items()) >= LARGEST:
            raise OverflowError("the kernel's entries do not fit into 64 bits")
        total = np.zeros(columns.shape[1], np.int64)
        for other, factor in row.items():
            if sizes[other]:
                total += factor * columns[other]
        columns[cell] = total
        sizes[cell] = int(np.abs(total).max(initial=0))
    return np.ascontiguousarray(columns.T)


def sparse_kernel(matrix: Any, absent: Iterable[int] = ()) -> Any:
    """The same lattice for many cells: a sparse basis, one column for each change.

    `absent` cells cannot change.
    """
    cells = int(matrix.shape[1])
    live = sorted({*range(cells)} - {*absent})
    found = eliminate(sparse.csc_array(matrix)[:, live])
    number = {free: place for place, free in enumerate(found.free)}
    entries = [
        (live[cell], number[free], times)
        for cell, row in found.through(range(len(live))).items()
        for free, times in row.items()
    ]
    places = np.array([entry[:2] for entry in entries], np.int64).reshape(-1, 2)
    data = np.array([times for _, _, times in entries], np.int64)
    return sparse.csc_array((data, (places[:, 0], places[:, 1])), shape=(cells, len(number)))


def components(basis: Any) -> list[tuple[Integers, Integers]]:
    """The parts that change independently: (cells, columns of the sparse basis) of each."""
    if not basis.shape[1]:
        return []
    linked = sparse.csr_array(basis != 0).astype(np.int8)
    count, labels = sparse.csgraph.connected_components(linked.T @ linked, directed=False)
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.searchsorted(labels[order], np.arange(1, count)))
    return [(np.unique(basis[:, group].indices).astype(np.int64), group) for group in groups]


def series_classes(matrix: Any) -> SeriesClasses:
    """Cells whose coordinates agree up to sign on the whole kernel, and those always zero."""
    columns = np.ascontiguousarray(kernel(matrix).T)
    moving = columns.any(axis=1)
    first = (columns != 0).argmax(axis=1) if columns.shape[1] else np.zeros(len(columns), int)
    by_move: dict[bytes, list[tuple[int, int]]] = {}
    for cell in np.flatnonzero(moving).tolist():
        sign = 1 if columns[cell, first[cell]] > 0 else -1
        by_move.setdefault((sign * columns[cell]).tobytes(), []).append((cell, sign))
    classes = [[(cell, sign * found[0][1]) for cell, sign in found] for found in by_move.values()]
    return SeriesClasses(classes, np.flatnonzero(~moving).tolist())


def triangular(lattice: Integers) -> tuple[Integers, list[int]]:
    """Rows of the same lattice and one column for each: zero at the columns of earlier rows."""
    units = (np.abs(lattice).sum(axis=0) == 1) & (lattice != 0).any(axis=0)
    by_row = {int(np.argmax(lattice[:, c] != 0)): int(c) for c in np.flatnonzero(units)[::-1]}
    if len(by_row) == len(lattice):
        columns = [by_row[row] for row in range(len(lattice))]
        return lattice * lattice[np.arange(len(lattice)), columns][:, None], columns
    rows = [[int(entry) for entry in row] for row in lattice]
    columns = []
    for place in range(len(rows)):
        column = _cheapest(rows, place, columns)
        _euclid(rows, place, column)
        columns.append(column)
    largest = max((abs(entry) for row in rows for entry in row), default=0)
    if largest >= LARGEST:
        raise OverflowError("the lattice's entries do not fit into 64 bits")
    return np.array(rows, dtype=np.int64), columns


def _cheapest(rows: list[list[int]], place: int, used: list[int]) -> int:
    """The column in which the rows from `place` on are closest to a single unit."""
    open_columns = [c for c in range(len(rows[0])) if c not in used]

    def cost(column: int) -> tuple[int, int, int]:
        entries = [abs(row[column]) for row in rows[place:] if row[column]]
        return (min(entries, default=LARGEST), len(entries), column)

    return min(open_columns, key=cost)


def _euclid(rows: list[list[int]], place: int, column: int) -> None:
    """Row operations: the common divisor at `place`, zero below, small above."""
    while True:
        live = [i for i in range(place, len(rows)) if rows[i][column]]
        least = min(live, key=lambda i: abs(rows[i][column]))
        rows[place], rows[least] = rows[least], rows[place]
        if rows[place][column] < 0:
            rows[place] = [-entry for entry in rows[place]]
        pivot = rows[place]
        for i in (i for i in range(len(rows)) if i != place and rows[i][column]):
            times = rows[i][column] // pivot[column]
            rows[i] = [entry - times * other for entry, other in zip(rows[i], pivot, strict=True)]
        if not any(rows[i][column] for i in range(place + 1, len(rows))):
            return
