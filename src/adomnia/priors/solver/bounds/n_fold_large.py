"""Bricks of large systems: the bound of `n_fold.md` where equal bricks are looked at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice import graver
from adomnia.priors.solver.reduction.element import Element, Vector, add

__all__ = ["large_n_fold_bound"]

KINDS = 60
LONGEST = 200
"""Bricks of more cells are not taken apart into pairs."""
Distance = Callable[[Element, Element], Fraction]
Column = tuple[tuple[int, int], ...]


def large_n_fold_bound(
    members: Sequence[Element], distance: Distance, effort: Effort
) -> Fraction | None:
    """The most that the question differs over a minimal change; None where there are no bricks.

    Bricks are disjoint rows with one factor each that cover all elements. A minimal change is
    made of pairs inside bricks; how many of each kind, is minimal for what other rows see.
    """
    wall = _wall(members)
    if wall is None or max(map(len, wall.values())) > LONGEST:
        return None
    kinds: dict[Column, Fraction] = {}
    seen: set[tuple[object, ...]] = set()
    for row, numbers in wall.items():
        brick = [(_without(members[e].column, row), members[e]) for e in numbers]
        key = _key(brick)
        if key in seen:
            continue
        seen.add(key)
        for (left, one), (right, other) in itertools.combinations(brick, 2):
            kind = _up_to_sign(add(left, right, -1))
            kinds[kind] = max(kinds.get(kind, Fraction(0)), distance(one, other))
            if len(kinds) > KINDS:
                return None
    return _heaviest(kinds, effort)


def _wall(members: Sequence[Element]) -> dict[int, list[int]] | None:
    """Disjoint rows, the shortest first, if they cover everything."""
    rows: dict[int, list[int]] = {}
    factors: dict[int, set[int]] = {}
    for number, one in enumerate(members):
        for row, factor in one.column.items():
            rows.setdefault(row, []).append(number)
            factors.setdefault(row, set()).add(factor)
    wall: dict[int, list[int]] = {}
    covered: set[int] = set()
    for row in sorted(rows, key=lambda row: (len(rows[row]), row)):
        if len(factors[row]) == 1 and covered.isdisjoint(rows[row]):
            wall[row] = rows[row]
            covered.update(rows[row])
    return wall if len(covered) == len(members) else None


def _without(column: Vector, row: int) -> Vector:
    return {other: factor for other, factor in column.items() if other != row}


def _key(brick: list[tuple[Vector, Element]]) -> tuple[object, ...]:
    """Equal for bricks with the same columns and, up to the outputs' names, the same effects."""
    names: dict[int, int] = {}
    return tuple(
        (
            tuple(sorted(column.items())),
            one.most,
            one.complete,
            tuple(
                tuple((names.setdefault(o, len(names)), x) for o, x in sorted(c.effect.items()))
                for c in one.choices
            ),
        )
        for column, one in brick
    )


def _up_to_sign(column: Vector) -> Column:
    entries = sorted(column.items())
    sign = -1 if entries and entries[0][1] < 0 else 1
    return tuple((row, sign * factor) for row, factor in entries)


def _heaviest(kinds: dict[Column, Fraction], effort: Effort) -> Fraction | None:
    """Pairs that nobody sees, two pairs that cancel, or a minimal combination of kinds."""
    unseen = kinds.pop((), Fraction(0))
    best = max([unseen, *(2 * weight for weight in kinds.values())])
    rows = sorted({row for kind in kinds for row, _ in kind})
    places = {row: place for place, row in enumerate(rows)}
    matrix = np.zeros((len(rows), len(kinds)), np.int64)
    try:
        for number, kind in enumerate(kinds):
            for row, factor in kind:
                matrix[places[row], number] = factor
        found = graver.basis(matrix, effort=effort) if kinds else matrix
    except (TooLarge, OverflowError):
        return None
    weights = list(kinds.values())
    for combination in found.tolist():
        total = sum(abs(x) * weight for x, weight in zip(combination, weights, strict=True))
        best = max(best, Fraction(total))
    return best
