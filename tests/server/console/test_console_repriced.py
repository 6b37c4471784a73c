"""What was priced anew has a line of its own: what changed, and what it cost whom."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from console_living import BY_SEX, POLICY, Living, make_folder

from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.server.accounts import Person
from adomnia.server.console.ledger_lines import history, lines, visible

ALICE, BOB, CAROL = Person("alice", "analyst"), Person("bob", "analyst"), Person("carol", "curator")
BY_AGE = "SELECT COUNT(*) AS n FROM people WHERE age >= 65"
TENTH = Fraction(1, 10)


def edit(policy: Path, old: str, new: str) -> None:
    """Write the policy's promise otherwise."""
    assert old in policy.read_text()
    policy.write_text(policy.read_text().replace(old, new))


def asked(tmp_path: Path) -> Path:
    """A policy under which alice and bob have asked."""
    policy = make_folder(tmp_path)
    with open_database(policy) as database:
        database.session("alice").ask(BY_SEX, "0.1")
        database.session("bob").ask(BY_AGE, "0.1")
    return policy


def told(database: PrivateDatabase, person: Person) -> list[tuple[str, dict[str, Fraction]]]:
    """The kinds and costs of the lines that somebody sees."""
    return [(line.kind, dict(line.cost)) for line in visible(lines(database), person)]


def test_an_edited_promise_has_its_line(tmp_path):
    policy = asked(tmp_path)
    edit(policy, 'neighbors = "unbounded"', 'neighbors = "bounded"')
    with open_database(policy) as database:
        last = lines(database)[-1]
        assert (last.kind, last.analyst, last.receipt) == ("re-pricing", "", "")
        assert last.statement == "neighbors: unbounded → bounded"
        # a changed row leaves one sex for another, and is one row of those above an age
        assert last.shares == {"alice": {"epsilon": TENTH}}
        assert last.cost == {"epsilon": TENTH}
        spent = Fraction(database.budget()["data"]["spent"])
        assert sum(line.cost["epsilon"] for line in lines(database)) == spent == 3 * TENTH


def test_an_analyst_sees_what_it_added_to_their_own_and_no_more(tmp_path):
    policy = asked(tmp_path)
    edit(policy, 'neighbors = "unbounded"', 'neighbors = "bounded"')
    with open_database(policy) as database:
        cost = {"epsilon": TENTH}
        assert told(database, ALICE) == [("question", cost), ("re-pricing", cost)]
        assert told(database, BOB) == [("question", cost)]
        assert [line.number for line in visible(lines(database), ALICE)] == [1, 2]
        assert "shares" not in visible(lines(database), ALICE)[-1].to_json()


def test_the_history_steps_up_where_it_was_priced_anew(tmp_path):
    policy = asked(tmp_path)
    edit(policy, 'neighbors = "unbounded"', 'neighbors = "unbounded"\ngroup = 2')
    with open_database(policy) as database:
        budget = database.policy.budget
        steps = [(step.kind, step.spent / TENTH) for step in history(database, budget, None)]
        assert steps == [("question", 1), ("question", 2), ("re-pricing", 4)]
        own = [(step.kind, step.spent / TENTH) for step in history(database, budget, "bob")]
        assert own == [("question", 1), ("re-pricing", 2)]


def test_going_there_and_back_again_has_two_lines_and_refunds_nothing(tmp_path):
    policy = asked(tmp_path)
    for group in (3, 1):
        policy.write_text(POLICY.replace("confirmed", f"group = {group}\nconfirmed"))
        with open_database(policy) as database:
            database.budget()
    with open_database(policy) as database:
        found = [line for line in lines(database) if line.kind == "re-pricing"]
        assert [line.statement for line in found] == ["the policy promises something else"] * 2
        assert [dict(line.cost) for line in found] == [{"epsilon": 4 * TENTH}, {}]
        assert told(database, ALICE)[-1] == ("re-pricing", {"epsilon": 2 * TENTH})


def test_a_promise_that_was_used_is_told_by_its_words(tmp_path):
    policy = asked(tmp_path)
    edit(policy, 'neighbors = "unbounded"', 'neighbors = "bounded"\ngroup = 2')
    with open_database(policy) as database:
        database.session("alice").ask("SELECT SUM(age) AS s FROM people", "0.1")
    policy.write_text(POLICY)
    with open_database(policy) as database:
        found = [line.statement for line in lines(database) if line.kind == "re-pricing"]
    assert found == [
        "neighbors: unbounded → bounded; group: 1 → 2",
        "neighbors: bounded → unbounded; group: 2 → 1",
    ]


def test_exact_releases_say_what_they_added(tmp_path):
    policy = asked(tmp_path)
    with open_database(policy) as database:
        sql = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
        database.add_prior(sql)
        last = lines(database)[-1]
        assert (last.kind, last.statement) == ("exact release", sql)
        assert last.shares == {"alice": {"epsilon": TENTH}}  # a row that comes, another goes
        spent = Fraction(database.budget()["data"]["spent"])
        assert sum(line.cost["epsilon"] for line in lines(database)) == spent


def test_the_pages_show_it(tmp_path):
    policy = asked(tmp_path)
    edit(policy, 'neighbors = "unbounded"', 'neighbors = "bounded"')
    with Living(policy) as living:
        carol, alice, bob = (living.client(name) for name in ("carol", "alice", "bob"))
        for client in (carol, alice):
            page = client.get("/ledger", params={"kind": "re-pricing"}).text
            assert "neighbors: unbounded → bounded" in page
            assert "+ ε 0.1" in page
            assert "<td>re-pricing</td>" in client.get("/budget").text
        assert "earlier answers cost more since" in page
        assert "re-pricing" not in bob.get("/ledger").text + bob.get("/budget").text
        assert carol.get("/ledger", params={"who": "alice"}).text.count('role="row"') == 3
        assert carol.get("/ledger", params={"who": "bob"}).text.count('role="row"') == 2
        assert "neighbors:" not in carol.get("/releases").text
        rows = carol.get("/ledger.json").json()["entries"]
        assert rows[-1]["kind"] == "re-pricing"
        assert rows[-1]["cost"] == {"epsilon": "1/10"}
