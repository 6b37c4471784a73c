"""Made-up worlds: they open, spend from a ledger of their own, and need no test runner."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

import adomnia
from adomnia.testing.worlds import World, analysts, clouds, dates, listed, number, town

COUNT = "SELECT COUNT(*) AS n FROM people"


def test_a_town_answers_and_forgets():
    world = town(rows=500, privacy="epsilon = 2", more=analysts(alice=1))
    for _ in range(2):
        with world.open() as database:
            answer = database.session("alice").ask(COUNT, epsilon=1)
            assert abs(answer.rows[0][0] - 500) < 100
            assert database.session("alice").remaining()["epsilon"] == 0


def test_in_a_folder_of_ones_own_the_ledger_goes_on(tmp_path):
    for spent in ("0", "1"):
        with town(rows=10).open(tmp_path) as database:
            assert database.budget()["data"]["spent"] == spent
            database.session().ask(COUNT, epsilon=1)
    assert {file.name for file in tmp_path.iterdir()} >= {"people.parquet", "adomnia.toml"}


def test_the_same_seed_is_the_same_town():
    one, same, other = town(50), town(50), town(50, seed=2)
    assert one.columns["age"].tolist() == same.columns["age"].tolist()
    assert one.columns["age"].tolist() != other.columns["age"].tolist()


def test_domains_are_those_of_the_policy():
    attributes = {
        "n": number(0, 10),
        "fine": number(-1, 1, "0.5"),
        "word of mouth": listed("a", "it's", other="else"),
        "day": dates("2020-01-01", "2020-12-31"),
        "flag": listed(True, False),
    }
    columns = {"n": [1], "fine": [0.5], "word of mouth": ["zz"], "day": ["2020-02-01"],
               "flag": [True]}  # fmt: skip
    with World(columns, attributes).open() as database:
        assert list(database.session().table.attributes) == list(attributes)


def test_a_wrong_policy_is_refused_as_ever():
    with pytest.raises(adomnia.PolicyError), replace(clouds(3), privacy="epsilon = -1").open():
        pass


def test_worlds_and_laws_need_no_test_runner():
    program = (
        "import sys, adomnia.testing.models, adomnia.testing.worlds; "
        "print({'pytest', 'hypothesis', 'sklearn'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "set()"
