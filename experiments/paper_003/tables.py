"""What the experiments on marginals share: made-up bits, releases of them, and their errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, compress, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import adomnia
from adomnia.marginals.paper.bits import walsh_hadamard
from experiments.front import Front

__all__ = ["Rows", "all_ways", "errors", "front", "made_up", "names", "noises", "releases"]

Ints = NDArray[np.int64]
Subset = tuple[int, ...]
Tables = dict[Subset, NDArray[Any]]


def names(many: int) -> list[str]:
    """The names of so many attributes."""
    return [f"a{place}" for place in range(many)]


def made_up(sizes: Sequence[int], rows: int, chance: np.random.Generator) -> Ints:
    """Rows whose attributes hang together: half of the values follow the first attribute."""
    free = chance.integers(0, sizes, size=(rows, len(sizes)))
    follows = chance.random((rows, len(sizes))) < 0.5
    return np.where(follows, free[:, :1] % np.array(sizes), free)


def all_ways(many: int, ways: int) -> list[Subset]:
    """All marginals of exactly so many attributes."""
    return list(combinations(range(many), ways))


class Rows:
    """Rows in memory with their exact tables; attributes are bits unless their sizes are said."""

    def __init__(self, rows: Ints, sizes: Sequence[int] = ()) -> None:
        self.rows, self.sizes = rows, tuple(sizes) or (2,) * rows.shape[1]
        self._known: Tables = {}

    def exact(self, marginal: Subset) -> Ints:
        """The true table, counted once."""
        if marginal not in self._known:
            shape = tuple(self.sizes[place] for place in marginal)
            cells = np.ravel_multi_index([self.rows[:, place] for place in marginal], shape)
            counted = np.bincount(cells, minlength=int(np.prod(shape)))
            self._known[marginal] = counted.reshape(shape)
        return self._known[marginal]


def front(rows: Rows, privacy: str = "epsilon = 1000000000") -> Front:
    """The rows behind the front door."""
    known = names(len(rows.sizes))
    columns = dict(zip(known, rows.rows.T, strict=True))
    return Front(columns, dict(zip(known, rows.sizes, strict=True)), privacy)


def releases(
    database: adomnia.Database, marginals: Sequence[Subset], runs: int, **order: Any
) -> list[Tables]:
    """As many releases of the marginals, each with new noise, through `Database.release`."""
    listed = [[f"a{place}" for place in part] for part in marginals]
    planned = database.plan_release(marginals=listed, **order)
    return [
        {part: np.asarray(table) for part, table in database.release(planned).tables.items()}
        for _ in range(runs)
    ]


def errors(tables: Mapping[Subset, NDArray[Any]], rows: Rows) -> list[float]:
    """The L1 error of each table."""
    return [float(np.abs(table - rows.exact(part)).sum()) for part, table in tables.items()]


def noises(tables: Mapping[Subset, NDArray[Any]], rows: Rows) -> dict[Subset, float]:
    """How far each coefficient of bits is off, in units of 2^(-k/2).

    A marginal holds the coefficients of its subsets, and one row moves each of them by 1.
    """
    found: dict[Subset, float] = {}
    for part, table in tables.items():
        subsets = [tuple(compress(part, bits)) for bits in product((0, 1), repeat=len(part))]
        off = walsh_hadamard((table - rows.exact(part)).ravel())
        found |= zip(subsets, off.tolist(), strict=True)
    return found
