"""The laws of engines: what comes out sealed is what the reference computes in plain Python.

Random tables hold what data holds at its worst; random statements are bound from SQL. Engines join
in `sources.py`; that they give the very bytes of DuckDB is in `test_engines_alike.py`.
"""

from __future__ import annotations

import sys
from datetime import date, datetime
from decimal import Decimal
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

sys.path.insert(0, str(Path(__file__).parent))

import reference
from sources import DOMAINS, ENGINES, LONG, TYPES
from statements import KEYS, Writer

from adomnia.engines.sql import translation
from adomnia.errors import QuestionError
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.measurement import Moments, Quantile, unit_of
from adomnia.queries.operations import OPERATIONS
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.table import Attribute, PublicTable, Table
from tests.enforced import ranked, request_of

REGIONS = PublicTable("towns", "city", ("city", "land"), (("Ulm", "BW"), ("Köln", "NW")))
ATTRIBUTES = {name: Attribute(name, domain) for name, domain in DOMAINS.items()}
TABLE = Table("people", ATTRIBUTES, public={"towns": REGIONS})

# Rows


words = some.one_of(
    some.none(),
    some.sampled_from(
        ["F", "M", "m", "", " ", "Ulm", "Köln", "KÖLN", "a_b", "axb", "O'Hara", "12", "1e400",
         "nan", "-inf", "0x10", "7", "3.4", " 5 ", "2", "4", "1_0", "٣", "%", "\\", "ß", "\u212a",
         "é", "e\u0301",
         "a\nb", 'q"q', "a,b", "2020-02-30", "TRUE", "😀", "NULL", "'; DROP TABLE people; --"]
    ),
    some.text(some.characters(codec="utf-8", exclude_characters="\0\r"), max_size=4),
)  # fmt: skip
floats = some.one_of(
    some.none(),
    some.sampled_from([nan, inf, -inf, 1e300, -1e300, 5e-324, -0.0, 2.5, -2.5, 14.999]),
    some.floats(-40, 60, width=32),
)  # fmt: skip
days = some.one_of(
    some.none(),
    some.sampled_from([date(1, 1, 1), date(9999, 12, 31), date(2020, 2, 29), *reference.FAR]),
    some.dates(date(2019, 12, 1), date(2021, 4, 1)),
)


def beside(values, *others):
    return some.one_of(some.none(), values, some.sampled_from(others or (None,)))


VALUES = {
    "age": beside(some.integers(-5, 25), 2**63 - 1, -(2**63)),
    "t": floats,
    "price": beside(some.decimals(-3, 3, places=4), Decimal("99999999999999.9999")),
    "tens": floats,
    "big": beside(some.integers(-9, 9), 2**126, -(2**126), 10**15, 1 - 10**15),
    "far": beside(some.integers(10**15 - 1005, 10**15 + 5)),
    "note": words,
    "code": words,
    "kind": beside(some.integers(0, 4), 2**62),
    "sex": words,
    "city": words,
    "flag": some.sampled_from([None, True, False]),
    "day": days,
    "moment": beside(some.datetimes(datetime(2019, 6, 1), datetime(2021, 6, 1))),
    "name": words,
}
assert {*VALUES} == {*TYPES} == {*DOMAINS}
tables = some.lists(some.fixed_dictionaries(VALUES), max_size=12)

every_engine = pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)

# Statements


def asked(sql, table=TABLE):
    """The request of a statement and its quantiles; None where it is refused."""
    try:
        question = bind(sql, table, tuple(table.attributes))
        found = plan_measurements(question).measurements
        [unit_of(m) for m in found if isinstance(m, Moments)]
    except (QuestionError, ValueError):
        return None
    additive = tuple(m for m in found if not isinstance(m, Quantile))
    request = request_of(table, question.where, question.keys, additive)
    return request, additive, [m for m in found if isinstance(m, Quantile)]


