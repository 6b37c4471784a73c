"""The margins of a release are there for every loss, before anything is paid."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.marginals import release as core
from adomnia.marginals.core import margins as planned
from adomnia.marginals.workload import up_to_ways
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

SIZES = [(2, 7, 10, 16, 5, 14), (2,) * 8, (2, 3, 4, 2, 3, 5, 2, 6)]
EPSILONS = ["1e-6", "1e-3", "1", "5", "20", "40", "80", "200", "1e4", "1e6"]
RHOS = ["1e-9", "1e-6", "1", "80", "1e4", "1e9"]


@pytest.mark.parametrize("sizes", SIZES, ids=len)
@pytest.mark.parametrize(
    "loss", [Loss(Fraction(e)) for e in EPSILONS] + [Loss(rho=Fraction(r)) for r in RHOS], ids=str
)
def test_margins_are_finite_and_their_work_is_bounded(monkeypatch, sizes, loss):
    monkeypatch.setattr(planned, "WHOLE_WORK", 1 << 21)
    workload = up_to_ways(tuple("abcdefgh"[: len(sizes)]), sizes, 2)
    plan = core.plan_marginals(workload, loss, Neighbors("unbounded"))
    found = np.array(list(plan.margins(0.95).values()))
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert np.isfinite(list(plan.deviations.values())).all()


def test_smaller_losses_have_wider_margins():
    workload = up_to_ways(("a", "b", "c"), (2, 3, 4), 2)
    widest = [
        max(
            core.plan_marginals(workload, Loss(Fraction(e)), Neighbors("unbounded"))
            .margins()
            .values()
        )
        for e in EPSILONS
    ]
    assert widest == sorted(widest, reverse=True)
    assert widest[-1] == 0
