"""Bounds from determinants: small for unimodular rows, finite for all (`unimodular.md`)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.lattice.elimination import eliminate
from adomnia.priors.solver.lattice.kernel import kernel

__all__ = ["determinant_bound", "is_unimodular", "unimodular_bound"]

Integers = NDArray[np.int64]
WIDEST = 1500
"""Orders are looked for by eigenvectors of at most this many columns."""


def unimodular_bound(matrix: Any, sizes: Sequence[Fraction]) -> Fraction | None:
    """The most that the question differs over a minimal change, if the rows are unimodular.

    Minimal changes then have entries 0, 1, -1 and at most rank + 1 of them. None where the rows
    were not recognised as intervals or as a network.
    """
    rows = _dense(matrix)
    if not is_unimodular(rows):
        return None
    free = len(eliminate(rows).free)
    if not free:
        return Fraction(0)
    return _largest(sizes, rows.shape[1] - free + 1)


def determinant_bound(matrix: Any, sizes: Sequence[Fraction]) -> Fraction:
    """The same for any rows: finite, and mostly far too large."""
    rows = _dense(matrix)
    free = len(eliminate(rows).free)
    if not free:
        return Fraction(0)
    if free == 1:
        try:
            change = np.abs(kernel(rows)[0]).tolist()
        except OverflowError:
            pass
        else:
            return sum((n * size for n, size in zip(change, sizes, strict=True)), Fraction(0))
    rank = rows.shape[1] - free
    by_circuits: Fraction = free * _minor(rows, rank) * _largest(sizes, rank + 1)
    by_steps: Fraction = (2 * rank * int(np.abs(rows).max(initial=0)) + 1) ** rank * _largest(
        sizes, 1
    )
    return min(by_circuits, by_steps)


def is_unimodular(matrix: Any) -> bool:
    """Whether the rows are recognised as totally unimodular; false says nothing.

    Recognised: at most two entries 1, -1 in each column (or each row) that two colours explain,
    and ones that stand together in each row (or column) in some order, which is then verified.
    """
    rows = _primitive(_dense(matrix))
    if (np.abs(rows) > 1).any():
        return False
    return any(
        test(turned)
        for test in (_is_network, _is_interval)
        for turned in (rows, np.ascontiguousarray(rows.T))
    )


def _is_network(rows: Integers) -> bool:
    """At most two entries in each column, and rows of two colours: same signs, other colours."""
    if (np.count_nonzero(rows, axis=0) > 2).any():
        return False
    links: list[list[tuple[int, int]]] = [[] for _ in rows]
    for column in rows.T:
        ends = np.flatnonzero(column).tolist()
        if len(ends) == 2:
            turn = -int(column[ends[0]] * column[ends[1]])
            links[ends[0]].append((ends[1], turn))
            links[ends[1]].append((ends[0], turn))
    colour: dict[int, int] = {}
    for start in range(len(rows)):
        stack = [] if start in colour else [start]
        colour.setdefault(start, 1)
        while stack:
            row = stack.pop()
            for other, turn in links[row]:
                if other not in colour:
                    colour[other] = turn * colour[row]
                    stack.append(other)
                elif colour[other] != turn * colour[row]:
                    return False
    return True


def _is_interval(rows: Integers) -> bool:
    """The entries of each row are equal and stand together, as given or in an order found."""
    used = rows[rows.any(axis=1)]
    if any((row > 0).any() and (row < 0).any() for row in used):
        return False
    ones = used != 0
    return _stand_together(ones) or _stand_together(ones[:, _spectral(ones)])


def _stand_together(ones: NDArray[np.bool_]) -> bool:
    starts = ones.astype(np.int8)
    edges = np.diff(starts, axis=1, prepend=0)
    return bool(((edges == 1).sum(axis=1) <= 1).all())


def _spectral(ones: NDArray[np.bool_]) -> NDArray[np.intp]:
    """An order in which ones stand together if there is one, part by part; only a suggestion."""
    columns = ones.shape[1]
    if columns > WIDEST:
        return np.arange(columns)
    near = ones.T.astype(float) @ ones.astype(float)
    order: list[int] = []
    left = set(range(columns))
    while left:
        part = _part(near, min(left))
        left -= set(part)
        inner = near[np.ix_(part, part)]
        laplacian = np.diag(inner.sum(axis=1)) - inner
        fiedler = np.linalg.eigh(laplacian)[1][:, 1] if len(part) > 1 else np.zeros(1)
        order += [part[place] for place in np.argsort(np.round(fiedler, 9), kind="stable")]
    return np.array(order, dtype=np.intp)


def _part(near: NDArray[np.float64], start: int) -> list[int]:
    seen, stack = {start}, [start]
    while stack:
        for other in np.flatnonzero(near[stack.pop()]).tolist():
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return sorted(seen)


def _minor(rows: Integers, rank: int) -> int:
    """No minor of this rank is larger: Hadamard's inequality by columns, by rows, or for 0/1."""
    squares = [[entry * entry for entry in row] for row in rows.tolist()]
    columns = [sum(column) for column in zip(*squares, strict=True)]
    lines = [sum(heapq.nlargest(rank, row)) for row in squares]
    bounds = [math.prod(heapq.nlargest(rank, columns)), math.prod(heapq.nlargest(rank, lines))]
    if ((rows == 0) | (rows == 1)).all():
        bounds.append((rank + 1) ** (rank + 1) // 4**rank)
    return math.isqrt(min(bounds))


def _primitive(rows: Integers) -> Integers:
    """Each row divided by its common divisor."""
    common = np.gcd.reduce(rows, axis=1, initial=0) if rows.size else np.ones(len(rows), np.int64)
    divided: Integers = rows // np.maximum(common, 1)[:, None]
    return divided


def _largest(sizes: Sequence[Fraction], count: int) -> Fraction:
    return sum(heapq.nlargest(count, sizes), Fraction(0))


def _dense(matrix: Any) -> Integers:
    held = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    found: Integers = np.asarray(held, dtype=np.int64)
    return found
