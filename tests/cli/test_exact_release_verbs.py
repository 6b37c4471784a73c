"""`adomnia prior`, `independence` and `attack prior`, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
OLD = "SELECT age >= 65 AS old, COUNT(*) AS n FROM people GROUP BY 1"


def test_a_release_is_registered_listed_and_in_the_ledger(run, house):
    assert run("prior", "list").out == "nothing was registered as released exactly\n"
    ran = run("prior", "add", SEX)
    assert ran.code == 0
    assert "part of the promise" in ran.out
    assert "none of their 2 cells" not in run("prior", "list").out  # both are given away
    assert "2 of 2 cells are given away" in run("prior", "list").out
    listed = run("prior", "list", "--format", "json").json
    assert listed["priors"][0]["sql"] == SEX
    assert listed["cells"] == 2
    assert SEX[:40] in run("ledger").out
    entries = run("ledger", "--format", "json").json["entries"]
    assert [entry["kind"] for entry in entries] == ["opened", "edition", "prior"]
    assert run("ledger", "--verify").code == 0


def test_it_says_what_it_re_prices(run, house):
    run("ask", SEX, "--epsilon", "1/2")
    ran = run("prior", "add", "SELECT COUNT(*) AS n FROM people", "--format", "json")
    assert ran.json == {
        "before": {"epsilon": "1/2"}, "after": {"epsilon": "1"}, "repriced": 1, "accepted": False,
        "edition": 1,
    }  # fmt: skip
    assert "1 earlier answer costs more now" not in run("prior", "add", SEX).out


def test_past_the_budget_it_exits_with_3_unless_accepted(run, house):
    run("ask", SEX, "--epsilon", "3")
    total = "SELECT COUNT(*) AS n FROM people"
    ran = run("prior", "add", total)
    assert ran.code == 3
    assert "--accept" in ran.err
    assert run("prior", "list", "--format", "json").json["priors"] == []
    accepted = run("prior", "add", total, "--accept")
    assert accepted.code == 0
    assert "accepted" in accepted.out
    assert run("ask", OLD, "--epsilon", "0.01").code == 3


def test_numbers_that_contradict_exit_with_2(run, house: Path):
    (house / "sex.csv").write_text("sex,n\nF,1500\nM,1500\n")
    (house / "all.csv").write_text("n\n2999\n")
    ran = run("prior", "add", SEX, "--values", "sex.csv")
    assert (ran.code, "--unchecked" in ran.err) == (6, True)
    assert run("prior", "add", SEX, "--values", "sex.csv", "--unchecked").code == 0
    every = ("prior", "add", "SELECT COUNT(*) AS n FROM people", "--values", "all.csv")
    assert run(*every, "--unchecked").code == 2
    assert run(*every).code == 6
    assert run("prior", "add", SEX, "--values", "nowhere.csv").code == 2


def test_the_policy_says_so_too(run, house: Path):
    (house / "adomnia.toml").write_text(
        (house / "adomnia.toml").read_text() + f'\n[[prior]]\nsql = "{SEX}"\n'
    )
    found = run("plan", OLD, "--epsilon", "1", "--format", "json").json["sensitivity"]
    assert (found["value"], found["exact"]) == ("2", True)
    assert "public" in found["argument"]


def test_independence(run, house: Path):
    assert run("independence", "sex", "age", "--epsilon", "1").code == 2
    (house / "sex.csv").write_text("sex,n\nF,1500\nM,1500\n")
    ages = "".join(f"{age},30\n" for age in range(100))
    (house / "age.csv").write_text("age,n\n" + ages)
    by_age = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    assert run("prior", "add", SEX, "--values", "sex.csv", "--unchecked").code == 0
    assert run("prior", "add", by_age, "--values", "age.csv", "--unchecked").code == 0
    ran = run("independence", "sex", "age", "--epsilon", "1", "--format", "json")
    assert 0 < ran.json["p_value"] <= 1
    assert ran.json["spent"] == {"epsilon": "1"}
    assert "p-value" in run("independence", "sex", "age", "--epsilon", "1").out


def test_the_chain_is_rebuilt_and_not_with_accounting(run, house):
    ran = run("attack", "prior", "--chain", "10,1000", "--format", "json")
    small, large = ran.json["details"]["curve"]
    assert large["before"]["value"] > 0.7 > small["before"]["value"]
    assert large["after"]["value"] < 0.05
    assert "1,000" in run("attack", "prior", "--chain", "10,1000", "--trials", "20").out


def test_the_policys_own_releases_are_attacked(run, house):
    assert run("attack", "prior").code == 2
    run("prior", "add", SEX)
    run("prior", "add", OLD)
    ran = run("attack", "prior", "--epsilon", "1", "--trials", "20")
    assert ran.code == 0
    assert "with accounting" in ran.out


@pytest.mark.parametrize(
    "wrong",
    [("--chain", "1"), ("--chain", "x"), ("--epsilon", "0"), ("--epsilon", "x"), ("--trials", "0")],
)
def test_wrong_attacks_exit_with_2(run, house, wrong):
    ran = run("attack", "prior", *(() if "--chain" in wrong else ("--chain", "10")), *wrong,
              "--format", "json")  # fmt: skip
    assert ran.code == 2
    assert json.loads(ran.err)["error"]["hint"]
