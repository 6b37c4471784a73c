"""Margins before anything is paid: from rows that are declared, or a count that the asker knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from town import Town, policy_text

import adomnia
from adomnia.cli.main import cli
from adomnia.curator.answers.estimated_margins import MOST_SIZES, _sizes
from adomnia.errors import QuestionError

MEAN = "SELECT AVG(age) AS mean FROM people"
BY_SEX = "SELECT sex, AVG(age) AS mean FROM people GROUP BY sex"
ANALYSTS = "[analysts.ann]\nepsilon = 100\n[analysts.bob]\nepsilon = 100\n"


def declared(town: Town, rows: int) -> Path:
    """A policy that says about how many rows there are."""
    path = town.folder / "adomnia.toml"
    path.write_text(policy_text().replace("[privacy]", f"rows = {rows}\n[privacy]", 1))
    return path


def test_nothing_is_known_at_first(town: Town) -> None:
    plan = town.open().session().plan(MEAN, 1)
    assert plan.margins == {"mean": None}
    assert (plan.known_rows, plan.estimated_margins) == (None, {})
    assert "estimated_margins" not in plan.to_json()
    assert "comes with the answer" in str(plan)


def test_rows_that_the_policy_tells(town: Town) -> None:
    with adomnia.open(declared(town, 1000)) as database:
        analyst = database.session()
        plan = analyst.plan(MEAN, 1)
        assert plan.margins == {"mean": None}
        about = plan.to_json()["estimated_margins"]["mean"]
        assert (about["unit"], about["most"]) == ("value", about["margin"])
        basis = plan.to_json()["estimated_from"]
        assert (basis["source"], basis["rows"]) == ("declared rows", [1000])
        assert basis["assumes"] == ["values are spread evenly over their range"]
        assert "as the policy says" in str(plan)
        assert "mean: margin about ± " in str(plan)
        grouped = analyst.plan(BY_SEX + " HAVING AVG(age) > 3", 1)
        assert grouped.known_rows is not None
        assert grouped.known_rows.rows == (500,)
        assert "spread evenly over 2 groups" in grouped.known_rows.assumes[0]
        filtered = analyst.plan(MEAN + " WHERE age > 30", 1)
        assert filtered.known_rows is not None
        assert "all of them meet the condition" in filtered.known_rows.assumes
        answer = analyst.ask(MEAN, 1).margins["mean"][0]
        assert answer is not None
        assert 0.7 * answer < about["margin"] < 1.5 * answer


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "1/2"}])
@pytest.mark.parametrize(
    "column", ["AVG(income)", "VAR_SAMP(age)", "STDDEV_POP(age)", "SUM(age) / COUNT(*)"]
)
def test_an_estimate_is_near_the_answers_own(town: Town, column: str, loss: dict) -> None:
    analyst = town.open("epsilon = 1000\ndelta = 0.001").session()
    analyst.ask("SELECT COUNT(*) FROM people", 10)
    sql = f"SELECT {column} AS x FROM people"
    about = analyst.plan(sql, **loss).estimated_margins["x"]
    answer = analyst.ask(sql, **loss).margins["x"][0]
    assert answer is not None
    assert answer / 3 < about.margin < 3 * answer


def test_a_count_that_this_analyst_was_shown(town: Town) -> None:
    database = town.open(more=ANALYSTS)
    ann, bob = database.session("ann"), database.session("bob")
    counted = ann.ask("SELECT sex, COUNT(*) FROM people WHERE age > 30 GROUP BY sex", 5)
    sql = "SELECT sex, AVG(age) AS mean FROM people WHERE age > 30 GROUP BY sex"
    before = database.budget()["data"]["spent"]
    plan = ann.plan(sql, 1)
    assert plan.known_rows is not None
    assert plan.known_rows.source == counted.receipt
    assert plan.known_rows.rows == tuple(row[1] for row in counted.rows)
    assert plan.known_rows.groups == (("F",), ("M",))
    about = plan.estimated_margins["mean"]
    assert about.by_group is not None
    assert len(about.by_group) == 2
    assert about.most == max(about.by_group)
    assert plan.to_json()["estimated_from"]["receipt"] == counted.receipt
    assert f"receipt {counted.receipt}" in str(plan)
    assert bob.plan(sql, 1).known_rows is None  # it is ann's
    assert ann.plan(MEAN + " WHERE age > 40", 1).known_rows is None  # of other rows
    assert database.budget()["data"]["spent"] == before


def test_a_count_follows_from_a_finer_table_and_from_moments(town: Town) -> None:
    analyst = town.open().session()
    table = analyst.ask("SELECT sex, region, COUNT(*) AS n FROM people GROUP BY 1, 2", 50)
    plan = analyst.plan(BY_SEX, 1)
    assert plan.known_rows is not None
    assert plan.known_rows.source == table.receipt
    assert sum(plan.known_rows.rows) == pytest.approx(1000, abs=5)
    moments = analyst.ask("SELECT AVG(income), COUNT(*) AS n FROM people WHERE age > 30", 50)
    told = analyst.plan("SELECT VAR_POP(income) AS v FROM people WHERE age > 30", 1).known_rows
    assert told is not None
    assert told.source == moments.receipt
    assert told.rows[0] == pytest.approx(moments.rows[0][1], abs=3)


def test_a_total_is_spread_over_the_groups(town: Town) -> None:
    analyst = town.open().session()
    counted = analyst.ask("SELECT COUNT(*) FROM people", 10)
    plan = analyst.plan("SELECT region, AVG(age) AS mean FROM people GROUP BY region", 1)
    assert plan.known_rows is not None
    assert plan.known_rows.rows == (counted.rows[0][0] // 4,)
    assert "spread evenly over 4 groups" in str(plan)
    assert plan.estimated_margins["mean"].by_group is None


def test_a_quantile_is_told_what_share_of_the_rows_it_is(town: Town) -> None:
    analyst = town.open().session()
    sql = "SELECT MEDIAN(age) AS m FROM people"
    assert analyst.plan(sql, 1).estimated_margins == {}
    (rows,) = analyst.ask("SELECT COUNT(*) FROM people", 10).rows[0]
    plan = analyst.plan(sql, 1)
    assert plan.estimated_margins["m"].unit == "share"
    assert plan.estimated_margins["m"].margin == plan.margins["m"] / rows
    assert "rows, about " in str(plan)
    assert plan.to_json()["estimated_from"]["assumes"] == []


def test_counts_and_sums_need_no_estimate(town: Town) -> None:
    analyst = town.open().session()
    analyst.ask("SELECT COUNT(*) FROM people", 10)
    plan = analyst.plan("SELECT COUNT(*) AS n, SUM(age) AS s FROM people WHERE age > 3", 1)
    assert (plan.known_rows, plan.estimated_margins) == (None, {})


def test_open_groups_are_known_from_the_same_table_alone(town: Town) -> None:
    analyst = town.open("epsilon = 1000\ndelta = 0.01").session()
    sql = "SELECT city, AVG(age) AS mean FROM people GROUP BY city"
    analyst.ask("SELECT COUNT(*) FROM people", 10)
    assert analyst.plan(sql, 1).known_rows is None
    counted = analyst.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", 10)
    plan = analyst.plan(sql, 1)
    assert plan.known_rows is not None
    assert plan.known_rows.groups == tuple((row[0],) for row in counted.rows)


def test_the_epsilon_for_a_margin_is_looked_for_by_the_estimate(town: Town) -> None:
    analyst = town.open().session()
    with pytest.raises(QuestionError, match="private count of these rows"):
        analyst.plan(BY_SEX, margin=1)
    analyst.ask("SELECT sex, COUNT(*) FROM people GROUP BY sex", 10)
    plan = analyst.plan(BY_SEX, margin=1)
    assert 0.9 < plan.estimated_margins["mean"].most <= 1
    answer = analyst.ask(BY_SEX, plan.spent["epsilon"])
    assert all(off is not None and off < 1.5 for off in answer.margins["mean"])


def test_very_many_sizes_are_reckoned_by_some(town: Town) -> None:
    rows = tuple(range(5, 5000))
    assert len(_sizes(rows)) == MOST_SIZES
    assert _sizes(rows)[0] == 5
    analyst = town.open().session()
    analyst.ask("SELECT income, COUNT(*) FROM people GROUP BY income", 1)
    plan = analyst.plan("SELECT income, AVG(age) AS mean FROM people GROUP BY income", 1)
    about = plan.estimated_margins["mean"]
    assert about.by_group is not None
    assert len(about.by_group) == 2001
    assert "in a small group" in str(plan) or about.margin == about.most


def test_at_the_command_line(town: Town) -> None:
    path = declared(town, 1000)
    run = CliRunner()
    said = ["plan", MEAN, "--epsilon", "1", "--policy", str(path)]
    assert "about ± " in run.invoke(cli, said).output
    found = json.loads(run.invoke(cli, [*said, "--format", "json"]).output)
    assert found["margins"] == {"mean": None}
    assert found["estimated_margins"]["mean"]["margin"] > 0
