"""The books over HTTP: who sees what, and what nobody sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from lodge import COUNT, Lodge, client, served

from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses

OF_BOB = "SELECT COUNT(*) AS hidden FROM people WHERE age = 55"


@pytest.fixture(scope="module")
def at(lodge: Lodge) -> Iterator[Addresses]:
    """Doors, after bob, alice and the curator have asked and two things were published."""
    with served(lodge.service(LoginLimits(by_both=10**6, by_address=10**6))) as addresses:
        for name, sql in (("bob", OF_BOB), ("alice", COUNT), ("carol", COUNT), ("bob", COUNT)):
            with client(addresses, name) as who:
                told = who.post("/v1/ask", json={"sql": sql, "epsilon": "1/4"})
                assert told.status_code == 200
        database = lodge.database
        database.release(database.plan_release(marginals=["sex", "city"], epsilon=1))
        database.add_prior("SELECT sex, COUNT(*) FROM people GROUP BY sex")
        yield addresses


def get(at: Addresses, name: str, path: str) -> Any:
    with client(at, name) as who:
        found = who.get(path)
    assert found.status_code == 200, found.text
    return found.json()


def receipts(at: Addresses, name: str) -> list[str]:
    entries = get(at, name, "/v1/ledger")["entries"]
    return [entry["receipt"] for entry in entries if entry["kind"] == "reserved"]


def test_an_analyst_sees_their_own_budget(at: Addresses) -> None:
    found = get(at, "bob", "/v1/budget")
    assert found["name"] == "bob"
    assert found["data"] is None
    assert set(found["analysts"]) == {"bob"}
    assert found["remaining"]["epsilon"] == found["analysts"]["bob"]["remaining"]


def test_a_curator_sees_every_budget(at: Addresses, lodge: Lodge) -> None:
    found = get(at, "carol", "/v1/budget")
    assert {"data", "analysts"} <= set(found)
    state = lodge.database.budget()
    assert (found["data"], found["analysts"]) == (state["data"], state["analysts"])


def test_an_analyst_sees_their_own_entries_numbered_by_themselves(at: Addresses) -> None:
    entries = get(at, "alice", "/v1/ledger")["entries"]
    assert [entry["number"] for entry in entries] == [1, 2]
    assert [entry["kind"] for entry in entries] == ["reserved", "answered"]
    assert entries[0]["analyst"] == "alice"
    assert entries[0]["cost"] == {"epsilon": "1/4"}
    text = json.dumps(entries)
    assert "bob" not in text
    assert "curator" not in text


def test_a_curator_sees_all_entries_a_page_at_a_time(at: Addresses, lodge: Lodge) -> None:
    pages, after = [], 0
    while after is not None:
        page = get(at, "carol", f"/v1/ledger?after={after}&limit=3")
        pages += page["entries"]
        after = page["next"]
    listed = lodge.database.ledger()
    assert [entry["number"] for entry in pages] == [entry.number for entry in listed]
    assert [entry["kind"] for entry in pages] == [entry.kind for entry in listed]
    assert OF_BOB in {entry.get("statement") for entry in pages}


@pytest.mark.parametrize("name", ["alice", "bob", "carol"])
def test_what_was_measured_is_in_no_entry(at: Addresses, name: str) -> None:
    text = json.dumps(get(at, name, "/v1/ledger?limit=1000"))
    kept = ("readings", "values", "measured", "marginals", "body")
    assert all(f'"{word}"' not in text for word in kept)


def test_a_receipt_is_for_whoever_paid_and_for_curators(at: Addresses) -> None:
    (own, *_) = receipts(at, "bob")
    found = get(at, "bob", f"/v1/receipts/{own}")
    assert found["statement"] == OF_BOB
    assert found["answered"] is True
    assert get(at, "carol", f"/v1/receipts/{own}") == found
    with client(at, "alice") as alice:
        refused = [alice.get(f"/v1/receipts/{name}") for name in (own, "0" * 32, "nonsense")]
    assert {told.status_code for told in refused} == {404}
    assert len({told.text for told in refused}) == 1  # whether it exists is not told either


@pytest.mark.parametrize("name", ["alice", "carol"])
def test_releases_are_for_everybody(at: Addresses, name: str) -> None:
    private, exact = get(at, name, "/v1/releases")["releases"]
    assert (private["kind"], private["tables"]) == ("private", [["sex"], ["city"]])
    assert (exact["kind"], exact["tables"]) == ("exact", [])
    assert exact["statement"].startswith("SELECT sex")
    assert "analyst" not in private


def test_the_schema_has_domains_and_the_promise_and_nothing_of_the_data(at: Addresses) -> None:
    found = get(at, "alice", "/v1/schema")
    (table,) = found["tables"]
    kinds = {part["name"]: part["type"] for part in table["attributes"]}
    assert kinds == {"sex": "text", "age": "bigint", "city": "text"}
    domains = {part["name"]: part["domain"] for part in table["attributes"]}
    assert domains["age"] == {"low": 0, "high": 120, "step": 1}
    assert domains["city"] == {"values": ["linz", "rome"], "other": "elsewhere"}
    assert "Differential privacy" in found["promise"][0]
    assert any("Released exactly before: 1 statement" in text for text in found["promise"])
    assert "Zzsecret" not in json.dumps(found)
    assert "rows" not in table


def test_a_release_costs_its_buyer_and_a_later_answer_nothing(at: Addresses) -> None:
    with client(at, "bob") as bob:
        asked = {"sql": "SELECT city, COUNT(*) AS n FROM people GROUP BY city", "epsilon": "1/9"}
        answer: httpx.Response = bob.post("/v1/ask", json=asked)
    assert answer.json()["spent"] == {"epsilon": "0"}
