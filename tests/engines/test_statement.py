"""The SQL that is sent: exact beyond 64 bits, no longer than the question, safe with any text."""

from __future__ import annotations

import operator
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.sql.coding import Coded
from adomnia.engines.sql.dialect import literal
from adomnia.engines.sql.statement import aggregates, coded_in_place
from adomnia.engines.sql.translation import Texts
from adomnia.errors import QuestionError
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.expression import Column
from adomnia.queries.measurement import Counts, number
from adomnia.queries.operations import call
from adomnia.queries.ranges import Text
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import request_of

ROWS = 100_000
WORDS = ("F", "M", "a\0b", "'", '"', "\\", "%", "ä", "\ufdd0")
DOMAINS = {
    "big": Grid(Fraction(-(10**15)), Fraction(10**15)),
    "far": Grid(Fraction(10**15 - 10), Fraction(10**15)),
    "age": Grid(Fraction(0), Fraction(120)),
    "word": Categories(WORDS),
    "name": Open(),
}
TABLE = Table("people", {name: Attribute(name, domain) for name, domain in DOMAINS.items()})


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.parquet"
    columns = {
        "big": [10**15 if i % 4 else -(10**15) for i in range(ROWS)],
        "far": [10**15 - i % 10 for i in range(ROWS)],
        "age": [i % 130 for i in range(ROWS)],
        "word": [WORDS[i % len(WORDS)] for i in range(ROWS)],
        "name": [WORDS[i % len(WORDS)] for i in range(ROWS)],
    }
    pq.write_table(pa.table(columns), path)
    made = DuckDB(path, "people", DOMAINS)
    yield made
    made.close()


def asked(sql):
    question = bind(sql, TABLE, tuple(DOMAINS))
    measurements = plan_measurements(question).measurements
    return request_of(TABLE, question.where, question.keys, measurements)


def exact(engine, sql):
    return [unseal(part).tolist() for part in engine.measure(asked(sql))]


def test_sums_beyond_64_bits_are_exact(engine):
    total = sum(10**15 if i % 4 else -(10**15) for i in range(ROWS))
    assert total > 2**64
    assert exact(engine, "SELECT SUM(big) FROM people") == [[[total]]]
    for group in ("", " GROUP BY word"):
        sql = f"SELECT SUM(big * 999) FROM people{group}"
        step = number(asked(sql).contributions[0].argument).step
        assert sum(cell[0] for cell in exact(engine, sql)[0]) * step == total * 999


def test_squares_far_from_zero_are_exact(engine):
    offsets = [10 - i % 10 for i in range(ROWS)]
    sums = (
        sum(j * j for j in offsets),
        sum(2 * j * (10 - j) for j in offsets),
        sum((10 - j) ** 2 for j in offsets),
    )
    assert sorted(exact(engine, "SELECT VAR_SAMP(far) FROM people")[0][0]) == sorted(sums)


def test_constants_are_wide_enough_for_what_is_done_with_them(engine):
    one = "CASE WHEN age > 3 THEN 2000000000 ELSE 1999999999 END"
    assert exact(engine, f"SELECT SUM(({one}) + ({one})) FROM people")[0][0][0] > 0
    assert exact(engine, f"SELECT SUM(({one}) * 100000000) FROM people")[0][0][0] > 0
    assert exact(engine, f"SELECT VAR_SAMP(({one}) / 4) FROM people")[0][0]


def test_a_statement_grows_with_its_question(engine):
    text = "age"
    for _ in range(10):
        text = f"ROUND(COALESCE({text}, 1) / 1.5, 4)"
    request = asked(f"SELECT SUM({text}) FROM people")
    made = aggregates(request, coded_in_place(engine.columns(), DUCKDB)).text
    assert len(made) < 60_000
    assert exact(engine, f"SELECT SUM({text}) FROM people")[0][0][0] > 0


@pytest.mark.parametrize("word", WORDS)
def test_any_text_is_a_constant(engine, word):
    request = asked("SELECT word, COUNT(*) FROM people GROUP BY word")
    cells = unseal(engine.measure(request)[0])[:, 0].tolist()
    assert cells[WORDS.index(word)] in (ROWS // len(WORDS), ROWS // len(WORDS) + 1)
    quoted = word.replace("'", "''")
    for column in ("word", "name"):
        found = exact(engine, f"SELECT COUNT(*) FROM people WHERE {column} = '{quoted}'")
        assert found[0][0][0] == cells[WORDS.index(word)]


@pytest.mark.parametrize("value", ["\ud800", "a\udfff", "\0", "\0\0'", "';", "--", "$1", "?", "{}"])
def test_literals_give_back_their_text(value):
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {literal(value)}").fetchall()[0][0]
    lone = any("\ud800" <= sign <= "\udfff" for sign in value)
    assert (found == value) is not lone


def test_long_tables_of_values_are_joined(engine):
    pairs = {word: f"{number}" for number, word in enumerate(WORDS)}
    pairs |= {f"x{i}": f"y{i}" for i in range(100)}
    column = Column("name", Text(tuple(pairs)))
    key = call("map", column, params=(tuple(pairs.items()), Text(tuple(pairs.values()))))
    grouped = request_of(TABLE, None, (key,), [Counts((None,))])
    cells = unseal(engine.measure(grouped)[0])[:, 0].tolist()
    assert sum(cells) == ROWS
    assert cells[len(WORDS) :] == [0] * 101
    texts = Texts(Coded(TABLE, engine.columns(), DUCKDB))
    assert "VALUES" in texts.of(key) + texts.around("x")


def test_what_lies_outside_is_below_or_above_all_that_is_declared(engine):
    """Ages go to 129, and the domain ends at 120: up to there a comparison is that of the rows."""
    ages = [i % 130 for i in range(ROWS)]
    compare = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le,
               ">": operator.gt, ">=": operator.ge}  # fmt: skip
    for op, holds in compare.items():
        for value in (0, 1, 119, 120):
            try:
                found = exact(engine, f"SELECT COUNT(*) FROM people WHERE age {op} {value}")
            except QuestionError:
                assert (op, value) == ("<", -1)
                continue
            assert found == [[[sum(holds(age, value) for age in ages)]]], (op, value)
    above = sum(age > 120 for age in ages)
    for sql in ("age BETWEEN 100 AND 500", "age <= 500 AND age >= 100", "age IN (100, 101, 121)"):
        inside = sum(100 <= age <= (101 if "IN" in sql else 120) for age in ages)
        assert exact(engine, f"SELECT COUNT(*) FROM people WHERE {sql}") == [[[inside]]]
    assert exact(engine, "SELECT COUNT(*) FROM people WHERE age > 120") == [[[above]]]
    cells = exact(engine, "SELECT age, COUNT(*) FROM people GROUP BY age")[0]
    assert [n for (n,) in cells] == [*map(ages.count, range(121)), 0, 0, above]
    assert exact(engine, "SELECT SUM(age) FROM people") == [[[sum(min(a, 120) for a in ages)]]]
    assert exact(engine, "SELECT SUM(age + 1) FROM people")[0][0][0] == sum(
        min(a, 120) + 1 for a in ages
    )
