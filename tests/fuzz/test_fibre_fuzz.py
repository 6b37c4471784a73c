"""Random small systems with values: their tables, contradictions, ranges and what is determined.

Held against the listing of all tables in `tests/priors/solver/literal.py`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "priors" / "solver"))
from examined import system_of
from literal import Public, length, tables
from oracles import graver
from released import case

from adomnia.priors.solver.errors import Contradiction
from adomnia.priors.solver.tables import fibre
from adomnia.priors.solver.tables.contradiction import check


def systems(seeds: range) -> list[Public]:
    """Systems with values of which all tables can be listed; of some, a value was changed."""
    found = []
    for seed in seeds:
        public = case(seed).public
        if None in public.values or not public.rows.max(axis=0, initial=0).all():
            continue
        chance = random.Random(seed)
        values = list(public.values)
        for _ in range(chance.choice((0, 1, 2))):
            row = chance.randrange(len(values))
            values[row] = changed(values[row], chance.choice((-2, -1, 1, 2)))
        found.append(Public.of(public.rows, values, public.forbidden))
    return found


def changed(value, by: int):
    """A value that is not the true one; an interval is moved."""
    if isinstance(value, tuple):
        return (max(0, value[0] + by), max(0, value[1] + by))
    return max(0, value + by)


def only(public: Public, rows) -> Public:
    """What some of the rows say alone; cells they leave open do not matter, and are left out."""
    rows = list(rows)
    seen = [
        c for c in range(public.cells) if public.rows[rows, c].any() and c not in public.forbidden
    ]
    return Public.of(public.rows[rows][:, seen], [public.values[row] for row in rows])


def contradiction(public: Public) -> Contradiction | None:
    try:
        check(system_of(public))
    except Contradiction as found:
        return found
    return None


def judge_contradictions(seeds: range) -> Counter:
    """Found where there is no table, and only there; the rows that are named suffice."""
    seen = Counter()
    for public in systems(seeds):
        found, has_tables = contradiction(public), bool(tables(public))
        said = (public.rows.tolist(), public.values, sorted(public.forbidden))
        assert (found is None) == has_tables, said
        seen[has_tables] += 1
        if found is None:
            continue
        assert not tables(only(public, found.rows)), (said, found.rows)
        fewer = [set(found.rows) - {row} for row in found.rows]
        seen["fewest"] += all(not part or tables(only(public, part)) for part in fewer)
    return seen


def judge_tables(seeds: range) -> int:
    """The same tables, what is the same in all of them, and how far a question goes in them."""
    count = 0
    for public in systems(seeds):
        listed, system = tables(public), system_of(public)
        assert sorted(map(tuple, fibre.tables(system).tolist())) == sorted(listed)
        if not listed:
            continue
        same = {c: v[0] for c, v in enumerate(zip(*listed, strict=True)) if len(set(v)) == 1}
        assert fibre.determined(system) == same, (public.rows.tolist(), public.values)
        count += 1
    return count


def judge_ranges(seeds: range) -> None:
    for seed in seeds:
        asked = case(seed)
        public = asked.public
        if None in public.values or not public.rows.max(axis=0, initial=0).all():
            continue
        listed = np.array(tables(public))[:25]
        most = max(
            (length(asked.asked, a - b, asked.norm) for a in listed for b in listed), default=0
        )
        found = fibre.range_bound(system_of(public), asked.asked, asked.norm)
        assert found is not None
        assert found >= most, str(asked)


def judge_realisable(seeds: range) -> Counter:
    """A step happens when a table stays one after it."""
    seen = Counter()
    for public in systems(seeds):
        listed = set(tables(public))
        for step in graver(public.rows)[:6]:
            after = (tuple((np.array(table) + step).tolist()) for table in listed)
            happens = any(table in listed for table in after)
            changes = {c: int(x) for c, x in enumerate(step) if x}
            assert fibre.is_realisable(system_of(public), changes) is happens, (public, changes)
            seen[happens] += 1
    return seen


def test_contradictions_are_found_and_none_is_made_up():
    seen = judge_contradictions(range(160))
    assert seen[True] > 20
    assert seen[False] > 15
    assert seen["fewest"] >= 0.9 * seen[False]


def test_tables_and_what_is_determined():
    assert judge_tables(range(200)) > 30


def test_no_range_is_below_the_true_one():
    judge_ranges(range(200))


def test_steps_that_happen_are_told_from_those_that_do_not():
    seen = judge_realisable(range(120))
    assert min(seen[True], seen[False]) > 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_fibres_of_many_systems(part):
    begin = 1000 * (part + 1)
    seen = judge_contradictions(range(begin, begin + 400))
    assert seen["fewest"] >= 0.9 * seen[False]
    assert judge_tables(range(begin + 400, begin + 600)) > 30
    judge_ranges(range(begin + 600, begin + 800))
    assert min(judge_realisable(range(begin + 800, begin + 1000)).values()) > 20
