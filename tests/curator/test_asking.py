"""From SQL to an answer: what it costs, what is written down, and in which order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from town import Town

import adomnia
from adomnia.ledger.entry import receipt
from adomnia.privacy import events
from adomnia.privacy.loss import Loss

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def reserved(database: adomnia.Database) -> list[dict[str, Any]]:
    return [dict(entry.body) for entry in database.ledger() if entry.kind == "reserved"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people",
        BY_SEX,
        "SELECT sex, COUNT(*), SUM(age), AVG(income), MEDIAN(age), MAX(age) FROM people GROUP BY 1",
        "SELECT COUNT(*), COUNT(DISTINCT person_id), STDDEV_SAMP(income), QUANTILE(age, 0.9) "
        "FROM people WHERE age > 30",
        "SELECT AVG(age) / AVG(income), COUNT(age) FROM people",
    ],
)
@pytest.mark.parametrize("epsilon", ["1/7", 0.1, "3"])
def test_the_parts_cost_exactly_what_was_asked(town: Town, sql: str, epsilon: Any) -> None:
    database = town.open()
    asked = Fraction(str(epsilon))
    answer = database.session().ask(sql, epsilon)
    assert answer.spent == {"epsilon": asked}
    assert answer.remaining == {"epsilon": 1000 - asked}
    (entry,) = reserved(database)
    assert events.loss(events.from_json(entry["event"])).epsilon == asked
    assert entry["statement"] == sql
    assert database.budget()["data"]["spent"] == str(asked)
    assert receipt(database.ledger()[2]) == answer.receipt


def test_every_part_is_an_event(town: Town) -> None:
    database = town.open()
    database.session().ask("SELECT AVG(age), MEDIAN(age), COUNT(DISTINCT sex) FROM people", "0.9")
    (entry,) = reserved(database)
    kinds = [part["event"] for part in entry["event"]["parts"]]
    assert kinds == ["laplace", "exponential", "laplace"] or sorted(kinds) == [
        "exponential", "laplace", "laplace"]  # fmt: skip
    assert {part["epsilon"] for part in entry["event"]["parts"]} == {"3/10"}


def test_an_answer_as_json(town: Town) -> None:
    answer = town.open().session().ask(BY_SEX, epsilon="1/10")
    read = json.loads(json.dumps(answer.to_json()))
    assert read["columns"] == ["sex", "n"]
    assert [row[0] for row in read["rows"]] == ["F", "M"]
    assert len(read["margins"]["n"]) == 2
    assert (read["confidence"], read["spent"]) == (0.95, {"epsilon": "1/10"})
    assert answer.to_pandas().shape == answer.to_polars().shape == (2, 3)
    assert answer.to_arrow().column_names == ["sex", "n", "n_margin"]


def test_an_answer_knows_in_what_its_margins_are(town: Town) -> None:
    session = town.open().session()
    sql = "SELECT COUNT(*) AS n, MEDIAN(age) AS m, MODE(sex) AS s, AVG(age) * 2 AS d FROM people"
    units = {"n": "value", "m": "rows", "s": "rows", "d": "value"}
    answer, plan = session.ask(sql, epsilon=1), session.plan(sql, epsilon=1)
    assert answer.margin_units == answer.to_json()["margin_units"] == units
    assert plan.margin_units == plan.to_json()["margin_units"] == units
    assert session.ask(sql, epsilon=1).margin_units == units
    assert answer.to_pandas().attrs["margin_units"] == units
    assert answer.to_pandas().attrs["receipt"] == answer.receipt
    about = json.loads(answer.to_arrow().schema.metadata[b"adomnia"])
    assert (about["margin_units"], about["confidence"]) == (units, 0.95)
    names = ["n", "n_margin", "m", "m_margin_rows", "s", "s_margin_rows", "d", "d_margin"]
    for frame in (answer.to_pandas(), answer.to_polars()):
        assert list(frame.columns) == names
        assert list(frame["m_margin_rows"]) == answer.margins["m"]
    assert answer.to_arrow().to_pydict()["n_margin"] == answer.margins["n"]
    nothing = session.ask("SELECT COUNT(*) AS n FROM people WHERE 1 = 0")
    assert nothing.margin_units == {"n": "value"}


class Watching:
    """An engine that notes what the ledger holds when the data is read."""

    def __init__(self, engine: Any, database: adomnia.Database, fails: Exception | None) -> None:
        self.engine, self.database, self.fails = engine, database, fails
        self.totals: list[Loss] = []

    @contextmanager
    def snapshot(self) -> Iterator[Watching]:
        """The question is read through this one too."""
        yield self

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self.engine, name)
        if name not in ("measure", "histogram", "keyed"):
            return inner

        def read(*args: Any) -> Any:
            self.totals.append(self.database._backend.journal.account().total)
            if self.fails is not None:
                raise self.fails
            return inner(*args)

        return read


@pytest.mark.parametrize(
    "sql",
    [BY_SEX, "SELECT MEDIAN(age) FROM people", "SELECT city, COUNT(*) FROM people GROUP BY city"],
)
def test_the_debit_is_written_before_the_data_is_read(town: Town, sql: str) -> None:
    database = town.open("epsilon = 10\ndelta = 1e-6")
    watching = Watching(database._backend.engine, database, None)
    database._backend.engine = watching  # type: ignore[assignment]
    database.session().ask(sql, "1/2")
    assert [total.epsilon for total in watching.totals] == [Fraction(1, 2)] * len(watching.totals)
    assert watching.totals


@pytest.mark.parametrize("sql", [BY_SEX, "SELECT MEDIAN(age) FROM people"])
@pytest.mark.parametrize(
    "error", [RuntimeError("Zzvienna 42"), MemoryError(), adomnia.MachineryError("it broke")]
)
def test_what_was_reserved_stays_spent_when_reading_fails(
    town: Town, sql: str, error: Exception
) -> None:
    database = town.open()
    engine = database._backend.engine
    database._backend.engine = Watching(engine, database, error)  # type: ignore[assignment]
    with pytest.raises(adomnia.MachineryError) as caught:
        database.session().ask(sql, 1, key="k")
    assert caught.value.exit_code == 5
    assert "Zzvienna" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert database.budget()["data"]["spent"] == "1"
    assert [entry.kind for entry in database.ledger()] == ["opened", "edition", "reserved"]
    database._backend.engine = engine
    again = database.session().ask(sql, 1, key="k")  # whether it was seen is not known: pays anew
    assert again.spent == {"epsilon": 1}
    assert database.budget()["data"]["spent"] == "2"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"epsilon": 0}, 2),
        ({"epsilon": -1}, 2),
        ({"epsilon": "nan"}, 2),
        ({"epsilon": "inf"}, 2),
        ({"epsilon": float("inf")}, 2),
        ({"epsilon": True}, 2),
        ({"epsilon": "1e999999999"}, 2),
        ({"epsilon": Decimal("1e999999999")}, 2),
        ({"epsilon": Decimal("-inf")}, 2),
        ({"epsilon": "one"}, 2),
        ({"epsilon": [1]}, 2),
        ({}, 2),
        ({"epsilon": 1, "rho": 1}, 2),
        ({"epsilon": 1, "confidence": 1}, 2),
        ({"epsilon": 1, "confidence": "x"}, 2),
        ({"epsilon": 1, "delta": 0}, 2),
        ({"epsilon": 1, "delta": 1}, 2),
        ({"epsilon": 10**9}, 3),
        ({"rho": 1}, 3),
    ],
)
def test_bad_requests_cost_nothing(town: Town, asked: dict[str, Any], code: int) -> None:
    database = town.open()
    with pytest.raises(adomnia.AdomniaError) as caught:
        database.session().ask(BY_SEX, **asked)
    assert caught.value.exit_code == code
    assert [entry.kind for entry in database.ledger()] == ["opened", "edition"]
    assert database.budget()["data"]["spent"] == "0"


@pytest.mark.parametrize("sql", ["", "SELECT", None, b"SELECT 1", "SELECT COUNT(*) FROM p\ud800"])
def test_what_is_no_statement_is_refused(town: Town, sql: Any) -> None:
    database = town.open()
    with pytest.raises(adomnia.QuestionError):
        database.session().ask(sql, 1)
    assert database.budget()["data"]["spent"] == "0"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*), SUM(age) FROM people",
        "SELECT AVG(income), VAR_SAMP(income), STDDEV_SAMP(age) FROM people",
        "SELECT SUM(age) / COUNT(*), SQRT(COUNT(*)), ROUND(SUM(income) * 2, -3) FROM people",
        "SELECT MEDIAN(age), MAX(income) FROM people",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING COUNT(*) > 5 ORDER BY 2",
    ],
)
@pytest.mark.parametrize("asked", [{"epsilon": "1e-20"}, {"epsilon": "1e-300"}, {"rho": "1e-300"}])
def test_noise_past_all_floats_is_still_an_answer(
    town: Town, sql: str, asked: dict[str, Any]
) -> None:
    database = town.open("epsilon = 10\ndelta = 1e-6")
    answer = database.session().ask(sql, **asked)
    assert json.dumps(answer.to_json())
    assert len(answer.rows) <= 2


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT 'x' * 1000000000 AS a, COUNT(*) FROM people", None),
        ("SELECT LEAST('x', COUNT(*)) AS a FROM people", None),
        ("SELECT ROUND(COUNT(*), -1000000000) AS a FROM people", 0),
        ("SELECT COUNT(*) / 0 AS a FROM people", None),
        ("SELECT SQRT(COUNT(*) - 100000) AS a FROM people", None),
    ],
)
def test_what_has_no_value_is_null(town: Town, sql: str, shown: Any) -> None:
    assert town.open().session().ask(sql, 1).rows[0][0] == shown


def test_rows_of_several_types_can_be_ordered(town: Town) -> None:
    sql = f"{BY_SEX} ORDER BY CASE WHEN sex = 'F' THEN 'a' ELSE 1 END"
    assert [row[0] for row in town.open().session().ask(sql, 1).rows] == ["M", "F"]


def test_a_quantile_of_no_rows_is_an_answer(town: Town) -> None:
    database = town.open()
    for sql in ("SELECT MEDIAN(age), MIN(age) FROM people WHERE age > 118",
                "SELECT sex, MEDIAN(age) FROM people WHERE age = 119 GROUP BY sex"):  # fmt: skip
        assert all(0 <= row[-1] <= 120 for row in database.session().ask(sql, 1).rows)


def test_no_group_selected_is_an_answer_and_later_questions_work(town: Town) -> None:
    database = town.open("epsilon = 10\ndelta = 1e-12")
    analyst = database.session()
    empty = analyst.ask("SELECT city, COUNT(*), AVG(age) FROM people GROUP BY city", "1/1000")
    assert empty.rows == []
    again = analyst.ask("SELECT city, COUNT(*), AVG(age) FROM people GROUP BY city", "1/1000")
    assert (again.rows, again.spent) == ([], {"epsilon": 0})
    assert len(analyst.ask(BY_SEX, 1).rows) == 2


def test_margins_hold_end_to_end(town: Town, exact: Any) -> None:
    database = town.open("epsilon = 1e6")
    sql = """SELECT COUNT(*) AS n, SUM(age) AS s, AVG(income) AS a, STDDEV_SAMP(age) AS d
             FROM people WHERE region <= 2"""
    (truth,) = exact(sql)
    runs, inside = 250, [0, 0, 0, 0]
    for run in range(runs):
        answer = database.session(f"analyst {run}").ask(sql, "1/2")
        for i, name in enumerate(answer.columns):
            inside[i] += abs(answer.rows[0][i] - float(truth[i])) <= answer.margins[name][0]
    assert min(inside) >= 212  # of 250 at 0.95: fewer once in a hundred million times
    assert database.verify().ok
