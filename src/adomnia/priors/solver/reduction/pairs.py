"""Pairs: the two elements of one class whose effects lie farthest apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Norm
from adomnia.priors.solver.reduction.element import Element, UnitMove, Vector, add, value

__all__ = ["Signed", "widest"]

Signed = tuple[int, Element]
"""An element, and the sign with which its unit is taken."""
LOOKS = 100_000
WORK = 300_000_000
LARGEST = 1 << 15

_Point = tuple[int, int, int, UnitMove]
"""The value of a choice, the number of its element, the element's sign, and the choice."""


def widest(members: Sequence[Signed], norm: Norm) -> tuple[Fraction, int, Vector | None]:
    """The greatest value of x - y over choices x, y of two different members.

    An upper bound, the value of a pair that was found, and its cells. The two values are equal
    where all choices are listed and few enough to look at.
    """
    points = _points(members, norm)
    lower, cells, ceiling = _scan(points, norm)
    if ceiling > lower:
        ceiling = min(ceiling, _ranges(points, norm))
    if ceiling > lower:
        dense = _dense(points)
        if dense is not None:
            lower, cells = _all_pairs(points, dense, norm)
            ceiling = lower
    open_ends = [one.most for _, one in members if not one.complete]
    if open_ends:
        most = max(one.most for _, one in members)
        ceiling = max(ceiling, _apart(max(open_ends), most, norm, signed=True))
    return Fraction(max(ceiling, lower)), lower, cells


def _points(members: Sequence[Signed], norm: Norm) -> list[_Point]:
    """All choices, the largest first; equal effects of single-choice members are taken once."""
    points: list[_Point] = []
    seen: set[tuple[tuple[int, int], ...]] = set()
    for number, (sign, one) in enumerate(members):
        for choice in one.choices:
            if len(one.choices) == 1:
                key = tuple(sorted((output, sign * x) for output, x in choice.effect.items()))
                if key in seen:
                    continue
                seen.add(key)
            points.append((value(choice.effect, norm), number, sign, choice))
    points.sort(key=lambda point: -point[0])
    return points


def _apart(first: int, second: int, norm: Norm, signed: bool) -> int:
    """The most that two effects of these values lie apart."""
    if norm == 1 or not signed:
        return first + second
    product = first * second
    return first + second + 2 * (math.isqrt(product - 1) + 1 if product else 0)


def _scan(points: list[_Point], norm: Norm) -> tuple[int, Vector | None, int]:
    """Looks at pairs from the largest on, until no later pair can lie farther apart.

    The value and cells found, and what no pair exceeds.
    """
    signed = _has_both_signs(points)
    looks = LOOKS
    best, cells = _first_look(points, norm)
    for place, (size, number, sign, choice) in enumerate(points[:-1]):
        if _apart(size, points[place + 1][0], norm, signed) <= best:
            break
        for other_size, other_number, other_sign, other in points[place + 1 :]:
            if _apart(size, other_size, norm, signed) <= best:
                break
            if other_number == number:
                continue
            looks -= 1 + len(choice.effect) + len(other.effect)
            apart = value(add(choice.effect, other.effect, -sign * other_sign), norm)
            if apart > best:
                best = apart
                cells = add(_times(choice.cells, sign), other.cells, -other_sign)
            if looks < 0:
                return best, cells, _apart(points[0][0], points[1][0], norm, signed)
    return max(best, 0), cells, max(best, 0)


def _ranges(points: list[_Point], norm: Norm) -> int:
    """No pair lies farther apart than every output ranges."""
    ends: dict[int, list[int]] = {}
    met: dict[int, int] = {}
    for _, _, sign, choice in points:
        for output, x in choice.effect.items():
            pair = ends.setdefault(output, [sign * x, sign * x])
            pair[0], pair[1] = min(pair[0], sign * x), max(pair[1], sign * x)
            met[output] = met.get(output, 0) + 1
    total = 0
    for output, pair in ends.items():
        if met[output] < len(points):  # it is nought for some
            pair.append(0)
        total += (max(pair) - min(pair)) ** norm
    return total


def _first_look(points: list[_Point], norm: Norm) -> tuple[int, Vector | None]:
    """The largest against some others, from all sizes."""
    best, cells = -1, None
    if len(points) > 2:
        _, number, sign, choice = points[0]
        for place in np.unique(np.linspace(1, len(points) - 1, 20).astype(int)).tolist():
            _, other_number, other_sign, other = points[place]
            apart = value(add(choice.effect, other.effect, -sign * other_sign), norm)
            if other_number != number and apart > best:
                best, cells = apart, add(_times(choice.cells, sign), other.cells, -other_sign)
    return best, cells


def _times(cells: Vector, sign: int) -> Vector:
    return {cell: sign * x for cell, x in cells.items()}


def _has_both_signs(points: list[_Point]) -> bool:
    """Whether two effects can push one output in opposite directions, so that more than the sum
    of squares may come out of a difference."""
    return any(sign * x < 0 for _, _, sign, choice in points for x in choice.effect.values())


def _dense(points: list[_Point]) -> NDArray[np.int64] | None:
    """The effects as a matrix, where comparing all pairs in it is affordable and exact."""
    outputs: dict[int, int] = {}
    for _, _, _, choice in points:
        for output, x in choice.effect.items():
            outputs.setdefault(output, len(outputs))
            if abs(x) > LARGEST:
                return None
    if len(points) ** 2 * len(outputs) > WORK:
        return None
    matrix = np.zeros((len(points), len(outputs)), np.int64)
    for row, (_, _, sign, choice) in enumerate(points):
        for output, x in choice.effect.items():
            matrix[row, outputs[output]] = sign * x
    return matrix


def _all_pairs(
    points: list[_Point], matrix: NDArray[np.int64], norm: Norm
) -> tuple[int, Vector | None]:
    owners = np.array([number for _, number, _, _ in points])
    best, cells = -1, None
    for row in range(len(points) - 1):
        apart = np.abs(matrix[row + 1 :] - matrix[row])
        sizes = apart.sum(axis=1) if norm == 1 else (apart * apart).sum(axis=1)
        sizes[owners[row + 1 :] == owners[row]] = -1
        place = int(sizes.argmax())
        if int(sizes[place]) > best:
            best = int(sizes[place])
            _, _, sign, choice = points[row]
            _, _, other_sign, other = points[row + 1 + place]
            cells = add(_times(choice.cells, sign), other.cells, -other_sign)
    return max(best, 0), cells
