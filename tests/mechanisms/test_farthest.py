"""The law of choosing tables: scores on all small tables and neighbours, losses by computation."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms.tables.farthest import Candidate, farthest
from adomnia.schema.sealed import Sealed

SIZES = (2, 3)
CELLS = 6
MODELS = {
    (0,): np.array([1, 1]),
    (1,): np.array([0, 2, 0]),
    (0, 1): np.array([[1, 0, 1], [0, 1, 0]]),
}
ALLOWANCES = {(0,): 0, (1,): 1, (0, 1): 2}


def marginal(counts, subset):
    away = tuple(place for place in range(2) if place not in subset)
    return np.array(counts).reshape(SIZES).sum(axis=away)


def scores(counts):
    return np.array([
        np.abs(marginal(counts, subset) - model).sum() - ALLOWANCES[subset]
        for subset, model in MODELS.items()
    ])  # fmt: skip


def candidates(counts):
    return [
        Candidate(Sealed(marginal(counts, subset)), model, ALLOWANCES[subset])
        for subset, model in MODELS.items()
    ]


def every_table(most=3):
    for size in range(most + 1):
        for pick in itertools.combinations_with_replacement(range(CELLS), size):
            yield tuple(pick.count(cell) for cell in range(CELLS))


def exponential_law(points, eta):
    weights = np.exp(eta * (points - points.max()))
    return weights / weights.sum()


def flip_law(points, eta):
    """One of all heads, each as likely: summed over all outcomes of the coins."""
    odds = np.exp(-eta * (points.max() - points))
    law = np.zeros(len(points))
    for coins in itertools.product((0, 1), repeat=len(points)):
        heads = np.flatnonzero(coins)
        if heads.size:
            chance = np.prod([o if c else 1 - o for o, c in zip(odds, coins, strict=True)])
            law[heads] += chance / heads.size
    return law


def neighbours():
    for counts in every_table():
        for cell in range(CELLS):
            more = list(counts)
            more[cell] += 1
            yield counts, tuple(more)


def test_a_row_moves_every_score_by_at_most_one():
    assert max(np.abs(scores(a) - scores(b)).max() for a, b in neighbours()) == 1


@pytest.mark.parametrize("law", [exponential_law, flip_law])
def test_a_choice_costs_two_eta_for_a_row(law):
    eta = 0.4
    worst = max(
        np.abs(np.log(law(scores(a), eta)) - np.log(law(scores(b), eta))).max()
        for a, b in neighbours()
    )
    assert worst <= 2 * eta + 1e-12
    assert worst > eta  # the price is not far above


def test_exponential_weights_cost_an_eighth_of_the_square_under_zcdp():
    eta = 0.4
    for order in (1.01, 1.5, 2.0, 5.0, 40.0):
        for a, b in neighbours():
            for first, second in ((a, b), (b, a)):
                p, q = (exponential_law(scores(one), eta) for one in (first, second))
                divergence = math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
                assert divergence <= order * (2 * eta) ** 2 / 8 + 1e-12


@pytest.mark.parametrize(
    ("law", "exact"), [("exponential", exponential_law), ("permute-and-flip", flip_law)]
)
def test_draws_follow_their_law(law, exact):
    counts, eta, bits = (3, 0, 1, 0, 0, 2), Fraction(1, 2), SeededBits(5)
    draws = 4000
    seen = np.bincount(
        [farthest(candidates(counts), 1, eta, law, bits)[0] for _ in range(draws)], minlength=3
    )
    wanted = draws * exact(scores(counts), float(eta))
    assert ((seen - wanted) ** 2 / wanted).sum() < 16  # chi-squared, two degrees: 1 in 3,000


@pytest.mark.parametrize("law", ["exponential", "permute-and-flip"])
def test_no_table_is_chosen_twice_and_the_farthest_comes_first(law):
    counts = (50, 0, 0, 0, 0, 50)
    found = farthest(candidates(counts), 9, Fraction(100), law, SeededBits(1))
    assert sorted(found) == [0, 1, 2]
    assert found == sorted(found, key=lambda place: -scores(counts)[place])


def test_what_is_no_table_of_counts_is_refused():
    wrong = [Candidate(Sealed(np.array([1.5, 2.0])), np.array([1, 1]), 0)]
    with pytest.raises(TypeError, match="counts"):
        farthest(wrong, 1, Fraction(1), "exponential", SeededBits(1))
    other = [Candidate(Sealed(np.array([1, 2, 3])), np.array([1, 1]), 0)]
    with pytest.raises(ValueError, match="shape"):
        farthest(other, 1, Fraction(1), "exponential", SeededBits(1))
