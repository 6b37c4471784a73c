"""From what was released to the rows and cells that the solver sees (`reduction.md`).

Rounded rows get a slack cell, cells that must be empty go, rows are taken apart where one holds
another, and cells that neither rows nor question tell apart become one. What is left falls into
connected parts; equal parts are kept once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from adomnia.priors.solver.reduction.difference import difference
from adomnia.priors.solver.system import System, whole

__all__ = ["ConnectedPart", "group_columns", "parts"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ConnectedPart:
    """One connected part: its rows and its share of the question, by columns.

    `copies` holds, for each equal part, the cells that the columns stand for; slack cells have
    numbers from the number of cells on.
    """

    matrix: Any
    asked: Any
    copies: list[Integers]


def parts(system: System, asked: Any) -> list[ConnectedPart]:
    """The connected parts of the system, up to equality; cells in no row are parts of their own."""
    matrix, question, values = _with_slack(system, whole(asked))
    alive = np.ones(matrix.shape[1], bool)
    alive[sorted(system.forbidden)] = False
    rows = sparse.csr_array(matrix)
    while True:
        empty = _emptied(rows, values, alive)
        if empty is None:
            break
        alive[empty] = False
    while True:
        cells = np.flatnonzero(alive)
        groups, firsts = group_columns(matrix[:, cells])
        reduced, values_left = difference(sparse.csr_array(matrix[:, cells[firsts]]), values)
        empty = _emptied(reduced, values_left, np.ones(len(firsts), bool))
        if empty is None:
            break
        alive[cells[np.isin(groups, empty)]] = False
    kept = _told_apart(groups, question[:, cells])
    return _split(sparse.csc_array(reduced)[:, groups[kept]], question[:, cells[kept]], cells[kept])


def _with_slack(system: System, question: Any) -> tuple[Any, Any, list[int | None]]:
    """One more cell for each rounded row, which the question does not ask about.

    Rounded rows that hold nobody back are left out.
    """
    if question.shape[1] != system.cells:
        raise ValueError(f"the question is about {question.shape[1]} cells of {system.cells}")
    exact = {*system.exact}
    rounded = [row for row in range(len(system.values)) if row not in exact]
    values: list[int | None] = [
        interval[1] if interval is not None and row in exact else None
        for row, interval in enumerate(system.values)
    ]
    if not rounded:
        return system.matrix, question, values
    loose = _loose(system, rounded)
    tight = [row for row in rounded if row not in loose]
    kept = [row for row in range(len(values)) if row not in loose]
    ones = np.ones(len(tight), np.int64)
    shape = (len(values), len(tight))
    slack = sparse.csr_array((ones, (tight, np.arange(len(tight)))), shape=shape)
    none = sparse.csc_array((question.shape[0], len(tight)), dtype=np.int64)
    matrix = sparse.csr_array(sparse.hstack([system.matrix, slack]), dtype=np.int64)[kept]
    question = sparse.csc_array(sparse.hstack([question, none]), dtype=np.int64)
    return whole(matrix), question, [values[row] for row in kept]


def _loose(system: System, rounded: list[int]) -> set[int]:
    """Rounded rows whose cells lie in no other row, and in whose interval any two cells have room.

    Where the interval is as wide as the two largest coefficients, less one, any change can begin
    with one unit alone (`reduction.md`).
    """
    rows = sparse.csr_array(system.matrix)
    met = np.bincount(rows.indices, minlength=system.cells)
    found = set()
    for row in rounded:
        where = slice(rows.indptr[row], rows.indptr[row + 1])
        largest = np.sort(np.abs(rows.data[where]))[-2:]
        low, high = system.values[row] or (0, 0)
        if (met[rows.indices[where]] == 1).all() and high - low >= sum(largest.tolist()) - 1:
            found.add(row)
    return found


def _emptied(rows: Any, values: list[int | None], alive: NDArray[np.bool_]) -> Integers | None:
    """The cells of rows that are zero and only add up: none of them can hold anything."""
    found = []
    for row in [row for row, known in enumerate(values) if known == 0]:
        start, end = rows.indptr[row], rows.indptr[row + 1]
        inside = alive[rows.indices[start:end]]
        factors = rows.data[start:end][inside]
        if factors.size and ((factors > 0).all() or (factors < 0).all()):
            found.append(rows.indices[start:end][inside])
    return np.unique(np.concatenate(found)) if found else None


def group_columns(matrix: Any) -> tuple[Integers, Integers]:
    """The class of each column among equal columns, and the first column of each class."""
    ends = matrix.indptr.tolist()
    rows, data = matrix.indices.astype(np.int64), matrix.data
    classes: dict[bytes, int] = {}
    firsts: list[int] = []
    groups = np.empty(matrix.shape[1], np.int64)
    for column in range(matrix.shape[1]):
        where = slice(ends[column], ends[column + 1])
        number = classes.setdefault(rows[where].tobytes() + data[where].tobytes(), len(firsts))
        groups[column] = number
        if number == len(firsts):
            firsts.append(column)
    return groups, np.array(firsts, np.int64)


def _told_apart(groups: Integers, question: Any) -> Integers:
    """One cell for each class of rows and question together, in the order of the cells."""
    asked, _ = group_columns(question)
    _, firsts = np.unique(groups * (len(asked) + 1) + asked, return_index=True)
    return np.sort(firsts)


def _split(matrix: Any, question: Any, cells: Integers) -> list[ConnectedPart]:
    """The connected parts, each once; equal means equal in the order of rows, cells, outputs."""
    found: dict[bytes, ConnectedPart] = {}
    for key, rows, asked, columns in _shares(matrix, question):
        if key in found:
            found[key].copies.append(cells[columns])
        else:
            found[key] = ConnectedPart(rows, asked, [cells[columns]])
    return list(found.values())


def _shares(matrix: Any, question: Any) -> Iterator[tuple[bytes, Any, Any, Integers]]:
    if not matrix.shape[1]:
        return
    labels = _labels(matrix)
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    ends = np.append(starts[1:], len(order))
    matrix, question = matrix[:, order], question[:, order]
    part = np.repeat(np.arange(len(starts)), ends - starts)
    own_rows = _renumbered(matrix, part)
    own_outputs = _renumbered(question, part)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        rows = _slice(matrix, own_rows, start, end)
        asked = _slice(question, own_outputs, start, end)
        pieces = [*rows, *asked]
        key = b"|".join(piece.tobytes() for piece in pieces)
        yield key, _columns(*rows), _columns(*asked), order[start:end]


def _labels(matrix: Any) -> Integers:
    """The connected component of each column."""
    rows, cells = matrix.shape
    entries = sparse.coo_array(matrix)
    ones = np.ones(entries.nnz, np.int8)
    shape = (rows + cells, rows + cells)
    joined = sparse.coo_array((ones, (entries.row, rows + entries.col)), shape=shape)
    _, labels = csgraph.connected_components(joined.tocsr(), directed=False)
    found: Integers = labels[rows:].astype(np.int64)
    return found


def _renumbered(matrix: Any, part: Integers) -> Integers:
    """For each entry the number of its row among the rows of its part."""
    owner = np.repeat(part, np.diff(matrix.indptr))
    keys, inverse = np.unique(owner * matrix.shape[0] + matrix.indices, return_inverse=True)
    if not len(keys):
        return np.zeros(0, np.int64)
    owners = keys // matrix.shape[0]
    first = np.searchsorted(owners, np.arange(part[-1] + 1))
    found: Integers = inverse - first[owner]
    return found


def _slice(matrix: Any, own: Integers, start: int, end: int) -> tuple[Integers, Integers, Integers]:
    ends = matrix.indptr[start : end + 1].astype(np.int64)
    where = slice(ends[0], ends[-1])
    return ends - ends[0], own[where], matrix.data[where]


def _columns(ends: Integers, rows: Integers, data: Integers) -> Any:
    shape = (int(rows.max(initial=-1)) + 1, len(ends) - 1)
    return sparse.csc_array((data, rows, ends), shape=shape)
