"""Several private tables over HTTP: what may be asked about, plans and answers."""

from __future__ import annotations

import json
from unittest.mock import patch

import pytest
from lodge import SECRETS, Lodge, client, served

from adomnia.curator.database import open_database
from adomnia.server.accounts import open_accounts
from tests.clinic import JOINED, PER_PATIENT, write_clinic


@pytest.fixture(scope="module")
def alice(tmp_path_factory):
    file = write_clinic(tmp_path_factory.mktemp("clinic"))
    with open_database(file) as database, open_accounts(database.policy) as accounts:
        with patch("adomnia.server.accounts.SCRYPT", (2**10, 8, 1)):
            accounts.add("alice", "analyst", SECRETS["alice"])
        with served(Lodge(file, database, accounts).service()) as at, client(at) as made:
            yield made


def test_the_schema_lists_tables_keys_and_views(alice):
    found = alice.get("/v1/schema").json()
    assert found["units"] == ["patients"]
    tables = {table["name"]: table for table in found["tables"]}
    assert list(tables) == ["patients", "visits", "diagnoses", "stays", "wards"]
    visits = tables["visits"]
    assert (visits["key"], visits["references"], visits["max_rows"]) == (
        "id", {"patient": "patients"}, 4,
    )  # fmt: skip
    assert [one["name"] for one in visits["attributes"]] == ["ward", "cost"]
    assert "key" not in tables["diagnoses"]
    assert tables["patients"]["description"] == "Who was ever admitted."
    assert tables["stays"]["sql"].startswith("SELECT p.sex")
    assert [one["type"] for one in tables["stays"]["attributes"]] == ["text", "text", "bigint"]
    assert tables["wards"]["public"]
    assert "one of patients" in found["promise"][0]
    for word in ("surname", "Zzmayer", ".csv", "adomnia unit"):
        assert word not in json.dumps(found)


@pytest.mark.parametrize("sql", [JOINED, PER_PATIENT, "SELECT SUM(cost) AS s FROM stays"])
def test_plans_and_answers(alice, sql):
    told = alice.post("/v1/plan", json={"sql": sql, "epsilon": 2}).json()
    assert told["epsilon"] == "2"
    answer = alice.post("/v1/ask", json={"sql": sql, "epsilon": 2}).json()
    assert answer["spent"] == {"epsilon": "2"}
    for text in (json.dumps(told), json.dumps(answer)):
        assert "adomnia" not in text
    receipt = alice.get(f"/v1/receipts/{answer['receipt']}").json()
    assert receipt["statement"] == sql
    assert "adomnia" not in json.dumps(receipt)


def test_what_is_refused_points_at_the_character(alice):
    sql = "SELECT COUNT(*) FROM visits v JOIN patients p ON v.ward = p.sex WHERE p.id = 'p1'"
    error = alice.post("/v1/ask", json={"sql": sql, "epsilon": 1}).json()["error"]
    assert error["position"] == sql.index("p.id")
    assert "names a person" in error["message"]
