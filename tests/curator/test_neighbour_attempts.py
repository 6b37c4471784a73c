"""Attempts to find neighbours that are further apart than an answer is paid for.

Pairs of tiny tables under every relation, read by the engine as a question reads them: what is
handed to a mechanism must not move further than its price says.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.curator.planning.mechanism_choice import QuantileContext
from adomnia.curator.planning.plan import LossRequest, make_plan
from adomnia.curator.table_backend import read_sealed, table_of
from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.mechanisms import measurement_mechanisms
from adomnia.mechanisms.unseal import unseal
from adomnia.policy.policy import read_policy
from adomnia.privacy.contribution import Tally
from adomnia.privacy.reads import CellTotals
from adomnia.queries.measurement import Counts
from adomnia.queries.sql.bind import bind
from tests.enforced import released

TINY = """[data]
source = "people.parquet"
table = "people"
[privacy]
confirmed = true
epsilon = 1000
{}
[attributes.sex]
values = ["F", "M"]
[attributes.region]
low = 1
high = 3
"""
COLUMNS = ("who", "sex", "region")
PAIRS = 5


class Neighbourhood:
    """Pairs of tiny neighbouring tables under a policy, read by the engine itself."""

    def __init__(self, folder: Path, privacy: str, seed: int) -> None:
        (folder / "adomnia.toml").write_text(TINY.format(privacy))
        self.folder, self.chance = folder, random.Random(seed)
        self.policy = read_policy(folder / "adomnia.toml")
        self.file = 0

    def plan(self, sql: str):
        table = table_of(self.policy)
        question = bind(sql, table, COLUMNS)
        return table, make_plan(question, self.policy, LossRequest(Fraction(6)))

    def engine(self, rows):
        self.file += 1
        path = self.folder / f"{self.file}.parquet"
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        kinds = {"who": pa.int64(), "sex": pa.string(), "region": pa.int64()}
        parts = zip(kinds.items(), columns, strict=True)
        pq.write_table(pa.table({n: pa.array(part, kind) for (n, kind), part in parts}), path)
        table = table_of(self.policy)
        facts = write_edition(edition := path.with_suffix(".duckdb"), path, "people", table)
        return DuckDBEdition(edition, facts, table, "edition 1")

    def row(self, who: int):
        pick = self.chance.choice
        return (who, pick(["F", "M", None, "odd"]), pick([1, 2, 3, None, 99]))

    def table(self, most: int = 4):
        return [self.row(self.chance.randint(1, 3)) for _ in range(self.chance.randint(0, most))]

    def one_step(self, rows):
        """A neighbour of the table, without `group`."""
        neighbors, chance = self.policy.neighbors, self.chance
        if neighbors.relation == "free-lunch":
            return self.table(6)
        if neighbors.rows is not None:
            rest = [row for row in rows if row[0] != 2]
            return [*rest, *(self.row(2) for _ in range(chance.randint(0, 5)))]
        if neighbors.relation == "unbounded":
            return [*rows, self.row(9)] if chance.random() < 0.5 or not rows else rows[1:]
        if not rows:
            return rows
        old, fresh = rows[0], self.row(9)
        place = chance.choice([1, 2])
        changed = tuple(fresh[i] if i == place else old[i] for i in range(3))
        return [fresh if neighbors.relation == "bounded" else changed, *rows[1:]]

    def pair(self):
        rows = self.table()
        other = rows
        for _ in range(self.policy.neighbors.group):
            other = self.one_step(other)
        if self.policy.neighbors.rows is not None and not self.policy.neighbors.replaces:
            rows = [row for row in rows if row[0] != 2]  # the unit is not there at all
        return rows, other


RELATIONS = [
    "",
    'neighbors = "bounded"',
    'neighbors = "attribute"',
    'neighbors = "bit"',
    "group = 2",
    'unit = "who"\nmax_rows = 3',
    'unit = "who"\nmax_rows = 4\nmax_groups = 2\nmax_rows_per_group = 1',
    'unit = "who"\nmax_rows = 4\nmax_rows_per_group = 1',
    'neighbors = "bounded"\nunit = "who"\nmax_rows = 4\nmax_groups = 1\nmax_rows_per_group = 2',
    'neighbors = "free-lunch"\nmost = 3',
]
MODES = [
    "SELECT MODE(region) FROM people",
    "SELECT sex, MODE(region) FROM people GROUP BY sex",
    "SELECT sex, MODE(region) FILTER (WHERE sex = 'F') FROM people WHERE region <> 2 GROUP BY sex",
    "SELECT region, MODE(region > 1) FROM people GROUP BY region",
]


QUANTILES = [
    "SELECT MAX(region) FROM people WHERE sex = 'F'",
    "SELECT sex, MIN(region) FROM people GROUP BY sex",
]
CONDITIONS = [
    "region > 1",
    "region >= 2 OR sex = 'F'",
    "sex IS NULL",
    "TRUE",
    "NULL",
    "NOT (region > 2 AND NULL)",
    "region / (region - 2) > 0",
]


@pytest.fixture
def seen(monkeypatch) -> list[Any]:
    """What mechanisms are handed, in the order in which they are."""
    found: list[Any] = []

    def modes(sealed, cells, values, *_):
        found.append(unseal(sealed).reshape(cells, -1)[:, :values].copy())
        return np.zeros(cells, np.int64)

    def quantiles(sealed, cells, *_):
        held = unseal(sealed).items()
        pairs = {cell: zip(v.tolist(), n.tolist(), strict=True) for cell, (v, n) in held}
        found.append({cell: Counter(dict(part)) for cell, part in pairs.items()})
        return np.zeros(cells, object)

    monkeypatch.setattr(measurement_mechanisms, "choose_modes", modes)
    monkeypatch.setattr(measurement_mechanisms, "choose_quantiles", quantiles)
    return found


def steps_between(one: dict[int, Counter], other: dict[int, Counter]) -> int:
    """How many rows come, go or change inside their cell."""
    total = 0
    for cell in {*one, *other}:
        a, b = one.get(cell, Counter()), other.get(cell, Counter())
        total += max((a - b).total(), (b - a).total())
    return total


@pytest.mark.parametrize("privacy", RELATIONS)
def test_no_neighbour_moves_further_than_is_paid(tmp_path: Path, privacy: str, seen) -> None:
    """Counts of a mode in L1, rows under smooth noise, and overlapping conditions."""
    town = Neighbourhood(tmp_path, privacy, 1)
    neighbors = town.policy.neighbors
    modes, quantiles = ([town.plan(sql) for sql in listed] for listed in (MODES, QUANTILES))
    table = modes[0][0]
    tests = [f"SELECT COUNT(*) FROM people WHERE {test}" for test in CONDITIONS]
    counts = Counts(tuple(bind(sql, table, COLUMNS).where for sql in tests))
    for _ in range(PAIRS):
        engines = [town.engine(rows) for rows in town.pair()]
        for _, plan in (*modes, *quantiles):
            seen.clear()
            for engine in engines:
                released(plan, table, engine)
            one, other = seen
            if isinstance(one, dict):
                allowed = QuantileContext.of(plan.question, town.policy, None).steps
                assert steps_between(one, other) <= (allowed or 0)
            else:
                assert np.abs(one - other).sum() <= plan.steps[0].sensitivity.l1
        wanted = [CellTotals(Tally(counts.conditions), most=neighbors.most)]
        one, other = (unseal(read_sealed(e, table, wanted)[0]) for e in engines)
        rise, fall = max(0, (one - other).max()), max(0, (other - one).max())
        assert rise + fall <= neighbors.moves
        assert max(rise, fall) <= neighbors.touched
        for engine in engines:
            engine.close()
