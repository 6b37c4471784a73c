"""PostgreSQL as a source: columns of any type, text in any collation, names and constants."""

from __future__ import annotations

import sys
import time
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from postgres_place import DOMAINS, SECRET, count, exact, placed, table

from adomnia.engines.exact import survey
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts
from adomnia.queries.operations import call
from adomnia.queries.ranges import Text
from adomnia.schema.domain import Categories, Dates, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import request_of


@pytest.fixture
def place():
    with placed() as made:
        yield made


VALUES = {
    "smallint": ["1", "NULL"], "integer": ["-2147483648"], "bigint": ["9223372036854775807"],
    "numeric": ["'NaN'", "'Infinity'", "'-Infinity'", "1e400", "-1e400", "1e-400", "1.5", "NULL"],
    "numeric(300,0)": ["'NaN'", "1e299"], "numeric(5,2)": ["1.25"], "numeric(1000,0)": ["1e999"],
    "real": ["'NaN'", "'Infinity'", "1e-45"],
    "double precision": ["'NaN'", "'-Infinity'", "5e-324", "1e308", "-1e-320"],
    "money": ["12.34"], "boolean": ["TRUE", "NULL"],
    "text": ["'1e999999'", f"'{SECRET}'", "repeat('9', 100000)", "'0x10'", "''"],
    "character varying(10)": ["'F '"], "character(5)": ["'F'", "'Ulm'"], '"char"': ["'F'"],
    "name": ["'F'"], "bytea": [r"'\xff00'"], "json": ["'{\"a\": 1}'"], "jsonb": ["'[1]'"],
    "uuid": ["gen_random_uuid()"], "inet": ["'10.0.0.1'"], "interval": ["'1 day'"],
    "bit(3)": ["B'101'"], "integer[]": ["'{1,2}'"], "date[]": ["'{infinity}'"],
    "date": ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'5874897-12-31'", "'2020-02-29'"],
    "timestamp": ["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31'"],
    "timestamptz": ["'infinity'", "'2020-01-01 23:00-05'", "'4713-01-02 BC'"],
    "time": ["'10:00'"], "xml": ["'<a/>'"], "point": ["'(1,2)'"], "int4range": ["'[1,2)'"],
    "mood": ["'sad'"], "small": ["3"], "smaller": ["2"], "pair": ["ROW(1, 'x')"],
}  # fmt: skip
KINDS = [
    Grid(Fraction(-5), Fraction(5)),
    Grid(Fraction(-5), Fraction(5), Fraction(1, 3)),
    Grid(Fraction(0), Fraction(9 * 10**30), Fraction(3 * 10**30)),
    Categories((1, 2), other=7),
    Categories((True, False)),
    Categories(("F", "sad", "Ulm"), other="other"),
    Dates(date(2020, 1, 1), date(2020, 12, 31)),
    Open(),
]


def test_every_type_of_column_can_be_declared_as_anything(place):
    place.run(
        "CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN small AS integer CHECK (value < 10); "
        "CREATE DOMAIN smaller AS small; CREATE TYPE pair AS (a integer, b text)"
    )
    columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(VALUES))
    place.run(f"CREATE TABLE people ({columns})")
    size = max(map(len, VALUES.values()))
    for row in range(size):
        cells = ", ".join(held[row % len(held)] for held in VALUES.values())
        place.run(f"INSERT INTO people VALUES ({cells})")
    for domain in KINDS:
        domains = {f"c{i}": domain for i in range(len(VALUES))}
        engine, private = place.opened(domains=domains), table(domains)
        for name, kind in zip(domains, VALUES, strict=True):
            (found,) = exact(engine, f"SELECT COUNT(*) FROM people WHERE {name} IS NULL", private)
            assert 0 <= found[0][0] <= size, (kind, domain)
            assert exact(engine, f"SELECT COUNT(DISTINCT {name}) FROM people", private)
            if isinstance(domain, Categories):
                by = exact(engine, f"SELECT COUNT(*) FROM people GROUP BY {name}", private)
                assert sum(cell for row in by[0] for cell in row) == size, (kind, domain)
            unit = Table("people", private.attributes, name, 1)
            sql = "SELECT COUNT(*) FROM people WHERE c0 IS NULL OR c0 IS NOT NULL"
            assert exact(engine, sql, unit)[0][0][0] <= size


def test_padding_and_domains_mean_what_they_hold(place):
    place.run(
        "CREATE DOMAIN small AS integer; CREATE TYPE mood AS ENUM ('sad'); CREATE TABLE people "
        "(a char(5), b small, c mood, d numeric(40,0)); "
        "INSERT INTO people VALUES ('F', 3, 'sad', 1e39), ('F  ', 4, NULL, 'NaN')"
    )
    domains = {"a": Categories(("F",)), "b": Grid(Fraction(0), Fraction(9)),
               "c": Categories(("sad",)), "d": Grid(Fraction(0), Fraction(5))}  # fmt: skip
    engine, private = place.opened(domains=domains), table(domains)
    assert engine.columns()["b"] == "integer"
    assert exact(engine, "SELECT COUNT(*) FROM people WHERE a = 'F'", private) == [[[2]]]
    assert exact(engine, "SELECT SUM(b) FROM people WHERE c = 'sad'", private) == [[[3]]]
    assert exact(engine, "SELECT SUM(d) FROM people", private) == [[[5]]]


