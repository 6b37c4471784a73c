"""What the experiments on marginals share: made-up bits, exact marginals, and their errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.marginals.fourier import FourierRelease, Options, release_fourier
from adomnia.marginals.promise import Promise
from adomnia.marginals.workload import Subset, Workload
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

__all__ = ["Rows", "all_ways", "concentrated", "errors", "made_up", "names", "pure", "released"]

Ints = NDArray[np.int64]


def names(many: int) -> list[str]:
    """The names of so many attributes."""
    return [f"a{place}" for place in range(many)]


def made_up(sizes: Sequence[int], rows: int, chance: np.random.Generator) -> Ints:
    """Rows whose attributes hang together: half of the values follow the first attribute."""
    free = chance.integers(0, sizes, size=(rows, len(sizes)))
    follows = chance.random((rows, len(sizes))) < 0.5
    return np.where(follows, free[:, :1] % np.array(sizes), free)


def all_ways(sizes: Sequence[int], ways: int) -> Workload:
    """All marginals of exactly so many attributes."""
    many = len(sizes)
    return Workload(tuple(names(many)), tuple(sizes), tuple(combinations(range(many), ways)))


class Rows:
    """Exact tables of rows in memory, sealed as an engine's are."""

    def __init__(self, rows: Ints, sizes: Sequence[int]) -> None:
        self._rows, self._sizes = rows, tuple(sizes)
        self._known: dict[Subset, Ints] = {}

    def exact(self, marginal: Subset) -> Ints:
        """The true table, counted once."""
        if marginal not in self._known:
            self._known[marginal] = self._counted(marginal)
        return self._known[marginal]

    def _counted(self, marginal: Subset) -> Ints:
        if not marginal:
            return np.array(len(self._rows))
        shape = tuple(self._sizes[place] for place in marginal)
        cells = np.ravel_multi_index([self._rows[:, place] for place in marginal], shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)

    def __call__(self, marginals: Sequence[Subset]) -> dict[Subset, Sealed[NDArray[Any]]]:
        return {marginal: Sealed(self.exact(marginal)) for marginal in marginals}


def pure(epsilon: str | int, relation: str = "unbounded", **more: Any) -> Promise:
    """A promise of an epsilon."""
    return Promise(Loss.pure(Fraction(epsilon)), Neighbors(relation), **more)  # type: ignore[arg-type]


def concentrated(rho: str | int) -> Promise:
    """A promise of a rho."""
    return Promise(Loss.concentrated(Fraction(rho)), Neighbors("unbounded"))


def released(workload: Workload, rows: Rows, promise: Promise, method: str) -> FourierRelease:
    """A release by the paper's method."""
    return release_fourier(workload, rows, promise, Options(method))


def errors(tables: Mapping[Subset, NDArray[Any]], rows: Rows) -> list[float]:
    """The L1 error of each table."""
    return [float(np.abs(table - rows.exact(part)).sum()) for part, table in tables.items()]