def check(engine, rows, sql, slack=0):
    """The engine's answers are the reference's, number by number."""
    found = asked(sql)
    if found is None:
        return False
    request, additive, quantiles = found
    if additive:
        for sealed, wanted in zip(
            engine.measure(request), reference.components(request, additive, rows), strict=True
        ):
            got = unseal(sealed)
            assert got.shape == wanted.shape
            off = np.abs(got.astype(object) - wanted.astype(object))
            assert (off <= slack).all(), sql
    for quantile in quantiles:
        got = unseal(engine.histogram(request, ranked(quantile)))
        plain = {c: list(zip(v.tolist(), n.tolist(), strict=True)) for c, (v, n) in got.items()}
        assert plain == reference.listed(request, quantile, rows), sql
    return True


@pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=name, marks=LONG.get(name, ())) for name, make in ENGINES.items()],
)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(rows=tables, seed=some.integers(0, 2**32))
def test_sealed_values_are_the_reference(make, rows, seed):
    writer = Writer(seed)
    with make(rows) as (engine, raw):
        clean = reference.clean_rows(raw, ATTRIBUTES)
        answered = [check(engine, clean, writer.statement()) for _ in range(12)]
    assert any(answered)


NASTY = [
    dict(zip(VALUES, row, strict=True))
    for row in [
        (2**63 - 1, nan, Decimal("0.0500"), inf, 2**126, 10**15, "1e400", "٣", 2**62, "'", "Ulm",
         True, "infinity", datetime(2020, 2, 29, 23), "%"),
        (-(2**63), -inf, Decimal("-9.9999"), -inf, -(2**126), 0, "text", "7", 1, "F", "",
         None, "-infinity", datetime(1, 1, 1), ""),
        (0, 0.0, Decimal("0"), 0.0, 0, 10**15 - 3, "0", "3.4", 0, "M", "Köln",
         False, "99999-01-01", datetime(9999, 12, 31), "a\nb"),
        (None,) * len(VALUES),
        (7, -7.0, Decimal("0.0750"), 15.0, -1, 10**15 - 1000, "9", " 5 ", 2, "other", "a_b",
         True, date(2020, 2, 29), datetime(2020, 12, 31), "Köln"),
    ]
]  # fmt: skip
EXPRESSIONS = {
    "add": "age + t", "sub": "age - t", "mul": "age * t", "restep": "age * 3",
    "neg": "-t", "abs": "ABS(t)",
    "sign": "SIGN(t)", "scale": "age + 0.5", "div": "big / age", "mod": "age % t",
    "least": "LEAST(age, t)", "greatest": "GREATEST(age, t)", "eq": "CASE WHEN age = t THEN 5 END",
    "ne": "CASE WHEN age <> t THEN 5 END", "lt": "CASE WHEN age < t THEN 5 END",
    "le": "CASE WHEN age <= t THEN 5 END", "gt": "CASE WHEN age > t THEN 5 END",
    "ge": "CASE WHEN age >= t THEN 5 END", "and": "CASE WHEN flag AND age > 3 THEN 5 END",
    "or": "CASE WHEN flag OR age > 3 THEN 5 END", "not": "CASE WHEN NOT flag THEN 5 END",
    "is_null": "CASE WHEN age IS NULL THEN 7 ELSE 2 END",
    "in": "CASE WHEN city IN ('Ulm') THEN 5 END",
    "like": "CASE WHEN name LIKE 'K%' THEN 5 ELSE 2 END",
    "case": "CASE WHEN flag THEN age ELSE t END",
    "map": "LENGTH(city)", "extract": "EXTRACT(doy FROM day)",
    "trunc": "DATE_TRUNC('quarter', day) - DATE_TRUNC('week', day)", "days": "day - moment",
    "day_shift": "EXTRACT(doy FROM day + INTERVAL '1 month 2 days')",
    "moment_shift": "EXTRACT(hour FROM CAST(day AS TIMESTAMP) - INTERVAL '13 months 90 minutes')",
    "moment_trunc": "EXTRACT(day FROM DATE_TRUNC('month', moment + INTERVAL '1 day'))",
    "moment_part": "EXTRACT(isodow FROM DATE_TRUNC('quarter', CAST(moment AS TIMESTAMP)))",
    "seconds": "EXTRACT(EPOCH FROM CAST(day AS TIMESTAMP) - moment)",
    "to_day": "CAST(CAST(day AS TIMESTAMP) - INTERVAL '1 second' AS DATE) - DATE '2020-01-01'",
}  # fmt: skip
REAL = ["SQRT(age)", "SQRT(t)", "LN(age)", "LN(price)", "EXP(t)", "SQRT(big)"]


