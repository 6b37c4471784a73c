"""Stages of a question as server-sent events, and its end before the answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from lodge import COUNT, SECRETS, Lodge, client, served

from adomnia.curator import spend as spending
from adomnia.engines.interrupts import interruptible
from adomnia.errors import MachineryError
from adomnia.server.http import events
from adomnia.server.serve import Addresses

STREAM = {"Accept": "text/event-stream"}


@pytest.fixture(scope="module")
def at(lodge: Lodge) -> Iterator[Addresses]:
    with served(lodge.service()) as addresses:
        yield addresses


@dataclass
class Slow:
    """Questions that take until they are let go, or cancelled."""

    begun: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def wait(self) -> None:
        with interruptible(self.cancelled.set):
            self.begun.set()
            while not self.go.wait(0.02):
                if self.cancelled.is_set():
                    raise MachineryError("the engine was interrupted")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    made, take = Slow(), spending._released

    def waiting(backend: Any, use: Any) -> Any:
        made.wait()
        return take(backend, use)

    monkeypatch.setattr(spending, "_released", waiting)
    monkeypatch.setattr(events, "HEARTBEAT", 0.1)
    yield made
    made.go.set()


def told(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """The events of a stream."""
    kind = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        if line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


def asked(sql: str, epsilon: str = "1/3") -> dict[str, Any]:
    return {"json": {"sql": sql, "epsilon": epsilon}, "headers": STREAM}


def test_stages_then_the_answer(at: Addresses) -> None:
    with client(at) as alice, alice.stream("POST", "/v1/ask", **asked(COUNT)) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        found = list(told(response))
    assert [kind for kind, _ in found if kind != "heartbeat"] == ["stage"] * 4 + ["answer"]
    stages = [body["stage"] for kind, body in found if kind == "stage"]
    assert stages == ["received", "planned", "paid", "answered"]
    assert found[-1][1]["spent"] == {"epsilon": "1/3"}


def test_errors_have_the_one_shape(at: Addresses) -> None:
    with client(at) as alice:
        with alice.stream("POST", "/v1/ask", **asked("SELECT x FROM people")) as response:
            *_, (kind, body) = told(response)
        assert (kind, body["error"]["code"]) == ("error", "question")
        with alice.stream("POST", "/v1/ask", **asked(COUNT, "2000")) as response:
            *_, (kind, body) = told(response)
    assert (kind, body["error"]["code"]) == ("error", "budget")


def test_a_heartbeat_says_how_long_and_nothing_else(at: Addresses, slow: Slow) -> None:
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > 30"
    with client(at) as alice, alice.stream("POST", "/v1/ask", **asked(sql)) as response:
        beats = []
        for kind, body in told(response):
            if kind == "heartbeat":
                beats.append(body)
                if len(beats) == 3:
                    slow.go.set()
        assert kind == "answer"
    assert all(set(body) == {"elapsed"} for body in beats)


def test_a_cancelled_question_stays_paid_and_says_so(
    at: Addresses, lodge: Lodge, slow: Slow
) -> None:
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > 31"
    before = len(lodge.database.ledger())
    with client(at) as alice, alice.stream("POST", "/v1/ask", **asked(sql)) as response:
        last: Any = None
        for kind, body in told(response):
            if kind == "stage" and body["stage"] == "received":
                question = body["question"]
            if kind == "stage" and body["stage"] == "paid":
                with client(at, "bob") as bob:
                    assert bob.delete(f"/v1/questions/{question}").status_code == 404
                with client(at) as again:
                    ended = again.delete(f"/v1/questions/{question}")
                assert ended.status_code == 202
                assert "stays spent" in ended.json()["message"]
            last = (kind, body)
    assert last[0] == "error"
    assert last[1]["error"]["code"] == "cancelled"
    assert "stays spent" in json.dumps(last[1])
    entries = lodge.database.ledger()[before:]
    assert [entry.kind for entry in entries] == ["reserved"]
    with client(at) as alice:
        assert alice.delete(f"/v1/questions/{question}").status_code == 404


def test_closing_the_connection_cancels(at: Addresses, lodge: Lodge, slow: Slow) -> None:
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > 32"
    before = len(lodge.database.ledger())
    with client(at) as alice, alice.stream("POST", "/v1/ask", **asked(sql)) as response:
        for kind, body in told(response):
            if kind == "stage" and body["stage"] == "paid":
                assert slow.begun.wait(60)  # before that there is nothing to interrupt
                break  # which closes the connection
    assert slow.cancelled.wait(60)
    entries = lodge.database.ledger()[before:]
    assert [entry.kind for entry in entries] == ["reserved"]


def send_and_leave(at: Addresses, request: httpx.Request, begun: threading.Event) -> None:
    """Send a request of Alice, and hang up when her question has begun."""
    request = next(httpx.BasicAuth("alice", SECRETS["alice"]).auth_flow(request))
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    with socket.create_connection((at.host, at.http or 0), timeout=60) as line:
        line.sendall(f"POST /v1/ask HTTP/1.1\r\n{head}\r\n".encode() + request.content)
        assert begun.wait(60)


def test_a_plain_request_that_is_left_alone_is_answered_for_the_next_one(
    at: Addresses, lodge: Lodge, slow: Slow
) -> None:
    body = {"sql": "SELECT COUNT(*) AS n FROM people WHERE age > 33", "epsilon": "1/3"}
    key = {"Idempotency-Key": "left alone"}
    before = len(lodge.database.ledger())
    with client(at) as alice:
        request = alice.build_request("POST", "/v1/ask", json=body, headers=key)
        send_and_leave(at, request, slow.begun)
    slow.go.set()
    with client(at) as alice:
        for _ in range(600):
            if len(lodge.database.ledger()) >= before + 2:
                break
            time.sleep(0.1)
        answer = alice.post("/v1/ask", json=body, headers=key).json()
    assert answer["spent"] == {"epsilon": "0"}
    assert [entry.kind for entry in lodge.database.ledger()[before:]] == ["reserved", "answered"]
