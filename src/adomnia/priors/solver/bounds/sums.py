"""Public sums: closed forms for one weighted sum, alone or with its count (`sums.md`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.reduction.element import Element, evaluate, is_orthogonal

__all__ = ["sum_bound"]

PAIRS = 60
Move = dict[int, int]


def sum_bound(matrix: NDArray[np.int64], members: Sequence[Element], norm: Norm) -> Bound | None:
    """The bound for one row, or for two of which one counts its cells; None for other rows."""
    rows = [[int(x) for x in row] for row in matrix]
    if len(rows) == 1:
        sizes = sorted((abs(x) // math.gcd(*rows[0]) for x in rows[0]), reverse=True)[:2]
        return _bound(sizes, _two_cells(rows[0]), members, norm, "one public sum")
    if len(rows) != 2:
        return None
    for count, weights in (rows, rows[::-1]):
        if len(set(count)) == 1 and count[0]:
            return _count_and_sum(weights, members, norm)
    return None


def _count_and_sum(weights: list[int], members: Sequence[Element], norm: Norm) -> Bound:
    low, high = min(weights), max(weights)
    step = math.gcd(*(weight - low for weight in weights))
    span = (high - low) // step
    return _bound([span, span], _three_cells(weights), members, norm, "a public sum and its count")


def _bound(
    sizes: list[int], moves: Iterable[Move], members: Sequence[Element], norm: Norm, say: str
) -> Bound:
    """From how many units at most come and go, and from moves that are minimal."""
    most = max(one.most for one in members)
    if norm == 1:
        upper = sum(sizes) * most
    elif is_orthogonal(members):
        upper = sum(size * size for size in sizes) * most
    else:
        upper = sum(sizes) ** 2 * most
    tried = (evaluate([(t, members[e]) for e, t in move.items()], norm) for move in moves)
    value, cells = max(tried, key=lambda found: found[0])
    return Bound(Fraction(upper), Fraction(value), say, cells)


def _two_cells(row: list[int]) -> Iterable[Move]:
    """Circuits of one row, between the cells with the largest coefficients."""
    largest = sorted(range(len(row)), key=lambda cell: -abs(row[cell]))[:PAIRS]
    for place, first in enumerate(largest):
        for second in largest[place + 1 :]:
            common = math.gcd(row[first], row[second])
            yield {first: row[second] // common, second: -row[first] // common}


def _three_cells(weights: list[int]) -> Iterable[Move]:
    """Circuits of count and sum: from the two ends to a cell between them."""
    low = min(range(len(weights)), key=lambda cell: weights[cell])
    high = max(range(len(weights)), key=lambda cell: weights[cell])
    for cell, weight in enumerate(weights):
        if weights[low] < weight < weights[high]:
            below, above = weight - weights[low], weights[high] - weight
            common = math.gcd(below, above)
            move = {low: above, high: below, cell: -below - above}
            yield {place: units // common for place, units in move.items()}
