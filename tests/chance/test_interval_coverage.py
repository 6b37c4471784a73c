"""Intervals of quantiles hold the exact one as often as asked, on skewed rows and on the worst."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.quantiles.quantile import Rank, Share, sensitivity
from adomnia.mechanisms.quantiles.value_margin import Around, Beyond, extreme_rank, interval_rows

RUNS, GRID = 500, (0, 9_999)
MADE = np.random.default_rng(18)
TABLES = {
    "lognormal": np.exp(MADE.normal(6, 1, 400)),
    "pareto": 10 * MADE.pareto(1.1, 400),
    "few": MADE.pareto(1.1, 7),
    "two ends": np.repeat(GRID, [200, 201]),
    "one value": np.repeat([77], 300),
}


def held(around: Around | Beyond, rows: np.ndarray, ends: tuple[int, int]) -> int:
    """In how many runs the interval holds both."""
    table, bits = np.unique(rows, return_counts=True), SeededBits(5)
    drawn = [around.draw(*table, GRID, bits)[1:] for _ in range(RUNS)]
    return sum(low <= ends[0] and ends[1] <= high for low, high in drawn)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("q", ["1/2", "9/10"])
@pytest.mark.parametrize("name", TABLES)
def test_an_interval_holds_every_quantile(name: str, q: str, confidence: float) -> None:
    rows, share = np.sort(np.clip(TABLES[name], *GRID).astype(np.int64)), Share(Fraction(q))
    eta = Fraction(1, 2) / (2 * sensitivity(share))
    ranks = interval_rows(GRID[1] + 1, eta, share, confidence)
    at = share.q * rows.size
    exact = (int(rows[math.ceil(at) - 1]), int(rows[min(rows.size - 1, math.floor(at))]))
    found = held(Around(share, eta, eta, ranks), rows, exact)
    assert stats.binomtest(found, RUNS, confidence, "less").pvalue > 1e-4


@pytest.mark.parametrize("from_top", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_an_interval_holds_the_extreme(name: str, from_top: bool) -> None:
    rows, eta = np.clip(TABLES[name], *GRID).astype(np.int64), Fraction(1, 4)
    beyond = Beyond(Rank(extreme_rank(GRID[1] + 1, eta, 0.95), from_top), eta)
    extreme = int(rows.max() if from_top else rows.min())
    found = held(beyond, rows, (extreme, extreme))
    assert stats.binomtest(found, RUNS, 0.95, "less").pvalue > 1e-4
