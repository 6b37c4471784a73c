"""Whole intervals hold the raw truth on skewed data as often as they say; `benchmarks/quality.py`
runs it ten thousand times."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from quality import LAWS, MAX_ROWS, scores, simulate

from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows

RUNS = 150


@pytest.mark.parametrize("law", LAWS)
def test_the_truth_is_held_as_often_as_is_said(law):
    found = simulate(law, RUNS, Fraction(1, 20), people=5_000, bits=SeededBits(7))
    assert found.runs + found.untold == RUNS
    assert found.runs > RUNS / 2
    for name in ("clamped", "without", "people"):  # too seldom by chance once in 10^4
        assert stats.binom.cdf(getattr(found, name), found.runs, 0.95) > 1e-4


def test_the_benchmark_counts_as_an_engine_does():
    sizes, scan = np.array([1, 5, 6, 6, 9, 30]), ExcessRows(MAX_ROWS, 100, Fraction(1))
    found = dict(zip(scan.plan.grid, scores(sizes, scan).tolist(), strict=True))
    for bound, (above, rows) in found.items():
        assert above == (sizes > bound).sum()
        assert rows == (np.minimum(sizes, bound) - MAX_ROWS).clip(0).sum()
