"""Attempts to learn what others ask and spend."""

from __future__ import annotations

import re
import time
from fractions import Fraction

from attempting import ask, fresh, signed_in, spent
from lodge import COUNT, Lodge, client

from adomnia.server.serve import Addresses

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
MORE_THAN_THERE_IS = 5000


def test_a_refusal_does_not_tell_what_others_have_spent(at: Addresses) -> None:
    with client(at, "alice") as alice, client(at, "bob") as bob:
        before = ask(bob, COUNT, MORE_THAN_THERE_IS)
        assert ask(alice, fresh(), "1/7").status_code == 200
        after = ask(bob, COUNT, MORE_THAN_THERE_IS)
    assert before.status_code == after.status_code == 402
    assert before.json() == after.json()


def test_what_remains_does_not_tell_what_others_have_spent(at: Addresses) -> None:
    with client(at, "alice") as alice, client(at, "bob") as bob:
        before = alice.get("/v1/budget").json()
        assert ask(bob, fresh(), "1/11").status_code == 200
        assert alice.get("/v1/budget").json() == before


def test_the_page_to_ask_on_does_not_tell_what_others_have_spent(at: Addresses) -> None:
    def without_keys(text: str) -> str:
        return re.sub(r'name="(key|token)" value="[^"]*"', "", text)

    alice = signed_in(at, "alice")
    before = without_keys(alice.get("/").text)
    with client(at, "bob") as bob:
        assert ask(bob, fresh(), "1/13").status_code == 200
    assert without_keys(alice.get("/").text) == before


def test_the_promise_does_not_tell_how_many_others_there_are(at: Addresses) -> None:
    with client(at, "alice") as alice:
        promise = " ".join(alice.get("/v1/schema").json()["promise"])
    assert "named analysts" not in promise


def test_the_time_of_a_free_answer_does_not_tell_what_others_have_asked(lodge: Lodge) -> None:
    def statement(low: int) -> str:
        tests = " OR ".join(f"age = {n % 100} AND sex = 'F'" for n in range(low, low + 400))
        return f"SELECT COUNT(*) AS n FROM people WHERE {tests}"

    def seconds(sql: str) -> float:
        begun = time.process_time()
        lodge.database.session("alice").describe(sql)
        return time.process_time() - begun

    lodge.database.session("bob").plan(statement(7), "1/100")
    unasked = min(seconds(statement(low)) for low in (11, 13, 17))
    assert seconds(statement(7)) > unasked / 5


def test_a_receipt_of_another_is_as_missing_as_none(at: Addresses) -> None:
    with client(at, "alice") as alice, client(at, "bob") as bob:
        paid = ask(alice, fresh(), "1/10").json()["receipt"]
        theirs, nobodys = (bob.get(f"/v1/receipts/{r}") for r in (paid, "0" * 32))
        assert (theirs.status_code, theirs.json()) == (nobodys.status_code, nobodys.json())
    browser = signed_in(at, "bob")
    for page in ("/answers/{}", "/answers/{}/table.csv"):
        shown = [browser.get(page.format(receipt)) for receipt in (paid, "0" * 32)]
        assert [one.status_code for one in shown] == [404, 404]
        assert "asked by" not in shown[0].text


def test_nothing_that_bob_can_read_names_alice(at: Addresses) -> None:
    with client(at, "alice") as alice, client(at, "bob") as bob:
        sql = fresh()
        receipt = ask(alice, sql, "1/10").json()["receipt"]
        api = [bob.get(f"/v1/{part}") for part in ("budget", "ledger", "releases", "schema")]
    browser = signed_in(at, "bob")
    pages = ("/", "/budget", "/ledger", "/ledger.csv", "/ledger.json", "/releases", "/policy",
             "/audit", "/ledger.json?who=alice", "/ledger.json?q=alice")  # fmt: skip
    for seen in (*api, *map(browser.get, pages)):
        assert seen.status_code == 200
        assert "alice" not in seen.text
        assert receipt not in seen.text
        assert sql not in seen.text


def test_the_key_of_another_analyst_is_free_to_use(at: Addresses, lodge: Lodge) -> None:
    key, before = f"key-{time.monotonic_ns()}", spent(lodge, "bob")
    with client(at, "alice") as alice, client(at, "bob") as bob:
        first = ask(alice, COUNT, "1/10", **{"Idempotency-Key": key})
        second = ask(bob, BY_SEX, "1/10", **{"Idempotency-Key": key})
    assert (first.status_code, second.status_code) == (200, 200)
    assert spent(lodge, "bob") - before == Fraction(1, 10)
