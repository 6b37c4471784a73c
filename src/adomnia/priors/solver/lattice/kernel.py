"""The kernel: every whole change of the cells that no released row sees, as a lattice basis."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Elimination", "Series", "eliminate", "kernel", "series_classes", "triangular"]

Row = dict[int, int]
Integers = NDArray[np.int64]
LARGEST = 1 << 62


@dataclass(frozen=True)
class Elimination:
    """All whole solutions of rows: `steps` write cells through others, `free` cells are left.

    A step (cell, row, rest) means: the cell equals the rest plus the row's sum, where the row may
    hold the cell itself (as a new unknown that took its place). Read backwards, the steps give a
    solution for every whole value of the free cells. With a `fault` there are none: "sums" where
    not even fractions satisfy the rows, "divisor" where fractions might.
    """

    steps: tuple[tuple[int, Row, int], ...]
    free: tuple[int, ...]
    cells: int
    fault: str = ""

    @property
    def solvable(self) -> bool:
        """Whether there is a whole solution."""
        return not self.fault

    def solution(self) -> list[int]:
        """The solution whose free cells are all zero."""
        found = [0] * self.cells
        for cell, row, rest in reversed(self.steps):
            found[cell] = rest + sum(factor * found[other] for other, factor in row.items())
        return found


@dataclass(frozen=True)
class Series:
    """Classes of (cell, sign) that always move together, and the cells that never move."""

    classes: list[list[tuple[int, int]]]
    determined: list[int]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.classes, self.determined))


def kernel(matrix: Any) -> Integers:
    """Rows: a basis of all whole vectors g with A g = 0 (`kernel.md`).

    Exact; raises OverflowError where an entry passes 64 bits.
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


def series_classes(matrix: Any) -> Series:
    """Cells whose coordinates agree up to sign on the whole kernel, and those always zero."""
    columns = np.ascontiguousarray(kernel(matrix).T)
    moving = columns.any(axis=1)
    first = (columns != 0).argmax(axis=1) if columns.shape[1] else np.zeros(len(columns), int)
    by_move: dict[bytes, list[tuple[int, int]]] = {}
    for cell in np.flatnonzero(moving).tolist():
        sign = 1 if columns[cell, first[cell]] > 0 else -1
        by_move.setdefault((sign * columns[cell]).tobytes(), []).append((cell, sign))
    classes = [[(cell, sign * found[0][1]) for cell, sign in found] for found in by_move.values()]
    return Series(classes, np.flatnonzero(~moving).tolist())


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


def eliminate(matrix: Any, values: Sequence[int] | None = None) -> Elimination:
    """The whole solutions of A x = values (0 if left out), in Python integers throughout."""
    return _Work(matrix, values).run()


class _Work:
    """Rows that shrink: sparse, the shortest first, a unit taken as pivot where there is one."""

    def __init__(self, matrix: Any, values: Sequence[int] | None) -> None:
        held = sparse.csr_array(matrix)
        held.eliminate_zeros()
        self.cells = int(held.shape[1])
        ends, cells, data = held.indptr.tolist(), held.indices.tolist(), held.data.tolist()
        self.rows: list[Row] = []
        for start, end in pairwise(ends):
            row: Row = {}
            for cell, factor in zip(cells[start:end], data[start:end], strict=True):
                row[cell] = row.get(cell, 0) + int(factor)
            self.rows.append({cell: factor for cell, factor in row.items() if factor})
        self.rests = [0] * len(self.rows) if values is None else [int(v) for v in values]
        self.columns: list[set[int]] = [set() for _ in range(self.cells)]
        for number, row in enumerate(self.rows):
            for cell in row:
                self.columns[cell].add(number)
        self.steps: list[tuple[int, Row, int]] = []

    def run(self) -> Elimination:
        heap = [(len(row), number) for number, row in enumerate(self.rows)]
        heapq.heapify(heap)
        gone: set[int] = set()
        while heap:
            length, number = heapq.heappop(heap)
            row = self.rows[number]
            if length != len(row):  # a stale entry: the row has changed since
                continue
            if not row:
                if self.rests[number]:
                    return Elimination((), (), self.cells, "sums")
                continue
            if not self._divide(number):
                return Elimination((), (), self.cells, "divisor")
            units = [cell for cell, factor in row.items() if abs(factor) == 1]
            if units:
                cell = min(units, key=lambda c: (len(self.columns[c]), c))
                touched = self._pivot(number, cell)
                gone.add(cell)
            else:
                touched = self._shrink(number)
            for other in touched:
                heapq.heappush(heap, (len(self.rows[other]), other))
        free = tuple(cell for cell in range(self.cells) if cell not in gone)
        return Elimination(tuple(self.steps), free, self.cells)

    def _divide(self, number: int) -> bool:
        """Takes the common divisor out of a row; false if its value does not have it."""
        row = self.rows[number]
        common = math.gcd(*row.values())
        if self.rests[number] % common:
            return False
        if common > 1:
            self.rests[number] //= common
            for cell in row:
                row[cell] //= common
        return True

    def _pivot(self, number: int, cell: int) -> set[int]:
        """Writes the cell, which has the factor 1 or -1, through the rest of its row."""
        row = self.rows[number]
        sign = row.pop(cell)
        rest = sign * self.rests[number]
        through = {other: -sign * factor for other, factor in row.items()}
        for other in row:
            self.columns[other].discard(number)
        self.columns[cell].discard(number)
        self.rows[number], self.rests[number] = {}, 0
        self.steps.append((cell, through, rest))
        return self._substitute(cell, through, rest)

    def _shrink(self, number: int) -> set[int]:
        """One step of Euclid in a row without units: a new unknown takes the least one's place."""
        row = self.rows[number]
        cell = min(row, key=lambda c: (abs(row[c]), len(self.columns[c]), c))
        least = row[cell]
        through = {c: -_nearest(factor, least) for c, factor in row.items() if c != cell}
        through = {other: factor for other, factor in through.items() if factor}
        through[cell] = 1
        self.steps.append((cell, through, 0))
        return self._substitute(cell, through, 0) | {number}

    def _substitute(self, cell: int, through: Row, rest: int) -> set[int]:
        """Puts rest + through in the cell's place in every row that holds it."""
        touched = set(self.columns[cell])
        self.columns[cell] = set()
        for number in touched:
            row = self.rows[number]
            times = row.pop(cell)
            self.rests[number] -= times * rest
            for other, factor in through.items():
                total = row.get(other, 0) + times * factor
                if total:
                    row[other] = total
                    self.columns[other].add(number)
                else:
                    del row[other]
                    self.columns[other].discard(number)
        return touched


def _nearest(above: int, below: int) -> int:
    """The whole number nearest to the quotient."""
    return (2 * above + below) // (2 * below)


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
