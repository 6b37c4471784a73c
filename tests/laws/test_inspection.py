"""The law of inspections: what a curator is told of a source is what plain Python counts of it."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

sys.path.insert(0, str(Path(__file__).parent))

import reference
from sources import DOMAINS, ENGINES, LONG
from test_engine import ATTRIBUTES, VALUES

from adomnia.engines.code_changes import moved_columns
from adomnia.engines.exact import changes, inspect
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.ranges import from_domain, outside
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Dates, Grid, Timestamps
from adomnia.schema.table import Attribute, Table
from tests.enforced import request_of

SOURCES = {name: make for name, make in ENGINES.items() if name != "edition"}
TABLE = Table("people", ATTRIBUTES)
TALL = 60
"""Rows of the fixed table."""


def expected(name, rows):
    """What is counted of a column: present, unread, unlisted, moved, below, above."""
    domain, values = DOMAINS[name], [row[name] for row in rows]
    there = [value for value in values if value is not None]
    clean = [reference.cleaned(value, domain) for value in there]
    unread = sum(value is None for value in clean)
    if isinstance(domain, Categories):
        kind = type(domain.values[0])
        foreign = [reference.as_member(value, kind) not in domain.values for value in there]
        if domain.other is not None:
            return len(there), unread, 0, sum(foreign), 0, 0
        outside_list = [value is not None and value not in domain.members for value in clean]
        return len(there), unread, sum(outside_list), 0, 0, 0
    below, above = outside(from_domain(domain))
    return len(there), unread, 0, 0, clean.count(below), clean.count(above)


def counted(column):
    numbers = column.numbers
    ends = (0, 0) if numbers is None else (numbers.below, numbers.above)
    return column.present, column.unread, column.unlisted, column.moved, *ends


def as_number(value, domain):
    """A value as a histogram has it; None where it is none."""
    if value is None or reference.cleaned(value, domain) is None:
        return None
    if isinstance(domain, Dates):
        return float(reference.as_day(value).toordinal())
    return reference.as_float(value)


def hold(engine, rows):
    """All that is counted of these rows is right."""
    found = inspect(engine, TABLE, {"mail": "@"})
    assert found.rows == len(rows)
    for column in found.columns:
        assert counted(column) == expected(column.name, rows), column.name
        assert column.rows == len(rows)
    for column in found.undeclared:
        words = [row[column.name] for row in rows if row[column.name] is not None]
        assert (column.present, column.distinct) == (len(words), len(set(words)))
        assert column.matched["mail"] == sum("@" in word for word in words)
        assert column.most_rows == max(Counter(words).values(), default=0)
    return found


@pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=LONG.get(name, ())) for name, make in SOURCES.items()],
)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck),
          phases=(Phase.explicit, Phase.reuse, Phase.generate))  # fmt: skip
@given(rows=some.lists(some.fixed_dictionaries(VALUES), max_size=12))
def test_any_table_is_counted_as_python_counts_it(make, rows):
    with make(rows) as (engine, held):
        hold(engine, held)


def row(number, **values):
    """A row that is all right, but for these values."""
    right = {
        "age": number % 21, "t": 1.5, "price": 1, "tens": 10.0, "big": 5, "far": 10**15,
        "note": "3", "code": "7", "kind": 1, "sex": "F", "city": "Ulm", "flag": True,
        "day": date(2020, 5, 5), "moment": date(2020, 5, 5), "name": f"n{number}",
    }  # fmt: skip
    return right | values


MESSY = [
    *(row(number) for number in range(TALL)),
    row(0), row(0),
    row(1, age=99, t=math.inf, code="8", sex="X", day=date(2022, 1, 1)),
    row(2, age=-3, t=-9.0, code="x", city="Bonn", day=date(2001, 1, 1)),
    row(3, age=None, note="?", kind=4, flag=None, name="a@b"),
]  # fmt: skip


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_a_messy_table_is_told_to_the_last_value(make):
    with make(MESSY) as (engine, held):
        found = hold(engine, held)
    columns = {column.name: column for column in found.columns}
    assert (found.repeated, found.most_alike) == (2, 3)
    assert columns["code"].frequent == [("8", 1), ("x", 1)]
    assert columns["note"].frequent == [("?", 1)]
    assert columns["sex"].counts == {"F": len(MESSY) - 1, "M": 0, "other": 1}
    age = columns["age"].numbers
    assert age.ends == (-3.0, 99.0)
    assert age.bounds[Fraction(5, 100)] == (0.0, 20.0)
    assert age.mean == pytest.approx(mean(held, "age"))
    assert columns["day"].numbers.ends == (date(2001, 1, 1), date(2022, 1, 1))
    for name in ("age", "day", "price"):
        bins, domain = columns[name].numbers.bins, DOMAINS[name]
        values = [as_number(one[name], domain) for one in held]
        assert binned(bins, [value for value in values if value is not None]), name


def mean(rows, name):
    values = [float(one[name]) for one in rows if one[name] is not None]
    return sum(values) / len(values)


def binned(bins, values):
    """Whether the counts of all bins are those of the values."""
    counts = [sum(low <= value < high for value in values)
              for low, high in zip(bins.edges, bins.edges[1:], strict=False)]  # fmt: skip
    before = sum(value < bins.edges[0] for value in values)
    return (bins.counts, bins.before) == (tuple(counts), before) and bins.after == sum(
        value >= bins.edges[-1] for value in values
    )


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_nothing_at_all_is_told_too(make):
    with make([]) as (engine, held):
        found = hold(engine, held)
    assert all(column.numbers is None or column.numbers.bins is None for column in found.columns)
    assert (found.rows, found.repeated, found.most_alike) == (0, 0, 0)


CLOCK = {"seen": Timestamps(datetime(2020, 3, 1), datetime(2020, 3, 31, 23), 3600, "Europe/Berlin")}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("kind", ["TIMESTAMP", "VARCHAR"])
def test_moments_are_told_beyond_their_bounds(make, kind):
    """Those without a zone of their own are the zone's; so are their ends, to the hour."""
    moments = [datetime(2020, 3, day, 12, 30) for day in range(1, 31)]
    moments += [datetime(2020, 2, 29, 23, 59), datetime(2020, 4, 1), datetime(2025, 1, 1, 5), None]
    rows = [{"seen": moment and (moment if kind == "TIMESTAMP" else f"{moment}")}
            for moment in moments]  # fmt: skip
    rows += [{"seen": "soon"}] if kind == "VARCHAR" else []
    table = Table("people", {"seen": Attribute("seen", CLOCK["seen"])})
    with make(rows, {"seen": kind}, CLOCK) as (engine, _):
        (column,) = inspect(engine, table, {}).columns
    numbers = column.numbers
    assert (numbers.below, numbers.above, column.unread) == (1, 2, int(kind == "VARCHAR"))
    assert numbers.ends == (datetime(2020, 2, 29, 23), datetime(2025, 1, 1, 5))
    low, high = numbers.bounds[Fraction(5, 100)]
    assert (low, high) == (datetime(2020, 2, 29, 23), datetime(2020, 4, 1))
    assert sum(numbers.bins.counts) + numbers.bins.after == 33


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_codes_are_counted_alike_wherever_rows_are(make):
    """So a source can be compared with an edition that lies elsewhere."""
    with make(MESSY) as (engine, held), ENGINES["database"](MESSY[1:]) as (other, _):
        now, before = engine._code_counts(TABLE), other._code_counts(TABLE)
        changed = changes(engine, TABLE, engine) if make is ENGINES["postgres"] else None
    assert now.rows == len(held) == before.rows + 1
    assert now.columns["sex"] == {0: len(MESSY) - 1, 2: 1}
    assert now.columns["code"] == {7: len(MESSY) - 2, 8: 1, None: 1}
    assert now.columns["flag"] == {1: len(MESSY) - 1, None: 1}
    assert now.columns["age"][-1] == now.columns["age"][21] == 1
    moved = {one.name: one for one in moved_columns(TABLE, before, now)}
    whole = len(MESSY)
    assert moved["age"].variation == pytest.approx(variation(MESSY[1:], MESSY, "age"))
    assert moved["flag"].variation == pytest.approx((whole - 2) / (whole - 1) - (whole - 1) / whole,
                                                    abs=1e-3)  # fmt: skip
    if changed is not None:  # nobody can tell rows apart there: only how many there are
        assert (changed.rows, changed.added, changed.gone) == (None, 0, 0)


