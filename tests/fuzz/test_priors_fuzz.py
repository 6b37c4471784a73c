"""Random small systems: no bound is below the truth, no witness is other than it should be.

The truth comes from outside the package (`tests/priors`): Graver bases by 4ti2 or by completion,
restricted to steps that the given values allow, and the listing of all tables where rows were
rounded.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "priors" / "solver"))
from examined import complaints, is_rounded, system_of, truth
from literal import tables
from oracles import PROGRAM, vectors
from oracles import graver as outside
from released import Case, case, large_case, mixed_case

from adomnia.priors.solver.effort import STEPS, Effort
from adomnia.priors.solver.errors import TooLarge
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.lattice import graver


@dataclass
class Tally:
    """What was seen: wrong bounds, and how many of the right ones were exact."""

    wrong: list[str] = field(default_factory=list)
    exact: Counter = field(default_factory=Counter)
    all: Counter = field(default_factory=Counter)

    def put(self, asked: Case, steps: int) -> None:
        """One system, solved and examined."""
        system = system_of(asked.public)
        bound = solve(system, asked.asked, asked.norm, effort=Effort(steps))
        true = truth(asked.public, asked.asked, asked.norm)
        found = complaints(asked.public, asked.asked, asked.norm, bound, true)
        if found:
            self.wrong.append(f"{'; '.join(found)} ({bound.argument}): {asked}")
        kind = "rounded" if is_rounded(asked.public) else "plain"
        self.all[kind] += 1
        self.exact[kind] += bound.exact


def run(cases: Iterable[Case], steps: int = STEPS) -> Tally:
    tally = Tally()
    for asked in cases:
        tally.put(asked, steps)
    return tally


def judge(tally: Tally, exact: float = 0.9) -> None:
    """Nothing is wrong, and a share of what was not rounded is exact."""
    assert tally.wrong == [], "\n".join(tally.wrong[:10])
    assert tally.exact["plain"] >= exact * tally.all["plain"], (tally.exact, tally.all)


@pytest.fixture
def no_graver(monkeypatch):
    """Every Graver basis is too large, as in large systems: only other arguments are left."""

    def refuse(*_args, **_options):
        raise TooLarge("refused by the test")

    monkeypatch.setattr(graver, "basis", refuse)


def test_bounds_of_random_systems():
    judge(run(map(case, range(400))))


def listable(cases: Iterable[Case]) -> Iterator[Case]:
    """Those that have few tables: pairs of them are compared with all others."""
    return (asked for asked in cases if len(tables(asked.public)) <= 150)


def test_bounds_where_some_values_are_not_given_and_some_rounded():
    judge(run(listable(map(mixed_case, range(60)))))


def test_bounds_in_no_time():
    """Whatever is given up when time is short, the bound holds."""
    judge(run(map(case, range(550, 650)), steps=0), exact=0)
    if PROGRAM:
        judge(run(map(large_case, range(80, 120)), steps=0), exact=0)


@pytest.mark.usefixtures("no_graver")
def test_bounds_without_graver_bases():
    judge(run(map(case, range(400, 500)), steps=60_000_000), exact=0)


@pytest.mark.skipif(not PROGRAM, reason="4ti2-graver is not installed")
def test_bounds_of_larger_systems():
    judge(run(map(large_case, range(80))))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_bounds_of_five_thousand_systems(part):
    judge(run(map(case, range(1000 + 500 * part, 1500 + 500 * part))))


@pytest.mark.slow
@pytest.mark.usefixtures("no_graver")
def test_bounds_of_many_systems_without_graver_bases():
    judge(run(map(case, range(6000, 7000)), steps=100_000_000), exact=0)
    if PROGRAM:
        judge(run(map(large_case, range(1000, 1300)), steps=100_000_000), exact=0)


@pytest.mark.slow
def test_bounds_of_many_systems_in_no_time():
    judge(run(map(case, range(7000, 8000)), steps=0), exact=0)
    judge(run(listable(map(mixed_case, range(1000, 1400)))))


@pytest.mark.slow
@pytest.mark.skipif(not PROGRAM, reason="4ti2-graver is not installed")
def test_bounds_of_many_larger_systems():
    judge(run(map(large_case, range(2000, 2500))))


def bases(cases: Iterable[Case]) -> list[str]:
    """Systems whose own Graver basis is not that of the oracle."""
    found = []
    for asked in cases:
        rows = asked.public.rows
        if vectors(graver.basis(rows)) != vectors(outside(rows)):
            found.append(str(rows.tolist()))
    return found


def test_own_graver_bases_of_random_systems():
    assert bases(map(case, range(0, 400, 4))) == []


@pytest.mark.slow
def test_own_graver_bases_of_many_random_systems():
    assert bases(map(case, range(10_000, 12_000))) == []
    if PROGRAM:
        assert bases(map(large_case, range(200))) == []
