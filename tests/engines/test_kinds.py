"""Values of two kinds do not go together, and no word is written that is not on the list: what an
engine would cast, row by row, some row cannot be cast to."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.sql.coding import Coded
from adomnia.engines.sql.extent import extent_of
from adomnia.engines.sql.translation import Texts
from adomnia.errors import QuestionError
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import divide
from adomnia.queries.ranges import Number, Text, Truth
from adomnia.schema.domain import Categories, Dates, Grid
from adomnia.schema.table import Attribute, Table

DOMAINS = {
    "age": Grid(Fraction(0), Fraction(120)),
    "sex": Categories(("F", "M")),
    "smoker": Categories((False, True)),
    "seen": Dates(date(2020, 1, 1), date(2020, 12, 31)),
}
TYPES = {"age": "BIGINT", "sex": "VARCHAR", "smoker": "BOOLEAN", "seen": "DATE"}
TABLE = Table("people", {name: Attribute(name, domain) for name, domain in DOMAINS.items()})
SPREAD = Number(0, 120)
AGE, SEX, SMOKER, SEEN = (Column(name, SPREAD) for name in DOMAINS)  # whatever planning believes


def five(value: Any = 5) -> Constant:
    return Constant(value, SPREAD)


def call(op: str, *args: Expr, params: tuple[Any, ...] = ()) -> Call:
    return Call(op, args, SPREAD, params)


FOREIGN = [
    call("gt", SEX, five()),
    call("eq", AGE, five("F")),
    call("lt", SMOKER, SEX),
    call("eq", SEEN, five()),
    call("in", SEX, params=(1, 2)),
    call("and", SEX, SMOKER),
    call("not", AGE),
    call("like", AGE, params=("%", False)),
    call("case", SEX, five(), five(6)),
    call("case", SMOKER, five(), SEX),
    call("least", AGE, SEEN),
    call("map", AGE, params=((("F", 1),), SPREAD)),
    call("map", SEX, params=((("F", 1), ("M", "x")), SPREAD)),
    call("add", AGE, five(0.3)),
    call("add", AGE, five(True)),
    call("extract", AGE, params=("day",)),
    call("extract", SEEN, params=("day FROM now()) + EXTRACT(day",)),
    call("trunc", SEEN, params=("month', now()) --",)),
    call("real", AGE, params=("random() + sqrt", Fraction(1))),
    call("random", AGE),
]


@pytest.mark.parametrize("expr", FOREIGN, ids=lambda expr: f"{expr.op} {expr.params}")
def test_what_does_not_fit_is_not_written(expr: Call) -> None:
    with pytest.raises(QuestionError, match="cannot be computed safely"):
        Texts(Coded(TABLE, TYPES, DUCKDB)).of(expr)


def test_a_condition_is_a_truth() -> None:
    texts = Texts(Coded(TABLE, TYPES, DUCKDB))
    with pytest.raises(QuestionError, match="a condition is needed here"):
        texts.where(SEX)
    assert texts.where(SMOKER)
    assert texts.where(Constant(None, Truth()))


def test_null_is_of_every_kind() -> None:
    texts = Texts(Coded(TABLE, TYPES, DUCKDB))
    nothing = Constant(None, Text(()))
    for column in (AGE, SEX, SMOKER, SEEN):
        assert texts.of(call("case", SMOKER, column, nothing))
        assert texts.of(call("is_null", column))


def test_extents_of_quotients_are_those_of_the_reference() -> None:
    for mode in ("trunc", "floor", "ceil", "round"):
        for top in range(-9, 10):
            for bottom in (-4, -3, -2, -1, 1, 2, 3, 4):
                quotient = call("div", five(), five(), params=(1, 1, mode, Fraction(1)))
                found = extent_of(quotient, [(top, top), (bottom, bottom)])
                assert found == (divide(top, bottom, mode),) * 2
