"""Rehearsals: real questions to a copy, and a made-up table under the same promise."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import adomnia
from adomnia.curator.database import open_database
from adomnia.errors import BudgetError, LedgerError, PolicyError
from adomnia.policy.policy import read_policy
from adomnia.review.questioner import Questioner, subset_counting
from adomnia.review.rehearsal import SECRET, made_up, rehearsal

POLICY = """[data]
source = "people.csv"
[privacy]
epsilon = 1
confirmed = true
[attributes.age]
low = 0
high = 10
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,age\n" + "".join(f"p{i},{i % 10}\n" for i in range(100)))
    Path("adomnia.toml").write_text(POLICY)
    return tmp_path


def spent(file: str = "adomnia.toml") -> str:
    with open_database(file) as database:
        return database.budget()["data"]["spent"]


def test_the_copy_begins_where_the_real_one_is_and_is_spent_alone(house):
    with open_database() as database:
        database.session().ask("SELECT COUNT(*) AS n FROM people", "1/4")
    with rehearsal(read_policy("adomnia.toml")) as copy:
        ask = Questioner(copy.session(), Fraction(1, 4))
        assert copy.budget()["data"]["spent"] == "1/4"
        for age in range(3):
            ask(f"age = {age}")
        with pytest.raises(BudgetError):
            ask("age = 4")
        room = Path(copy.policy.ledger).parent
    assert spent() == "1/4"
    assert not room.exists()


def test_who_wants_new_noise_is_told_when_there_is_none(house):
    with rehearsal(read_policy("adomnia.toml")) as copy:
        same = Questioner(copy.session(), Fraction(1, 4))
        assert same("age = 1") == same("age = 1")
        assert same.spent == Fraction(1, 4)  # the second was free
        again = Questioner(copy.session(), Fraction(1, 4), str)
        with pytest.raises(BudgetError, match="answered before"):
            again("age = 1")
        assert copy.budget()["data"]["spent"] == "1/4"


def test_where_there_is_no_ledger_none_is_made(house):
    with rehearsal(read_policy("adomnia.toml")) as copy:
        Questioner(copy.session(), 1)("age = 1")
    assert sorted(os.listdir(house)) == ["adomnia.toml", "people.csv"]


def test_the_real_one_is_spent_only_if_it_is_said(house):
    told = {"condition": "age = 1", "epsilon": Fraction(1, 2), "repeats": 1}
    with adomnia.open() as real:
        real.attack("averaging", **told)
        assert real.budget()["data"]["spent"] == "0"
        real.attack("averaging", **told, spend=True)
    assert spent() == "1/2"


def test_a_draft_can_be_rehearsed_but_not_spent(house):
    Path("adomnia.toml").write_text(POLICY.replace("true", "false"))
    with rehearsal(read_policy("adomnia.toml")) as copy:
        assert Questioner(copy.session(), 1)("age >= 0") > 0
    with pytest.raises(PolicyError):
        adomnia.open()


def test_a_damaged_ledger_is_not_copied(house):
    Path("adomnia.ledger").write_text("this is no ledger, and long enough to be looked at" * 20)
    with pytest.raises(LedgerError), rehearsal(read_policy("adomnia.toml")):
        pass


def test_subsets_of_people_are_counted(house):
    Path("adomnia.toml").write_text(POLICY.replace("epsilon = 1", "epsilon = 100000"))
    with rehearsal(read_policy("adomnia.toml")) as copy:
        people = [f"p{i}" for i in range(20)]
        ask = subset_counting(Questioner(copy.session(), 1000), "id", people, "age < 5")
        chosen = np.arange(20) % 2
        assert ask(chosen) == 4  # p1 and p3, p11 and p13
        assert ask(np.zeros(20, int)) == 0


def test_a_made_up_table_has_the_same_promise_and_a_whole_budget(house):
    with open_database() as database:
        database.session().ask("SELECT COUNT(*) AS n FROM people", 1)
    bits = [1, 0, 1, 1]
    with made_up(read_policy("adomnia.toml"), bits) as database:
        assert database.budget()["data"]["remaining"] == "1"
        asking = Questioner(database.session(), Fraction(1, 2))
        ask = subset_counting(asking, "person", range(4), SECRET)
        answers = [ask(np.array([1, 1, 1, 0])), ask(np.array([0, 0, 0, 1]))]
        assert all(answer == int(answer) for answer in answers)
        with pytest.raises(BudgetError):
            ask(np.array([1, 1, 1, 1]))
    assert spent() == "1"
