"""Public sums: closed forms for one weighted sum, alone or with its count (`sums.md`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.reduction.element import Element, evaluate, is_orthogonal

__all__ = ["public_sum", "sum_bound"]

PAIRED, TRIPLED = 1000, 90
"""Circuits are looked for among so many elements: all pairs, and all triples."""
EVALUATED, WEIGHED = 200, 20_000_000
"""So many circuits are evaluated, those first that promise most; and entries weighed for that."""
Move = dict[int, int]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Span = tuple[int, int]
"""The least and the greatest effect of a unit, where the question has a single output."""


def sum_bound(matrix: Integers, members: Sequence[Element], norm: Norm) -> Bound | None:
    """The bound for one row, or for two of which one counts its cells; None for other rows.

    The lower end is that of all circuits, or of many where there are too many.
    """
    weights = public_sum(matrix)
    if weights is None:
        return None
    return (_one_sum if len(matrix) == 1 else _count_and_sum)(weights, members, norm)


def public_sum(matrix: Integers) -> list[int] | None:
    """The weights, if the rows are one sum, or one sum and the count of its cells."""
    rows: list[list[int]] = matrix.tolist()
    if len(rows) == 1:
        return rows[0]
    if len(rows) == 2:
        for count, weights in (rows, rows[::-1]):
            if len(set(count)) == 1 and count[0]:
                return weights
    return None


def _one_sum(weights: list[int], members: Sequence[Element], norm: Norm) -> Bound:
    """So many units come, and so many go: the two largest weights, one each."""
    common = math.gcd(*weights)
    sizes = sorted((abs(weight) // common for weight in weights), reverse=True)[:2]
    signs = [1 if weight > 0 else -1 for weight in weights]
    uppers = [_by_sizes(sizes, members, signs, norm)]
    if (span := _span(members, signs)) is not None:
        low, high = span
        first, second = (*sizes, 0)[:2]
        ends = [
            (come if high > 0 else 1) * high - (go if low < 0 else 1) * low
            for come, go in ((first, second), (second, first))
        ]
        uppers.append(max(*ends, 0) ** norm)
    moves = _circuits(*_pairs(weights), members, norm)
    return _bound(min(uppers), moves, members, norm, "one public sum")


def _count_and_sum(weights: list[int], members: Sequence[Element], norm: Norm) -> Bound:
    """As many units come as go: no more than the weights span, in their common steps."""
    low = min(weights)
    most = (max(weights) - low) // math.gcd(*(weight - low for weight in weights))
    signs = [1] * len(members)
    uppers = [_by_sizes([most, most], members, signs, norm)]
    if (span := _span(members, signs)) is not None:
        uppers.append((most * (span[1] - span[0])) ** norm)
    moves = _circuits(*_triples(weights), members, norm)
    return _bound(min(uppers), moves, members, norm, "a public sum and its count")


def _by_sizes(
    sizes: list[int], members: Sequence[Element], signs: Sequence[int], norm: Norm
) -> int:
    """From how many units at most come and go, each with the largest value."""
    most = max(one.most for one in members)
    if norm == 1:
        return sum(sizes) * most
    if is_orthogonal(members) or _is_one_sided(members, signs):
        return sum(size * size for size in sizes) * most
    return sum(sizes) ** 2 * most


def _is_one_sided(members: Sequence[Element], signs: Sequence[int]) -> bool:
    """Whether all effects, turned by their sign, are known and none is negative, or none positive.

    What comes and what goes then move an output against each other.
    """
    seen = {
        x * sign > 0
        for one, sign in zip(members, signs, strict=True)
        for choice in one.choices
        for x in choice.effect.values()
    }
    return len(seen) <= 1 and all(one.complete for one in members)


def _span(members: Sequence[Element], signs: Sequence[int]) -> Span | None:
    """The effects of a unit, turned by its sign; None unless all are known, on one output."""
    outputs = {output for one in members for output in one.outputs}
    if len(outputs) > 1 or not all(one.complete for one in members):
        return None
    effects = [
        sign * effect
        for one, sign in zip(members, signs, strict=True)
        for effect in _effects(one, [*outputs])
    ]
    return min(effects), max(effects)


def _bound(
    upper: int, moves: Iterator[Move], members: Sequence[Element], norm: Norm, say: str
) -> Bound:
    """The upper end, and the best of the first moves, which are minimal."""
    best, cells = 0, None
    for _, move in zip(range(EVALUATED), moves, strict=False):
        value, where = evaluate([(units, members[e]) for e, units in move.items()], norm)
        if value > best:
            best, cells = value, where
        if best >= upper:
            break
    return Bound(Fraction(upper), Fraction(best), say, cells)


# Circuits: all of them have two cells, or three beside a count


def _pairs(weights: list[int]) -> tuple[Integers, Integers]:
    """The cells of all pairs, and by how many units each moves."""
    cells = _chosen(weights, PAIRED)
    first, second = (cells[place] for place in np.triu_indices(len(cells), 1))
    sizes = np.array(weights)
    units = np.stack([sizes[second], -sizes[first]], axis=1)
    return np.stack([first, second], axis=1), _primitive(units)


def _triples(weights: list[int]) -> tuple[Integers, Integers]:
    """From two cells to one between them, in terms of their weights; from the ends to each cell."""
    cells, order = _chosen(weights, TRIPLED), _chosen(weights, len(weights))
    rising = np.less.outer(np.arange(len(cells)), np.arange(len(cells)))
    places = np.stack(np.nonzero(rising[:, :, None] & rising), axis=1)
    ends = [[order[0], middle, order[-1]] for middle in order[1:-1]]
    found = np.concatenate([cells[places], np.array(ends, np.int64).reshape(-1, 3)])
    low, middle, high = np.array(weights)[found].T
    return found, _primitive(np.stack([high - middle, low - high, middle - low], axis=1))


def _chosen(weights: list[int], most: int) -> Integers:
    """The cells in the order of their weights; where they are many, the ends and some between."""
    order: Integers = np.argsort(weights, kind="stable")
    if len(order) > most:
        third = most // 3
        between = np.linspace(third, len(order) - third - 1, third).astype(np.int64)
        order = np.concatenate([order[:third], order[np.unique(between)], order[-third:]])
    return order


def _primitive(units: Integers) -> Integers:
    divided: Integers = units // np.gcd.reduce(units, axis=1)[:, None]
    return divided


def _circuits(
    cells: Integers, units: Integers, members: Sequence[Element], norm: Norm
) -> Iterator[Move]:
    """Circuits, those first that promise most; in floats, as only their order rests on it."""
    promised = _promises(cells, units, members, norm)
    for place in np.argsort(-promised, kind="stable")[:EVALUATED].tolist():
        moved = zip(cells[place].tolist(), units[place].tolist(), strict=True)
        yield {cell: count for cell, count in moved if count}


def _promises(cells: Integers, units: Integers, members: Sequence[Element], norm: Norm) -> Floats:
    """About how far each circuit moves the question."""
    outputs = sorted({output for one in members for output in one.outputs})
    if len(outputs) <= 1:
        least, most = (
            np.array([f(_effects(one, outputs)) for one in members], np.float64)[cells]
            for f in (min, max)
        )
        up = np.where(units > 0, units * most, units * least).sum(axis=1)
        down = np.where(units > 0, units * least, units * most).sum(axis=1)
        return np.asarray(np.maximum(up, -down))
    if len(outputs) * len(cells) > WEIGHED or any(len(one.choices) > 1 for one in members):
        sizes = np.array([float(one.most) ** (1 / norm) for one in members])
        return np.asarray((np.abs(units) * sizes[cells]).sum(axis=1))
    total = np.zeros(len(cells))
    for output in outputs:
        effects = np.array([one.choices[0].effect.get(output, 0) for one in members], np.float64)
        total += np.abs((units * effects[cells]).sum(axis=1)) ** norm
    return total


def _effects(one: Element, outputs: Sequence[int]) -> list[int]:
    """The effects of a unit on the only output."""
    return [sum(choice.effect.values()) for choice in one.choices] if outputs else [0]
