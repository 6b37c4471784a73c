"""Timestamps in SQL: what a statement means, and what would lose precision and is refused."""

from __future__ import annotations

import json
from datetime import date, datetime
from fractions import Fraction

import pytest
from people import summary

from adomnia.errors import QuestionError
from adomnia.queries.canonical import expression_from, expression_json
from adomnia.queries.expression import Column
from adomnia.queries.operations import call, constant, evaluate
from adomnia.queries.patterns import stand_ins
from adomnia.queries.ranges import Moment, cells, count_cells, from_domain, outside, union
from adomnia.queries.sql.bind import bind
from adomnia.schema.domain import Dates, Grid, Timestamps
from adomnia.schema.table import Attribute, Table

HOURS = Timestamps(datetime(2024, 1, 1), datetime(2024, 12, 31, 23), 3600, "Europe/Berlin")
DOMAINS = {
    "seen": HOURS,
    "left_at": HOURS,
    "shift": Timestamps(datetime(2024, 1, 1), datetime(2024, 12, 31, 18), 6 * 3600),
    "born": Dates(date(1920, 1, 1), date(2024, 12, 31)),
    "age": Grid(Fraction(0), Fraction(120)),
}
TABLE = Table("stays", {name: Attribute(name, domain) for name, domain in DOMAINS.items()})


def ask(sql):
    return bind(sql, TABLE, tuple(DOMAINS))


def where(condition):
    return summary(ask(f"SELECT COUNT(*) FROM stays WHERE {condition}")).split(" | ")[1]


