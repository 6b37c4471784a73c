"""From a question to its answer: chosen, measured inside the kernel, recovered, in agreement."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from seeded import SeededBits

from adomnia.mechanisms.noise.conditioned import add_conditioned
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System
from adomnia.priors.strategy.choice import choose
from adomnia.schema.sealed import Sealed


@pytest.mark.parametrize(("shape", "grouped"), [((2, 10), False), ((3, 4), True)])
@pytest.mark.parametrize("given", [True, False])
def test_answers_agree_with_what_is_public_and_err_as_foreseen(shape, grouped, given):
    rows = margins(shape, [(0,), (1,)])
    table = np.random.default_rng(2).integers(5, 30, rows.shape[1])
    values = [int(value) for value in rows @ table] if given else None
    asked = sparse.eye_array(table.size, dtype=np.int64, format="csc")
    plan = choose(System.of(rows, values), asked, "laplace")
    assert plan.name == "inside the kernel"
    assert bool(plan.groups) == grouped
    epsilon, bits, errors = Fraction(1, 4), SeededBits(21), []
    groups = [(group, bound.upper / epsilon) for group, bound in plan.groups]
    for _ in range(80):
        sealed = Sealed(plan.rows @ table)
        noisy = add_conditioned(sealed, plan.basis, plan.bound.upper / epsilon, bits, groups=groups)
        answer = plan.recover @ noisy + plan.offset
        assert (rows @ answer == rows @ table).all()
        errors.append(((answer - table) ** 2).sum())
    assert np.mean(errors) == pytest.approx(plan.error / float(epsilon) ** 2, rel=0.4)
