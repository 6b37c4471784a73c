"""Records of questions: they go to JSON and back, and no change of a class changes a digest."""

from __future__ import annotations

import json
from dataclasses import dataclass, make_dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from people import COLUMNS, TABLE

from adomnia.queries import canonical, expression, measurement, ranges
from adomnia.queries.canonical import (
    digest,
    expression_from,
    expression_json,
    measurement_from,
    measurement_json,
)
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, Distinct, Mode, Moments, Quantile, Sum
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Day, Number, Text, Truth
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements

AGE = Column("age", Number(0, 120))
SEX = Column("sex", Text(("F", "M")))
SINCE = Column("since", Day(date(2000, 1, 1), date(2020, 12, 31), "month"))
WELL = Column("well", Truth())
HALVES = Column("dose", Number(-4, 10, Fraction(1, 2), values=(-4, 0, 10)))

MEASUREMENTS = {
    "counts": Counts((None, call("gt", AGE, constant(30)))),
    "sum": Sum(call("mul", AGE, AGE)),
    "moments": Moments(HALVES, 2, True),
    "distinct": Distinct(SINCE),
    "quantile": Quantile(AGE, Fraction(1, 3)),
    "edge": Quantile(AGE, edge="max"),
    "mode": Mode(call("map", SEX, params=((("F", 1), ("M", None)), Number(0, 1)))),
    "like": Counts((call("like", SEX, params=("%F", True)), call("in", AGE, params=(1, 2)))),
    "case": Sum(call("case", WELL, AGE, constant(0))),
}

WRITTEN = json.loads((Path(__file__).parent / "canonical.json").read_text("utf-8"))
"""Digests written once: a ledger of then finds its answers by them."""


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_there_and_back(name: str) -> None:
    record = measurement_json(MEASUREMENTS[name])
    assert measurement_from(json.loads(json.dumps(record))) == MEASUREMENTS[name]


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_digests_stay_what_they_were(name: str) -> None:
    assert digest(measurement_json(MEASUREMENTS[name])) == WRITTEN[name]


def accepted() -> list[str]:
    text = (Path(__file__).parent / "accepted.sql").read_text("utf-8")
    return [part.split("\n=> ", maxsplit=1)[0] for part in text.split("\n\n") if "\n=> " in part]


def test_every_accepted_statement_goes_there_and_back() -> None:
    seen = 0
    for sql in accepted():
        question = bind(sql, TABLE, COLUMNS)
        for expr in (question.where, *question.keys):
            record = json.loads(json.dumps(expression_json(expr)))
            assert expression_json(expression_from(record)) == record
        for part in plan_measurements(question).measurements:
            record = json.loads(json.dumps(measurement_json(part)))
            assert measurement_json(measurement_from(record)) == record
        seen += 1
    assert seen > 20


def test_a_field_more_and_another_name_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes are refactored: a column gets a field, a sum and a range other names."""

    @dataclass(frozen=True)
    class Spalte(expression.Column):
        unit: str = "years"

    before = {name: digest(measurement_json(part)) for name, part in MEASUREMENTS.items()}
    Total = make_dataclass("Total", [("extra", str, "more")], bases=(measurement.Sum,), frozen=True)
    fields = {**canonical._FIELDS, Total: canonical._FIELDS[Sum]}
    monkeypatch.setattr(canonical, "_FIELDS", fields)
    other = Spalte("age", ranges.Number(0, 120))
    assert digest(measurement_json(Total(call("mul", other, other)))) == before["sum"]


def test_a_sharper_rule_for_ranges_changes_nothing() -> None:
    known = call("add", AGE, constant(1))
    sharper = replace(known, range=Number(1, 100))
    assert digest(expression_json(known)) == digest(expression_json(sharper))


@pytest.mark.parametrize("record", [{"sums": 1}, {}, {"op": "nothing", "args": []}])
def test_what_is_not_understood_is_refused(record: dict[str, object]) -> None:
    with pytest.raises((KeyError, ValueError)):
        measurement_from(record)