@pytest.mark.parametrize(
    ("condition", "meant"),
    {
        "seen >= '2024-03-01 12:00'": "ge(seen, 2024-03-01 12:00:00)",
        "TIMESTAMP '2024-03-01 12:00' > seen": "lt(seen, 2024-03-01 12:00:00)",
        "seen < DATE '2024-03-01'": "lt(seen, 2024-03-01 00:00:00)",
        "seen < '2030-01-01'": "le(seen, 2024-12-31 23:00:00)",
        "seen BETWEEN '2024-03-01' AND '2024-03-01T23:00:00'":
            "and(ge(seen, 2024-03-01 00:00:00), le(seen, 2024-03-01 23:00:00))",
        "seen IN ('2024-03-01', '2024-03-02 05:00')":
            "in(seen, 2024-03-01 00:00:00, 2024-03-02 05:00:00)",
        "seen < left_at": "lt(inside(seen), inside(left_at))",
        "seen < born": "lt(inside(seen), to_moment(inside(born)))",
        "born < TIMESTAMP '2024-01-01 00:00'": "lt(born, 2024-01-01)",
        "seen + INTERVAL '30 minutes' < '2024-03-01 12:30'":
            "lt(moment_shift(inside(seen), 0, 0, 1800), 2024-03-01 12:30:00)",
        "INTERVAL '1' MONTH + seen < left_at":
            "lt(moment_shift(inside(seen), 1, 0, 0), inside(left_at))",
        "seen - INTERVAL '1 week 2 hours' < left_at":
            "lt(moment_shift(inside(seen), 0, -7, -7200), inside(left_at))",
        "seen + (- INTERVAL '1 year') < left_at":
            "lt(moment_shift(inside(seen), -12, 0, 0), inside(left_at))",
        "seen::date = '2024-03-01'": "eq(to_day(inside(seen)), 2024-03-01)",
        "DATE(seen) = '2024-03-01'": "eq(to_day(inside(seen)), 2024-03-01)",
        "HOUR(seen) = 5": "eq(moment_part(inside(seen), hour), 5)",
        "DATE_PART('minute', seen) = 0": "eq(moment_part(inside(seen), minute), 0)",
        "DATE_DIFF('hours', seen, left_at) > 24":
            "gt(div(seconds(moment_trunc(inside(left_at), hour), moment_trunc(inside(seen), hour)),"
            " 3600, 1, 1, trunc, 1), 24)",
        "EXTRACT(EPOCH FROM left_at - seen) > 60":
            "gt(scale(seconds(inside(left_at), inside(seen)), 10), 60.0)",
        "COALESCE(seen, '2024-05-01 12:00') > left_at":
            "gt(case(not(is_null(inside(seen))), inside(seen), 2024-05-01 12:00:00), "
            "inside(left_at))",
    }.items(),
)  # fmt: skip
def test_a_condition_means_what_is_written_here(condition, meant):
    assert where(condition) == f"where {meant}"


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        ("seen = '2024-03-01 12:30'", "this lies between two steps of seen", "1h"),
        ("seen < '2024-03-01 12:30'", "this lies between two steps of seen", "12:00:00"),
        ("'2024-03-01 12:30' <= seen", "this lies between two steps of seen", "1h"),
        ("seen IN ('2024-03-01', '2024-03-01 00:01')", "this lies between two steps of seen", "1h"),
        ("shift >= '2024-03-01 12:00' AND shift < '2024-03-01 13:00'",
         "this lies between two steps of shift", "6h"),
        ("seen < '2024-03-01 12:00:00.5'", "moments are told apart by whole seconds at best", ""),
        ("seen + INTERVAL '30 minutes' < '2024-03-01 12:00'",
         "this lies between two steps of what it is compared with", "11:30:00"),
        ("seen < '2024-03-01 12:00+02:00'", "a timestamp here is a local time", "without a zone"),
        ("seen < 'noon'", "this is not a date", "2024-12-31 18:00"),
        ("seen AT TIME ZONE 'UTC' < '2024-03-01'", "a zone cannot be chosen here", "policy"),
        ("born = '2024-03-01 12:00'", "a date has no time of day", "'2024-03-01'"),
        ("born < '2024-03-01junk'", "this is not a date", ""),
        ("CAST(seen AS DATE) = '2024-03-01 12:00'", "a date has no time of day", ""),
        ("born + INTERVAL '2 hours' > '2020-01-01'", "a date has no time of day", "TIMESTAMP"),
        ("age + INTERVAL '2 hours' > 3", "an INTERVAL is added to a date or a timestamp", ""),
        ("seen + INTERVAL '2 fortnights' > left_at", "this INTERVAL is not understood", "weeks"),
        ("seen + INTERVAL '1.5 hours' > left_at", "this INTERVAL is not understood", ""),
        ("seen + INTERVAL '9000 years' > left_at",
         "the result can lie beyond the years 1 to 9999", ""),
        ("left_at - seen > 5", "the difference of two timestamps has no unit here", "DATE_DIFF"),
        ("EXTRACT(hour FROM left_at - seen) > 5",
         "the difference of two timestamps has no unit here", "EPOCH"),
        ("DATE_DIFF('hour', born, DATE '2024-01-01') > 3", "'hour' is no unit here", "day"),
        ("DATE_DIFF(seen, left_at) > 3", "DATE_DIFF takes a unit, a beginning and an end", "hour"),
        ("DATE_TRUNC('decade', seen) = '2024-01-01'", "a timestamp cannot be cut to 'decade'", ""),
        ("EXTRACT(century FROM seen) = 20", "'century' cannot be extracted", "epoch"),
        ("EXTRACT(hour FROM seen) = 25", "this is never 25", "0 and 23"),
        ("EXTRACT(hour FROM shift) = 5", "5 is no value of this", "0, 6, 12, 18"),
        ("seen > '2025-06-01'", "seen is never above 2025-06-01 00:00:00", "in steps of 1h"),
        ("seen < 5", "a timestamp cannot be compared with a number", ""),
    ],
)  # fmt: skip
def test_what_would_lose_precision_or_has_no_meaning_is_refused(condition, message, hint):
    with pytest.raises(QuestionError) as caught:
        ask(f"SELECT COUNT(*) FROM stays WHERE {condition}")
    assert caught.value.message == message
    assert hint in caught.value.hint
    assert caught.value.position is not None


