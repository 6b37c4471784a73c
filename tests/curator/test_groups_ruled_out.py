"""Groups that the condition of a statement rules out are not shown; the price is that of before."""

from __future__ import annotations

from datetime import date

import pytest

from adomnia.queries.grouping import cell_count
from adomnia.testing import World, dates, listed, number

ROWS = 300
SURE = 1000


def world(rows: int = ROWS) -> World:
    every = range(rows)
    columns = {
        "sex": ["FM"[i % 2] for i in every],
        "age": [i % 60 for i in every],
        "born": [date(1990 + i % 20, 1 + i % 12, 1) for i in every],
        "area": [["north", "south", "west", None][i % 4] for i in every],
    }
    domains = {
        "sex": listed("F", "M"),
        "age": number(0, 59),
        "born": dates("1990-01-01", "2009-12-31"),
        "area": listed("north", "south", "west") + "\nnullable = true",
    }
    return World(columns, domains, f"epsilon = {100 * SURE}")


@pytest.fixture(scope="module")
def session():
    with world().open() as database:
        yield database.session()


SHOWN = {
    ("sex", "sex = 'F'"): ["F"],
    ("sex", "sex <> 'F' AND age > 10"): ["M"],
    ("sex", "age > 10"): ["F", "M"],
    ("sex", "sex = 'F' OR age > 10"): ["F", "M"],
    ("sex", "sex IN ('F') OR sex LIKE 'F%'"): ["F"],
    ("age", "age BETWEEN 57 AND 90"): [57, 58, 59],
    ("age / 10", "age >= 35"): [3, 4, 5],
    ("EXTRACT(year FROM born)", "born >= '2007-06-01'"): [2007, 2008, 2009],
    ("DATE_TRUNC('year', born)", "born < '1991-01-01'"): [date(1990, 1, 1)],
    ("area", "area <> 'south'"): ["north", "west"],
    ("area", "area IS NULL"): [None],
    ("CASE WHEN age < 18 THEN 'young' ELSE 'old' END", "age > 20"): ["old"],
    ("SQRT(age) > 2", "SQRT(age) > 2"): [False, True],  # rounding may differ by engine
}


@pytest.mark.parametrize(("key", "where", "shown"), [(*asked, s) for asked, s in SHOWN.items()])
def test_only_groups_that_can_have_a_row_are_shown(session, key, where, shown):
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM people WHERE {where} GROUP BY 1"
    answer = session.ask(sql, epsilon=SURE)
    assert [row[0] for row in answer.rows] == shown
    assert len(answer.margins["n"]) == len(shown)
    plain = session.ask(f"SELECT COUNT(*) AS n FROM people WHERE {where}", epsilon=SURE)
    known = [row[1] for row in answer.rows]
    assert abs(sum(known) - plain.rows[0][0]) <= 1


def test_several_keys_are_narrowed_each_by_itself(session):
    where = "sex = 'M' AND area <> 'west'"
    sql = f"SELECT sex, area, COUNT(*) AS n FROM people WHERE {where} GROUP BY 1, 2"
    answer = session.ask(sql, epsilon=SURE)
    assert [row[:2] for row in answer.rows] == [("M", "north"), ("M", "south")]


def test_what_is_measured_and_paid_stays(session):
    narrowed = "SELECT sex, COUNT(*) AS n FROM people WHERE sex = 'F' GROUP BY sex"
    other = "SELECT sex, COUNT(*) AS n FROM people WHERE age > 20 GROUP BY sex"
    one, two = (session.plan(sql, epsilon="1/10") for sql in (narrowed, other))
    assert one.to_json()["margins"] == two.to_json()["margins"]
    assert cell_count(session.bind(narrowed).keys) == cell_count(session.bind(other).keys)


def test_the_groups_are_the_same_whatever_the_rows_are():
    sql = "SELECT area, COUNT(*) AS n FROM people WHERE area = 'north' GROUP BY area"
    shown = []
    for rows in (1, 2, 300):
        with world(rows).open() as database:
            shown.append([row[0] for row in database.session().ask(sql, epsilon=1).rows])
    assert shown == [["north"]] * 3


def test_estimates_are_of_the_groups_that_are_shown(session):
    rows = "FROM people WHERE area <> 'west' GROUP BY area"
    session.ask(f"SELECT area, COUNT(*) AS n {rows}", epsilon=SURE)
    planned = session.plan(f"SELECT area, AVG(age) AS a {rows}", epsilon=1).to_json()
    assert len(planned["estimated_margins"]["a"]["by_group"]) == 2


def test_groups_that_are_listed_for_nothing_are_narrowed_too(session):
    answer = session.ask("SELECT age FROM people WHERE age < 3 GROUP BY age", epsilon=1)
    assert answer.rows == [(0,), (1,), (2,)]
    assert not any(answer.spent.values())
