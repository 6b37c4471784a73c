"""What a neighbour is decides the noise: relations end to end, by what the plan says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from town import Town

import adomnia

CASES: list[tuple[str, str, str]] = [
    ("", "SELECT COUNT(*) AS n FROM people", "1"),
    ("", "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "1"),
    ("", "SELECT SUM(age) AS n FROM people", "120"),
    ('neighbors = "bounded"', "SELECT COUNT(*) AS n FROM people WHERE sex = 'F'", "1"),
    ('neighbors = "bounded"', "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "2"),
    ('neighbors = "bounded"', "SELECT SUM(age) AS n FROM people", "120"),
    ('neighbors = "attribute"', "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "2"),
    ('neighbors = "attribute"', "SELECT SUM(age) AS n FROM people", "120"),
    ('neighbors = "bit"', "SELECT SUM(age) AS n FROM people", "64"),
    ("group = 3", "SELECT COUNT(*) AS n FROM people", "3"),
    ("group = 3", "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "3"),
    ('unit = "person_id"\nmax_rows = 5', "SELECT COUNT(*) AS n FROM people", "5"),
    ('unit = "person_id"\nmax_rows = 2', "SELECT SUM(age) AS n FROM people", "240"),
    ('unit = "person_id"\nmax_rows = 5', "SELECT COUNT(DISTINCT person_id) AS n FROM people", "1"),
    ('unit = "person_id"\nmax_rows = 5\ngroup = 2', "SELECT COUNT(*) AS n FROM people", "10"),
]


@pytest.mark.parametrize(("privacy", "sql", "size"), CASES)
def test_the_noise_is_as_wide_as_the_sensitivity(
    town: Town, privacy: str, sql: str, size: str
) -> None:
    analyst = town.open(f"epsilon = 100\n{privacy}").session()
    plan = analyst.plan(sql, "1/10")
    assert plan.to_json()["sensitivity"]["value"] == size
    assert plan.to_json()["sensitivity"]["norm"] == "l1"
    (step,) = plan.steps
    assert step.noise is not None
    assert step.noise.parameter == Fraction(size) * 10
    answer = analyst.ask(sql, "1/10")
    assert answer.margins["n"][0] == plan.margins["n"]
    body = next(dict(e.body) for e in analyst._backend.journal.entries() if e.kind == "reserved")
    assert body["event"] == {"event": "laplace", "epsilon": "1/10", "sensitivity": size}


def test_gaussian_noise_follows_the_other_norm(town: Town) -> None:
    analyst = town.open('rho = 10\nneighbors = "bounded"').session()
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    plan = analyst.plan(sql, rho="1/2")
    assert plan.to_json()["sensitivity"]["norm"] == "l2"
    assert plan.steps[0].noise.parameter == 2  # (1² + 1²) / (2 · 1/2)
    assert Fraction(plan.to_json()["sensitivity"]["value"]) ** 2 >= 2


@pytest.mark.parametrize("relation", ["bounded", "attribute", "bit"])
def test_the_number_of_rows_is_public_where_rows_only_change(town: Town, relation: str) -> None:
    database = town.open(f'epsilon = 1\nneighbors = "{relation}"')
    analyst = database.session()
    sql = "SELECT COUNT(*) AS n FROM people"
    plan = analyst.plan(sql, "1/10").to_json()
    assert (plan["mechanism"], plan["epsilon"], plan["margins"]) == ("none", "0", {"n": 0})
    assert plan["sensitivity"]["value"] == "0"
    answer = analyst.ask(sql, "1/10")
    assert (answer.rows, answer.margins) == ([(1000,)], {"n": [0]})
    assert answer.spent == {"epsilon": 0}
    assert any("public" in note for note in answer.notes)
    assert database.budget()["data"]["spent"] == "0"
    filtered = analyst.ask(f"{sql} WHERE age > 40", "1/10")
    assert filtered.spent == {"epsilon": Fraction(1, 10)}
    assert filtered.margins["n"][0] > 0
    assert not any("public" in note for note in filtered.notes)


def test_the_number_of_rows_is_private_where_rows_come_and_go(town: Town) -> None:
    units = 'epsilon = 9\nneighbors = "bounded"\nunit = "person_id"\nmax_rows = 5'
    for privacy in (units, "epsilon = 9"):
        answer = town.open(privacy).session().ask("SELECT COUNT(*) AS n FROM people", 1)
        assert answer.spent == {"epsilon": 1}
        assert answer.margins["n"][0] > 0


def test_units_are_cut_to_their_rows(town: Town) -> None:
    """Two hundred people with five rows each; two of each are kept."""
    analyst = town.open('epsilon = 1e6\nunit = "person_id"\nmax_rows = 2').session()
    assert abs(analyst.ask("SELECT COUNT(*) FROM people", 1000).rows[0][0] - 400) < 5
    people = analyst.ask("SELECT COUNT(DISTINCT person_id) FROM people", 1000)
    assert abs(people.rows[0][0] - 200) < 5


@pytest.mark.parametrize(
    "privacy",
    ['unit = "person_id"', "max_rows = 3", 'unit = ""\nmax_rows = 3', "group = 0", "max_rows = 0",
     'neighbors = "attribute"\nunit = "person_id"\nmax_rows = 3', 'neighbors = "edge"'],
)  # fmt: skip
def test_half_a_relation_is_refused(town: Town, privacy: Any) -> None:
    with pytest.raises(adomnia.PolicyError) as caught:
        town.open(f"epsilon = 1\n{privacy}")
    assert caught.value.line is not None
