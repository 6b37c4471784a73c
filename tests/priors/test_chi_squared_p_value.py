"""The p-value of the noisy root: tables drawn from the margins, and the edges of the count."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, prod

import numpy as np
import pytest
from scipy import stats
from test_chi_squared import fibre

from adomnia.errors import QuestionError
from adomnia.priors import chi_squared
from adomnia.priors.chi_squared import p_value, root

MARGINS = ((30, 20, 10), (25, 20, 15))
PLAN = root(MARGINS, Fraction(2))
SCALE = PLAN.scale(Fraction(1))


def test_drawn_tables_follow_the_law_of_independence():
    rows, columns = [2, 3, 2], [3, 2, 2]
    tables = fibre(rows, columns)
    law = np.array([1 / prod(factorial(cell) for row in table for cell in row) for table in tables])
    drawn = next(chi_squared._tables(rows, columns, 20_000, np.random.default_rng(1)))
    places = {table: place for place, table in enumerate(tables)}
    found = [places[tuple(map(tuple, table))] for table in drawn.tolist()]
    expected = law / law.sum() * len(found)
    assert stats.chisquare(np.bincount(found, minlength=len(tables)), expected).pvalue > 1e-3


def test_tables_are_drawn_in_parts(monkeypatch):
    monkeypatch.setattr(chi_squared, "AT_ONCE", 50)
    parts = list(chi_squared._tables([3, 4], [5, 2], 40, np.random.default_rng(1)))
    assert [len(part) for part in parts] == [13, 13, 13, 1]
    assert (np.concatenate(parts).sum(axis=1) == [5, 2]).all()
    assert (np.concatenate(parts).sum(axis=2) == [3, 4]).all()


def test_larger_roots_have_smaller_p_values():
    step = 1 << PLAN.places
    found = [p_value(k * step, PLAN, SCALE, draws=2000) for k in range(-20, 40, 4)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.99
    assert found[-1] == 1 / 2001
    assert p_value(0, PLAN, SCALE, draws=500) == p_value(0, PLAN, SCALE, draws=500)


def test_without_much_noise_it_is_the_p_value_of_the_permutation_test():
    table = np.array([[20, 6, 4], [3, 12, 5], [2, 2, 6]])
    plan = root(MARGINS, Fraction(0))
    expected = np.outer(*MARGINS) / 60
    length = np.sqrt(((table - expected) ** 2 / expected).sum())
    private = p_value(int(length * 2**plan.places), plan, Fraction(1), draws=20_000)
    plain = stats.chi2_contingency(table, correction=False).pvalue
    assert private == pytest.approx(plain, abs=0.01)


def test_what_cannot_be_simulated_is_refused():
    huge = root(((10**9, 1), (10**9, 1)), Fraction(0))
    with pytest.raises(QuestionError, match="thousand million"):
        p_value(1, huge, huge.scale(Fraction(1)))
    with pytest.raises(ValueError, match="at least one draw"):
        p_value(1, PLAN, SCALE, draws=0)