@every_engine
def test_every_operation_on_rows_that_would_raise(make):
    seen = set()
    with make(NASTY) as (engine, raw):
        rows = reference.clean_rows(raw, ATTRIBUTES)
        for op, text in EXPRESSIONS.items():
            found = asked(f"SELECT SUM({text}) FROM people")
            seen |= reference.operations(found[1][0].argument)
            for sql in (
                f"SELECT SUM({text}), COUNT({text}), AVG({text}) FROM people",
                f"SELECT MEDIAN({text}) FROM people GROUP BY city",
                f"SELECT kind, COUNT(*) FROM people WHERE {text} >= 1 GROUP BY kind",
            ):
                assert check(engine, rows, sql), (op, sql)
        for text in REAL:
            found = asked(f"SELECT SUM({text}) FROM people")
            seen |= reference.operations(found[1][0].argument)
            assert check(engine, rows, f"SELECT SUM({text}) FROM people", slack=len(NASTY))
    assert seen == {*OPERATIONS}


EDGE = {
    # a column, and what it holds: ages lie from 0 to 20, codes are 3, 5 and 7, days of two years
    "age": [-7, 0, 5, 20, 99, None],
    "code": ["2", "3", "4", "7", "8", None],
    "city": ["Ulm", "Paris", "Köln", "paris", None, "Ulm"],
    "sex": ["F", "M", "X", None, "other", "M"],
    "day": [date(1, 1, 1), date(2019, 12, 28), date(2020, 2, 29), date(2021, 3, 3), None,
            date(2021, 3, 4)],
}  # fmt: skip
MEANING = {
    # how many of the rows of `EDGE` meet it
    "age < 0": 1, "age <= 0": 2, "age < 5": 2, "5 > age": 2, "age > 20": 1, "age >= 20": 2,
    "age < 20.5": 4, "age > -0.5": 4, "age <= 500": 4, "age > -500": 4, "age = 20": 1,
    "age <> 5": 4, "NOT age = 5": 4, "age BETWEEN 0 AND 20": 3, "age BETWEEN -50 AND 500": 3,
    "NOT (age BETWEEN 0 AND 20)": 2, "age IN (0, 20)": 2, "age NOT IN (0, 20)": 3,
    "age != 5": 4, "5 <> age": 4, "age NOT IN (5)": 4, "age IS DISTINCT FROM 5": 5,
    "NOT age IS NOT DISTINCT FROM 5": 5, "CASE WHEN age = 5 THEN FALSE ELSE TRUE END": 5,
    "CASE age WHEN 5 THEN FALSE ELSE age IS NOT NULL END": 4, "NOT (age = 5 OR age IS NULL)": 4,
    "city IS DISTINCT FROM 'Ulm'": 4, "day <> DATE '2021-03-03'": 4,
    "day IS NOT DISTINCT FROM DATE '2021-03-03'": 1, "day IS DISTINCT FROM NULL": 5,
    "age IS NULL": 1, "age + 1 > 0": 3, "ABS(age) >= 0": 3,
    "CASE WHEN age > 20 THEN 1 ELSE 0 END = 1": 1, "COALESCE(age, 5) = 5": 4,
    "code < 3": 1, "code > 7": 2, "code = 3": 1, "code IN (3, 5, 7)": 2, "code <> 3": 4,
    "code BETWEEN 3 AND 7": 2, "code IS NULL": 1,
    "city = 'Ulm'": 2, "city <> 'Ulm'": 3, "city NOT IN ('Ulm', 'Köln')": 2, "city LIKE '%'": 3,
    "city IS NULL": 1, "sex = 'other'": 2, "sex <> 'other'": 3, "sex IS NULL": 1,
    "day < DATE '2019-12-28'": 1, "day <= DATE '2019-12-28'": 2, "day > DATE '2021-03-03'": 1,
    "day >= DATE '2000-01-01'": 4, "day BETWEEN DATE '2019-12-28' AND DATE '2021-03-03'": 3,
    "day = DATE '2021-03-03'": 1, "EXTRACT(year FROM day) > 0": 3,
}  # fmt: skip
CLAMPED = {
    "SUM(age)": 45, "SUM(age + 1)": 50, "SUM(age) FILTER (WHERE age < 5)": 0, "SUM(code)": 27,
    "COUNT(age)": 5, "COUNT(city)": 5, "COUNT(DISTINCT age)": 3, "COUNT(DISTINCT city)": 2,
    "COUNT(DISTINCT code)": 2, "SUM(EXTRACT(year FROM day))": 2019 + 2019 + 2020 + 2021 + 2021,
}  # fmt: skip


