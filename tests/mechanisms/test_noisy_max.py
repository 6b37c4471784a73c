"""Report noisy max: exact laws by convolution, the loss by brute force, ties and edges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.choices.noisy_max import noisy_max, noisy_max_gap

REACH = 200
V = np.arange(-REACH, REACH + 1)


def geometric(score, eta):
    q = math.exp(-eta)
    return np.where(score <= V, (1 - q) * q ** np.maximum(V - score, 0), 0)


def two_sided(score, eta):
    q = math.exp(-eta)
    return (1 - q) / (1 + q) * q ** np.abs(V - score)


def place_law(scores, eta):
    """P(place), ties shared equally: each v of the winner, the others below or tied."""
    laws = [geometric(score, eta) for score in scores]
    below = [np.cumsum(one) - one for one in laws]
    found = []
    for place, one in enumerate(laws):
        total = 0.0
        for v in np.flatnonzero(one > 1e-14):
            others = Polynomial([1.0])
            for other in range(len(scores)):
                if other != place:
                    others *= Polynomial([below[other][v], laws[other][v]])
            total += one[v] * others.integ()(1.0)
        found.append(total)
    return np.array(found)


def gap_law(scores, eta):
    """P(place, gap) from the law of the hurdle that the others set."""
    laws = [two_sided(score, eta) for score in scores]
    upto = [np.cumsum(one) for one in laws]
    found = {}
    for place, one in enumerate(laws):
        cleared = np.ones(V.size)
        for other in range(len(scores)):
            if other != place:
                cleared *= np.roll(upto[other], 1) if other < place else upto[other]
        hurdle = np.diff(cleared, prepend=0)
        for gap in range(12):
            found[place, gap] = float(hurdle[: V.size - gap] @ one[gap:])
    return found


@pytest.mark.parametrize(("steps", "times"), [((-1, 0, 1), 2), ((0, 1), 1)])
@pytest.mark.parametrize("scores", [(0, 0, 0), (0, 2, 1)])
def test_the_place_and_the_gap_cost_epsilon(scores, steps, times):
    epsilon = 0.8
    eta = epsilon / times
    here, with_gap = place_law(scores, eta), gap_law(scores, eta)
    assert here.sum() == pytest.approx(1)
    worst = 0.0
    for step in itertools.product(steps, repeat=len(scores)):
        moved = tuple(a + b for a, b in zip(scores, step, strict=True))
        ratios = here / place_law(moved, eta)
        worst = max(worst, ratios.max(), 1 / ratios.min())
        other = gap_law(moved, eta)
        for outcome, p in with_gap.items():
            assert math.exp(-epsilon) - 1e-9 <= p / other[outcome] <= math.exp(epsilon) + 1e-9
    assert math.exp(epsilon / 2) < worst <= math.exp(epsilon) + 1e-9


def test_draws_follow_the_laws():
    scores, epsilon = np.array([1, 3, 2]), Fraction(1)
    bits, size = SeededBits(1), 4000
    found = np.bincount([noisy_max(scores, 1, epsilon, bits) for _ in range(size)], minlength=3)
    expected = place_law((1, 3, 2), 0.5) * size
    assert ((found - expected) ** 2 / expected).sum() < 18.4  # chi-square, 2 degrees: 1e-4
    law, seen = gap_law((1, 3, 2), 0.5), {}
    for _ in range(size):
        drawn = noisy_max_gap(scores, 1, epsilon, bits)
        seen[drawn.place, drawn.gap] = seen.get((drawn.place, drawn.gap), 0) + 1
        assert drawn.scale == 2
    excess = [(seen.get(k, 0) - p * size) ** 2 / (p * size) for k, p in law.items() if p > 0.001]
    assert sum(excess) < len(excess) + 5 * math.sqrt(2 * len(excess))


def test_edges():
    assert noisy_max([5], 1, 1) == 0
    assert noisy_max([10**40, 10**40 + 10**6], 1, 1, SeededBits(2)) == 1
    assert noisy_max([Fraction(1, 3), Fraction(200)], 1, 1, SeededBits(2)) == 1
    won = noisy_max_gap([0, 10**6], 1, 1, SeededBits(3))
    assert won.place == 1
    assert abs(won.gap - 10**6) < 200
    thirds = noisy_max_gap([Fraction(1, 3), Fraction(100)], 1, 1, SeededBits(3), monotone=True)
    assert thirds.gap.denominator in (1, 3)
    assert thirds.scale == 1
    ties = [noisy_max([7, 7], 1, 10**6, SeededBits(k)) for k in range(60)]
    assert set(ties) == {0, 1}


def test_wrong_input_is_refused():
    for scores in ([], np.zeros((2, 2), int)):
        with pytest.raises(QuestionError, match="empty"):
            noisy_max(scores, 1, 1)
    with pytest.raises(QuestionError, match="two scores"):
        noisy_max_gap([1], 1, 1)
    with pytest.raises(QuestionError, match="fractions"):
        noisy_max([math.nan, 1], 1, 1)
    with pytest.raises(QuestionError, match="above zero"):
        noisy_max([1, 2], 1, 0)
