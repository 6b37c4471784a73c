"""The narrowest margins of a release hold as well as the others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.marginals.core.margins import cell_margins
from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.schema.sealed import Sealed


@pytest.mark.parametrize("loss", [Loss.pure(Fraction(1)), Loss.concentrated(Fraction(1, 50))])
def test_cells_that_seem_sure_are(loss):
    """Small counts, which noise often takes below 0: of the narrowest tenth, as many hold."""
    chance = np.random.default_rng(3)
    sizes, records = (30, 4), chance.integers(0, (30, 4), (300, 2))
    table = np.zeros(sizes, np.int64)
    np.add.at(table, tuple(records.T), 1)
    exact = {(): table.sum(), (0,): table.sum(1), (1,): table.sum(0), (0, 1): table}
    plan = plan_marginals(up_to_ways(("a", "b"), sizes, 2), loss)
    held, margins = [], []
    for _ in range(30):
        found = release_marginals(plan, lambda asked: {s: Sealed(exact[s]) for s in asked})
        off = np.abs(found.marginals[0, 1] - table)
        held.append(off <= found.margins[0, 1])
        margins.append(found.margins[0, 1])
    held, margins = np.concatenate(held).reshape(-1), np.concatenate(margins).reshape(-1)
    narrow = margins <= np.quantile(margins, 0.1)
    assert margins.min() > 0
    assert held.mean() >= 0.95
    assert held[narrow].mean() >= 0.9


def test_a_count_below_zero_is_as_unsure_as_one_at_zero():
    below, zero = (cell_margins(np.array([0]), np.array([u]), 8.0)[0] for u in (-20.0, 0.0))
    assert below == zero == 8
