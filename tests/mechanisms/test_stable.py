"""Propose, test, release: stabilities on all small tables, the loss exactly, edges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.errors import QuestionError
from adomnia.mechanisms.counts.selection import threshold
from adomnia.mechanisms.counts.stable import mode_stability, quantile_stability, release_stable
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.quantiles.quantile import Rank, Share
from adomnia.mechanisms.quantiles.smooth import rank_of

TABLES = list(itertools.product(range(5), repeat=3))
TARGETS = [Share(Fraction(1, 2)), Share(Fraction(3, 4)), Rank(1), Rank(2), Rank(1, from_top=True)]


def moved(counts):
    """All tables of counts with one row more or less."""
    for place, step in itertools.product(range(len(counts)), (-1, 1)):
        yield tuple(c + step * (k == place) for k, c in enumerate(counts))


def changed(counts):
    """All tables of counts with one row changed."""
    for source, goal in itertools.permutations(range(len(counts)), 2):
        yield tuple(c + (k == goal) - (k == source) for k, c in enumerate(counts))


def is_stability(found, neighbors):
    """Whether stabilities differ by one at most, and values only where they are zero."""
    pairs = [(a, b) for a in found for b in neighbors(a) if b in found]
    assert pairs
    for a, b in pairs:
        (value, here), (other, there) = found[a], found[b]
        if here < 0 or abs(here - there) > 1 or (value != other and max(here, there) > 0):
            return False
    return True


@pytest.mark.parametrize(("neighbors", "by_change"), [(moved, False), (changed, True)])
def test_the_stability_of_a_mode(neighbors, by_change):
    found = {counts: mode_stability(np.array(counts), by_change) for counts in TABLES}
    assert is_stability(found, neighbors)
    assert mode_stability(np.array([3, 9, 5]), by_change) == (1, 2 if by_change else 4)
    assert mode_stability(np.array([9, 3, 9]), by_change) == (0, 0)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("neighbors", [moved, changed])
def test_the_stability_of_a_quantile(target, neighbors):
    found = {
        counts: quantile_stability(np.arange(3), np.array(counts), (0, 2), target)
        for counts in TABLES
    }
    assert is_stability(found, neighbors)


def test_the_stability_of_a_quantile_is_the_largest():
    for counts, target in itertools.product(TABLES, TARGETS):
        rows = [v for v, c in enumerate(counts) for _ in range(c)]
        rank = rank_of(target, len(rows))

        def at(i, rows=rows):
            return (0 if i < 1 else 2) if not 1 <= i <= len(rows) else rows[i - 1]

        value, found = quantile_stability(np.arange(3), np.array(counts), (0, 2), target)
        assert value == at(rank)
        assert at(rank - found) == at(rank + found) == value
        assert (at(rank - found - 1), at(rank + found + 1)) != (value, value)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**6)])
def test_the_loss_is_epsilon_and_delta(epsilon, delta):
    """The exact chance of a release by stability; the bar is the lowest that delta allows."""
    scale, bar = 1 / epsilon, threshold(1 / epsilon, delta, 1, 1) - 1

    def passes(stability):
        rest = bar - stability
        above = laplace.tail(scale, abs(rest) - 1 if rest > 0 else abs(rest)) / 2
        return above if rest > 0 else 1 - above

    assert passes(0) <= delta < laplace.tail(scale, bar - 2) / 2
    factor = math.exp(epsilon) * (1 + 1e-9)
    for d in range(60):
        one, two = passes(d), passes(d + 1)
        assert two <= factor * one
        assert 1 - one <= factor * (1 - two) + 1e-12
    bits = SeededBits(1)
    near = bar + 1
    shown = sum(release_stable("x", near, epsilon, delta, bits) == "x" for _ in range(2000))
    assert abs(shown / 2000 - passes(near)) < 0.05


def test_edges():
    assert release_stable("x", 10**9, 1, "0.000001") == "x"
    assert release_stable("x", 0, 1, "0.000000000001") is None
    values, counts = np.array([-9, 3, 99]), np.array([1, 500, 1])
    assert quantile_stability(values, counts, (0, 10), Share(Fraction(1, 2))) == (3, 249)
    assert quantile_stability(np.array([], int), np.array([], int), (0, 3), Rank(1)) == (3, 0)
    one_point = [quantile_stability(np.array([5]), np.array([n]), (5, 5), Rank(1)) for n in (1, 7)]
    assert one_point[0] == one_point[1]
    for stability in (-1, 1.0, math.nan):
        with pytest.raises(QuestionError, match="whole number"):
            release_stable("x", stability, 1, "0.1")
    with pytest.raises(QuestionError, match="delta"):
        release_stable("x", 3, 1, 1)
    for wrong in (np.array([1]), np.array([0.5, 1]), np.zeros((2, 2), int)):
        with pytest.raises(QuestionError, match="mode"):
            mode_stability(wrong)