def variation(before, after, name):
    """The total variation between the shares of values."""
    shares = [Counter(min(max(one[name], -1), 21) if one[name] is not None else None
                      for one in rows) for rows in (before, after)]  # fmt: skip
    return sum(abs(shares[0][key] / len(before) - shares[1][key] / len(after))
               for key in shares[0].keys() | shares[1].keys()) / 2  # fmt: skip


# Units

PEOPLE = {"id": "BIGINT", "pay": "DOUBLE", "town": "VARCHAR"}
PAY = {"pay": Grid(Fraction(0), Fraction(100)), "town": Categories(("Ulm", "Köln", "Bonn"))}
LIMITED = Table(
    "people", {name: Attribute(name, domain) for name, domain in PAY.items()}, "id", 4, {}, 2, 1
)


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_what_bounds_of_units_cut_is_counted(make):
    towns = ("Ulm", "Köln", "Bonn")
    rows = [{"id": i % 5, "pay": 10.0 * (i % 3), "town": towns[i % 3]} for i in range(30)]
    rows += [{"id": 7, "pay": 250.0, "town": "Ulm"}, {"id": None, "pay": 1.0, "town": None}]
    with make(rows, PEOPLE, PAY) as (engine, _):
        found = inspect(engine, LIMITED, {}).units
    assert found.sizes == {1: 1, 6: 5}
    assert found.nobody == 1
    cuts = {(cut.bound, cut.key): cut for cut in found.cuts}
    whole = cuts["max_rows", None]
    assert (whole.rows, whole.of, whole.units) == (10, 31, 5)
    cut, total = whole.sums["pay"]
    assert total == sum(10 * (i % 3) for i in range(30)) + 100
    assert 0 <= cut <= 10 * 20
    groups, each = cuts["max_groups", "town"], cuts["max_rows_per_group", "town"]
    assert groups.of == each.of == 21
    assert 1 <= each.rows <= 15  # four rows in two or three towns, one row of each
    assert groups.units <= 5


@pytest.mark.parametrize(("groups", "each"), [(2, None), (None, 1)])
@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_what_is_cut_is_what_answers_are_without(make, groups, each):
    towns = ("Ulm", "Köln", "Bonn")
    rows = [{"id": i % 9, "pay": float(i), "town": towns[i * i % 7 % 3]} for i in range(60)]
    table = replace(LIMITED, max_groups=groups, max_rows_per_group=each)
    with make(rows, PEOPLE, PAY) as (engine, _):
        first, *cuts = inspect(engine, table, {}).units.cuts
        kept = answered(engine, table, "SELECT COUNT(*) FROM people")
        by_town = answered(engine, table, "SELECT town, COUNT(*) FROM people GROUP BY town")
    assert kept == first.of - first.rows == 36
    assert [by_town] == [cut.of - cut.rows for cut in cuts if cut.key == "town"]


def answered(engine, table, sql):
    """What the cells of an exact answer add up to."""
    question = bind(sql, table, ("id", "pay", "town"))
    found = plan_measurements(question).measurements
    request = request_of(table, question.where, question.keys, found)
    return int(unseal(engine.measure(request)[0]).sum())
