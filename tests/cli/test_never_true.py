"""What no row can meet is free or refused, at the command line; nothing is ever paid for it."""

from __future__ import annotations

import pytest

COUNT = "SELECT COUNT(*) AS n FROM people WHERE "


@pytest.mark.parametrize(
    ("condition", "message", "hint"),
    [
        ("age = 130", "age is never 130", "age lies between 0 and 120"),
        ("age > 121", "age is never above 121", "age lies between 0 and 120"),
        ("sex = 'f'", "'f' is no value of sex", "did you mean 'F'? the values of sex are 'F', 'M'"),
        ("sex IN ('f', 'w')", "'f', 'w' are no values of sex", "did you mean 'F'?"),
        ("sex LIKE 'w%'", "no value of sex is like 'w%'", "the values of sex are 'F', 'M'"),
        ("income = NULL", "a comparison with NULL is never true", "use income IS NULL"),
        ("income BETWEEN 300000 AND 400000", "income is never at least 300000", "and 200000"),
    ],
)
@pytest.mark.parametrize("verb", ["ask", "plan"])
def test_a_comparison_that_is_never_true_is_refused(house, run, verb, condition, message, hint):
    ran = run(verb, COUNT + condition, "--epsilon", "1", "--format", "json")
    assert ran.code == 2
    assert ran.error["message"] == message
    assert hint in ran.error["hint"]
    assert ran.error["position"] >= len(COUNT)
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"


@pytest.mark.parametrize(
    "condition",
    ["age > 50 AND age < 20", "sex = 'F' AND sex = 'M'", "1 = 0"],
)
def test_a_contradiction_is_answered_for_nothing(house, run, condition):
    found = run("ask", COUNT + condition, "--epsilon", "1", "--format", "json").json
    assert (found["rows"], found["margins"]) == ([[0]], {"n": [0.0]})
    assert found["spent"] == {"epsilon": "0"}
    assert (
        run("plan", COUNT + condition, "--epsilon", "1", "--format", "json").json["epsilon"] == "0"
    )
    assert "it would cost nothing" in run("plan", COUNT + condition, "--margin", "5").out
    assert run("budget", "--format", "json").json["data"]["spent"] == "0"


def test_of_several_statistics_the_others_are_measured(house, run):
    sql = (
        "SELECT COUNT(*) FILTER (WHERE age > 50 AND age < 20) AS none, COUNT(*) AS n, "
        "AVG(income) FILTER (WHERE sex = 'F' AND sex = 'M') AS nobody FROM people"
    )
    found = run("ask", sql, "--epsilon", "1", "--format", "json").json
    assert (found["rows"][0][0], found["rows"][0][2]) == (0, None)
    alone = run(
        "plan", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1", "--format", "json"
    ).json
    assert found["margins"] == {"none": [0.0], "n": [alone["margins"]["n"]], "nobody": [0.0]}
    assert "by the declared domains no row can count for none" in found["notes"]


def test_a_list_with_one_value_that_is_listed_is_answered(house, run):
    found = run("ask", COUNT + "sex IN ('F', 'm')", "--epsilon", "1", "--format", "json").json
    assert found["spent"] == {"epsilon": "1"}
    assert "'m' is no value of sex: did you mean 'M'?" in found["notes"]
