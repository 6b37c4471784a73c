"""Theorem 6 and Corollary 1: what must be added, and how often it is not enough."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from paper_source import seeded
from scipy.stats import gamma

from adomnia.marginals.paper.bits import signs, spell
from adomnia.marginals.paper.nonnegative import shift, shift_by_cells, shift_by_norm
from adomnia.marginals.workload import downward_closure
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noise import gaussian, laplace

RUNS = 4000


def draws(noise, count, seed):
    sample = laplace.sample if noise.kind == "laplace" else gaussian.sample
    return sample(noise.parameter, RUNS * count, seeded(seed)).reshape(RUNS, count)


def at_most(failures, delta):
    """Whether so many failures of RUNS are believable: four standard deviations."""
    return failures <= RUNS * delta + 4 * math.sqrt(RUNS * delta)


NOISES = [
    Noise("laplace", Fraction(1, 3)),
    Noise("laplace", Fraction(2)),
    Noise("laplace", Fraction(57, 2)),
    Noise("gaussian", Fraction(1, 2)),
    Noise("gaussian", Fraction(300)),
]


def test_theorem_6_the_norm_of_the_noise_is_always_enough():
    draw = np.random.default_rng(0)
    subsets = downward_closure([(0, 1), (1, 2)])
    matrix = signs(np.array([spell(subset, 3) for subset in subsets]), np.arange(8))
    for _ in range(200):
        table = draw.integers(0, 3, 8)
        noise = draw.laplace(0, 5, len(subsets))
        raised = table + (noise @ matrix + np.abs(noise).sum()) / 8
        assert raised.min() >= -1e-9
        kept = (matrix @ raised)[1:] - (matrix @ table + noise)[1:]
        assert np.abs(kept).max() < 1e-9


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("delta", [0.3, 0.02])
def test_the_norm_passes_its_bound_no_more_often_than_delta(noise, delta):
    for count in (1, 2, 20):
        norms = np.abs(draws(noise, count, 7)).sum(axis=1)
        assert at_most(int((norms > shift_by_norm(noise, count, delta)).sum()), delta)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ways", [1, 2])
def test_the_worst_cell_of_an_empty_table_is_negative_no_more_often_than_delta(noise, ways):
    bits, delta = 5, 0.2
    subsets = downward_closure(itertools.combinations(range(bits), ways))
    matrix = signs(np.array([spell(subset, bits) for subset in subsets]), np.arange(1 << bits))
    worst = (draws(noise, len(subsets), 11) @ matrix).min(axis=1)
    for bound in (shift_by_norm, lambda *more: shift_by_cells(*more[:2], bits, more[2])):
        assert at_most(int((worst + bound(noise, len(subsets), delta) < 0).sum()), delta)
    chosen = shift(noise, len(subsets), bits, delta)
    assert at_most(int((worst + chosen < 0).sum()), delta)


def test_the_gamma_quantile_is_tight_for_large_scales():
    noise = Noise("laplace", Fraction(1000))
    norms = np.abs(draws(noise, 20, 3)).sum(axis=1)
    share = (norms > shift_by_norm(noise, 20, 0.2)).mean()
    assert share == pytest.approx(0.2, abs=0.03)


def test_the_corollary_promises_more_than_it_keeps():
    assert gamma.sf(697, 697) == pytest.approx(0.495, abs=0.001)
    assert gamma.sf(697, 697) > math.exp(-1)
    assert gamma.sf(2 * 1.25, 2) > math.exp(-1.25)
    assert gamma.sf(2 * 1.26, 2) < math.exp(-1.26)
    # all 1-way marginals of 30 attributes: every pattern of signs is a cell, so the cell that
    # fits the noise worst loses all of it; with t = 1 an empty cell there is negative too often
    draw = np.random.default_rng(0)
    lost = draw.gamma(30, size=200_000) - draw.laplace(size=200_000)
    assert (lost > 31).mean() > math.exp(-1) + 0.03


def test_from_a_t_of_1_26_on_the_corollary_holds():
    counts = [*range(1, 200), 697, 10_000]
    for t in (1.26, 1.5, 2, 5):
        assert all(gamma.sf(t * d, d) <= math.exp(-t) * (1 + 1e-9) for d in counts)


def test_cells_need_less_than_the_norm_where_there_are_many_coefficients():
    noise = Noise("laplace", Fraction(697))
    assert shift_by_norm(noise, 697, 0.05) == 516_817
    assert shift_by_cells(noise, 697, 16, 0.05) < 140_000
    assert shift(noise, 697, 16, 0.05) == shift_by_cells(noise, 697, 16, 0.05)
    few = Noise("laplace", Fraction(5))
    assert shift(few, 2, 40, 0.05) == shift_by_norm(few, 2, 0.05)


def test_without_noise_nothing_is_added():
    assert shift(Noise("laplace", Fraction(0)), 5, 3, 0.05) == 0
    assert shift(Noise("gaussian", Fraction(4)), 0, 3, 0.05) == 0


def test_extreme_scales_are_computed():
    for parameter in (Fraction(1, 10**6), Fraction(1 << 45)):
        for kind in ("laplace", "gaussian"):
            assert shift(Noise(kind, parameter), 697, 16, 1e-9) > 0
