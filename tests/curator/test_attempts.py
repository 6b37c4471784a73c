"""Attempts to get at exact values; each of these once could be, or nearly was, possible."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import adomnia
from adomnia.errors import QuestionError

ATTRIBUTES = """
[attributes.flag]
values = [true, false]
[attributes.day]
kind = "date"
low = 2024-01-01
high = 2024-12-31
[attributes.city]
values = ["a", "b", "c"]
[attributes.age]
low = 0
high = 120
[public.flags]
source = "flags.csv"
key = "k"
[public.moments]
source = "moments.csv"
key = "k"
[public.words]
source = "words.csv"
key = "k"
[public.towns]
source = "towns.csv"
key = "k"
"""
PUBLIC = {
    "flags.csv": "k,v\nyes,1\nmaybe,2\n",
    "moments.csv": "k,v\n2024-01-01 00:00:00,1\n2024-01-02 00:00:00,2\n",
    "words.csv": "k,v\n2024-01-01,1\nunknown,2\n",
    "towns.csv": "k,v\na,1000\nb,1001\n",
}
ROUNDED = "SELECT CAST(ROUND(EXP(26.0::DOUBLE) * 1000000.0) AS BIGINT)"
ROWS = """SELECT i % 3 = 0 AS flag, DATE '2024-01-01' + CAST(i % 5 AS INT) AS day,
  ['a', 'b', 'c'][1 + i % 3] AS city, 20 + i % 50 AS age FROM range(1000) t(i)"""


def opened(folder: Path, privacy: str = "epsilon = 1000", rows: str = ROWS) -> adomnia.Database:
    duckdb.execute(f"COPY ({rows}) TO '{folder}/people.parquet' (FORMAT parquet)")
    for name, text in PUBLIC.items():
        (folder / name).write_text(text)
    head = f'[data]\nsource = "people.parquet"\n[privacy]\nconfirmed = true\n{privacy}\n'
    (folder / "adomnia.toml").write_text(head + ATTRIBUTES)
    return adomnia.open(folder / "adomnia.toml")


def test_a_condition_that_python_and_the_engine_round_differently_is_paid_for(tmp_path):
    engine = duckdb.sql(ROUNDED).fetchall()[0][0]
    literal = f"{engine // 10**6}.{engine % 10**6:06d}"
    sql = f"SELECT COUNT(*) FROM people WHERE EXP(CASE WHEN flag THEN 26 ELSE 27 END) = {literal}"
    with opened(tmp_path) as database:
        answer = database.session().ask(sql, epsilon="1/100")
        assert answer.spent == {"epsilon": Fraction(1, 100)}
        assert answer.margins["count"][0] > 100


@pytest.mark.parametrize(("table", "column"), [("moments", "day"), ("words", "day")])
@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_keys_of_another_type_are_never_matched_for_free(tmp_path, table, column, kind):
    sql = f"SELECT COUNT({table}.v) AS n FROM people p {kind} {table} ON {table}.k = p.{column}"
    with opened(tmp_path) as database:
        answer = database.session().ask(sql, epsilon="1/100")
        assert answer.spent == {"epsilon": Fraction(1, 100)}
        assert answer.margins["n"][0] > 100


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_keys_that_no_row_can_have_match_none_whatever_the_data(tmp_path, kind):
    sql = f"SELECT COUNT(flags.v) AS n FROM people p {kind} flags ON flags.k = p.flag"
    with opened(tmp_path) as database:
        answer = database.session().ask(sql, epsilon="1/100")
        assert (answer.rows, answer.spent) == ([(0,)], {"epsilon": 0})


def test_a_moment_at_midnight_is_its_day(tmp_path):
    sql = "SELECT COUNT(*) AS n FROM people p JOIN moments m ON m.k = p.day"
    with opened(tmp_path) as database:
        answer = database.session().ask(sql, epsilon=100)
        assert abs(answer.rows[0][0] - 400) <= 2


def test_keys_that_become_one_are_refused(tmp_path):
    with opened(tmp_path) as database:
        database.close()
    (tmp_path / "moments.csv").write_text("k,v\n2024-01-01 00:00:00,1\n2024-01-01,2\nx,3\n")
    sql = "SELECT COUNT(*) FROM people p JOIN moments m ON m.k = p.day"
    with adomnia.open(tmp_path / "adomnia.toml") as database:
        session = database.session()
        with pytest.raises(QuestionError):
            session.ask(sql, epsilon=1)


def test_a_key_that_is_not_found_counts_as_nothing(tmp_path):
    sql = "SELECT SUM(t.v) AS n FROM people p LEFT JOIN towns t ON t.k = COALESCE(p.city, 'a')"
    with opened(tmp_path, 'epsilon = 1000\nneighbors = "bounded"') as database:
        planned = database.session().plan(sql, epsilon=1)
        assert planned.steps[0].sensitivity.l1 >= 1000


@pytest.mark.parametrize("neighbors", ["bounded", "attribute"])
@pytest.mark.parametrize("order", [{"epsilon": "1/100"}, {"epsilon": "1/100", "unbiased": True}])
def test_a_row_that_no_table_shows_does_not_show_in_their_total(tmp_path, neighbors, order):
    strange = ROWS.replace("['a', 'b', 'c'][1 + i % 3]", "CASE i WHEN 7 THEN 'x' ELSE 'a' END")
    for name, rows in (("none", ROWS), ("one", strange)):
        sums = set()
        for run in range(4):
            folder = tmp_path / f"{name} {run}"
            folder.mkdir()
            with opened(folder, f'epsilon = 1000\nneighbors = "{neighbors}"', rows) as database:
                planned = database.plan_release(marginals=["city"], **order)
                sums.add(round(float(database.release(planned).tables[(0,)].sum())))
        assert len(sums) > 1 or sums == {1000}  # as noise has it, or what is public


def test_nothing_but_the_number_of_rows_is_free(tmp_path):
    with opened(tmp_path, 'epsilon = 1000\nneighbors = "bounded"') as database:
        session = database.session()
        whole = session.ask("SELECT COUNT(*) FROM people", epsilon=1)
        assert (whole.rows, whole.spent["epsilon"]) == ([(1000,)], 0)
        for sql in (
            "SELECT COUNT(*) FROM people WHERE age >= 120",
            "SELECT SUM(age - age) FROM people",
            "SELECT COUNT(*) FROM people WHERE age = age",
            "SELECT COUNT(*) FROM people WHERE TRUE OR age > 3",
        ):
            answer = session.ask(sql, epsilon="1/100")
            assert answer.spent["epsilon"] == Fraction(1, 100) or answer.rows == [(1000,)], sql
