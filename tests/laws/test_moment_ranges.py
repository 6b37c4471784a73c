"""Ranges and sensitivities of timestamps: values lie on their lattice, neighbours stay close."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

sys.path.insert(0, str(Path(__file__).parent))

from test_sensitivity import RELATIONS, SEX, World, check, largest, pairs, tables, vectors

from adomnia.errors import QuestionError
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.sensitivity import Setting
from adomnia.queries.calendar import CLOCK_PARTS, CLOCK_UNITS, UNITS, truncate
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, Distinct, Mode, Moments, Quantile, Sum
from adomnia.queries.operations import LIMIT, call, constant, evaluate
from adomnia.queries.ranges import Day, Moment, Number, cells, count_cells, from_domain, union
from adomnia.queries.sql.binder import Relation
from adomnia.queries.sql.parse import parse
from adomnia.queries.sql.relation import row_binder
from adomnia.schema.domain import Dates, Timestamps
from tests.enforced import claim

DOMAINS = {
    "hour": Timestamps(datetime(2023, 12, 30, 5), datetime(2024, 3, 2, 22), 3600),
    "odd": Timestamps(datetime(1969, 12, 31), datetime(1970, 1, 2, 22, 30), 5400),
    "quick": Timestamps(datetime(2024, 2, 28, 23, 58, 56), datetime(2024, 2, 29, 0, 1, 4), 8),
    "day": Dates(date(2019, 12, 28), date(2021, 3, 3)),
}
RELATION = Relation({"": {name: Column(name, from_domain(d)) for name, d in DOMAINS.items()}})
LITERALS = ["TIMESTAMP '2024-02-29 12:00'", "DATE '2024-01-31'", "'2024-02-29 00:00:08'"]
LENGTHS = ["1 month", "-1 month", "2 days", "90 minutes", "1 year 3 hours", "-45 seconds", "1 week"]

length = some.sampled_from(LENGTHS)
unit = some.sampled_from([*CLOCK_UNITS, "month", "quarter", "year"])


@some.composite
def moment(draw, depth=2):
    plain = some.sampled_from(["hour", "odd", "quick", "day"])
    if depth == 0:
        return draw(plain)
    inner = moment(depth=depth - 1)
    return draw(
        some.one_of(
            plain,
            some.builds("DATE_TRUNC('{}', {})".format, unit, inner),
            some.builds("({} + INTERVAL '{}')".format, inner, length),
            some.builds("({} - INTERVAL '{}')".format, inner, length),
            some.builds("CAST({} AS TIMESTAMP)".format, inner),
            some.builds("CAST({} AS DATE)".format, inner),
            some.builds("COALESCE({}, {})".format, inner, some.sampled_from(LITERALS) | inner),
            some.builds("CASE WHEN {} < {} THEN {} ELSE {} END".format, inner, inner, inner, inner),
        )
    )


number = some.one_of(
    some.builds("EXTRACT({} FROM {})".format, some.sampled_from([*CLOCK_PARTS]), moment()),
    some.builds("EXTRACT(EPOCH FROM {} - {})".format, moment(), moment()),
    some.builds("DATE_DIFF('{}', {}, {})".format, unit, moment(), moment()),
)


def value(domain):
    if isinstance(domain, Dates):
        return some.one_of(some.none(), some.dates(domain.low, domain.high))
    listed = cells(from_domain(domain))
    return some.one_of(some.none(), some.sampled_from(listed))


row = some.fixed_dictionaries({name: value(domain) for name, domain in DOMAINS.items()})


def bound(written):
    """The expression, or None where it is refused."""
    sql = f"SELECT {written}"
    try:
        return row_binder(sql, RELATION).value(parse(sql).expressions[0])
    except QuestionError:
        return None


def lies_in(spread, found):
    if found is None:
        return spread.nullable
    if isinstance(spread, Number):
        inside = type(found) is int and spread.low <= found <= spread.high
        return inside and (spread.values is None or found in spread.values)
    if isinstance(spread, Day):
        plain = type(found) is date and spread.low <= found <= spread.high
        return plain and truncate(found, spread.unit) == found
    inside = type(found) is datetime and spread.low <= found <= spread.high
    cut = not spread.unit or truncate(found, spread.unit) == found
    return inside and cut and spread.holds(found)


def subexpressions(expr):
    yield expr
    for arg in getattr(expr, "args", ()):
        yield from subexpressions(arg)


def test_every_value_on_the_way_lies_in_its_range():
    seen = Counter()

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(some.one_of(number, moment(3)), some.lists(row, min_size=1, max_size=5))
    def law(written, rows):
        expr = bound(written)
        seen[expr is not None] += 1
        for inner in subexpressions(expr) if expr is not None else ():
            if not isinstance(inner.range, Number | Day | Moment):
                continue
            for each in rows:
                found = evaluate(inner, each)
                assert found is None or lies_in(inner.range, found), (written, inner, found)
            if isinstance(inner.range, Number):
                assert max(abs(inner.range.low), abs(inner.range.high)) <= LIMIT

    law()
    assert seen[True] > seen[False]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(moment(), moment())
def test_cells_are_counted_as_they_are_listed(first, second):
    ranges = [expr.range for expr in (bound(first), bound(second)) if expr is not None]
    if len(ranges) == 2 and type(ranges[0]) is type(ranges[1]):
        ranges.append(union(*ranges))
    for spread in ranges:
        if (count_cells(spread) or 0) <= 2_000:
            listed = cells(spread)
            assert len({*listed}) == len(listed) == count_cells(spread)
            assert all(lies_in(spread, cell) for cell in listed)
            assert list(listed) == sorted(listed)


@pytest.mark.parametrize(
    ("written", "expected"),
    {
        "EXTRACT(hour FROM hour)": 12,
        "EXTRACT(minute FROM odd)": 30,
        "EXTRACT(second FROM quick)": 52,
        "EXTRACT(epoch FROM odd) / 60": -30,
        "DATE_TRUNC('week', hour)": datetime(2024, 1, 29),
        "DATE_TRUNC('minute', quick)": datetime(2024, 2, 28, 23, 59),
        "hour + INTERVAL '1 month'": datetime(2024, 2, 29, 12),
        "hour - INTERVAL '11 months'": datetime(2023, 2, 28, 12),
        "hour + INTERVAL '1 month 1 day'": datetime(2024, 3, 1, 12),
        "CAST(odd AS DATE)": date(1969, 12, 31),
        "DATE_DIFF('hour', odd, CAST(odd AS TIMESTAMP) + INTERVAL '1 hour')": 1,
        "DATE_DIFF('month', hour, hour + INTERVAL '1 day')": 1,
        "DATE_DIFF('day', odd, TIMESTAMP '1970-01-01 00:00')": 1,
        "DATE_DIFF('day', day, DATE '2020-01-01')": 1,
    }.items(),
)
def test_values_are_those_of_postgresql_and_duckdb(written, expected):
    full = {"hour": datetime(2024, 1, 31, 12), "odd": datetime(1969, 12, 31, 23, 30),
            "quick": datetime(2024, 2, 28, 23, 59, 52), "day": date(2019, 12, 31)}  # fmt: skip
    expr = bound(written)
    found = evaluate(expr, full)
    assert found == expected if not isinstance(expr.range, Number) else (
        found * expr.range.step == expected
    )  # fmt: skip


# Sensitivities: a moment takes part in conditions, keys and numbers as a day does

WHEN = Column("a", from_domain(Timestamps(datetime(2024, 1, 1), datetime(2024, 1, 1, 18), 21_600)))
WORLD = World((WHEN, SEX), 3)
HOUR = call("moment_part", call("inside", WHEN, params=(WHEN.range,)), params=("hour",))
NOON = constant(datetime(2024, 1, 1, 12))
KINDS = {
    "count": Counts((None,)),
    "count of moments": Counts((call("not", call("is_null", WHEN)),)),
    "overlapping": Counts((None, call("ge", WHEN, NOON), call("eq", SEX, constant("x")))),
    "sum of hours": Sum(HOUR),
    "average of hours": Moments(HOUR, 1, rest=True),
    "distinct moments": Distinct(WHEN),
    "mode of moments": Mode(WHEN),
    "median of hours": Quantile(HOUR),
}
SETTINGS = {
    "all rows": Setting(),
    "by moment": Setting(keys=(WHEN,)),
    "by hour where noon": Setting(keys=(HOUR,), where=call("ge", WHEN, NOON)),
    "by day": Setting(keys=(call("moment_trunc", WHEN, params=("day",)), SEX)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_neighbours_differ_by_more_than_is_said(kind):
    measurement, checked = KINDS[kind], 0
    for where, setting in SETTINGS.items():
        values = vectors(WORLD, measurement, setting, tables(WORLD))
        for relation, group in RELATIONS:
            said = claim(measurement, setting, Neighbors(relation, group=group))
            found = largest(measurement, values, *pairs(WORLD, relation, group))
            check(said, found, f"{kind}, {where}, {relation} × {group}", long_enough=False)
            checked += 1
    assert checked == len(SETTINGS) * len(RELATIONS)


def test_units_are_all_that_moments_can_be_cut_to():
    assert {*UNITS} <= {*CLOCK_UNITS, "month", "quarter", "year"}
    assert all(b % a == 0 for a, b in itertools.pairwise(CLOCK_UNITS.values()))
