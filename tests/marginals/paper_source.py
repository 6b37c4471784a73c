"""A source of exact values for tests, seeded bits, and the data that tests may skip without."""

from __future__ import annotations

import gzip
import os
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from adomnia.marginals.paper.bits import Encoding, spell, walsh_hadamard
from adomnia.marginals.paper.promise import MarginalPromise
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.schema.sealed import Sealed

TOP = Path(__file__).parents[2]
sys.path.insert(0, str(TOP / "tests" / "chance"))


class RowsSource:
    """Exact tables of rows in memory; remembers what it was asked for."""

    def __init__(self, sizes, rows):
        self.encoding = Encoding(tuple(sizes))
        self.rows = np.asarray(rows, np.int64).reshape(-1, len(sizes))
        self.asked = []

    def exact_parities(self, subsets):
        bits = self.encoding.starts[-1]
        patterns = np.zeros(len(self.rows), np.int64)
        for column, width in zip(self.rows.T, self.encoding.widths, strict=True):
            patterns = patterns << width | column
        table = np.bincount(patterns, minlength=1 << bits)
        return walsh_hadamard(table)[[spell(subset, bits) for subset in subsets]]

    @cache  # noqa: B019
    def exact_marginal(self, marginal):
        shape = tuple(self.encoding.sizes[place] for place in marginal)
        table = np.zeros(shape, np.int64)
        np.add.at(table, tuple(self.rows[:, place] for place in marginal), 1)
        return table if marginal else np.array(len(self.rows))

    def __call__(self, marginals):
        self.asked += marginals
        return {marginal: Sealed(self.exact_marginal(marginal)) for marginal in marginals}


def rows_of(sizes, count, seed=0):
    """Rows with some dependence between attributes."""
    draw = np.random.default_rng(seed)
    first = draw.integers(0, sizes, size=(count, len(sizes)))
    same = draw.random((count, len(sizes))) < 0.5
    return np.where(same, first[:, :1] % np.array(sizes), first)


def pure(epsilon, relation="unbounded", sensitive=None, **more):
    return MarginalPromise(Loss.pure(Fraction(epsilon)), Neighbors(relation, **more), sensitive)


def concentrated(rho, relation="unbounded", sensitive=None, **more):
    return MarginalPromise(Loss.concentrated(Fraction(rho)), Neighbors(relation, **more), sensitive)


def seeded(seed):
    from seeded import SeededBits

    return SeededBits(seed)


def nltcs():
    """The rows of the NLTCS, or a skip that says why."""
    folder = Path(os.environ.get("ADOMNIA_DATA", TOP.parent / "shared" / "data"))
    file = folder / "nltcs" / "nltcs.csv.gz"
    if not file.exists():
        pytest.skip(f"no data at {file}; set ADOMNIA_DATA")
    with gzip.open(file, "rt") as text:
        return np.loadtxt(text, delimiter=",", skiprows=1, dtype=np.int64)
