"""Asking over HTTP: answers, forecasts, keys that make a request repeatable, and refusals."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import httpx
import pytest
from lodge import COUNT, SECRETS, Lodge, client, served

from adomnia import limits
from adomnia.errors import MachineryError
from adomnia.server import service as service_module
from adomnia.server.http import request_context
from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses

SHAPE = {"code", "message", "position", "hint"}


@pytest.fixture(scope="module")
def at(lodge: Lodge) -> Iterator[Addresses]:
    with served(lodge.service(LoginLimits(by_both=10**6, by_address=10**6))) as addresses:
        yield addresses


@pytest.fixture
def alice(at: Addresses) -> Iterator[httpx.Client]:
    with client(at) as made:
        yield made


def error(response: httpx.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    assert set(response.json()["error"]) == SHAPE
    assert response.headers["content-type"] == "application/json"
    return response.json()["error"]


def test_an_answer_is_the_one_of_the_session(alice: httpx.Client, lodge: Lodge) -> None:
    asked = {"sql": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "epsilon": 0.5}
    answer = alice.post("/v1/ask", json=asked).json()
    assert answer["columns"] == ["sex", "n"]
    assert [row[0] for row in answer["rows"]] == ["F", "M"]
    assert answer["spent"] == {"epsilon": "1/2"}
    again = lodge.database.session("alice").ask(asked["sql"], epsilon="1/2")
    assert [list(row) for row in again.rows] == answer["rows"]
    assert again.spent["epsilon"] == 0


def test_a_plan_spends_nothing(alice: httpx.Client, lodge: Lodge) -> None:
    before = lodge.database.budget()
    told = alice.post("/v1/plan", json={"sql": COUNT, "epsilon": "1/10"}).json()
    assert told["epsilon"] == "1/10"
    assert told["margins"]["n"] > 0
    needed = alice.post("/v1/plan", json={"sql": COUNT, "margin": 20}).json()
    assert Fraction(needed["epsilon"]) > Fraction(1, 10)
    assert lodge.database.budget() == before


def test_an_interval_and_an_estimate_are_told(alice: httpx.Client, lodge: Lodge) -> None:
    asked = {"sql": "SELECT MEDIAN(age) AS m FROM people", "epsilon": 1, "error": "interval"}
    answer = alice.post("/v1/ask", json=asked).json()
    ((low, high),) = answer["intervals"]["m"]
    assert low <= answer["rows"][0][0] <= high
    counted = alice.post("/v1/ask", json={"sql": COUNT, "epsilon": 1}).json()
    mean = {"sql": COUNT.replace("COUNT(*)", "AVG(age)"), "epsilon": 1}
    plan = alice.post("/v1/plan", json=mean).json()
    assert plan["margins"] == {"n": None}
    assert plan["estimated_margins"]["n"]["margin"] > 0
    assert plan["estimated_from"]["receipt"] == counted["receipt"]
    wrong = alice.post("/v1/ask", json={**asked, "error": "small"})
    assert error(wrong, 422)["code"] == "shape"


def test_a_key_makes_a_request_repeatable(alice: httpx.Client, lodge: Lodge) -> None:
    asked = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 40", "epsilon": "1/7"}
    headers = {"Idempotency-Key": "key 1"}
    first = alice.post("/v1/ask", json=asked, headers=headers).json()
    spent = lodge.database.budget()
    again = alice.post("/v1/ask", json=asked, headers=headers).json()
    assert (again["rows"], again["receipt"]) == (first["rows"], first["receipt"])
    assert again["spent"] == {"epsilon": "0"}
    assert lodge.database.budget() == spent
    other = {**asked, "epsilon": "1/8"}
    refused = error(alice.post("/v1/ask", json=other, headers=headers), 409)
    assert refused["code"] == "reused_key"
    assert "another question" in refused["message"]


@pytest.mark.parametrize("key", ["", "x" * 201, "tab\there"])
def test_a_key_is_a_short_printable_text(alice: httpx.Client, key: str) -> None:
    headers = {"Idempotency-Key": key}
    refused = alice.post("/v1/ask", json={"sql": COUNT, "epsilon": 1}, headers=headers)
    assert error(refused, 422)["code"] == "shape"


def test_a_wrong_statement_is_pointed_at(alice: httpx.Client) -> None:
    refused = alice.post("/v1/ask", json={"sql": "SELECT nothing FROM people", "epsilon": 1})
    told = error(refused, 400)
    assert told["code"] == "question"
    assert told["position"] == 7
    unpaid = error(alice.post("/v1/ask", json={"sql": COUNT}), 400)
    assert "epsilon" in unpaid["message"]


def test_a_spent_budget_is_402_and_says_what_fits(at: Addresses) -> None:
    with client(at, "bob") as bob:
        told = error(bob.post("/v1/ask", json={"sql": COUNT, "epsilon": 2}), 402)
    assert told["code"] == "budget"
    assert "would fit" in told["hint"]


SHAPELESS: list[Any] = [
    [], "text", 3, {}, {"epsilon": 1}, {"sql": 3}, {"sql": ""}, {"sql": COUNT, "epsilon": 0},
    {"sql": COUNT, "epsilon": -1}, {"sql": COUNT, "epsilon": "1e9"},
    {"sql": COUNT, "epsilon": True}, {"sql": COUNT, "epsilon": None},
    {"sql": COUNT, "epsilon": 1, "rho": 1},
    {"sql": COUNT, "epsilon": 1, "confidence": 1}, {"sql": COUNT, "epsilon": 1, "more": 1},
    {"sql": "x" * 100_001, "epsilon": 1}, {"sql": COUNT, "epsilon": "1/0"},
    {"sql": COUNT, "epsilon": "0.1\n"},
]  # fmt: skip


@pytest.mark.parametrize("body", SHAPELESS, ids=range(len(SHAPELESS)))
def test_another_shape_is_422(alice: httpx.Client, body: Any) -> None:
    assert error(alice.post("/v1/ask", json=body), 422)["code"] == "shape"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"sql": NaN}', b'"\\ud800"', b"[" * 90_000])
def test_what_is_no_json_is_400(alice: httpx.Client, body: bytes) -> None:
    kind = {"Content-Type": "application/json"}
    assert error(alice.post("/v1/ask", content=body, headers=kind), 400)["code"] == "question"


def test_other_media_and_sizes_are_refused(alice: httpx.Client) -> None:
    assert error(alice.post("/v1/ask", data={"sql": COUNT}), 415)["code"] == "media_type"
    large = {"sql": COUNT, "more": "x" * limits.MAX_HTTP_BODY}
    assert error(alice.post("/v1/ask", json=large), 413)["code"] == "too_large"


def test_a_request_that_does_not_arrive_is_408(
    alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_context, "SECONDS", 0.1)
    stop = threading.Event()

    def slow() -> Iterator[bytes]:
        yield b'{"sql"'
        stop.wait(5)

    kind = {"Content-Type": "application/json"}
    assert error(alice.post("/v1/ask", content=slow(), headers=kind), 408)["code"] == "slow"
    stop.set()


def test_unknown_paths_and_methods_have_the_same_shape(alice: httpx.Client) -> None:
    assert error(alice.get("/v1/nothing"), 404)["code"] == "missing"
    wrong = alice.put("/v1/ask", json={})
    assert error(wrong, 405)["code"] == "method"
    assert wrong.headers["allow"] == "POST"
    assert error(alice.get("/v1/ledger?limit=0"), 422)["code"] == "shape"
    assert error(alice.get("/v1/ledger?limit=1&limit=2"), 422)["code"] == "shape"
    assert error(alice.get("/v1/budget?x=1"), 422)["code"] == "shape"


def test_a_failure_of_the_machinery_tells_its_kind_alone(
    alice: httpx.Client, lodge: Lodge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ValueError("Zzsecret")

    monkeypatch.setattr(lodge.database, "budget", broken)
    told = error(alice.get("/v1/budget"), 500)
    assert told["message"] == "the machinery failed (ValueError)"
    assert error(alice.get("/v1/health"), 500)["code"] == "machinery"


def test_numbers_that_json_does_not_know_become_null() -> None:
    from adomnia.server.http.error_responses import json_bytes

    assert json_bytes({"n": [1.5, float("inf"), float("nan")]}) == b'{"n": [1.5, null, null]}'
    assert json_bytes("\ud800") == b'"\\ud800"'


# Who comes in


def test_a_key_and_a_secret_open_and_nothing_else_does(at: Addresses, lodge: Lodge) -> None:
    key = lodge.accounts.make_key("alice")
    with client(at, None) as nobody:
        asked = lambda **headers: nobody.get("/v1/budget", headers=headers)  # noqa: E731
        assert asked(Authorization=f"Bearer {key}").json()["name"] == "alice"
        for wrong in ("", "Bearer", f"Bearer {key}0", "Basic !", "Basic YWxpY2U=", f"Token {key}"):
            told = asked(Authorization=wrong)
            assert error(told, 401)["code"] == "stranger"
            assert told.headers["www-authenticate"].startswith('Bearer realm="adomnia"')
        assert nobody.get("/v1/health").json() == {"status": "ok"}
        lodge.accounts.revoke_key("alice", key.split("_")[1])
        time.sleep(service_module.RECENT)
        assert error(asked(Authorization=f"Bearer {key}"), 401)


def test_failed_log_ins_are_slowed_down(lodge: Lodge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "RECENT", 0.0)
    key = lodge.accounts.make_key("alice")
    with (
        served(lodge.service(LoginLimits(by_both=2, by_address=4))) as at,
        client(at, None) as nobody,
    ):
        for _ in range(2):
            assert nobody.get("/v1/budget", auth=("alice", "wrong")).status_code == 401
        slowed = nobody.get("/v1/budget", auth=("alice", SECRETS["alice"]))
        assert error(slowed, 429)["code"] == "too_many"
        assert 1 <= int(slowed.headers["retry-after"]) <= 60
        assert nobody.get("/v1/budget", auth=("bob", SECRETS["bob"])).status_code == 200
        for _ in range(2):
            assert nobody.get("/v1/budget", auth=("carol", "wrong")).status_code == 401
        assert nobody.get("/v1/budget", auth=("bob", SECRETS["bob"])).status_code == 429
        bearer = {"Authorization": f"Bearer {key}"}
        assert nobody.get("/v1/budget", headers=bearer).status_code == 200
        assert nobody.get("/v1/budget", headers={"Authorization": "Bearer x"}).status_code == 429


def test_many_at_once_cannot_try_more_than_one_may(lodge: Lodge) -> None:
    """A name has so many guesses, also where they all come before the first has failed."""
    with (
        served(lodge.service(LoginLimits(by_both=3, by_address=1000))) as at,
        client(at, None) as nobody,
    ):

        def guess(number: int) -> int:
            return nobody.get("/v1/budget", auth=("alice", f"guess {number}")).status_code

        with ThreadPoolExecutor(20) as pool:
            found = Counter(pool.map(guess, range(20)))
    assert found == {401: 3, 429: 17}


def test_an_analyst_whom_the_policy_does_not_name_may_not_ask(at: Addresses, lodge: Lodge) -> None:
    lodge.accounts.add("erin", "analyst", "the secret of erin")
    with client(at, None) as erin:
        erin.auth = httpx.BasicAuth("erin", "the secret of erin")
        asked = {"sql": COUNT, "epsilon": "0.1"}
        for told in (erin.post("/v1/ask", json=asked), erin.get("/v1/budget")):
            assert error(told, 403)["code"] == "not_allowed"
        assert erin.get("/v1/schema").status_code == 200


# A service without room


def test_what_does_not_fit_is_refused_at_once(
    lodge: Lodge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "THREADS", 1)
    monkeypatch.setattr(service_module, "MAX_WAITING_QUESTIONS", 1)
    begun, go = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        begun.set()
        go.wait(30)
        raise MachineryError("late")

    with served(lodge.service()) as at, client(at, "carol") as carol:
        monkeypatch.setattr("adomnia.curator.session.Session._plan", slow)
        asked = {"sql": COUNT, "epsilon": "0.1"}
        waiting = [threading.Thread(target=carol.post, args=("/v1/ask",), kwargs={"json": asked})
                   for _ in range(2)]  # fmt: skip
        for thread in waiting:
            thread.start()
        assert begun.wait(30)
        while carol.get("/v1/health").status_code != 200:
            pass
        refused = _until_full(carol, asked)
        assert error(refused, 503)["code"] == "busy"
        assert int(refused.headers["retry-after"]) >= 1
        go.set()
        for thread in waiting:
            thread.join()


def _until_full(carol: httpx.Client, asked: dict[str, str]) -> httpx.Response:
    """The second request may still be on its way; then this one waits in its place."""
    for _ in range(20):
        try:
            return carol.post("/v1/ask", json=asked, timeout=1)
        except httpx.ReadTimeout:
            continue
    raise AssertionError("the service is never full")
