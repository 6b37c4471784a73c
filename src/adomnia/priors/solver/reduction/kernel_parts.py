"""Splitting by the kernel: what moves together, what never moves, and what is independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Norm
from adomnia.priors.solver.lattice.kernel import kernel
from adomnia.priors.solver.reduction.element import Element
from adomnia.priors.solver.reduction.series_parallel import dense, merge_series

__all__ = ["split_by_kernel"]

Integers = NDArray[np.int64]
WIDEST = 2000


def split_by_kernel(members: Sequence[Element], norm: Norm) -> list[list[Element]] | None:
    """Elements that move together joined, those that never move left out, by parts of the kernel.

    None where this changes nothing, or the kernel is out of reach.
    """
    if len(members) > WIDEST:
        return None
    try:
        columns = kernel(dense(members)).T
    except OverflowError:
        return None
    classes: dict[bytes, list[tuple[int, int]]] = {}
    for number, column in enumerate(columns):
        if column.any():
            units = int(np.gcd.reduce(column)) * (1 if column[column != 0][0] > 0 else -1)
            classes.setdefault((column // units).tobytes(), []).append((number, units))
    labels = _labels([np.frombuffer(key, np.int64) for key in classes])
    if len(classes) == len(members) and len(set(labels)) == 1:
        return None
    merged = merge_series(members, list(classes.values()), norm)
    found: dict[int, list[Element]] = {}
    for label, one in zip(labels, merged, strict=True):
        found.setdefault(label, []).append(one)
    return list(found.values())


def _labels(columns: list[Integers]) -> list[int]:
    """The part of the kernel to which each column belongs."""
    parent = list(range(len(columns[0]) if columns else 0))

    def top(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    places = [np.flatnonzero(column).tolist() for column in columns]
    for first, *others in places:
        for other in others:
            parent[top(other)] = top(first)
    return [top(first) for first, *_ in places]
