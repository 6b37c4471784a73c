"""What a measurement costs one neighbour: exact factors for each relation (`cost.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.core.basis import Places, SubsetGroup, comparisons, norms, rows
from adomnia.privacy.neighbors import Neighbors

__all__ = [
    "TOTAL", "WHOLE", "SubsetShares", "gaussian_factor", "laplace_factor", "laplace_spread",
    "one_row", "row_sum", "scales_of", "times", "total_is_public", "views_factor",
    "with_total",
]  # fmt: skip

WHOLE = 1 << 40
"""Shares of a budget are counted in parts of this."""

TOTAL = Fraction(1, 50)
"""The part of a budget that the number of rows gets at least: tiny budgets make no crowds."""

PATTERNS = 1 << 24
UP = 1 + 1e-9
"""Factors computed in floats are raised by this, more than their rounding errors."""


@dataclass(frozen=True, eq=False)
class SubsetShares:
    """Subsets of one shape and the share of the budget that each of them gets."""

    group: SubsetGroup
    shares: Places


def with_total(parts: tuple[SubsetShares, ...]) -> tuple[SubsetShares, ...]:
    """The same, with no less for the number of rows than its part; the others give it."""
    least = int(TOTAL * WHOLE)
    mine = [part for part in parts if not part.group.shape]
    if any(int(part.shares[0]) >= least for part in mine):
        return parts
    rest = 1 - TOTAL
    lowered = tuple(
        SubsetShares(
            part.group,
            np.maximum(part.shares * rest.numerator // rest.denominator, part.shares > 0),
        )
        for part in parts
        if part.group.shape
    )
    rows = SubsetGroup((), np.empty((1, 0), np.int64))
    return (SubsetShares(rows, np.array([least], np.int64)), *lowered)


def times(neighbors: Neighbors) -> int:
    """How many rows a neighbour differs in."""
    return (neighbors.rows or 1) * neighbors.group


def total_is_public(neighbors: Neighbors) -> bool:
    """Whether all neighbours have equally many rows."""
    return neighbors.replaces and neighbors.rows is None


def one_row(shape: tuple[int, ...]) -> Fraction:
    """The squared length of a row of data in a residual block, rows at length one."""
    return prod((Fraction(size - 1, size) for size in shape), start=Fraction(1))


def row_sum(shape: tuple[int, ...]) -> Fraction:
    """The most that |coefficient|/scale adds up to in a block, scales as `scales_of` says."""
    return prod((_column(size) for size in shape), start=Fraction(1))


def _column(size: int) -> Fraction:
    """The largest sum over one attribute's rows, of all its values."""
    scales = scales_of(size, "laplace").tolist()
    return max(
        sum(map(Fraction, np.abs(column).tolist(), scales), Fraction(0)) for column in rows(size).T
    )


def laplace_spread(shape: tuple[int, ...]) -> float:
    """The most that a row's squared scale is of its squared length, over a block."""
    return prod(
        float((scales_of(size, "laplace") ** 2 / norms(size)).max(initial=0)) for size in shape
    )


def laplace_factor(neighbors: Neighbors) -> Fraction:
    """Times the cost of a row that comes: a change is one row out and one in."""
    return Fraction(times(neighbors) * (2 if neighbors.replaces else 1))


def views_factor(views: Sequence[SubsetShares], neighbors: Neighbors) -> Fraction:
    """Of full tables: a changed row moves two cells of each view that has the attribute."""
    if neighbors.relation not in ("attribute", "bit"):
        return laplace_factor(neighbors)
    touched: dict[int, int] = {}
    for part in views:
        for places, share in zip(part.group.places.tolist(), part.shares.tolist(), strict=True):
            for place in places:
                touched[place] = touched.get(place, 0) + share
    return 2 * times(neighbors) * Fraction(max(touched.values(), default=WHOLE), WHOLE)


def gaussian_factor(
    parts: Sequence[SubsetShares], sizes: tuple[int, ...], neighbors: Neighbors
) -> Fraction:
    """The largest squared distance of neighbours, in units of the shares' own cost."""
    square = times(neighbors) ** 2
    if not neighbors.replaces:
        return Fraction(square)
    if neighbors.relation in ("attribute", "bit"):
        most = _one_attribute(parts, len(sizes))
    elif 2 ** len(sizes) * sum(len(part.shares) for part in parts) <= PATTERNS:
        most = _all_patterns(parts, sizes)
    else:
        most = _block_by_block(parts)
    if neighbors.rows is not None:
        most = max(most, 1.0)  # a unit may also have a row less
    return square * Fraction(most * UP)


def _apart(shape: Sequence[int]) -> float:
    """||q(x) - q(y)||^2 over ||q(x)||^2 where x and y differ in attributes of these sizes."""
    return 2 * (1 - prod(-1 / (size - 1) for size in shape)) if shape else 0.0


def _one_attribute(parts: Sequence[SubsetShares], attributes: int) -> float:
    """The worst single attribute to change."""
    cost = np.zeros(attributes)
    for part in parts:
        for position, size in enumerate(part.group.shape):
            share = part.shares / WHOLE * _apart((size,))
            np.add.at(cost, part.group.places[:, position], share)
    return float(cost.max(initial=0))


def _all_patterns(parts: Sequence[SubsetShares], sizes: tuple[int, ...]) -> float:
    """The worst set of attributes to change, all of them tried."""
    cost = np.zeros((2,) * len(sizes))
    for part in parts:
        order = len(part.group.shape)
        table = np.zeros((2,) * order)
        for size in range(1, order + 1):
            for changed in combinations(range(order), size):
                at = tuple(int(position in changed) for position in range(order))
                table[at] = _apart([part.group.shape[position] for position in changed])
        for places, share in zip(part.group.places.tolist(), part.shares.tolist(), strict=True):
            spread = tuple(2 if place in places else 1 for place in range(len(sizes)))
            cost += table.reshape(spread) * (share / WHOLE)
    return float(cost.max())


def _block_by_block(parts: Sequence[SubsetShares]) -> float:
    """An upper bound: the worst change of each block, added up."""
    return sum(
        float(part.shares.sum()) / WHOLE * _apart([min(part.group.shape)])
        for part in parts if part.group.shape
    )  # fmt: skip


def scales_of(size: int, kind: str) -> NDArray[np.int64]:
    """One scale per row: its squared length for gaussian noise, its largest entry for laplace."""
    compared = comparisons(size)
    return norms(size) if kind == "gaussian" else np.maximum(compared.up, compared.down)
