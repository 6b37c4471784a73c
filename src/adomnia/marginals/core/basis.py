"""The residual basis: integer rows, orthogonal to each other and to the constant (`basis.md`)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.workload import Subset
from adomnia.mechanisms.tables.linear import Comparisons

__all__ = [
    "DENSE", "SubsetGroup", "closure", "comparisons", "grouped", "masks", "norms", "rows",
    "share_of_one", "unitary",
]  # fmt: skip

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


DENSE = 256
"""Up to this many values an attribute's rows are written out as a matrix."""


@lru_cache(maxsize=256)
def comparisons(size: int) -> Comparisons:
    """The size - 1 rows of an attribute: its values halved, the halves compared, and so on.

    A row that compares a values with b others holds b/g on the first and -a/g on the second,
    g their greatest common divisor; for two values it is the parity (1, -1).
    """
    ends = np.zeros((max(size - 1, 0), 3), np.int64)
    pending = deque([(0, size)])
    for row in ends:
        low, high = pending.popleft()
        middle = (low + high) // 2
        row[:] = low, middle, high
        pending += [part for part in ((low, middle), (middle, high)) if part[1] - part[0] > 1]
    low_ends, middles, high_ends = ends.T
    left, right = middles - low_ends, high_ends - middles
    common = np.gcd(left, right)
    return Comparisons(low_ends, middles, high_ends, right // common, left // common)


@lru_cache(maxsize=256)
def rows(size: int) -> NDArray[np.int64]:
    """The rows of an attribute, written out."""
    found = np.zeros((size - 1, size), np.int64)
    for row, (low, middle, high, up, down) in zip(
        found, np.array(comparisons(size)).T, strict=True
    ):
        row[low:middle], row[middle:high] = up, -down
    found.setflags(write=False)
    return found


@lru_cache(maxsize=256)
def norms(size: int) -> NDArray[np.int64]:
    """The squared lengths of the rows."""
    low, middle, high, up, down = comparisons(size)
    found: NDArray[np.int64] = (middle - low) * up**2 + (high - middle) * down**2
    return found


@lru_cache(maxsize=256)
def unitary(size: int) -> Floats:
    """The orthonormal matrix: the constant first, then the rows at length one."""
    constant = np.full((1, size), 1 / math.sqrt(size))
    found = np.concatenate([constant, rows(size) / np.sqrt(norms(size))[:, None]])
    found.setflags(write=False)
    return found


def share_of_one(shape: Iterable[int]) -> float:
    """The squared length that one row of data has in a residual block: prod (n - 1)/n."""
    return math.prod((size - 1) / size for size in shape)


@dataclass(frozen=True)
class SubsetGroup:
    """Subsets of one shape, one per row of `places`, in ascending order."""

    shape: tuple[int, ...]
    places: Places

    @property
    def subsets(self) -> list[Subset]:
        """The subsets themselves."""
        return list(map(tuple, self.places.tolist()))

    def find(self, wanted: Places, attributes: int) -> Places:
        """Where the wanted subsets, which are all here, stand in this group."""
        return np.searchsorted(_codes(self.places, attributes), _codes(wanted, attributes))


def _codes(places: Places, attributes: int) -> Places:
    """One integer per subset, ascending with it."""
    found: Places = np.zeros(len(places), np.int64)
    for column in places.T:  # a product of whole numbers with a vector would be slower
        found = found * attributes + column
    return found


def grouped(subsets: Sequence[Subset], sizes: tuple[int, ...]) -> tuple[SubsetGroup, ...]:
    """The subsets gathered by shape, smallest order first."""
    by_order: dict[int, list[Subset]] = {}
    for subset in subsets:
        by_order.setdefault(len(subset), []).append(subset)
    return tuple(
        group for order, members in sorted(by_order.items())
        for group in _by_shape(np.array(members, np.int64).reshape(len(members), order), sizes)
    )  # fmt: skip


def _by_shape(places: Places, sizes: tuple[int, ...]) -> list[SubsetGroup]:
    if places.shape[1] == 0:
        return [SubsetGroup((), places[:1])]
    places = places[np.lexsort(places.T[::-1])]
    shapes = np.array(sizes, np.int64)[places]
    kinds, which = np.unique(shapes, axis=0, return_inverse=True)
    which = which.reshape(-1)
    return [
        SubsetGroup(tuple(map(int, kind)), places[which == index])
        for index, kind in enumerate(kinds)
    ]


def closure(groups: Sequence[SubsetGroup], sizes: tuple[int, ...]) -> tuple[SubsetGroup, ...]:
    """The downward closure of the groups; blocks that hold nothing (a one-valued part) left out."""
    found: dict[tuple[int, ...], list[Places]] = {}
    for group in groups:
        for mask in masks(len(group.shape)):
            shape = tuple(group.shape[position] for position in mask)
            if 1 not in shape:
                found.setdefault(shape, []).append(group.places[:, list(mask)])
    by_order = sorted(found.items(), key=lambda item: (len(item[0]), item[0]))
    return tuple(SubsetGroup(shape, _distinct(parts, len(sizes))) for shape, parts in by_order)


def _distinct(parts: list[Places], attributes: int) -> Places:
    places = np.concatenate(parts)
    if places.shape[1] == 0:
        return places[:1]
    _, first = np.unique(_codes(places, attributes), return_index=True)
    return places[first]


def masks(order: int) -> tuple[tuple[int, ...], ...]:
    """All choices of positions among `order` of them, smallest first."""
    return tuple(part for size in range(order + 1) for part in combinations(range(order), size))