def test_what_is_not_added_up_is_not_added_up():
    with pytest.raises(QuestionError, match="a timestamp cannot be added up"):
        ask("SELECT SUM(seen) FROM stays")


@pytest.mark.parametrize(
    ("key", "cell"),
    {
        "seen": (datetime(2024, 1, 1), 366 * 24),
        "DATE_TRUNC('minute', seen)": (datetime(2024, 1, 1), 366 * 24),
        "DATE_TRUNC('day', seen)": (datetime(2024, 1, 1), 366),
        "DATE_TRUNC('week', seen)": (datetime(2024, 1, 1), 53),
        "DATE_TRUNC('month', seen)": (datetime(2024, 1, 1), 12),
        "DATE_TRUNC('hour', shift)": (datetime(2024, 1, 1), 366 * 4),
        "shift + INTERVAL '1 hour'": (datetime(2024, 1, 1, 1), 366 * 4),
        "DATE_TRUNC('year', seen) + INTERVAL '1 day'": (datetime(2024, 1, 2), 1),
        "CAST(seen AS DATE)": (date(2024, 1, 1), 366),
        "EXTRACT(hour FROM seen)": (0, 24),
        "EXTRACT(hour FROM shift)": (0, 4),
        "EXTRACT(minute FROM seen + INTERVAL '90 minutes')": (30, 1),
        "EXTRACT(month FROM seen)": (1, 12),
        "DATE_TRUNC('quarter', born)": (date(1920, 1, 1), 420),
        "born + INTERVAL '1 month'": (date(1920, 2, 1), 38352),
    }.items(),
)  # fmt: skip
def test_groups_are_the_cells_of_the_lattice(key, cell):
    first, count = cell
    (bound,) = ask(f"SELECT COUNT(*) FROM stays GROUP BY {key}").keys
    assert cells(bound.range)[0] == first
    assert count_cells(bound.range) == len(cells(bound.range)) == count


def test_records_of_moments_are_read_again():
    column = Column("seen", from_domain(HOURS))
    for expr in (
        call("lt", column, constant(datetime(2024, 5, 5, 12))),
        call("in", column, params=(datetime(2024, 5, 5, 12),)),
        call("moment_trunc", call("inside", column, params=(column.range,)), params=("month",)),
        call("moment_shift", column, params=(1, 2, -3600)),
    ):
        record = json.loads(json.dumps(expression_json(expr)))
        assert expression_from(record) == expr


def test_lattices_are_joined_on_their_common_step():
    hours, shifted = (
        from_domain(HOURS),
        Moment(datetime(2024, 1, 1, 0, 30), datetime(2024, 2, 1), 3600),
    )
    joined = union(hours, shifted)
    assert joined.step == 1800
    assert {*cells(shifted)} <= {*cells(joined)}
    assert outside(hours) == (datetime(2023, 12, 31, 23), datetime(2025, 1, 1))


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("DATE_TRUNC('month', seen) = '2024-03-01'", 366),
        ("CAST(seen AS DATE) > '2024-03-01' AND seen < '2024-06-01'", 366),
        ("EXTRACT(dow FROM seen) = 1 OR seen >= '2024-06-01'", 366),
        ("seen < '2024-06-01 12:00'", 5),
        ("EXTRACT(hour FROM seen) = 1", None),
        ("EXTRACT(dow FROM seen) = 1 OR seen > '2024-06-01'", None),
        ("seen < left_at", None),
    ],
)
def test_days_stand_for_their_moments_where_nothing_tells_these_apart(condition, count):
    where = ask(f"SELECT COUNT(*) FROM stays WHERE {condition}").where
    found = stand_ins("seen", from_domain(HOURS), [where])
    assert (found if found is None else len(found)) == count
    if count == 366:
        hours = cells(from_domain(HOURS))
        met = {(one.date(), evaluate(where, {"seen": one})) for one in hours}
        assert met == {(one.date(), evaluate(where, {"seen": one})) for one in found}
