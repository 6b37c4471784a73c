"""Chi-squared with public margins: its root's sensitivity on whole fibres, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from math import sqrt

import numpy as np
import pytest

from adomnia.errors import QuestionError
from adomnia.mechanisms.tables.root import lattice_root
from adomnia.priors.chi_squared import choose_kappa, root, square

KAPPAS = [Fraction(0), Fraction(1, 2), Fraction(5)]
MARGINS = [
    ((5, 4), (6, 3)),
    ((1, 9), (5, 5)),
    ((4, 3), (3, 2, 2)),
    ((6, 2), (1, 1, 3, 3)),
    ((3, 2, 2), (3, 2, 2)),
    ((4, 1, 1), (2, 2, 2)),
    ((3, 3, 3), (1, 4, 4)),
    ((0, 4, 3), (3, 0, 2, 2)),
    ((1, 1, 1, 1), (1, 1, 1, 1)),
]
each_margins = pytest.mark.parametrize("margins", MARGINS, ids=str)


def rows_of(total, most):
    """All ways to write a row sum, each cell at most what is left of its column."""
    cells = product(*(range(min(total, part) + 1) for part in most))
    return [cell for cell in cells if sum(cell) == total]


def fibre(rows, columns):
    """All tables with these margins."""
    if len(rows) == 1:
        return [(tuple(columns),)] if sum(columns) == rows[0] else []
    return [
        (first, *rest)
        for first in rows_of(rows[0], columns)
        for rest in fibre(rows[1:], [c - x for c, x in zip(columns, first, strict=True)])
    ]


def neighbors(tables):
    """Pairs of induced neighbours by definition: no third table lies between them in every cell."""
    for one, other in combinations(range(len(tables)), 2):
        low, high = np.minimum(tables[one], tables[other]), np.maximum(tables[one], tables[other])
        if ((tables >= low) & (tables <= high)).all(axis=(1, 2)).sum() == 2:
            yield one, other


def weights(margins, kappa):
    rows, columns = (np.array(side, float) for side in margins)
    expected = np.outer(rows, columns) / rows.sum()
    live = expected > 0
    return expected, np.where(live, 1 / np.where(live, expected + float(kappa), 1), 0)


def longest(margins, kappa):
    """The largest weighted square of a cycle through rows and columns that are not empty."""
    _, weight = weights(margins, kappa)
    rows, columns = (np.flatnonzero(side) for side in margins)
    found = 0.0
    for size in range(2, min(rows.size, columns.size) + 1):
        for chosen in combinations(rows, size):
            for order, way in product(permutations(chosen[1:]), permutations(columns, size)):
                there = [*zip((chosen[0], *order), way, strict=True)]
                back = [*zip((chosen[0], *order), (*way[1:], way[0]), strict=True)]
                found = max(found, sum(weight[cell] for cell in (*there, *back)))
    return found


@each_margins
@pytest.mark.parametrize("kappa", KAPPAS, ids=str)
def test_no_induced_neighbors_differ_by_more(margins, kappa):
    tables = np.array(fibre(*margins))
    expected, weight = weights(margins, kappa)
    roots = np.sqrt((weight * (tables - expected) ** 2).sum(axis=(1, 2)))
    plan = root(margins, kappa)
    steps = [lattice_root(table, margins, kappa, plan.places) for table in tables]
    bound = sqrt(square(margins, kappa))
    pairs = list(neighbors(tables))
    assert pairs
    assert max(abs(roots[one] - roots[other]) for one, other in pairs) <= bound + 1e-9
    assert max(abs(steps[one] - steps[other]) for one, other in pairs) <= plan.sensitivity
    assert plan.sensitivity <= bound * 2**plan.places * (1 + 1e-9) + 1


@each_margins
@pytest.mark.parametrize("kappa", KAPPAS, ids=str)
def test_closed_forms_bound_every_move_and_are_reached_by_two_rows(margins, kappa):
    bound, truth = float(square(margins, kappa)), longest(margins, kappa)
    assert bound >= truth - 1e-9
    live = min(np.count_nonzero(side) for side in margins)
    if live == 2:
        assert bound == pytest.approx(truth)
    assert bound <= 1.7 * truth


def test_a_rough_lattice_is_safe_too():
    margins = ((4, 3), (3, 2, 2))
    tables = np.array(fibre(*margins))
    bound = square(margins, Fraction(0))
    for places in range(5):
        steps = [lattice_root(table, margins, Fraction(0), places) for table in tables]
        most = -(-sqrt(bound) * 2**places // 1)
        assert all(abs(steps[one] - steps[other]) <= most for one, other in neighbors(tables))


def test_figures_of_the_university():
    salaries = (40, 75, 135, 175, 190, 155, 115, 70, 30, 15)
    margins = ((500, 500), salaries)
    larger = ((5000, 5000), tuple(10 * part for part in salaries))
    assert sqrt(square(margins, Fraction(0))) == pytest.approx(0.632, abs=1e-3)
    assert sqrt(square(larger, Fraction(0))) == pytest.approx(0.2, abs=1e-3)
    assert square(margins, Fraction(50)) < square(margins, Fraction(0)) / 4


def test_equal_margins_have_a_short_formula():
    for r, c in ((2, 5), (4, 4), (3, 7)):
        n = 10 * r * c
        found = square(((n // r,) * r, (n // c,) * c), Fraction(0))
        assert found == Fraction(2 * min(r, c) * r * c, n)


def test_rows_and_columns_may_change_places_and_empty_ones_do_not_count():
    margins = ((4, 3, 5), (6, 2, 3, 1))
    turned = margins[::-1]
    emptied = ((0, 4, 3, 0, 5), (6, 0, 2, 3, 1))
    for kappa in KAPPAS:
        assert square(margins, kappa) == square(turned, kappa) == square(emptied, kappa)
    assert choose_kappa(margins, Fraction(1)) == choose_kappa(emptied, Fraction(1))


@pytest.mark.parametrize(
    "margins",
    [((7,), (3, 4)), ((3, 4), (7,)), ((7, 0), (3, 4)), ((0, 0), (0, 0)), ((), ()), ((1,), (1,))],
    ids=str,
)
def test_margins_that_determine_the_table_are_refused(margins):
    for ask in (square, root):
        with pytest.raises(QuestionError, match="determine the table"):
            ask(margins, Fraction(0))
    with pytest.raises(QuestionError, match="determine the table"):
        choose_kappa(margins, Fraction(1))


@pytest.mark.parametrize("margins", [((3, 4), (3, 5)), ((-1, 8), (3, 4))], ids=str)
def test_margins_of_no_table_are_refused(margins):
    with pytest.raises(QuestionError, match="not the margins"):
        root(margins, Fraction(0))


def test_what_is_wrong_otherwise_is_refused():
    with pytest.raises(ValueError, match="kappa"):
        square(((3, 4), (3, 4)), Fraction(-1))
    with pytest.raises(ValueError, match="epsilon is positive"):
        choose_kappa(((3, 4), (3, 4)), Fraction(0))
    with pytest.raises(ValueError, match="epsilon is positive"):
        root(((3, 4), (3, 4)), Fraction(0)).scale(Fraction(0))
    with pytest.raises(QuestionError, match="what is public determines"):
        root(((3, 4), (3, 4)), Fraction(0), known=Fraction(0))


def test_tiny_and_huge_expected_counts_have_their_lattice():
    tiny = root(((1, 10**6), (1, 10**6)), Fraction(0))
    huge = root(((10**12, 10**12), (10**12, 10**12)), Fraction(0))
    assert tiny.places < 20 < huge.places
    for plan in (tiny, huge):
        assert 1 << 20 <= plan.sensitivity <= 1 << 21


def test_kappa_is_the_same_each_time_and_grows_when_noise_does():
    margins = ((500, 500), (40, 75, 135, 175, 190, 155, 115, 70, 30, 15))
    low, high = Fraction(1, 10), Fraction(100)
    assert choose_kappa(margins, low) == choose_kappa(margins, low)
    assert choose_kappa(margins, low) > 100
    assert choose_kappa(margins, high) < choose_kappa(margins, low)
