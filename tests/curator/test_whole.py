"""Whole intervals are given where they hold the truth, and what answers say of the rest is true."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.curator.answers.omissions import Omission, sentences
from adomnia.testing import World, listed, number, timestamps

UNIT = 'epsilon = 10000\nunit = "who"\nmax_rows = 5'
SIZES = np.arange(400) % 40 + 1
ROWS = np.arange(SIZES.sum())


def world(privacy=UNIT):
    """A fifth of the costs cannot be read, a quarter of x is above, a third of s is not listed."""
    columns = {
        "who": np.repeat(np.arange(400), SIZES),
        "x": ROWS % 4,
        "cost": np.where(ROWS % 5 == 0, "n/a", (ROWS % 5).astype(str)),
        "s": np.array(list("abz"))[ROWS % 3],
        "k": ROWS % 7,
    }
    domains = {"x": number(0, 2), "cost": number(0, 5), "s": listed("a", "b"), "k": listed(1, 3, 6)}
    return World(columns, domains, privacy)


@pytest.fixture(scope="module")
def paid():
    with world().open() as database:
        database.measure_quality(2000)
        yield database.session()


NO_INTERVAL = (
    "SUM(CASE WHEN cost IS NULL THEN 1 ELSE 0 END)",
    "SUM(x) FILTER (WHERE cost IS NULL)",
    "SUM(LENGTH(s))",
    "SUM(x + 1)",
    "SUM(k)",
    "AVG(x)",
    "COUNT(DISTINCT x)",
)


@pytest.mark.parametrize("asked", NO_INTERVAL)
def test_what_is_worked_out_from_values_has_no_interval(paid, asked):
    answer = paid.ask(f"SELECT {asked} AS t, COUNT(*) AS n FROM people", epsilon=10)
    assert set(answer.whole) == set(answer.whole_beside) == {"n"}


HELD = {
    "COUNT(*) FILTER (WHERE cost IS NULL)": 0,
    "COUNT(cost)": len(ROWS),
    "COUNT(*) FILTER (WHERE x > 1 AND s = 'a')": ((ROWS % 4 > 1) & (ROWS % 3 == 0)).sum(),
    "COUNT(k)": len(ROWS),
    "SUM(x)": np.minimum(ROWS % 4, 2).sum(),
}


@pytest.mark.parametrize(("asked", "truth"), HELD.items())
def test_conditions_decide_with_all_that_they_read(paid, asked, truth):
    answer = paid.ask(f"SELECT {asked} AS t FROM people", epsilon=100)
    ((low, high),) = answer.whole["t"]
    assert low <= truth <= high


def test_an_interval_rests_on_the_columns_of_its_own_aggregate(paid):
    alone = paid.ask("SELECT COUNT(*) AS n FROM people WHERE x > 1", epsilon=100)
    beside = paid.ask(
        "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE s = 'a') AS m, SUM(cost) AS t "
        "FROM people WHERE x > 1",
        epsilon=300,
    )
    room = {
        (one is alone, name): one.whole[name][0][1] - value
        for one in (alone, beside)
        for name, value in zip(one.columns, one.rows[0], strict=True)
    }
    assert room[True, "n"] == pytest.approx(room[False, "n"], abs=50)
    assert room[False, "m"] > room[False, "n"] + 400  # a third of s in 1,940 rows
    assert "t" in beside.whole


def test_the_sentence_says_what_the_interval_is_about(paid):
    answer = paid.ask("SELECT COUNT(*) AS n, SUM(x) AS t FROM people", epsilon=100)
    (rows, _) = answer.left_out
    few = f"beside the rows beyond 40 of at most {rows.people} people"
    assert answer.to_json()["whole_beside"] == {
        "n": few, "t": f"with values of x cut to 0..2, {few}",
    }  # fmt: skip
    said = [note for note in answer.notes if note.startswith("with what is left out")]
    assert said[0].startswith("with what is left out, n is between ")
    assert said[0].endswith(f", {few}")
    assert said[1].endswith(f", with values of x cut to 0..2, {few}")
    assert answer.to_pandas().attrs["whole_beside"] == answer.whole_beside


def test_without_a_unit_nobody_is_beside():
    with world("epsilon = 10000").open() as database:
        database.measure_quality(1000)
        answer = database.session().ask("SELECT COUNT(*) AS n FROM people WHERE x > 1", 100)
    assert answer.whole_beside == {"n": None}
    assert answer.notes[-1].startswith("with what is left out, n is between ")


def test_nothing_is_said_of_values_where_none_is_left_out():
    parts = (
        Omission("rows", "of each person at most 1 row is used", None, -3, 2, 1, 4),
        Omission("values", "at most 0 values of x are outside", "x", -3, 2),
        Omission("values", "at most 1 values of y are outside", "y", -1, 2),
    )
    assert sentences(parts) == (parts[0].says, parts[2].says)


def test_analysts_are_sent_to_the_curator_and_not_to_the_command_line():
    sql = "SELECT SUM(x) AS n FROM people"
    with world("epsilon = 10000").open() as database:
        mine, hers = (database.session(who).ask(sql, 1) for who in (None, "alice"))
        planned = database.session("alice").plan(sql, epsilon=1)
    assert "how many is not known: the curator can count it, adomnia load" in mine.notes[-1]
    assert hers.notes[-1].endswith("how many is not known: ask the curator to have it counted")
    assert sentences(planned.left_out) == hers.notes[-1:]
    assert not any("adomnia load" in str(value) for value in hers.to_json().values())


ONCE = ": the curator can count it, adomnia load --quality 0.5"
SAID = {
    "SELECT line, COUNT(*) AS n FROM people GROUP BY line": [
        "values of line that are not listed are in no group"
    ],
    "SELECT COUNT(*) AS n FROM people WHERE t > '2024-01-01T03:00' AND x = 1": [
        "values of x and t outside of their bounds equal no declared one"
    ],
    "SELECT line, SUM(x) AS n FROM people WHERE t > '2024-01-01T03:00' GROUP BY line": [
        "values of x outside of its bounds count as the nearest",
        "values of line that are not listed are in no group, "
        "values of t outside of its bounds equal no declared one",
    ],
    "SELECT SUM(CASE WHEN x > 1 THEN y END) AS n FROM people": [
        "values of y outside of its bounds count as the nearest",
        "values of x outside of its bounds equal no declared one",
    ],
    "SELECT SUM(k) AS n FROM people": [
        "values of k that are not listed count as an end of what is declared"
    ],
    "SELECT COUNT(x) AS n FROM people WHERE rest = 'a' AND free = 'a'": [],
    "SELECT rest, COUNT(*) AS n FROM people GROUP BY rest": [],
}


@pytest.mark.parametrize(("sql", "said"), SAID.items())
def test_unpaid_keys_and_conditions_are_told_in_one_sentence(sql, said):
    texts = {name: ["a", "b"] for name in ("line", "rest", "free")}
    numbers = {name: [1, 9] for name in "xyk"}
    columns = {**texts, **numbers, "t": ["2024-01-01T05:00"] * 2}
    domains = {
        "line": listed("a", "c"),
        "rest": listed("a", "c", other="c"),
        "k": listed(1, 3),
        "x": number(0, 2),
        "y": number(0, 2),
        "t": timestamps("2024-01-01", "2024-01-02", "1h"),
    }
    with World(columns, domains).open() as database:
        plan = database.session().plan(sql, epsilon=1)
    assert [*sentences(plan.left_out)] == [
        f"{one}; how many is not known{'' if place else ONCE}" for place, one in enumerate(said)
    ]
