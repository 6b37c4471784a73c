"""Elements: what is left of cells that were merged, and how far one unit of them moves a question.

Effects are sparse integer vectors over the outputs of the question. A *value* of an effect is its
L1 norm, or in norm 2 the square of its L2 norm: always a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction

from adomnia.priors.solver.bound import Norm

__all__ = [
    "CHOICES",
    "Element",
    "UnitMove",
    "Vector",
    "add",
    "element",
    "evaluate",
    "is_orthogonal",
    "join",
    "root",
    "value",
]

Vector = dict[int, int]
CHOICES = 64
"""As many effects are kept for one element; beyond, only a bound of the others is."""
SCALE = 1 << 20
Hidden = Set[int] | None


@dataclass(frozen=True, slots=True)
class UnitMove:
    """One way for an element to move by one unit: its effect on the question, and its cells."""

    effect: Vector
    cells: Vector


@dataclass(frozen=True, slots=True)
class Element:
    """A coordinate of the reduced system: its column, and the ways to move it.

    `most` bounds the value of every way. Where `choices` does not list them all, `hidden` holds
    the outputs that those left out may move, and `complete` is false.
    """

    column: Vector
    choices: tuple[UnitMove, ...]
    most: int
    complete: bool = True
    hidden: frozenset[int] = frozenset()

    @property
    def outputs(self) -> set[int]:
        """All outputs that the element can move."""
        return {output for choice in self.choices for output in choice.effect} | self.hidden

    @property
    def is_merged(self) -> bool:
        """Whether one unit moves several cells at once."""
        return any(len(choice.cells) > 1 for choice in self.choices)


def value(effect: Mapping[int, int], norm: Norm) -> int:
    """The sum of absolute values, or of squares."""
    if norm == 1:
        return sum(map(abs, effect.values()))
    return sum(x * x for x in effect.values())


def add(left: Mapping[int, int], right: Mapping[int, int], times: int = 1) -> Vector:
    """left + times * right, without zeros."""
    total = dict(left)
    for place, number in right.items():
        new = total.get(place, 0) + times * number
        if new:
            total[place] = new
        else:
            del total[place]
    return total


def root(square: int | Fraction) -> Fraction:
    """A rational not below the square root; the root itself where that is a whole number."""
    square = Fraction(square)
    if square.denominator == 1 and math.isqrt(square.numerator) ** 2 == square.numerator:
        return Fraction(math.isqrt(square.numerator))
    scaled = math.ceil(square * SCALE * SCALE)
    return Fraction(math.isqrt(scaled - 1) + 1, SCALE)


def element(
    column: Vector, choices: Iterable[UnitMove], norm: Norm, least: int = 0, hidden: Hidden = None
) -> Element:
    """An element with its choices deduplicated and, where there are many, the largest kept.

    Where choices were left out before, `least` bounds their values, `hidden` has their outputs.
    """
    by_effect: dict[tuple[tuple[int, int], ...], UnitMove] = {}
    for choice in choices:
        by_effect.setdefault(tuple(sorted(choice.effect.items())), choice)
    listed = sorted(by_effect.values(), key=lambda choice: -value(choice.effect, norm))
    most = max(least, value(listed[0].effect, norm))
    dropped = {output for choice in listed[CHOICES:] for output in choice.effect}
    complete = hidden is None and len(listed) <= CHOICES
    return Element(
        column, tuple(listed[:CHOICES]), most, complete, frozenset(dropped | (hidden or set()))
    )


def join(first: Element, second: Element, times: tuple[int, int], norm: Norm) -> Element:
    """The element whose unit moves the two by these many units at once (series)."""
    a, b = times
    column = add(_scaled(first.column, a), second.column, b)
    pairs = [(x, y) for x in first.choices for y in second.choices]
    choices = [
        UnitMove(add(_scaled(x.effect, a), y.effect, b), add(_scaled(x.cells, a), y.cells, b))
        for x, y in pairs[: 4 * CHOICES]
    ]
    if first.complete and second.complete and len(pairs) == len(choices):
        return element(column, choices, norm)
    least = _together(first.most, second.most, times, norm)
    return element(column, choices, norm, least, first.outputs | second.outputs)


def _scaled(vector: Vector, times: int) -> Vector:
    return vector if times == 1 else {place: times * x for place, x in vector.items()}


def _together(first: int, second: int, times: tuple[int, int], norm: Norm) -> int:
    """A bound of the value of a sum, by the triangle inequality."""
    a, b = abs(times[0]), abs(times[1])
    if norm == 1:
        return a * first + b * second
    product = a * a * first * b * b * second
    return a * a * first + b * b * second + 2 * (math.isqrt(product - 1) + 1 if product else 0)


def is_orthogonal(elements: Iterable[Element]) -> bool:
    """Whether no output is moved by two elements, so that values add up."""
    owner: dict[int, int] = {}
    return all(
        owner.setdefault(output, number) == number
        for number, one in enumerate(elements)
        for output in one.outputs
    )


def evaluate(moves: Sequence[tuple[int, Element]], norm: Norm) -> tuple[int, Vector]:
    """The value and the cells of a change by so many units of each element.

    Choices are improved one at a time until none helps, so the value is reached, maybe not most.
    """
    picked = [max(one.choices, key=lambda choice: value(choice.effect, norm)) for _, one in moves]
    total: Vector = {}
    for (times, _), choice in zip(moves, picked, strict=True):
        total = add(total, choice.effect, times)
    best, improved = value(total, norm), True
    while improved:
        improved = False
        for place, (times, one) in enumerate(moves):
            if len(one.choices) == 1:
                continue
            without = add(total, picked[place].effect, -times)
            for choice in one.choices:
                new = add(without, choice.effect, times)
                if value(new, norm) > best:
                    best, improved = value(new, norm), True
                    total, picked[place] = new, choice
    cells: Vector = {}
    for (times, _), choice in zip(moves, picked, strict=True):
        cells = add(cells, choice.cells, times)
    return best, cells
