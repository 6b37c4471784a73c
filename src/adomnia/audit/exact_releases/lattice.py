"""The lattice of tables that exact answers allow: a basis of the integer kernel of their rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["components", "kernel"]

Row = dict[int, int]


def kernel(matrix: Any, absent: Iterable[int] = ()) -> Any:
    """A basis of all whole-numbered changes that no row notices, one column each (sparse).

    `absent` cells cannot change. Rows are solved for a cell with coefficient 1 or -1 where there
    is one, which keeps whole numbers whole; what is left is reduced by unimodular steps.
    """
    cells = int(matrix.shape[1])
    gone = set(absent)
    rows = [{c: v for c, v in row.items() if c not in gone} for row in _rows(matrix)]
    solved, stubborn = _solve(rows)
    free = [c for c in range(cells) if c not in solved and c not in gone]
    values = _free_kernel(free, stubborn)
    # A solved row speaks of cells solved after it only: backwards each cell is known in time.
    for cell, row in reversed(solved.items()):
        values[cell] = _combine(
            (-v * row[cell], values.get(c, {})) for c, v in row.items() if c != cell
        )
    entries = [(c, g, v) for c, found in values.items() for g, v in found.items()]
    width = 1 + max((g for _, g, _ in entries), default=-1)
    where = np.array([(c, g) for c, g, _ in entries], np.int64).reshape(-1, 2)
    data = np.array([v for _, _, v in entries], np.int64)
    return sparse.csc_array((data, (where[:, 0], where[:, 1])), shape=(cells, width))


def components(basis: Any) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The parts that change independently: (cells, columns of the basis) of each."""
    if not basis.shape[1]:
        return []
    linked = sparse.csr_array(basis != 0).astype(np.int8)
    count, labels = sparse.csgraph.connected_components(linked.T @ linked, directed=False)
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.searchsorted(labels[order], np.arange(1, count)))
    return [(np.unique(basis[:, group].indices).astype(np.int64), group) for group in groups]


def _rows(matrix: Any) -> list[Row]:
    lines = sparse.csr_array(matrix)
    parts = zip(lines.indptr[:-1], lines.indptr[1:], strict=True)
    return [
        dict(zip(lines.indices[a:b].tolist(), lines.data[a:b].tolist(), strict=True))
        for a, b in parts
    ]


def _solve(rows: list[Row]) -> tuple[dict[int, Row], list[Row]]:
    """Rows solved for one cell each, in order, and those that have no coefficient 1 or -1."""
    solved: dict[int, Row] = {}
    rank: dict[int, int] = {}
    waiting = sorted(rows, key=len)
    while True:
        later = []
        for row in waiting:
            left = _primitive(_reduce(row, solved, rank))
            unit = [c for c, v in left.items() if abs(v) == 1]
            if unit:
                cell = min(unit)
                rank[cell] = len(rank)
                solved[cell] = left
            elif left:
                later.append(left)
        if len(later) == len(waiting):
            return solved, [_reduce(row, solved, rank) for row in later]
        waiting = later
        if not waiting:
            return solved, []


def _reduce(row: Row, solved: dict[int, Row], rank: dict[int, int]) -> Row:
    """The row without any solved cell; a solved row holds no cell that was solved before it."""
    left = dict(row)
    while known := [c for c in left if c in rank]:
        cell = min(known, key=rank.__getitem__)
        pivot = solved[cell]
        left = _combine([(1, left), (-left[cell] * pivot[cell], pivot)])
    return left


def _combine(parts: Iterable[tuple[int, Row]]) -> Row:
    total: Row = {}
    for factor, row in parts:
        for cell, value in row.items():
            total[cell] = total.get(cell, 0) + factor * value
    return {cell: value for cell, value in total.items() if value}


def _primitive(row: Row) -> Row:
    divisor = math.gcd(*row.values())
    return {cell: value // divisor for cell, value in row.items()} if divisor > 1 else row


def _free_kernel(free: list[int], stubborn: list[Row]) -> dict[int, Row]:
    """For each free cell its part in each basis column: units, or the kernel of what is left.

    Columns of the rows that are left are combined by Euclid's steps, which are unimodular, until
    each row has one column that is not zero; the columns that vanish are the kernel.
    """
    bound = sorted({c for row in stubborn for c in row})
    columns = [([row.get(c, 0) for row in stubborn], {c: 1}) for c in bound]
    for i in range(len(stubborn)):
        while len(alive := [j for j, (above, _) in enumerate(columns) if above[i]]) > 1:
            least = min(alive, key=lambda j: abs(columns[j][0][i]))
            for j in alive:
                if j != least:
                    columns[j] = _subtract(columns[j], columns[least], i)
        columns = [column for j, column in enumerate(columns) if j not in alive]
    units = [{c: 1} for c in free if c not in set(bound)]
    values: dict[int, Row] = {c: {} for c in free}
    for g, generator in enumerate([*units, *(made for _, made in columns)]):
        for cell, value in generator.items():
            values[cell][g] = value
    return values


def _subtract(
    column: tuple[list[int], Row], other: tuple[list[int], Row], row: int
) -> tuple[list[int], Row]:
    times = column[0][row] // other[0][row]
    rest = [a - times * b for a, b in zip(column[0], other[0], strict=True)]
    return rest, _combine([(1, column[1]), (-times, other[1])])
