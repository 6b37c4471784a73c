"""The root of chi-squared on its lattice: exact, for any data, and with the noise it claims."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from seeded import SeededBits

from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.tables.root import lattice_root, release_root
from adomnia.priors.chi_squared import p_value, root
from adomnia.schema.sealed import Sealed

MARGINS = ((30, 20, 10), (25, 20, 15))
TABLE = np.array([[20, 6, 4], [3, 12, 5], [2, 2, 6]])


def exact(table, margins, kappa, places):
    """floor(2^places sqrt(X2)) from fractions alone."""
    rows, columns = margins
    total = Fraction(0)
    for r, row in zip(rows, table.tolist(), strict=True):
        for c, count in zip(columns, row, strict=True):
            expected = Fraction(r * c, sum(rows))
            total += (count - expected) ** 2 / (expected + kappa) if expected else 0
    total *= 4**places
    return isqrt(total.numerator // total.denominator)


@pytest.mark.parametrize("kappa", [Fraction(0), Fraction(7, 3), Fraction(10**6)], ids=str)
@pytest.mark.parametrize("places", [0, 5, 25])
def test_the_root_is_exact(kappa, places):
    chance = np.random.default_rng(1)
    for table in (TABLE, *chance.integers(0, 100, (20, 3, 3))):
        found = lattice_root(table, MARGINS, kappa, places)
        assert exact(table, MARGINS, kappa, places) - found in (0, 1)


def test_a_table_as_expected_has_the_root_nothing():
    table = np.array([[2, 4], [3, 6]])
    assert lattice_root(table, ((6, 9), (5, 10)), Fraction(0), 30) == 0


def test_empty_rows_and_columns_do_not_count():
    table = np.zeros((4, 4), np.int64)
    table[1:, :3] = TABLE
    wider = ((0, *MARGINS[0]), (*MARGINS[1], 0))
    found = lattice_root(TABLE, MARGINS, Fraction(1), 20)
    assert lattice_root(table, wider, Fraction(1), 20) == found
    table[0, 3] = 1000  # the data contradicts the margins, and nothing is said
    assert lattice_root(table, wider, Fraction(1), 20) == found


def test_large_counts_do_not_overflow():
    n = 10**18
    table = np.array([[n, 0], [0, n]])
    assert lattice_root(table, ((n, n), (n, n)), Fraction(0), 0) == isqrt(2 * n)


def test_large_tables_are_quick():
    table = np.random.default_rng(1).integers(0, 50, (200, 200))
    margins = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    found = lattice_root(table, margins, Fraction(3), 20) / 2**20
    expected = np.outer(*margins) / table.sum()
    assert found == pytest.approx(np.sqrt(((table - expected) ** 2 / (expected + 3)).sum()))


def test_the_noise_is_that_of_the_scale():
    scale = Fraction(1000, 3)
    found = release_root(Sealed(TABLE), MARGINS, Fraction(1), 10, scale, SeededBits(1))
    noise = int(laplace.sample(scale, 1, SeededBits(1))[0])
    assert found == lattice_root(TABLE, MARGINS, Fraction(1), 10) + noise
    assert noise != 0


def test_what_cannot_be_is_refused():
    sealed = Sealed(TABLE)
    with pytest.raises(ValueError, match="positive scale"):
        release_root(sealed, MARGINS, Fraction(1), 10, Fraction(0))
    with pytest.raises(ValueError, match="another shape"):
        lattice_root(TABLE[:2], MARGINS, Fraction(1), 10)
    with pytest.raises(TypeError, match="integers"):
        lattice_root(TABLE / 2, MARGINS, Fraction(1), 10)
    with pytest.raises(ValueError, match="not negative"):
        lattice_root(TABLE, MARGINS, Fraction(-1), 10)
    with pytest.raises(ValueError, match="same total"):
        lattice_root(TABLE, ((30, 20, 10), (25, 20, 16)), Fraction(1), 10)
    with pytest.raises(ValueError, match="without rows"):
        lattice_root(0 * TABLE, ((0, 0, 0), (0, 0, 0)), Fraction(1), 10)


@pytest.mark.parametrize(
    "margins", [MARGINS, ((3, 4), (2, 2, 3))], ids=["usual", "tiny expected counts"]
)
def test_the_level_is_kept(margins):
    """Tables without association: p <= .05 in about a twentieth of all runs."""
    chance, bits = np.random.default_rng(2), SeededBits(2)
    plan = root(margins, Fraction(2))
    scale = plan.scale(Fraction(1))
    people = [np.repeat(range(len(side)), side) for side in margins]
    found = []
    for _ in range(600):
        table = np.zeros((len(margins[0]), len(margins[1])), np.int64)
        np.add.at(table, (people[0], chance.permutation(people[1])), 1)
        steps = release_root(Sealed(table), margins, plan.kappa, plan.places, scale, bits)
        found.append(p_value(steps, plan, scale, draws=1000, seed=len(found)))
    assert 0.025 < np.mean(np.array(found) <= 0.05) < 0.075
    assert 0.43 < np.mean(np.array(found) <= 0.5) < 0.57
