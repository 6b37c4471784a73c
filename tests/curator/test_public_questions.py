"""Questions whose answer is the same for all data: free, and answered without reading any."""

from __future__ import annotations

import pytest
from town import Town

import adomnia
from adomnia.errors import QuestionError

EMPTY = (
    ("SELECT * FROM people LIMIT 0", ("sex", "age", "income", "region")),
    ("SELECT * FROM people WHERE 1 <> 1", ("sex", "age", "income", "region")),
    ("SELECT p.* FROM people AS p WHERE NULL", ("sex", "age", "income", "region")),
    ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 0", ("sex", "n")),
    ("SELECT sex, COUNT(*) AS n FROM people WHERE FALSE GROUP BY sex", ("sex", "n")),
    ("SELECT city, age FROM people WHERE 'a' = 'b'", ("city", "age")),
)


@pytest.mark.parametrize(("sql", "columns"), EMPTY)
def test_an_answer_of_no_row_is_free(town: Town, sql: str, columns: tuple[str, ...]) -> None:
    session = town.open().session()
    answer = session.ask(sql)
    assert (answer.columns, answer.rows, answer.spent["epsilon"]) == (columns, [], 0)
    assert tuple(column.name for column in session.describe(sql)) == columns


def test_no_row_counts_as_nothing(town: Town) -> None:
    sql = "SELECT COUNT(*) AS n, SUM(age) AS s, AVG(age) > 3 AS old FROM people WHERE 1 = 0"
    answer = town.open().session().ask(sql)
    assert (answer.rows, answer.spent["epsilon"]) == ([(0, None, None)], 0)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT DISTINCT sex FROM people ORDER BY sex DESC", [("M",), ("F",)]),
        ("SELECT DISTINCT region FROM people LIMIT 2", [(1,), (2,)]),
        ("SELECT DISTINCT age / 60 AS old FROM people WHERE income > 3", [(0,), (1,), (2,)]),
    ],
)
def test_the_values_of_a_domain_are_free(town: Town, sql: str, rows: list[tuple[object]]) -> None:
    answer = town.open().session().ask(sql)
    assert (answer.rows, answer.spent["epsilon"]) == (rows, 0)


def test_values_that_are_not_declared_are_not_told(town: Town) -> None:
    with pytest.raises(QuestionError, match="no declared domain"):
        town.open().session().ask("SELECT DISTINCT city FROM people", epsilon=1)


def test_a_condition_that_no_row_can_meet_is_never_paid(town: Town) -> None:
    session = town.open().session()
    with pytest.raises(QuestionError, match="age is never below -1"):
        session.ask("SELECT COUNT(*) FROM people WHERE age < -1", epsilon=1)
    count = "SELECT COUNT(*) AS n, MEDIAN(age) AS m FROM people WHERE age < 10 AND age > 20"
    answer = session.ask(count)
    assert (answer.rows, answer.spent["epsilon"]) == ([(0, None)], 0)
    by_sex = "SELECT sex, COUNT(*) AS n FROM people WHERE age < 10 AND age > 20 GROUP BY sex"
    assert session.ask(by_sex).rows == []
    filtered = "SELECT sex, COUNT(*) FILTER (WHERE age < 1 AND age > 2) AS n FROM people GROUP BY 1"
    assert session.ask(filtered).rows == [("F", 0), ("M", 0)]
    open_keys = "SELECT city, COUNT(*) AS n FROM people WHERE age < 10 AND age > 20 GROUP BY city"
    assert session.ask(open_keys).rows == []
    assert session.remaining() == {"epsilon": 1000}


def test_a_condition_that_a_clamped_row_can_meet_is_paid(town: Town) -> None:
    session = town.open().session()
    for condition in ("age >= 120", "age <= 0", "income = 2000", "age < 10 OR age > 20"):
        sql = f"SELECT COUNT(*) FROM people WHERE {condition}"
        assert session.ask(sql, epsilon=1).spent["epsilon"] == 1


def test_it_is_answered_when_nothing_is_left(town: Town) -> None:
    session = town.open("epsilon = 1").session()
    session.ask("SELECT COUNT(*) FROM people", epsilon=1)
    with pytest.raises(adomnia.BudgetError):
        session.ask("SELECT SUM(age) FROM people", epsilon=1)
    assert session.ask("SELECT * FROM people LIMIT 0").rows == []


def test_types_are_told_without_data(town: Town) -> None:
    sql = (
        "SELECT sex, age < 3 AS young, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a, "
        "MAX(age) AS m, COUNT(*) / 2 AS half, ROUND(AVG(age)) AS r, COUNT(*) > 3 AS many "
        "FROM people GROUP BY 1, 2"
    )
    told = {column.name: column.type for column in town.open().session().describe(sql)}
    assert told == {
        "sex": "text",
        "young": "boolean",
        "n": "bigint",
        "s": "numeric",
        "a": "double precision",
        "m": "bigint",
        "half": "double precision",
        "r": "numeric",
        "many": "boolean",
    }
