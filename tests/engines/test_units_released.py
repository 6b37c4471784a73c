"""Units in releases and in public joins: the bound holds on every way, in every engine."""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from sources import ENGINES, from_database

from adomnia.engines.duckdb import reader
from adomnia.engines.engine import Request
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.expression import Column
from adomnia.queries.ranges import from_domain
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Attribute, PublicTable, Table
from tests.enforced import claim, request_of

TYPES = {"who": "DOUBLE", "kind": "VARCHAR", "b": "VARCHAR", "v": "BIGINT"}
DOMAINS = {
    "who": Open(),
    "kind": Categories(("x", "y", "z")),
    "b": Categories(("p", "q"), other="o"),
    "v": Grid(Fraction(0), Fraction(4)),
}
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
TOWNS = PublicTable("towns", "kind", ("kind", "land", "size"), (("x", "L", 3), ("y", "M", 9)))
KEYS = tuple(Column(name, from_domain(DOMAINS[name])) for name in ("kind", "b", "v"))
AXES = (("x", "y", "z", None), ("p", "q", "o", None), (0, 1, 2, 3, 4, None))
SUBSETS = [(0, 1, 2), (0, 2), (1,), ()]


def table(rows, groups=None, each=None):
    return Table("t", ATTRIBUTES, "who", rows, {"towns": TOWNS}, groups, each)


def crowd(seed, sizes):
    """Rows of several units; zero is one of them, and is written in two ways."""
    pick = random.Random(seed)
    return [
        {"who": pick.choice([0.0, -0.0]) if who == 0 else float(who),
         "kind": pick.choice(["x", "y", "z", "z", None]), "b": pick.choice(["p", "q", "r", None]),
         "v": pick.choice([0, 0, 2, 4, 4, None])}
        for who, size in enumerate(sizes) for _ in range(size)
    ]  # fmt: skip


ROWS = crowd(1, [12, 1, 3, 8])
REST = [row for row in ROWS if row["who"] != 0]


def released(engine, private):
    found = engine.contingency(Request(private, None, KEYS, ()), AXES)(SUBSETS)
    return [unseal(found[subset]) for subset in SUBSETS]


@pytest.mark.parametrize("name", sorted({*ENGINES} - {"csv"}))  # there 0.0 and -0.0 are two texts
def test_a_unit_moves_a_release_by_its_rows(name):
    """Every row is in one cell of each marginal: a unit moves each by as many as it may have."""
    with ENGINES[name](ROWS, TYPES, DOMAINS) as (full, _), \
         ENGINES[name](REST, TYPES, DOMAINS) as (less, _):  # fmt: skip
        for bounds in ((1,), (5,), (5, 1, 1)) if name != "spark" else ((5, 1, 1),):
            most = bounds[0]
            found, other = (released(engine, table(*bounds)) for engine in (full, less))
            assert [int(np.abs(a - b).sum()) for a, b in zip(found, other, strict=True)] == (
                [most] * len(SUBSETS)
            )
            assert found[-1] == sum(min(size, most) for size in (12, 1, 3, 8))


@pytest.mark.parametrize(("most", "few"), [(1 << 26, 0), (10, 10**9), (50, 0), (10, 0)])
def test_every_way_of_a_release_keeps_the_same_rows(monkeypatch, most, few):
    """As one cube, by groups that occur, in one pass over several cubes, or in several passes."""
    with from_database(ROWS, TYPES, DOMAINS) as (engine, _):
        wanted = released(engine, table(5))
        monkeypatch.setattr(engine, "most_cells", most)
        monkeypatch.setattr(reader, "FEW_ROWS", few)
        found = released(engine, table(5))
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


JOINED = [
    "SELECT towns.land, COUNT(*), SUM(v) FROM t JOIN towns ON t.kind = towns.kind GROUP BY land",
    "SELECT SUM(towns.size), COUNT(DISTINCT who) FROM t LEFT JOIN towns ON t.kind = towns.kind",
    "SELECT b, COUNT(DISTINCT who) FILTER (WHERE towns.size > 5) FROM t JOIN towns "
    "ON t.kind = towns.kind GROUP BY b",
]


def measured(engine, private, question):
    found = plan_measurements(question).measurements
    parts = engine.measure(request_of(private, question.where, question.keys, found))
    return dict(zip(found, map(unseal, parts), strict=True))


def test_a_unit_moves_a_public_join_by_no_more_than_is_said():
    """A join looks one value up for each row that is kept; with room for all, engines agree."""
    whole = {}
    for name in ("database", "postgres", "spark"):
        with ENGINES[name](ROWS, TYPES, DOMAINS) as (full, _), \
             ENGINES[name](REST, TYPES, DOMAINS) as (less, _):  # fmt: skip
            for rows, groups, each in ((3, None, None), (4, 1, 2))[name == "spark" :]:
                private = table(rows, groups, each)
                near = Neighbors("unbounded", rows, groups=groups, each=each)
                for sql in JOINED:
                    question = bind(sql, private, tuple(TYPES))
                    other = measured(less, private, question)
                    for part, values in measured(full, private, question).items():
                        setting = Setting(question.where, question.keys, "who")
                        said = claim(part, setting, near)
                        moved = np.abs(values - other[part])
                        assert moved.sum() <= said.l1, (name, sql)
                        assert (moved * moved).sum() <= said.l2_squared, (name, sql)
            private = table(99)
            found = [measured(full, private, bind(sql, private, tuple(TYPES))) for sql in JOINED]
            whole[name] = [[v.tolist() for v in parts.values()] for parts in found]
    assert whole["postgres"] == whole["database"] == whole["spark"]
