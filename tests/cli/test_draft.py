"""Drafts of odd tables can always be read back, and never list what looks like a person."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest

from adomnia.policy.policy import read_policy
from adomnia.review.drafts.draft import Wish, confirmed, draft_policy
from adomnia.schema.domain import Categories, Grid, Timestamps

ODD = """SELECT [i] AS list, {'a': i} AS struct, uuid() AS u, TIMESTAMP '2020-03-04 10:00:00' AS t,
    (i / 4)::DECIMAL(9, 2) AS d, TIME '10:00' AS hour, i % 2 = 0 AS b, 'nan'::FLOAT AS f,
    'x'::BLOB AS bytes, i * 1e12 AS wide, i / 7.0 AS thirds, -i AS below, i % 3 * 100 AS sparse,
    '0' || (i % 5) AS code, i % 5 AS "sp ace", NULL AS nothing FROM range(300) AS r(i)"""


def make(tmp_path, sql, name="odd.parquet"):
    path = tmp_path / name
    duckdb.sql(sql).write_parquet(str(path))
    return path


def policy_of(tmp_path, source):
    file = tmp_path / "adomnia.toml"
    file.write_text(draft_policy(source, file).text)
    return read_policy(file)


def test_every_type_is_declared_or_left_out(tmp_path):
    source = make(tmp_path, ODD)
    domains = {name: a.domain for name, a in policy_of(tmp_path, source).attributes.items()}
    assert set(domains) == {"t", "d", "b", "wide", "thirds", "below", "sparse", "code", "sp ace"}
    assert isinstance(domains["t"], Timestamps)
    assert domains["d"] == Grid(Fraction(0), Fraction(75), Fraction(1, 100))
    assert domains["b"] == Categories((False, True))
    assert domains["sparse"] == Categories((0, 100, 200))
    assert domains["code"] == Categories(("00", "01", "02", "03", "04"))
    assert domains["sp ace"] == Grid(Fraction(0), Fraction(4))
    assert domains["below"] == Grid(Fraction(-300), Fraction(0))
    assert isinstance(domains["thirds"], Grid)


@pytest.mark.parametrize("sql", ["SELECT 1 AS a, 'x' AS b WHERE false", "SELECT 'only' AS a",
                                 "SELECT 'Ann' || i AS a FROM range(50) AS r(i)"])  # fmt: skip
def test_little_data_gives_no_list(tmp_path, sql):
    text = draft_policy(make(tmp_path, sql), tmp_path / "adomnia.toml").text
    assert "[attributes" not in text
    assert "Ann" not in text


def test_bounds_go_outward_to_round_numbers(tmp_path):
    source = make(tmp_path, "SELECT 3 + i * 937 AS income, i % 101 AS age FROM range(200) AS r(i)")
    domains = {name: a.domain for name, a in policy_of(tmp_path, source).attributes.items()}
    assert domains["income"] == Grid(Fraction(0), Fraction(190_000))
    assert domains["age"] == Grid(Fraction(0), Fraction(100))


def test_a_table_of_a_database(tmp_path):
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 7 AS day FROM range(100) AS r(i)")
    made = draft_policy(path, tmp_path / "adomnia.toml", Wish(table="people"))
    assert made.confirm == ("day",)
    assert 'source = "data.duckdb"' in made.text


def test_confirming_changes_one_word():
    text = "confirmed = false    # nothing\n# confirmed = false"
    assert confirmed(text) == "confirmed = true    # nothing\n# confirmed = false"