def test_text_is_compared_by_bytes_whatever_its_collation(place):
    place.run(
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', "
        "deterministic = false); CREATE TABLE people "
        '(id bigint, city text COLLATE loose, name text COLLATE "und-x-icu");'
        "INSERT INTO people VALUES (1, 'Ulm', 'a'), (2, 'ULM', 'B'), (3, 'ulm', '\u00e9'), "
        "(4, 'Ulm', 'e\u0301')"
    )
    engine = place.opened()
    assert exact(engine, "SELECT city, COUNT(*) FROM people GROUP BY city")[0] == [
        [2], [0], [2], [0],
    ]  # fmt: skip
    assert exact(engine, "SELECT COUNT(DISTINCT name) FROM people") == [[[4]]]
    assert count(engine, "name < 'a'") == 1
    assert count(engine, "name > 'z'") == 1
    assert count(engine, "city = 'Ulm'") == 2
    by_unit = Table("people", {"id": Attribute("id", DOMAINS["id"])}, "city", 1)
    assert exact(engine, "SELECT COUNT(*) FROM people WHERE id > 0", by_unit) == [[[3]]]


def test_names_that_mean_something_elsewhere(place):
    names = ["p0", "select", "a b", 'q"q', "adomnia_data", "ctid2", "Ä", "1", "%s", "A", "a"]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    place.run(f"CREATE TABLE people ({', '.join(f'{name} int' for name in quoted)}); "
              f"INSERT INTO people VALUES ({', '.join(['2'] * len(names))})")  # fmt: skip
    domains = {name: Grid(Fraction(0), Fraction(9)) for name in names}
    engine, private = place.opened(domains=domains), table(domains)
    for name in quoted[:-2]:
        sql = f"SELECT COUNT(*) FROM people WHERE {name} > 1 GROUP BY {name}"
        assert sum(map(sum, exact(engine, sql, private)[0])) == 1
        assert exact(engine, f"SELECT SUM({name}) FROM people", private) == [[[2]]]


def test_a_question_that_grows_does_not_explode_in_the_planner(place):
    place.fill(1000)
    engine, text = place.opened(), "id"
    for _ in range(8):
        text = f"ROUND(COALESCE({text}, 1) / 1.5, 4)"
    started = time.monotonic()
    assert exact(engine, f"SELECT SUM({text}) FROM people")[0][0][0] > 0
    assert time.monotonic() - started < 200


def test_long_tables_of_values_are_looked_up(place):
    place.fill()
    pairs = {f"x{i}": f"y{i}" for i in range(100)} | {"Ulm": "BW"}
    key = call("map", Column("city", Text(tuple(pairs))),
               params=(tuple(pairs.items()), Text(tuple(pairs.values()))))  # fmt: skip
    asked = request_of(table(), None, (key,), [Counts((None,))])
    cells = unseal(place.opened().measure(asked)[0])
    assert cells[:, 0].tolist() == [0] * 100 + [3, 0]


@pytest.mark.parametrize("value", ["\0", "a\0'", "';--", "$1", "%s", "\\'", "E'", "{}"])
def test_any_text_may_be_asked(place, value):
    place.fill()
    quoted = value.replace("'", "''")
    for test in ("= '{}'", "LIKE '{}'", "ILIKE '%{}%'", "< '{}'", "IN ('{}', 'b')"):
        assert count(place.opened(), f"name {test.format(quoted)}") in (0, 3)


# The survey


def test_the_survey_of_a_first_draft(place):
    place.run(
        "CREATE TABLE people (age int, price numeric(8,2), t double precision, code text, "
        "city text, day date, at timestamptz, flag boolean, extra jsonb);"
        "INSERT INTO people SELECT i % 50, i / 4.0, i / 8.0, '00' || i, "
        "(ARRAY['Ulm', 'Köln'])[1 + i % 2], DATE '2020-01-01' + i, "
        "TIMESTAMPTZ '2020-01-01 23:30-05' + i * interval '1 day', i % 2 = 0, '{}' "
        "FROM generate_series(1, 300) i; INSERT INTO people (day, t) VALUES ('infinity', 'NaN')"
    )
    found = survey(place.opened(domains={}))
    assert {name: facts["kind"] for name, facts in found.items()} == {
        "age": "number", "price": "number", "t": "number", "code": "text", "city": "text",
        "day": "date", "at": "date", "flag": "truth", "extra": "text",
    }  # fmt: skip
    assert (found["age"]["low"], found["age"]["high"], found["age"]["places"]) == (0, 49, 0)
    assert found["price"]["places"] == 2
    assert found["t"]["places"] == 3
    assert found["city"]["values"] == ["Köln", "Ulm"]
    assert (found["day"]["low"], found["day"]["high"]) == (date(2020, 1, 2), date.max)
    assert found["at"]["low"] == date(2020, 1, 3)
    assert found["code"]["nulls"]
    assert found["age"]["rows"] == 301
