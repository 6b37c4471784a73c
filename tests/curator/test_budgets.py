"""Budgets of the data, of analysts and of sessions: nothing passes any of them."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from town import Town

import adomnia

COUNT = "SELECT COUNT(*) AS n FROM people WHERE age > {}"
TWO = "[analysts.alice]\nepsilon = 2\n[analysts.bob]\nepsilon = 2\n"


def test_the_data_has_one_budget_for_all(town: Town) -> None:
    database = town.open("epsilon = 3", TWO)
    database.session("alice").ask(COUNT.format(1), 2)
    database.session("bob").ask(COUNT.format(1), "0.9")
    with pytest.raises(adomnia.BudgetError, match="budget of the data") as caught:
        database.session("bob").ask(COUNT.format(2), "0.2")
    assert caught.value.exit_code == 3
    assert "1/10" not in str(caught.value)  # it would tell bob what alice has spent
    assert database.session("bob").remaining() == {"epsilon": Fraction(11, 10)}  # his own alone
    with pytest.raises(adomnia.BudgetError, match="budget of the data") as caught:
        database.session().ask(COUNT.format(2), "0.2")
    assert "1/10" in str(caught.value)
    database.session("bob").ask(COUNT.format(2), "0.1")
    assert database.budget() == {
        "data": {"spent": "3", "remaining": "0", "unit": "epsilon"},
        "analysts": {
            "alice": {"spent": "2", "remaining": "0", "unit": "epsilon"},
            "bob": {"spent": "1", "remaining": "1", "unit": "epsilon"},
        },
    }
    assert database.session("alice").ask(COUNT.format(1), 1).spent == {"epsilon": 0}


def test_an_analyst_cannot_pass_her_own(town: Town) -> None:
    database = town.open("epsilon = 3", TWO)
    assert database.session("alice").remaining() == {"epsilon": 2}
    with pytest.raises(adomnia.BudgetError, match="analyst"):
        database.session("alice").ask(COUNT.format(1), "2.000001")
    assert database.budget()["data"]["spent"] == "0"


def test_nobody_else_may_ask(town: Town) -> None:
    database = town.open("epsilon = 3", TWO)
    for name in ("mallory", "", "curator", "ALICE"):
        with pytest.raises(adomnia.NotAllowedError) as caught:
            database.session(name)
        assert caught.value.exit_code == 4


def test_a_session_holds_across_those_of_its_name(town: Town) -> None:
    first = town.open().session(name="study", epsilon=1)
    first.ask(COUNT.format(1), "0.6")
    second = town.open().session(name="study", epsilon=1)
    with pytest.raises(adomnia.BudgetError, match="session"):
        second.ask(COUNT.format(2), "0.6")
    second.ask(COUNT.format(2), "0.4")
    other = town.open().session(epsilon=1)
    other.ask(COUNT.format(3), 1)
    with pytest.raises(adomnia.BudgetError, match="session"):
        other.ask(COUNT.format(4), "1/1000")


def one(arguments: tuple[str, str]) -> str:
    """A process of its own, in which an analyst asks for all that is left."""
    file, analyst = arguments
    with adomnia.open(file) as database:
        return attempt(database.session(analyst))


def attempt(session: adomnia.Session) -> str:
    try:
        session.ask(COUNT.format(7), 1)
    except adomnia.BudgetError:
        return "refused"
    return "answered"


def test_one_of_two_threads_gets_the_last_epsilon(town: Town) -> None:
    for turn in range(5):
        for file in town.folder.glob("adomnia.ledger*"):
            file.unlink()
        database = town.open("epsilon = 1", TWO)
        sessions = [database.session(name) for name in ["alice", "bob"] * 4]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(attempt, sessions))
        spenders = database._backend.journal.account().analysts.values()
        assert sum(loss.epsilon for loss in spenders) == 1
        assert "answered" in found, turn
        database.close()
        town.opened.remove(database)


def test_one_of_two_processes_gets_the_last_epsilon(town: Town) -> None:
    file = str(town.write("epsilon = 1", TWO))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(one, [(file, "alice"), (file, "bob")]))
    assert sorted(found) == ["answered", "refused"]
    database = town.open("epsilon = 1", TWO)
    assert database.budget()["data"]["spent"] == "1"


# Kinds of promises


def test_a_pure_promise_takes_no_rho_and_no_undeclared_keys(town: Town) -> None:
    database = town.open("epsilon = 10")
    with pytest.raises(adomnia.BudgetError, match="rho"):
        database.session().ask(COUNT.format(1), rho="1/2")
    with pytest.raises(adomnia.QuestionError, match="delta") as caught:
        database.session().ask("SELECT city, COUNT(*) FROM people GROUP BY city", 1)
    assert "declare its values" in str(caught.value)
    assert database.budget()["data"]["spent"] == "0"


def test_an_approximate_promise(town: Town) -> None:
    database = town.open("epsilon = 4\ndelta = 1e-6")
    analyst = database.session()
    cities = analyst.ask("SELECT city, COUNT(*) AS n FROM people GROUP BY city", 1)
    assert cities.spent == {"epsilon": 1, "delta": Fraction(1, 10**8)}
    assert [row[0] for row in cities.rows] == ["Zzlinz", "Zzvienna"]
    gaussian = analyst.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", rho="1/100")
    assert gaussian.spent == {"epsilon": 0, "rho": Fraction(1, 100)}
    state = database.budget()["data"]
    assert Fraction(state["spent"]) > 1
    assert 0 < Fraction(state["delta_spent"]) < Fraction(1, 10**6)
    with pytest.raises(adomnia.BudgetError):
        analyst.ask(COUNT.format(1), rho=1)
    with pytest.raises(adomnia.BudgetError, match="delta"):
        analyst.ask("SELECT city, SUM(age) FROM people GROUP BY city", "1/10", delta="1e-6")


def test_a_concentrated_promise(town: Town) -> None:
    database = town.open("rho = 1")
    analyst = database.session()
    assert analyst.ask(COUNT.format(1), rho="1/2").remaining == {"rho": Fraction(1, 2)}
    assert analyst.ask(COUNT.format(2), epsilon="1/2").remaining == {"rho": Fraction(3, 8)}
    several = "SELECT COUNT(*), SUM(age), MEDIAN(age) FROM people WHERE region = 1"
    left = analyst.ask(several, rho="1/4").remaining["rho"]
    assert 0 <= left - Fraction(1, 8) < Fraction(1, 10**30)  # a root is rounded against us
    with pytest.raises(adomnia.BudgetError):
        analyst.ask(COUNT.format(3), rho="1/4")
    assert database.budget()["data"]["unit"] == "rho"


@pytest.mark.parametrize("kind", [{"epsilon": "1/10"}, {"rho": "1/200"}])
def test_planning_spends_nothing(town: Town, kind: dict[str, Any]) -> None:
    database = town.open("epsilon = 4\ndelta = 1e-6")
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    plan = database.session().plan(sql, **kind).to_json()
    answer = database.session().ask(sql, **kind)
    assert plan["margins"]["n"] == answer.margins["n"][0]
    assert plan["cells"] == 4  # two values, NULL, and what is not listed
    assert database.budget()["data"]["spent"] == str(answer.spent["epsilon"]) or "rho" in kind
    assert Path(town.folder / "adomnia.ledger").exists()


def test_a_margin_names_its_epsilon(town: Town) -> None:
    analyst = town.open().session()
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    plan = analyst.plan(sql, margin=20)
    assert plan.margins["n"] <= 20
    assert analyst.plan(sql, plan.spent["epsilon"] * Fraction(9, 10)).margins["n"] > 20
    with pytest.raises(adomnia.QuestionError, match="not public"):
        analyst.plan("SELECT AVG(age) FROM people", margin=1)
    assert analyst.ask(sql, plan.spent["epsilon"]).margins["n"][0] <= 20
    # a count that was shown says about how many rows there are
    assert analyst.plan("SELECT AVG(age) AS a FROM people", margin=1).estimated_margins["a"]
    for margin in (0, -1, float("nan"), float("inf")):
        with pytest.raises(adomnia.QuestionError):
            analyst.plan(sql, margin=margin)
