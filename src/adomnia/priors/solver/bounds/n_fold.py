"""Bricks: a bound that does not grow with the number of equal blocks of cells (`n_fold.md`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.lattice.graver import basis

__all__ = ["n_fold_bound"]

Integers = NDArray[np.int64]
Distance = Callable[[int, int], Fraction]
Size = Callable[[int], Fraction]
Wall = tuple[int, ...]
Piece = tuple[list[int], list[int]]
Kinds = dict[bytes, list[Piece]]
PIECES, KINDS = 40_000, 60
STARTS, WALLS, JOINED = 200, 8, 5
LARGEST = 1 << 62
WEIGHED = 1000
BLOCK, AGAIN = 100_000_000, 100_000_000
"""Steps for the changes of one block; and for each further try, once there is a bound."""


def n_fold_bound(
    matrix: Any, distance: Distance, effort: Effort | None = None, size: Size | None = None
) -> Fraction | None:
    """The most that the question differs over a minimal change, by rows that form blocks.

    `distance(i, j)` is the norm (not squared) of the difference of the question's columns, and
    `size(i)` of one column; without it changes must keep the number of rows in each block. In
    norm 2 the result is squared by who calls. None where no blocks help, or they take too much.
    """
    held = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
    rows = np.asarray(held, dtype=np.int64)
    effort = effort or Effort()
    walls = dict.fromkeys(_candidates(rows))
    found = [kinds for wall in walls if (kinds := _kinds(rows, wall, effort))]
    bounds: list[Fraction] = []
    for kinds in sorted(found, key=len):
        effort.spend(WEIGHED * sum(map(len, kinds.values())))
        weights = None if effort.is_spent else _weights(kinds, distance, size)
        share = effort.part(2, AGAIN) if bounds else effort.part(2)
        bound = None if weights is None else _bound(kinds, weights, share)
        if bound is not None:
            bounds.append(bound)
    return min(bounds, default=None)


# Which rows form blocks


def _candidates(rows: Integers) -> Iterator[Wall]:
    """Sets of rows by which the cells fall into blocks: disjoint rows, all others, or two sets."""
    walls = sorted(set(_walls(rows)), key=lambda wall: _order(rows, wall))[:WALLS]
    yield from walls
    for wall in walls:
        yield tuple(row for row in range(len(rows)) if row not in set(wall))
    for first, second in itertools.combinations(walls[:JOINED], 2):
        yield tuple(sorted({*first, *second}))


def _order(rows: Integers, wall: Wall) -> tuple[int, int, Wall]:
    """Sets that cover all cells first, then those whose rows stand together."""
    gaps = sum(second - first > 1 for first, second in itertools.pairwise(wall))
    return int((rows[list(wall)] == 0).all(axis=0).sum()), gaps, wall


def _walls(rows: Integers) -> Iterator[Wall]:
    """Sets of disjoint rows, as many as fit: from each row on, in the order of the rows.

    Rows of one release mostly stand together, so that a set begins with all rows of one release.
    """
    shown = (rows != 0).astype(float)
    overlap = shown @ shown.T > 0
    for first in range(0, len(rows), max(1, len(rows) // STARTS)):
        chosen, blocked = [first], overlap[first].copy()
        for other in itertools.chain(range(first + 1, len(rows)), range(first)):
            if not blocked[other]:
                chosen.append(other)
                blocked |= overlap[other]
        yield tuple(sorted(chosen))


def _blocks(inner: Integers) -> list[list[int]]:
    """The cells in parts that no inner row connects."""
    label = np.arange(inner.shape[1])
    for row in inner:
        cells = np.flatnonzero(row)
        if len(cells):
            label[np.isin(label, label[cells])] = label[cells].min()
    return [np.flatnonzero(label == one).tolist() for one in np.unique(label)]


# What changes are made of


def _kinds(rows: Integers, wall: Wall, effort: Effort) -> Kinds | None:
    """The minimal changes inside blocks, by what the other rows see of them, up to sign."""
    inner = rows[list(wall)]
    rest = rows[[row for row in range(len(rows)) if row not in set(wall)]]
    blocks = _blocks(inner)
    tall = rows.shape[1] * max(int(np.abs(rows).max(initial=0)), 1)
    known: dict[tuple[bytes, int], Integers] = {}
    found: Kinds = {}
    count = 0
    for cells in blocks if len(blocks) > 1 else []:
        own = inner[:, cells]
        own = np.unique(own[own.any(axis=1)], axis=0)
        key = own.tobytes(), len(cells)
        if key not in known:
            changes = _changes(own, effort)
            if changes is None or np.abs(changes).max(initial=0) >= LARGEST // tall:
                return None
            known[key] = changes
        count += len(known[key])
        if count > PIECES:
            return None
        _take(found, cells, known[key], rest[:, cells])
        if len(found) > KINDS:
            return None
    return found


def _changes(own: Integers, effort: Effort) -> Integers | None:
    """The Graver basis of one block; of one even row, all pairs of its cells."""
    count = own.shape[1]
    if len(own) == 1 and (own == own[0, 0]).all():
        pairs = list(itertools.combinations(range(count), 2)) if count**2 < PIECES else None
        if pairs is None:
            return None
        changes = np.zeros((len(pairs), count), np.int64)
        for place, (first, second) in enumerate(pairs):
            changes[place, first], changes[place, second] = 1, -1
        return changes
    try:
        return basis(own, most=PIECES, effort=effort.part(most=BLOCK))
    except (TooLarge, OverflowError):
        return None


def _take(found: Kinds, cells: list[int], changes: Integers, rest: Integers) -> None:
    """Adds the changes of one block to their kinds."""
    for change, seen in zip(changes, changes @ rest.T, strict=True):
        lead = seen[np.flatnonzero(seen)[:1]]
        key = (-seen if lead.size and lead[0] < 0 else seen).tobytes()
        moved = np.flatnonzero(change)
        piece = [cells[place] for place in moved], change[moved].tolist()
        found.setdefault(key, []).append(piece)


def _weights(kinds: Kinds, distance: Distance, size: Size | None) -> list[Fraction] | None:
    """For each kind the largest change of the question that one of its pieces makes."""
    weights = []
    for pieces in kinds.values():
        found = [_weight(piece, distance, size) for piece in pieces]
        known = [weight for weight in found if weight is not None]
        if len(known) < len(found):
            return None
        weights.append(max(known))
    return weights


def _weight(piece: Piece, distance: Distance, size: Size | None) -> Fraction | None:
    """The triangle inequality: what comes against what goes, and what is left over alone."""
    moved = list(zip(*piece, strict=True))
    comes = [cell for cell, count in moved for _ in range(count)]
    goes = [cell for cell, count in moved for _ in range(-count)]
    paired = min(len(comes), len(goes))
    alone = comes[paired:] + goes[paired:]
    if alone and size is None:
        return None
    total = sum((distance(a, b) for a, b in zip(comes, goes, strict=False)), Fraction(0))
    return total + sum((size(cell) for cell in alone if size is not None), Fraction(0))


def _bound(kinds: Kinds, weights: Sequence[Fraction], effort: Effort) -> Fraction | None:
    """The largest weight of a minimal combination of kinds that the other rows do not see."""
    seen = [np.frombuffer(key, np.int64) for key in kinds]
    unseen = [weight for one, weight in zip(seen, weights, strict=True) if not one.any()]
    shown = [(one, weight) for one, weight in zip(seen, weights, strict=True) if one.any()]
    if not shown:
        return max(unseen, default=None)
    try:
        combinations = basis(np.array([one for one, _ in shown]).T, effort=effort)
    except (TooLarge, OverflowError):
        return None
    heavy = [weight for _, weight in shown]
    return max([*unseen, 2 * max(heavy), _heaviest(combinations, heavy)])


def _heaviest(combinations: Integers, weights: Sequence[Fraction]) -> Fraction:
    below = int(np.lcm.reduce([weight.denominator for weight in weights], dtype=object))
    whole = np.array([int(weight * below) for weight in weights], dtype=object)
    totals = np.abs(combinations).astype(object) @ whole
    return Fraction(int(max(totals, default=0)), below)
