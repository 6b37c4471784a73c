"""Theory is a function: the same question has the same bound, whatever a clock says."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import sparse

from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.lattice.graver import basis
from adomnia.priors.solver.shapes import margins
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables.fibre import determined
from adomnia.priors.solver.tables.projection import project

PAIRS = [(0, 1), (1, 2), (0, 2)]
CLOCKS = ("monotonic", "perf_counter", "time", "process_time", "thread_time")


@pytest.fixture(params=[1000.0, 0.001], ids=["a clock that runs", "a clock that crawls"])
def other_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every clock of Python goes a thousand times faster, or slower."""
    for name in CLOCKS:
        real = getattr(time, name)
        monkeypatch.setattr(time, name, lambda real=real: real() * request.param)


def everything() -> list[object]:
    """Bounds that end by their own proof, and some for which the steps run out."""
    cube, square = margins((3, 3, 4), PAIRS), margins((6, 6), [(0,), (1,)])
    chance = np.random.default_rng(0)
    table = chance.integers(0, 9, cube.shape[1])
    known = System.of(cube, [int(value) for value in cube @ table])
    every = sparse.eye_array(36, dtype=np.int64)
    steps = 40_000_000
    moved = project(known, every, table + chance.integers(-5, 6, 36), Effort(steps))
    return [
        solve(System.of(cube), every, 1, effort=Effort(steps)),
        solve(System.of(cube), every, 2, effort=Effort(steps)),
        solve(known, every, 1, effort=Effort(steps)),
        solve(System.of(square), chance.integers(-2, 3, (3, 36)), 1),
        None if moved is None else moved.tolist(),
        determined(known, Effort(steps)),
    ]


@pytest.fixture(scope="module")
def expected() -> list[object]:
    return everything()


def test_bounds_do_not_follow_the_clock(expected, other_clock):
    assert everything() == expected


def test_the_bound_is_that_of_the_steps():
    """What 1, 5 and 20 seconds gave three values is one value now."""
    cube = System.of(margins((3, 3, 4), PAIRS))
    every = sparse.eye_array(36, dtype=np.int64)
    assert solve(cube, every).upper == 48
    assert solve(cube, every, effort=Effort(0)).upper >= 48


def test_steps_that_run_out_say_so():
    with pytest.raises(TooLarge, match="steps"):
        basis(margins((3, 3, 4), PAIRS), effort=Effort(1_000_000))
