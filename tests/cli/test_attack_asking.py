"""Attacks that ask: the ledger ends them, and nothing real is spent unless it is said."""

from __future__ import annotations

import pytest


def spent(run) -> str:
    return run("budget", "--format", "json").json["data"]["spent"]


def test_made_up_answers_give_the_column_away(run):
    ran = run("attack", "reconstruct", "--n", "128", "--questions", "1024", "--noise", "2",
              "--seed", "1", "--format", "json")  # fmt: skip
    assert ran.code == 0
    assert ran.json["recovered"] > 0.95
    assert ran.json["baseline"] == 0.5
    loud = run("attack", "reconstruct", "--n", "64", "--questions", "64", "--noise", "60",
               "--format", "json")  # fmt: skip
    assert loud.json["recovered"] < 0.8
    fourier = run("attack", "reconstruct", "--n", "256", "--noise", "3", "--fourier",
                  "--format", "json")  # fmt: skip
    assert fourier.json["recovered"] > 0.95


def test_the_ledger_holds_on_a_made_up_table(run, house):
    ran = run("attack", "reconstruct", "--epsilon", "0.2", "--n", "64", "--format", "json")
    assert ran.code == 0
    told = ran.json
    assert told["refused"] is True
    assert told["answered"] == 20  # 4.0 / 0.2
    assert told["recovered"] < 0.85
    assert told["baseline"] == 0.5
    assert told["recovered"] <= told["ceiling"]
    assert spent(run) == "0"


def test_the_policys_own_data_is_asked_on_a_copy(run, house):
    told = ("attack", "reconstruct", "--epsilon", "0.25", "--target", "income > 40000", "--people",
            "person_id", "--n", "40", "--format", "json")  # fmt: skip
    ran = run(*told)
    assert ran.code == 0, ran.err
    assert (ran.json["answered"], ran.json["refused"]) == (16, True)
    assert spent(run) == "0"
    ran = run(*told, "--spend")
    assert ran.json["answered"] == 16
    assert spent(run) == "4"
    other = run(*told, "--seed", "5")  # the same questions again would be answered from memory
    assert other.json["answered"] == 0  # the copy begins where the real one is


def test_an_analyst_is_stopped_by_her_own_budget(run, house):
    told = ("attack", "reconstruct", "--epsilon", "0.25", "--target", "income > 40000", "--people",
            "person_id", "--n", "16", "--format", "json")  # fmt: skip
    assert run(*told, "--analyst", "alice").json["answered"] == 4
    assert run(*told, "--analyst", "mallory").code == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "either --noise or --epsilon"),
        (("--noise", "1", "--epsilon", "1"), "either"),
        (("--noise", "1", "--target", "age > 3"), "--target needs --epsilon"),
        (("--epsilon", "1", "--fourier"), "--fourier needs --noise"),
        (("--epsilon", "1", "--spend"), "need --target"),
        (("--epsilon", "zero"), "above zero"),
        (("--epsilon", "1", "--target", "age > 3"), "which column names each person"),
        (("--epsilon", "1", "--target", "age > 3", "--people", "nothing"), "no column"),
        (("--epsilon", "1", "--target", "age > 3", "--people", "sex"), "fewer than two people"),
        (("--epsilon", "1", "--target", "age >", "--people", "person_id"), "SQL"),
        (("--noise", "1", "--n", "100000"), "--n goes up to"),
    ],
)
def test_wrong_orders_exit_with_2(run, house, options, words):
    ran = run("attack", "reconstruct", *options)
    assert ran.code == 2
    assert words in ran.err
    assert spent(run) == "0"


def test_averaging_is_ended_by_the_budget(run, house):
    ran = run("attack", "averaging", "--condition", "sex = 'F'", "--epsilon", "0.2",
              "--format", "json")  # fmt: skip
    assert ran.json["details"]["answers"] == 20
    assert ran.json["details"]["planned"] == 769
    assert ran.json["success"]["value"] < 0.6
    same = run("attack", "averaging", "--condition", "sex = 'F'", "--epsilon", "0.2", "--same",
               "--repeats", "30", "--format", "json").json["details"]  # fmt: skip
    assert (same["answers"], same["distinct"]) == (30, 1)  # one answer, paid once
    assert spent(run) == "0"
    assert run("attack", "averaging", "--condition", " ").code == 2


def test_a_tracker_finds_little_behind_noise(run, house):
    ran = run("attack", "tracker", "--target", "age = 90 AND sex = 'F'", "--target", "age = 91",
              "--tracker", "sex = 'F'", "--epsilon", "0.05", "--format", "json")  # fmt: skip
    assert ran.code == 0
    assert ran.json["details"]["targets"] == 2
    assert "guesses" not in ran.json["details"]
    assert run("attack", "tracker", "--target", "age =", "--tracker", "sex = 'F'").code == 2


def test_decoding_breaks_between_a_fifth_and_a_quarter(run):
    ran = run("attack", "decoding", "--n", "24", "--trials", "3", "--rho", "0.1,0.3", "--format",
              "json")  # fmt: skip
    curve = {(row["rho"], row["errors"]): row["whole"] for row in ran.json["details"]["curve"]}
    assert curve[0.1, "adversarial"] == 1
    assert curve[0.3, "adversarial"] == 0
    assert curve[0.3, "random"] == 1
    assert run("attack", "decoding", "--rho", "many").code == 2
    assert run("attack", "decoding", "--rho", "2").code == 2
