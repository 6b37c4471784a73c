"""Attempts on whole questions: what one unit can move, what one row can hold up, what an address
that is badly written gives away."""

from __future__ import annotations

import random
import sys
import threading
from fractions import Fraction
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from sources import ENGINES

from adomnia.curator.data.sources import engine_of
from adomnia.engines.interrupts import Interrupts, watched
from adomnia.engines.spark.sessions import address
from adomnia.errors import PolicyError
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Attribute, Table
from adomnia.storage.address import shown_address
from tests.enforced import claim, request_of

SECRET = "Xq7SECRETz"

# One unit taken away, or replaced, in real engines


TYPES = {"who": "VARCHAR", "v": "DOUBLE", "kind": "VARCHAR", "b": "VARCHAR"}
DOMAINS = {
    "who": Open(),
    "v": Grid(Fraction(-3), Fraction(4)),
    "kind": Categories(("x", "y", "z")),
    "b": Categories(("p", "q"), other="o"),
}
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
HELD = {
    "v": [-9.0, -3.0, 0.0, -0.0, 1.4, 4.0, 99.0, nan, inf, None],
    "kind": ["x", "y", "z", "X", "x ", None],
    "b": ["p", "q", "zz", None],
}
QUESTIONS = [
    "SELECT COUNT(*) FROM t",
    "SELECT kind, COUNT(*), SUM(v) FROM t GROUP BY kind",
    "SELECT kind, b, AVG(v) FROM t GROUP BY kind, b",
    "SELECT b, VARIANCE(v), COUNT(DISTINCT v) FROM t GROUP BY b",
    "SELECT kind, COUNT(DISTINCT who) FROM t WHERE v > 0 GROUP BY kind",
    "SELECT kind, COUNT(DISTINCT who) FILTER (WHERE b = 'p'), COUNT(*) FILTER (WHERE b = 'q') "
    "FROM t GROUP BY kind",
    "SELECT v, COUNT(*), SUM(v) FROM t GROUP BY v",
    "SELECT COUNT(DISTINCT kind), SUM(v * v) FROM t WHERE kind <> 'x'",
    "SELECT CASE WHEN kind = 'x' THEN b ELSE 'none' END AS k, SUM(v) FROM t GROUP BY k",
]
BOUNDS = [(1, None, None), (3, 1, None), (3, 2, 1), (4, None, 1), (9, 2, 2)]


def rows_of(seed, who):
    """The rows of one unit: as few as none."""
    pick = random.Random(f"{seed} {who}")
    values = [{name: pick.choice(held) for name, held in HELD.items()} for _ in range(5)]
    return [{"who": who, **value} for value in values[: pick.randint(0, 5)]]


def measured(engine, private, question):
    found = plan_measurements(question).measurements
    parts = engine.measure(request_of(private, question.where, question.keys, found))
    return dict(zip(found, (unseal(part).astype(object) for part in parts), strict=True))


@pytest.mark.parametrize(("name", "seeds"), [("database", 2), ("postgres", 2)])
def test_one_unit_moves_what_is_sealed_by_no_more_than_is_said(name, seeds):
    checked = 0
    for seed in range(seeds):
        rest = [row for who in ("A", "a ", "", None) for row in rows_of(seed, who)]
        tables = [rest + rows_of(seed, "a"), rest, rest + rows_of(seed + 100, "a")]
        with (
            ENGINES[name](tables[0], TYPES, DOMAINS) as (full, _),
            ENGINES[name](tables[1], TYPES, DOMAINS) as (less, _),
            ENGINES[name](tables[2], TYPES, DOMAINS) as (other, _),
        ):
            for bounds in BOUNDS:
                checked += _moves((full, less, other), bounds)
    assert checked > 100


def _moves(engines, bounds):
    """Compare all questions on three engines: a table, without a unit, with it replaced."""
    rows, groups, each = bounds
    private, checked = Table("t", ATTRIBUTES, "who", rows, {}, groups, each), 0
    for sql in QUESTIONS:
        question = bind(sql, private, tuple(TYPES))
        full, *neighbors = (measured(engine, private, question) for engine in engines)
        for relation, found in zip(("unbounded", "bounded"), neighbors, strict=True):
            relates = Neighbors(relation, rows, groups=groups, each=each)
            for measurement, values in found.items():
                said = claim(measurement, Setting(question.where, question.keys, "who"), relates)
                moved = np.abs(full[measurement] - values)
                assert moved.sum() <= said.l1, (sql, bounds, relation)
                assert (moved * moved).sum() <= said.l2_squared, (sql, bounds, relation)
                checked += 1
    return checked


# One row that holds up a question


@pytest.mark.parametrize("name", ["database", "postgres", "spark"])
def test_no_pattern_lets_one_row_hold_up_a_question(name):
    """100 signs and 20 gaps can be laid out in 10^20 ways; what takes so long is ended by us."""
    private = Table("t", {"name": Attribute("name", Open())})
    tests = [f"name {word} '{'%a' * 20}_%b'" for word in ("LIKE", "ILIKE")]
    interrupts = Interrupts()
    timer = threading.Timer(120, interrupts.interrupt)
    timer.start()
    try:
        with (
            ENGINES[name]([{"name": "a" * 100}], {"name": "VARCHAR"}, {}) as (engine, _),
            watched(interrupts),
        ):
            for test in tests:
                question = bind(f"SELECT COUNT(*) FROM t WHERE {test}", private, ("name",))
                (found,) = measured(engine, private, question).values()
                assert found.tolist() == [[0]]
    finally:
        timer.cancel()


# Addresses that are badly written


@pytest.mark.parametrize("sign", ["&", ";", "#"])
def test_a_wrong_sign_shows_no_password_of_a_source(sign):
    assert SECRET not in shown_address(
        f"postgresql://reader@db.example/clinic{sign}password={SECRET}"
    )


@pytest.mark.parametrize(
    "source",
    [
        f"host=db.example user=reader password={SECRET} dbname=clinic",
        f"postgresql:reader:{SECRET}@db.example/clinic",
        f"postgresql//reader:{SECRET}@db.example/clinic",
        f"POSTGRESQL://reader:{SECRET}@db.example/clinic",
        f"jdbc:postgresql://db.example/clinic?password={SECRET}",
        f"spark://master.example:7077?password={SECRET}",
        f"postgresql+psycopg://reader:{SECRET}@db.example/clinic",
    ],
)
def test_what_was_meant_as_an_address_is_not_repeated(source):
    with pytest.raises(PolicyError) as caught:
        engine_of(source, "people", {})
    assert SECRET not in str(caught.value) + repr(caught.value)


def test_the_address_of_a_master_shows_no_password():
    assert SECRET not in address(f"spark://reader:{SECRET}@master.example:7077").place
