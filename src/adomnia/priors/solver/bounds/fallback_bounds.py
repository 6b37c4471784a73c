"""What no reduction and no graph explains: sums, the Graver basis, or the best general bound."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.bounds.circuits import long_circuit
from adomnia.priors.solver.bounds.n_fold import n_fold_bound
from adomnia.priors.solver.bounds.n_fold_large import large_n_fold_bound
from adomnia.priors.solver.bounds.sums import public_sum, sum_bound
from adomnia.priors.solver.bounds.unimodular import determinant_bound, unimodular_bound
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice import graver
from adomnia.priors.solver.reduction.element import (
    Element,
    Vector,
    add,
    evaluate,
    is_orthogonal,
    root,
    value,
)
from adomnia.priors.solver.reduction.series_parallel import dense

__all__ = ["fallback_bound"]

Integers = NDArray[np.int64]
CELLS = 60
"""Graver bases are listed for at most this many elements."""
FEW, MANY = 3000, 60_000
ENTRIES = 4_000_000
UNIMODULAR = 800
WAYS = 64
LONGEST = 600_000_000
"""Steps for bounds by bricks, and for circuits, where many are left."""
LARGEST = 1 << 20


def fallback_bound(members: Sequence[Element], norm: Norm, effort: Effort) -> Bound:
    """The best bound of a connected part that is not a graph; the first exact one ends it."""
    if len(members) * len({row for one in members for row in one.column}) > ENTRIES:
        return _large(members, norm, effort)
    try:
        matrix = dense(members)
    except OverflowError:
        return _squared(_hadamard(members, norm), norm, "determinants of the rows")
    steps = (_sums, _few_moves, _bricks, _circuits, _determinants, _many_moves)
    best = Bound(Fraction(0), Fraction(0), "")
    for step in steps:
        for found in step(matrix, members, norm, effort, best):
            best = _both(best, found)
        if best.argument and best.exact:
            break
    return best


def _both(best: Bound, found: Bound) -> Bound:
    """The lesser upper end with its argument, and the greater lower end with its witness."""
    upper, lower = best, best
    if found.argument and (not best.argument or found.upper < best.upper):
        upper = found
    if found.lower > best.lower:
        lower = found
    return Bound(upper.upper, lower.lower, upper.argument, lower.witness)


# The Graver basis


def _few_moves(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, best: Bound
) -> Iterator[Bound]:
    """The Graver basis where it is short: that is soon known."""
    yield from _moves(matrix, members, norm, effort, FEW)


def _many_moves(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, best: Bound
) -> Iterator[Bound]:
    """The Graver basis where it is long."""
    yield from _moves(matrix, members, norm, effort, MANY)


def _moves(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, most: int
) -> Iterator[Bound]:
    if len(members) > CELLS or effort.is_spent:
        return
    try:
        moves = graver.basis(matrix, most, effort)
    except (TooLarge, OverflowError):
        return
    say = f"Graver basis of {len(moves)} moves"
    ceilings = _ceilings(moves, members, norm)
    upper, lower, cells = Fraction(0), 0, None
    for place in np.argsort([-float(c) for c in ceilings], kind="stable").tolist():
        if ceilings[place] <= lower:
            continue
        move = [(int(moves[place, e]), members[e]) for e in np.flatnonzero(moves[place]).tolist()]
        reached, where = _greatest(move, norm)
        upper = max(upper, ceilings[place] if reached is None else Fraction(reached))
        found, where = evaluate(move, norm) if reached is None else (reached, where)
        if found > lower:
            lower, cells = found, where
    yield Bound(max(upper, Fraction(lower)), Fraction(lower), say, cells)


def _ceilings(moves: Integers, members: Sequence[Element], norm: Norm) -> list[Fraction]:
    """For each move how far it can change the question; exact where nothing is left to choose."""
    single = all(one.complete and len(one.choices) == 1 for one in members)
    exact = _effects(members) if single else None
    if exact is not None:
        moves, exact = _holding(moves, exact, norm)
        changes = moves @ exact
        sizes = np.abs(changes).sum(axis=1) if norm == 1 else (changes * changes).sum(axis=1)
        return [Fraction(int(size)) for size in sizes]
    return [_triangle(move.tolist(), members, norm) for move in moves]


def _holding(moves: Integers, effects: Integers, norm: Norm) -> tuple[Any, Any]:
    """Both in a type that holds every product and sum: 64 bits, or whole numbers of any size."""
    most = int(np.abs(moves).max(initial=0)) * int(np.abs(effects).max(initial=0))
    if (most * max(1, len(effects))) ** norm * max(1, effects.shape[1]) < 1 << 62:
        return moves, effects
    return moves.astype(object), effects.astype(object)


def _effects(members: Sequence[Element]) -> Integers | None:
    outputs = sorted({output for one in members for output in one.outputs})
    matrix = np.zeros((len(members), len(outputs)), np.int64)
    for row, one in enumerate(members):
        for output, x in one.choices[0].effect.items():
            if abs(x) > LARGEST >> 10:
                return None
            matrix[row, outputs.index(output)] = x
    return matrix


def _triangle(move: list[int], members: Sequence[Element], norm: Norm) -> Fraction:
    """The triangle inequality."""
    moved = [(abs(units), one) for units, one in zip(move, members, strict=True) if units]
    if norm == 1:
        return Fraction(sum(units * one.most for units, one in moved))
    if is_orthogonal([one for _, one in moved]):
        return Fraction(sum(units * units * one.most for units, one in moved))
    return sum((units * root(one.most) for units, one in moved), Fraction(0)) ** 2


def _greatest(move: list[tuple[int, Element]], norm: Norm) -> tuple[int | None, Vector | None]:
    """The greatest value over all choices, or None where there are too many."""
    ways = math.prod(len(one.choices) for _, one in move)
    if ways > WAYS or not all(one.complete for _, one in move):
        return None, None
    best, picked = -1, None
    for choices in itertools.product(*(one.choices for _, one in move)):
        total: Vector = {}
        for (units, _), choice in zip(move, choices, strict=True):
            total = add(total, choice.effect, units)
        if value(total, norm) > best:
            best, picked = value(total, norm), choices
    cells: Vector = {}
    for (units, _), choice in zip(move, picked or (), strict=True):
        cells = add(cells, choice.cells, units)
    return best, cells


# General bounds


def _sums(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, best: Bound
) -> Iterator[Bound]:
    """Closed forms for a sum, alone or with its count."""
    found = sum_bound(matrix, members, norm)
    if found is not None:
        yield found


def _circuits(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, best: Bound
) -> Iterator[Bound]:
    """A lower end; those of a public sum have been looked at."""
    if public_sum(matrix) is not None:
        return
    target = math.floor(best.upper) if best.argument else sys.maxsize
    reached, cells = long_circuit(members, norm, target, effort.part(3, LONGEST))
    yield Bound(best.upper, Fraction(reached), "", cells)


def _bricks(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, best: Bound
) -> Iterator[Bound]:
    """The bound that does not grow with the number of equal blocks. In norm 2 roots add up."""

    def distance(first: int, second: int) -> Fraction:
        return _distance(members[first], members[second], norm)

    def size(number: int) -> Fraction:
        return _size(members[number], norm)

    total = None
    if not effort.is_spent:
        total = n_fold_bound(matrix, distance, effort.part(3, LONGEST), size)
    if total is not None:
        yield _squared(total, norm, "n-fold bound over bricks")


def _determinants(
    matrix: Integers, members: Sequence[Element], norm: Norm, effort: Effort, best: Bound
) -> Iterator[Bound]:
    """Bounds by the size of determinants: ones, or by their general size."""
    sizes = [_size(one, norm) for one in members]
    yield _squared(determinant_bound(matrix, sizes), norm, "determinants of the rows")
    if len(members) > UNIMODULAR:
        return
    total = unimodular_bound(matrix, sizes)
    if total is not None:
        yield _squared(total, norm, "unimodular rows")
    if total is not None and norm == 2 and is_orthogonal(members):
        squares = unimodular_bound(matrix, [Fraction(one.most) for one in members])
        if squares is not None:
            yield Bound(squares, Fraction(0), "unimodular rows")


def _size(one: Element, norm: Norm) -> Fraction:
    """The most that a unit changes the question; not squared."""
    return Fraction(one.most) if norm == 1 else root(one.most)


def _squared(total: Fraction, norm: Norm, say: str) -> Bound:
    """The bound of a value, which is a whole number, from that of a norm."""
    most = math.floor(total if norm == 1 else total * total)
    return Bound(Fraction(most), Fraction(0), say)


def _large(members: Sequence[Element], norm: Norm, effort: Effort) -> Bound:
    """Bounds that do not need the rows as a dense matrix; a lower end from some of the columns."""

    def distance(first: Element, second: Element) -> Fraction:
        return _distance(first, second, norm)

    best = _squared(_hadamard(members, norm), norm, "determinants of the rows")
    bricks = large_n_fold_bound(members, distance, effort.part(2, LONGEST))
    if bricks is not None:
        best = _both(best, _squared(bricks, norm, "n-fold bound over bricks"))
    most = effort.part(most=LONGEST)
    reached, cells = long_circuit(members, norm, math.floor(best.upper), most)
    return _both(best, Bound(best.upper, Fraction(reached), "", cells))


def _hadamard(members: Sequence[Element], norm: Norm) -> Fraction:
    """Determinants at most the product of the columns' lengths, as many as there are rows.

    A minimal change is a sum of fewer circuits than elements, each taken less than once or alone;
    a circuit has at most as many entries as rows and one more, and these are determinants.
    """
    count = len({row for one in members for row in one.column})
    lengths = sorted((value(one.column, 2) for one in members), reverse=True)[:count]
    determinant = math.isqrt(math.prod(lengths)) + 1
    sizes = [_size(one, norm) for one in members]
    largest = sorted(sizes, reverse=True)[: count + 1]
    return len(members) * determinant * sum(largest, Fraction(0))


def _distance(first: Element, second: Element, norm: Norm) -> Fraction:
    """The most that a unit from one element to the other changes the question; not squared."""
    if first.complete and second.complete and len(first.choices) * len(second.choices) <= WAYS:
        pairs = itertools.product(first.choices, second.choices)
        most = max(value(add(x.effect, y.effect, -1), norm) for x, y in pairs)
        return Fraction(most) if norm == 1 else root(most)
    return _size(first, norm) + _size(second, norm)
