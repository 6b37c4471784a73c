"""Every way to be wrong leaves with its exit code, one message, and nothing spent."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing

import pytest

COUNT = "SELECT COUNT(*) AS n FROM people"


def spent(run):
    return run("budget", "--format", "json").json["data"]["spent"]


# Policies


BAD = [
    ("[privacy]", "[privacy]\nepsilom = 1", 6, "epsilom"),
    ("epsilon = 4.0", "epsilon = 0", 6, "epsilon"),
    ("epsilon = 4.0", "epsilon = -1.5", 6, "epsilon"),
    ("epsilon = 4.0", "epsilon = nan", 6, "epsilon"),
    ("epsilon = 4.0", "epsilon = inf", 6, "epsilon"),
    ('values = ["F", "M"]', 'values = ["F", "F"]', 10, "duplicates"),
    ('values = ["F", "M"]', "values = []", 10, "empty"),
    ("low = 0\nhigh = 120", "low = 10\nhigh = 9", 13, "low is above high"),
    ("[attributes.age]", "[attributes.height]", 12, "height"),
    ("[analysts.alice]", "[analyst.alice]", 20, "analyst"),
    ('table = "people"', "table = ", 3, "TOML"),
]


@pytest.mark.parametrize(("old", "new", "line", "word"), BAD)
def test_a_bad_policy_is_named_with_its_line(house, run, old, new, line, word):
    file = house / "adomnia.toml"
    file.write_text(file.read_text().replace(old, new, 1))
    ran = run("ask", COUNT, "--epsilon", "0.1")
    assert (ran.code, ran.out) == (2, "")
    assert f"adomnia.toml, line {line}" in ran.err
    assert word in ran.err
    assert run("ask", COUNT, "--epsilon", "0.1", "--format", "json").error["line"] == line


def test_an_unconfirmed_policy_answers_nothing(house, run):
    file = house / "adomnia.toml"
    file.write_text(file.read_text().replace("confirmed = true", "confirmed = false"))
    ran = run("ask", COUNT, "--epsilon", "0.1")
    assert ran.code == 2
    assert "confirmed" in ran.err
    assert not (house / "adomnia.ledger").exists()


@pytest.mark.parametrize(
    "verb",
    [
        ["ask", COUNT, "--epsilon", "1"],
        ["plan", COUNT, "--epsilon", "1"],
        ["budget"],
        ["ledger"],
        ["ledger", "--verify"],
    ],
)
def test_a_missing_policy_says_how_to_make_one(tmp_path, monkeypatch, run, verb):
    monkeypatch.chdir(tmp_path)
    ran = run(*verb)
    assert ran.code == 2
    assert "adomnia init" in ran.err


def test_a_missing_source_is_the_policys_fault(house, run):
    (house / "people.parquet").unlink()
    assert run("ask", COUNT, "--epsilon", "0.1").code == 2
    assert spent(run) == "0"


# Requests


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "-inf", "much", "1/0", "", "1e99999"])
def test_an_epsilon_that_is_no_amount_is_refused(house, run, epsilon):
    ran = run("ask", COUNT, "--epsilon", epsilon)
    assert (ran.code, ran.out) == (2, "")
    assert "epsilon" in ran.err
    assert spent(run) == "0"


def test_an_epsilon_above_the_budget_is_refused(house, run):
    ran = run("ask", COUNT, "--epsilon", "1e9")
    assert (ran.code, ran.out) == (3, "")
    assert spent(run) == "0"


def test_a_tiny_epsilon_is_answered(house, run):
    ran = run("ask", COUNT, "--epsilon", "1e-300", "--format", "json")
    assert ran.code == 0
    assert ran.json["spent"] == {"epsilon": f"1/1{'0' * 300}"}
    assert (
        run("ask", "SELECT sex, COUNT(*) FROM people GROUP BY sex", "--epsilon", "1e-300").code == 0
    )


@pytest.mark.parametrize("given", [[], ["--epsilon", "1", "--rho", "1"]])
def test_one_loss_must_be_given(house, run, given):
    ran = run("ask", COUNT, *given)
    assert ran.code == 2
    assert "--epsilon" in ran.err


@pytest.mark.parametrize("confidence", ["0", "1", "nan", "2", "high"])
def test_a_confidence_that_is_none_is_refused(house, run, confidence):
    assert run("ask", COUNT, "--epsilon", "0.1", "--confidence", confidence).code == 2


def test_an_unknown_analyst_may_not_ask(house, run):
    ran = run("ask", COUNT, "--epsilon", "0.1", "--analyst", "mallory", "--format", "json")
    assert ran.code == 4
    assert ran.error["code"] == 4
    assert spent(run) == "0"


def test_an_analysts_own_budget_binds(house, run):
    assert run("ask", COUNT, "--epsilon", "0.9", "--analyst", "alice").code == 0
    assert (
        run("ask", "SELECT AVG(age) FROM people", "--epsilon", "0.2", "--analyst", "alice").code
        == 3
    )
    assert run("ask", "SELECT AVG(age) FROM people", "--epsilon", "0.2").code == 0


@pytest.mark.parametrize("sql", ["", "SELEC 1", "SELECT * FROM people", "SELECT age FROM people",
                                 "DROP TABLE people", "SELECT COUNT(*) FROM others",
                                 "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people",
                                 "SELECT MAX(nothing) FROM people"])  # fmt: skip
def test_a_wrong_question_is_refused(house, run, sql):
    ran = run("ask", sql, "--epsilon", "0.1", "--format", "json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.error["message"]
    assert spent(run) == "0"


def test_an_error_points_at_the_character(house, run):
    sql = "SELECT COUNT(*), wealth FROM people"
    ran = run("ask", sql, "--epsilon", "0.1")
    lines = ran.err.splitlines()
    at = next(i for i, text in enumerate(lines) if text.strip() == "^")
    assert lines[at - 1][lines[at].index("^") :].startswith("wealth")
    error = run("ask", sql, "--epsilon", "0.1", "--format=json").error
    assert error["position"] == sql.index("wealth")
    assert {"code", "message", "hint", "position"} <= set(error)


@pytest.mark.parametrize("arguments", [["ask"], ["ask", COUNT, "--epsilom", "1"], ["sak"],
                                       ["plan", COUNT, "--margin", "wide"], ["demo", "--rows", "0"],
                                       ["budget", "--format", "xml"],
                                       ["init", "x.csv", "--unit", "id"]])  # fmt: skip
def test_wrong_usage_leaves_with_two(house, run, arguments):
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("adomnia: ")


# The machinery


def test_a_ledger_that_is_none_stops_everything(house, run):
    (house / "adomnia.ledger").write_text("this is no ledger")
    for verb in (["ask", COUNT, "--epsilon", "0.1"], ["budget"], ["ledger"]):
        assert run(*verb).code == 5


def test_a_changed_ledger_is_found_and_named(house, run):
    assert run("ask", COUNT, "--epsilon", "0.1").code == 0
    assert run("ledger", "--verify").out.startswith("ok: 4 entries")
    with closing(sqlite3.connect(house / "adomnia.ledger")) as connection:
        connection.execute(
            "UPDATE journal SET body = replace(body, '1/10', '1/99') WHERE number = 3"
        )
        connection.commit()
    ran = run("ledger", "--verify")
    assert ran.code == 5
    assert "entry 3" in ran.out
    found = run("ledger", "--verify", "--format", "json")
    assert (found.code, found.json["ok"]) == (5, False)
    assert run("ask", COUNT, "--epsilon", "0.1").code == 5


def test_a_lost_ledger_is_not_taken_for_a_new_one(house, run):
    assert run("ask", COUNT, "--epsilon", "0.1").code == 0
    for file in house.glob("adomnia.ledger*"):
        if not file.name.endswith(".lock"):
            file.unlink()
    for verb in (
        ["ask", COUNT, "--epsilon", "0.1"],
        ["budget"],
        ["ledger"],
        ["ledger", "--verify"],
    ):
        assert run(*verb).code == 5
    assert not (house / "adomnia.ledger").exists()


def test_a_data_file_that_is_none_fails_without_its_content(house, run):
    (house / "people.parquet").write_text("secret,secret\n" * 100)
    ran = run("ask", COUNT, "--epsilon", "0.1")
    assert ran.code in (2, 5)
    assert "secret" not in ran.err


def test_an_unexpected_failure_names_only_its_class(house, run, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("secret 42")

    monkeypatch.setattr("adomnia.cli.ask.open_database", fail)
    ran = run("ask", COUNT, "--epsilon", "0.1")
    assert ran.code == 5
    assert "ZeroDivisionError" in ran.err
    assert "secret" not in ran.err
    assert (
        run("ask", COUNT, "--epsilon", "0.1", "--format", "json").error["kind"]
        == "ZeroDivisionError"
    )


def test_ctrl_c_says_that_what_was_reserved_stays_spent(house, run, monkeypatch):
    def interrupt(*_, **__):
        os.kill(os.getpid(), 2)
        raise RuntimeError("a library's own idea of an interruption")

    monkeypatch.setattr("adomnia.curator.spend._released", interrupt)
    ran = run("ask", COUNT, "--epsilon", "0.1")
    assert ran.code == 130
    assert "stays spent" in ran.err
    assert spent(run) == "1/10"


def test_books_are_read_without_data_and_never_made(house, run):
    (house / "people.parquet").unlink()
    assert spent(run) == "0"
    assert run("ledger").out == "nothing has been asked yet\n"
    assert run("ledger", "--format", "json").json == {"entries": []}
    assert run("ledger", "--verify").code == 5
    assert not list(house.glob("adomnia.ledger*"))


def test_the_folder_may_be_another(house, run, tmp_path_factory):
    moved = tmp_path_factory.mktemp("moved") / "house"
    shutil.copytree(house, moved)
    ran = run("ask", COUNT, "--epsilon", "0.1", "--policy", str(moved / "adomnia.toml"))
    assert ran.code == 0
    assert (moved / "adomnia.ledger").exists()
    assert not (house / "adomnia.ledger").exists()
