"""The root of chi-squared where more than the margins is public: through the general bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from test_chi_squared import MARGINS, longest, weights

from adomnia.priors.chi_squared import root, square, square_known
from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.shapes import margins as marginal_rows
from adomnia.priors.solver.system import System

KAPPA = Fraction(1, 2)


def system(margins):
    sizes = tuple(len(side) for side in margins)
    return System.of(marginal_rows(sizes, [(0,), (1,)]), [*margins[0], *margins[1]])


@pytest.mark.parametrize("margins", MARGINS, ids=str)
def test_margins_alone_give_the_longest_move(margins):
    found, truth = float(square_known(system(margins), margins, KAPPA)), longest(margins, KAPPA)
    assert found >= truth - 1e-9
    assert found <= 1.2 * truth + 1e-4


def three_way(sums):
    """All tables of 2 x 2 x 2 cells with these numbers on the far side of each attribute."""
    tables = np.array(np.unravel_index(np.arange(4**8), (4,) * 8)).T
    tables = tables[tables.sum(axis=1) == 3].reshape(-1, 2, 2, 2)
    far = np.array([tables.take(1, axis).sum(axis=(1, 2)) for axis in (1, 2, 3)]).T
    return tables[(far == sums).all(axis=1)]


@pytest.mark.parametrize("sums", [(1, 1, 1), (1, 2, 1), (2, 1, 2)], ids=str)
def test_a_third_histogram_is_taken_into_account(sums):
    """Neighbours by definition among 2 x 2 x 2 tables; the root is that of the first two."""
    tables = three_way(sums)
    margins = tuple((3 - part, part) for part in sums[:2])
    rows = marginal_rows((2, 2, 2), [(0,), (1,), (2,)])
    values = [part for far in sums for part in (3 - far, far)]
    cells = marginal_rows((2, 2, 2), [(0, 1)])
    bound = square_known(System.of(rows, values), margins, KAPPA, cells)
    expected, weight = weights(margins, KAPPA)
    roots = np.sqrt((weight * (tables.sum(axis=3) - expected) ** 2).sum(axis=(1, 2)))
    met = 0
    for one, other in combinations(range(len(tables)), 2):
        low, high = np.minimum(tables[one], tables[other]), np.maximum(tables[one], tables[other])
        if ((tables >= low) & (tables <= high)).all(axis=(1, 2, 3)).sum() == 2:
            assert abs(roots[one] - roots[other]) <= sqrt(bound) + 1e-9
            met += 1
    assert met > 3


def test_a_third_histogram_can_cost_more():
    margins = ((60, 60), (40, 40, 40))
    rows = marginal_rows((2, 3, 3), [(0,), (1,), (2,)])
    cells = marginal_rows((2, 3, 3), [(0, 1)])
    found = square_known(System.of(rows), margins, Fraction(0), cells, effort=Effort(100 * STEPS))
    assert found > 1.5 * square(margins, Fraction(0))
    assert root(margins, Fraction(0), known=found).kappa == 0


def test_a_published_cell_leaves_less():
    """A cell of a 2 x 3 table is public too: only the other two columns can still change."""
    margins = ((60, 60), (20, 40, 60))
    rows = np.vstack([marginal_rows((2, 3), [(0,), (1,)]).toarray(), [1, 0, 0, 0, 0, 0]])
    found = square_known(System.of(rows), margins, Fraction(0))
    assert float(found) == pytest.approx(120 * (2 / 60) * (1 / 40 + 1 / 60), rel=1e-4)
    assert found < square(margins, Fraction(0))
