"""The discriminant and the non-privacy game: exact values, bounds from both sides, and play."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from adomnia.audit.correlation.discriminant import (
    discriminant,
    estimate_discriminant,
    free_lunch_bound,
    game,
    play,
)
from adomnia.audit.correlation.noisy_counts import Law
from adomnia.errors import QuestionError
from adomnia.mechanisms.margins.margin import Noise

TENTH = Noise("laplace", Fraction(10))  # epsilon 0.1 for a count
NOISES = [
    Noise("laplace", Fraction(3)),
    Noise("gaussian", Fraction(4)),
    Noise("laplace", Fraction(1, 2)),
]
COUNTS = [[0, 1], [0, 2], [0, 5, 10], [0, 3, 5, 6], [0, 1, 2, 3, 4]]


def masses(counts, noise):
    """P(answer | count), a row for each count."""
    law = Law.of(noise)
    answers = range(min(counts) - law.reach, max(counts) + law.reach + 1)
    return np.array(
        [
            [law.masses[y - c + law.reach] if abs(y - c) <= law.reach else 0 for y in answers]
            for c in counts
        ]
    )


def test_the_papers_example():
    """Counts 0, 10,000 and 20,000 at epsilon 0.1: told apart nearly always (section 2.1.1)."""
    found = discriminant([0, 10_000, 20_000], TENTH)
    assert found.success.low > 1 - 1e-12
    assert found.baseline == pytest.approx(1 / 3)
    json.dumps(found.to_json(), allow_nan=False)


def test_it_grows_to_one_with_the_distance():
    """Proposition 2.1."""
    found = [discriminant([0, gap, 2 * gap], TENTH).success.low for gap in (1, 10, 50, 200, 1000)]
    assert found == sorted(found)
    assert found[0] < 0.45
    assert found[-1] > 1 - 1e-9


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_no_sets_do_better(counts, noise):
    """The upper end is the optimum of the linear program over all randomised sets."""
    from scipy.optimize import linprog

    table = masses(counts, noise)
    k, m = table.shape
    rows = np.zeros((k, k * m + 1))
    for i in range(k):
        rows[i, i * m : (i + 1) * m], rows[i, -1] = -table[i], 1
    once = np.hstack([np.tile(np.eye(m), k), np.zeros((m, 1))])
    cost = np.r_[np.zeros(k * m), -1]
    limits = np.r_[np.zeros(k), np.ones(m)]
    best = -linprog(cost, np.vstack([rows, once]), limits, bounds=(0, 1)).fun
    found = discriminant(counts, noise)
    assert found.success.high == pytest.approx(best, abs=1e-7)
    assert found.success.low <= found.success.high + 1e-12
    assert found.details["best_guess"] == pytest.approx(table.max(axis=0).sum() / k, abs=1e-12)
    assert found.details["best_guess"] >= found.success.low - 1e-12


def test_whole_points_by_trying_all_sets():
    """Three counts, every way to give each answer to one of them: intervals are among the best."""
    from itertools import product

    table = masses([0, 1, 3], Noise("laplace", Fraction(1, 2)))
    middle = slice(table.shape[1] // 2 - 4, table.shape[1] // 2 + 5)
    core = table[:, middle]
    best = max(
        min(core[i, [owner == i for owner in owners]].sum() for i in range(3))
        for owners in product(range(3), repeat=core.shape[1])
    )
    found = discriminant([0, 1, 3], Noise("laplace", Fraction(1, 2)))
    assert best <= found.success.low + table.sum() - core.sum()
    assert found.success.low <= best + table.sum() - core.sum()


def test_free_lunch_privacy_has_no_discriminant():
    assert free_lunch_bound(2, 0.0) == 0.5
    assert free_lunch_bound(10, 0.1) == pytest.approx(math.exp(0.1) / (9 + math.exp(0.1)))
    # noise for any two tables of at most 20 people: below the bound for all k counts
    wide = Noise("laplace", Fraction(200))
    for k in (2, 3, 5):
        counts = [round(place * 20 / (k - 1)) for place in range(k)]
        assert discriminant(counts, wide).success.high <= free_lunch_bound(k, 0.1)
    assert discriminant([0, 20], TENTH).success.low > free_lunch_bound(2, 0.1)
    with pytest.raises(QuestionError):
        free_lunch_bound(1, 0.1)


def test_bobs_secret_in_the_number_of_patients():
    """Section 2.1.3: R = j makes j times 10,000 patients; the answer gives R away."""
    found = game([10_000 * j for j in range(1, 6)], TENTH)
    assert found.baseline == pytest.approx(0.2)
    assert found.success.value > 1 - 1e-9
    near = game([1, 2, 3, 4, 5], TENTH)
    assert near.success.value < 0.25


def test_secrets_shared_by_tables_and_a_prior():
    noise = Noise("laplace", Fraction(2))
    found = game([0, 1, 2, 3], noise, secrets=["ill", "well", "ill", "well"])
    table = masses([0, 1, 2, 3], noise) / 4
    expected = np.maximum(table[0] + table[2], table[1] + table[3]).sum()
    assert found.success.value == pytest.approx(expected, abs=1e-12)
    assert found.baseline == pytest.approx(0.5)
    sure = game([0, 1], noise, prior=[0.99, 0.01])
    assert sure.success.value == pytest.approx(0.99)
    with pytest.raises(QuestionError):
        game([0, 1], noise, prior=[0.9, 0.2])
    with pytest.raises(QuestionError):
        game([0], noise)


def test_the_game_as_it_is_played():
    def generate(chance):
        return int(chance.integers(0, 2)) * 10

    noise = np.random.default_rng(3)
    found = play(
        generate,
        mechanism=lambda table: table + noise.laplace(0, 10),
        secret=lambda table: table > 0,
        guess=lambda answer: answer > 5,
        rounds=4_000,
    )
    assert found.success.low < 1 - math.exp(-0.5) / 2 < found.success.high
    assert found.baseline == pytest.approx(0.5, abs=0.03)
    blind = play(generate, lambda table: 0, lambda table: table > 0, lambda answer: True, 4_000)
    assert blind.success.value == pytest.approx(0.5, abs=0.03)
    with pytest.raises(QuestionError):
        play(generate, lambda t: t, lambda t: t, lambda t: t, rounds=0)


def test_estimates_stay_below_the_exact_value():
    chance = np.random.default_rng(4)
    exact = discriminant([0, 20, 40], TENTH)

    def noisy(count):
        return int(count + np.rint(chance.laplace(0, 10)))

    found = estimate_discriminant(noisy, [0, 20, 40], samples=4_000)
    assert found.success.low < exact.success.high + 0.01
    assert found.success.low > 0.5 > found.baseline
    assert found.details["best_guess"] == pytest.approx(exact.details["best_guess"], abs=0.03)
    assert found.complete


def test_estimates_of_vectors_and_symbols():
    chance = np.random.default_rng(5)
    vectors = estimate_discriminant(
        lambda shift: chance.normal(shift, 1, 6), [0.0, 4.0, 8.0], samples=400
    )
    assert vectors.success.low > 0.9
    words = estimate_discriminant(lambda word: word, ["yes", "no"], samples=400)
    assert words.success.low > 0.95
    deaf = estimate_discriminant(lambda word: "same", ["yes", "no"], samples=400)
    assert deaf.success.low < 0.05
    hidden = estimate_discriminant(lambda n: None if n else 3, [0, 1], samples=400)
    assert hidden.success.low > 0.95
    ended = estimate_discriminant(lambda n: n, [0, 1], samples=10**7, time_limit=0.2)
    assert not ended.complete


def test_what_cannot_be_summed_is_refused():
    with pytest.raises(QuestionError, match="wide"):
        discriminant([0, 1], Noise("laplace", Fraction(10**9)))
    with pytest.raises(QuestionError, match="apart"):
        game([0, 10**9], TENTH)
    same = discriminant([3, 3], TENTH)
    assert (same.success.low, same.success.high) == (0, 0.5)
    exact = discriminant([0, 1], Noise("laplace", Fraction(0)))
    assert exact.success.low == pytest.approx(1)
