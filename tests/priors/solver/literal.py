"""Induced neighbours as Definition 4.4 says it, word for word, for tables that are small.

Kifer and Machanavajjhala, No Free Lunch in Data Privacy (SIGMOD 2011), section 4: two tables that
agree with what is public are neighbours when no part of the moves between them leads to a third.
The paper says "no subset"; it must mean no proper one that is not empty, since the others lead
to the two tables themselves. Nothing here is quick, and nothing here comes from the package.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Value = int | tuple[int, int] | None


@dataclass(frozen=True, eq=False)
class Public:
    """Rows over cells with their values: a number, an interval, or None where it is not given."""

    rows: np.ndarray
    values: tuple[Value, ...]
    forbidden: frozenset[int] = frozenset()

    @classmethod
    def of(cls, rows, values=None, forbidden=()):
        rows = np.array(rows, dtype=np.int64)
        given = [None] * len(rows) if values is None else values
        return cls(rows, tuple(map(_plain, given)), frozenset(forbidden))

    @property
    def cells(self) -> int:
        return self.rows.shape[1]

    def ends(self, row: int) -> tuple[float, float]:
        """The least and the greatest that a row may be."""
        value = self.values[row]
        if value is None:
            return -np.inf, np.inf
        return value if isinstance(value, tuple) else (value, value)


def _plain(value) -> Value:
    """An interval of one number is that number."""
    if value is None or not isinstance(value, tuple):
        return None if value is None else int(value)
    return int(value[0]) if value[0] == value[1] else value


# The tables that agree with what is public


def tables(public: Public, most: int | None = None) -> list[tuple[int, ...]]:
    """Every table that agrees with the given values, of at most so many rows in total."""
    columns = [tuple(map(int, column)) for column in public.rows.T]
    ends = [public.ends(row) for row in range(len(public.rows))]
    # Only rows without negative coefficients say how many a cell can hold.
    limits = [
        [
            (row, coefficient, ends[row][1])
            for row, coefficient in enumerate(column)
            if coefficient > 0 and ends[row][1] < np.inf and (public.rows[row] >= 0).all()
        ]
        for column in columns
    ]

    def extended(begun: tuple[int, ...], sums: tuple[int, ...], left: float) -> Iterator[tuple]:
        cell = len(begun)
        if cell == len(columns):
            if all(low <= has <= high for has, (low, high) in zip(sums, ends, strict=True)):
                yield begun
            return
        room = min([left, *((high - sums[row]) // c for row, c, high in limits[cell])])
        if cell in public.forbidden:
            room = min(room, 0)
        if room == np.inf:
            raise ValueError("there are infinitely many tables: say how large they may be")
        for count in range(int(room) + 1):
            after = tuple(s + count * c for s, c in zip(sums, columns[cell], strict=True))
            yield from extended((*begun, count), after, left - count)

    return list(extended((), (0,) * len(ends), np.inf if most is None else most))


def fibres(public: Public, most: int | None = None) -> list[np.ndarray]:
    """The tables, sorted into those that agree in the rows whose values are not given."""
    free = [row for row, value in enumerate(public.values) if value is None]
    found = defaultdict(list)
    for table in tables(public, most):
        found[tuple(public.rows[free] @ np.array(table, dtype=np.int64))].append(table)
    return [np.array(fibre, dtype=np.int64) for fibre in found.values()]


# Neighbours


def are_neighbors(fibre: set[tuple[int, ...]], one: tuple[int, ...], other: tuple) -> bool:
    """Definition 4.4: every part of the shortest moves is tried."""
    for part in parts(b - a for a, b in zip(one, other, strict=True)):
        reached = tuple(a + p for a, p in zip(one, part, strict=True))
        if reached not in (one, other) and reached in fibre:
            return False
    return one != other


def parts(step) -> Iterator[tuple[int, ...]]:
    """Every part of the moves of a step, the empty one first and the whole one last."""
    return itertools.product(
        *(range(s + 1) if s >= 0 else range(0, s - 1, -1) for s in map(int, step))
    )


def differences(fibre: np.ndarray) -> set[tuple[int, ...]]:
    """All differences of neighbours, in the same sense, faster.

    A part of the moves leads to a table that lies between the two in every cell, and each such
    table is reached by a part; so one looks for tables in between.
    """
    found = set()
    for one in fibre:
        steps = fibre - one
        steps = steps[np.abs(steps).sum(1) > 0]
        found |= {tuple(map(int, step)) for step in smallest(steps)}
    return found


def smallest(steps: np.ndarray) -> np.ndarray:
    """Those steps that no other step is a part of: the shortest is one, then those without it."""
    left = steps[np.argsort(np.abs(steps).sum(axis=1), kind="stable")]
    kept = [steps[:0]]
    while len(left):
        step = left[0]
        kept.append(step[None])
        left = left[~((left * step >= 0) & (abs(left) >= abs(step))).all(axis=1)]
    return np.vstack(kept)


# Sensitivity


def length(asked: np.ndarray, step, norm: int) -> int:
    """The sum of absolute changes of the answers, or of their squares in norm 2."""
    changes = np.asarray(asked, dtype=object) @ np.asarray(step, dtype=object)
    return sum(abs(int(change)) ** norm for change in changes)


@lru_cache(maxsize=8)
def neighbor_differences(public: Public, most: int | None = None) -> set[tuple[int, ...]]:
    """The differences of all neighbours, whatever the values are that are not given."""
    return set().union(*(differences(fibre) for fibre in fibres(public, most)))


def sensitivity(public: Public, asked: np.ndarray, norm: int = 1, most: int | None = None) -> int:
    """Definition 4.5: how far the answers of neighbours are apart at most."""
    return max(
        (length(asked, step, norm) for step in neighbor_differences(public, most)), default=0
    )
