"""The adversary in its short form, with a new seed in every run.

A failure prints the command that shows it again. `make adversary` is the long form.
"""

from __future__ import annotations

import secrets

import pytest

from tests.adversary.__main__ import told
from tests.adversary.parts import PARTS, Task, work

TRIPLES = {
    "sql": 1500,
    "choices": 200,
    "graphs": 200,
    "priors": 120,
    "releases": 60,
    "mining": 8,
    "postgres": 100,
    "spark": 8,
}


@pytest.mark.parametrize("part", PARTS)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_was_paid(part: str) -> None:
    if not PARTS[part].there():
        pytest.skip("its server is not installed")
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    found = work(Task(part, seed, TRIPLES[part], 0))
    assert not found.failures, "\n".join(told(found.failures))
    assert sum(found.triples.values()) >= TRIPLES[part]
