"""How far noise inside the kernel strays: the simulated widths hold for the real mechanism."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adomnia.mechanisms.noise.conditioned import sample
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System
from adomnia.priors.strategy.choice import candidates
from adomnia.priors.strategy.groups import widths


@pytest.mark.parametrize("shape", [(2, 6), (3, 3)])
def test_widths_hold_as_often_as_they_say(shape):
    rows = margins(shape, [(0,), (1,)])
    asked = sparse.eye_array(rows.shape[1], dtype=np.int64, format="csc")
    found = candidates(System.of(rows), asked, "laplace")
    plan = next(measured for measured in found if measured.basis is not None)
    scale = 8 * plan.bound.upper
    groups = [(group, 8 * bound.upper) for group, bound in plan.groups]
    shares = [(group, float(bound.upper / plan.bound.upper)) for group, bound in plan.groups]
    levels = (0.8, 0.95)
    wide = widths(plan.basis, plan.recover, shares, levels) * float(scale)
    draws = sample(plan.basis, Fraction(scale), 2000, groups=groups)
    off = np.abs(plan.recover @ draws.T.astype(np.int64))
    for level, width in zip(levels, wide, strict=True):
        held = (off <= width[:, None]).mean()
        assert level - 0.01 <= held <= level + 0.06