@every_engine
def test_what_lies_outside_is_below_or_above_and_is_clamped_where_it_is_added(make):
    """Written out, for whoever asks what a value outside of its domain means."""
    blank = dict.fromkeys(TYPES)
    edge = [blank | dict(zip(EDGE, row, strict=True)) for row in zip(*EDGE.values(), strict=True)]
    with make(edge) as (engine, raw):
        rows = reference.clean_rows(raw, ATTRIBUTES)
        for test, wanted in MEANING.items():
            sql = f"SELECT COUNT(*) FROM people WHERE {test}"
            request, *_ = asked(sql)
            assert unseal(engine.measure(request)[0]).tolist() == [[wanted]], test
            assert check(engine, rows, sql)
        for text, wanted in CLAMPED.items():
            request, *_ = asked(f"SELECT {text} FROM people")
            assert unseal(engine.measure(request)[0]).tolist() == [[wanted]], text
        for key in EDGE:
            assert check(
                engine, rows, f"SELECT {key}, COUNT(*), SUM(age) FROM people GROUP BY {key}"
            )
        assert check(
            engine, rows, "SELECT MEDIAN(age), MIN(age), MAX(code), VAR_SAMP(age) FROM people"
        )


def test_every_operation_has_a_template():
    assert {*translation._TEMPLATES} == {*OPERATIONS}


@every_engine
@pytest.mark.parametrize("rows", [[], NASTY[:1], NASTY[3:4]], ids=["none", "one", "nulls"])
def test_small_tables(make, rows):
    with make(rows) as (engine, raw):
        clean = reference.clean_rows(raw, ATTRIBUTES)
        for key in KEYS:
            sql = f"SELECT COUNT(*), SUM(age), AVG(far) FROM people GROUP BY {key}"
            assert check(engine, clean, sql)
            assert check(engine, clean, f"SELECT MEDIAN(price) FROM people GROUP BY {key}")
        assert check(engine, clean, "SELECT COUNT(*), SUM(big), VAR_SAMP(far) FROM people")


@every_engine
def test_keys_that_are_not_public(make):
    rows = NASTY * 3
    with make(rows) as (engine, raw):
        clean = reference.clean_rows(raw, ATTRIBUTES)
        for sql in ("SELECT name, COUNT(*), SUM(age), VAR_SAMP(far) FROM people GROUP BY name",
                    "SELECT name, sex, COUNT(*) FROM people WHERE age > 3 GROUP BY name, sex",
                    "SELECT name, COUNT(*) FROM people WHERE FALSE GROUP BY name"):  # fmt: skip
            request, additive, _ = asked(sql)
            keys, values = unseal(engine.keyed(request))
            got = {key: row.tolist() for key, row in zip(keys, values, strict=True)}
            assert len(got) == len(keys)
            assert got == reference.keyed(request, additive, clean)


@every_engine
def test_public_tables_are_joined(make):
    sql = "SELECT land, COUNT(*) FROM people JOIN towns ON people.city = towns.city GROUP BY land"
    with make(NASTY * 2) as (engine, raw):
        assert check(engine, reference.clean_rows(raw, ATTRIBUTES), sql)


@every_engine
def test_columns_and_version_read_no_rows(make):
    with make(NASTY) as (engine, _):
        assert set(engine.columns()) == {*DOMAINS}
        assert engine.version() == engine.version() != ""


@every_engine
def test_what_comes_out_is_sealed(make):
    with make(NASTY) as (engine, _):
        request, *_ = asked("SELECT SUM(age) FROM people")
        assert repr(engine.measure(request)) == "(<sealed>,)"
