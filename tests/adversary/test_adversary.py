"""The adversary in its short form, with a new seed in every run.

A failure prints the command that shows it again. `make adversary` is the long form.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.adversary import seams
from tests.adversary.__main__ import told
from tests.adversary.faults import handful, tried
from tests.adversary.parts import PARTS, Task, first_of, work

TRIPLES = {
    "sql": 900,
    "choices": 120,
    "graphs": 200,
    "priors": 120,
    "releases": 60,
    "mining": 8,
    "postgres": 90,
    "spark": 8,
    "tables": 240,
    "postgres-tables": 40,
    "found": 60,
    "postgres-found": 20,
}
EACH = 6
"""A few uses of each world, so that there are dozens of worlds."""
FEW = 4
"""So many faults of each side are planted in one run."""


KNOWN = 7
"""The seed of the worlds in which the whole table of faults was tried."""


@pytest.fixture(autouse=True, scope="module")
def seams_out() -> Iterator[None]:
    """Other tests find the package as it is."""
    yield
    seams.uninstall()


@pytest.mark.parametrize("part", PARTS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_was_paid(part: str) -> None:
    if not PARTS[part].there():
        pytest.skip("its server is not installed")
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    found = work(Task(part, seed, TRIPLES[part], first_of(part), EACH))
    assert not found.failures, "\n".join(told(found.failures))
    assert sum(found.triples.values()) >= TRIPLES[part]


@pytest.mark.parametrize("side", ["outside", "inside"])
def test_faults_inside_are_caught_and_those_outside_do_no_harm(side: str) -> None:
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    found = [tried(fault, KNOWN) for fault in handful(seed, side, FEW)]
    assert all(verdict.is_good for verdict in found), "\n".join(one.line for one in found)
