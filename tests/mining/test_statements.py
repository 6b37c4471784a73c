"""Statements from the public schema: what is quoted, and what is refused for lack of a price."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
from adomnia.mining.parts.moments import onto_simplex, shrunk
from adomnia.mining.parts.statements import (
    bounds_of,
    decimal,
    identifier,
    literal,
    select,
    values_of,
)

DOMAINS = {
    "n": number(0, 10),
    "fine": number("-1.5", "2.5", "0.5"),
    "word": 'kind = "text"',
    "day": 'kind = "date"\nlow = "2020-01-01"\nhigh = "2020-12-31"',
    "code": listed(3, 7, 9),
    "name": listed("x", "it's"),
    "wide": number(0, 10**9),
}
COLUMNS = {
    "n": [1, 2],
    "fine": [0.5, 1.0],
    "word": ["a", "b"],
    "day": ["2020-01-01", "2020-02-01"],
    "code": [3, 7],
    "name": ["x", "it's"],
    "wide": [1, 2],
}


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path, COLUMNS, DOMAINS) as database:
        yield database.session()


def test_bounds_are_the_policys(session):
    found = bounds_of(session, ["n", "fine", "code"])
    assert [(b.low, b.high) for b in found] == [(0, 10), (Fraction(-3, 2), Fraction(5, 2)), (3, 9)]
    assert found[1].step == Fraction(1, 2)


@pytest.mark.parametrize("name", ["word", "day", "name"])
def test_a_column_without_bounds_is_refused(session, name):
    with pytest.raises(adomnia.QuestionError, match=r"no bounds|is a date"):
        bounds_of(session, ["n", name])


def test_columns_are_named_once_and_declared(session):
    with pytest.raises(adomnia.QuestionError, match="twice"):
        bounds_of(session, ["n", "n"])
    with pytest.raises(adomnia.QuestionError, match="not a declared attribute"):
        bounds_of(session, ["n; DROP TABLE small"])


def test_values_are_the_policys(session):
    assert values_of(session, "name") == ("x", "it's")
    assert values_of(session, "n") == tuple(range(11))
    for name in ("word", "day", "wide", "fine"):
        with pytest.raises(adomnia.QuestionError, match="not a public list"):
            values_of(session, name)


def test_literals_and_names_are_quoted(session):
    assert identifier('a"b') == '"a""b"'
    assert literal("it's") == "'it''s'"
    told = [literal(value) for value in (True, None, 3, Fraction(-1, 4))]
    assert told == ["TRUE", "NULL", "3", "(-0.25)"]
    assert decimal(1e-9) == "0.000000001"
    assert decimal(-1e-20) == "0"
    where = f'"name" = {literal("it" + chr(39) + "s")}'
    sql = select(session, {"n": "COUNT(*)"}, keys={"k": '"name"'}, where=where)
    assert len(session.ask(sql, epsilon=1).rows) == 1  # that which the condition leaves


def test_the_nearest_point_of_a_simplex():
    draw = np.random.default_rng(1)
    values = draw.normal(size=(50, 6)) * 10
    found = onto_simplex(values, np.full(50, 3.0))
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=1), 3)
    for _ in range(200):  # no other point is nearer
        other = draw.dirichlet(np.ones(6), 50) * 3
        assert (((other - values) ** 2).sum(1) >= ((found - values) ** 2).sum(1) - 1e-9).all()


def test_shrinking_keeps_what_stands_out_of_noise():
    values = np.array([[0.0], [10.0]])
    assert np.allclose(shrunk(values, 1e-6)[0], values)
    assert np.allclose(shrunk(values, 1e6)[0], 5.0)
