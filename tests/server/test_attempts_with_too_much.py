"""Attempts with too much, too long, too slow."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast
from unittest.mock import patch

import pytest
from attempting import ask, fresh, signed_in, slow_questions, token
from lodge import COUNT, Lodge, client

from adomnia.curator import session as session_module
from adomnia.errors import QuestionError
from adomnia.privacy.loss import Amount, exact
from adomnia.server.accounts import Person
from adomnia.server.console.jobs import Jobs
from adomnia.server.http import request_context, timeouts
from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses
from adomnia.server.service import BusyError, Service


@pytest.mark.parametrize(
    "amount",
    ["1e-1100000", "1e-9999999", "1e9999999", "1e-99999999999999999999", "0e-999999", "1e401",
     Decimal("1e-999999"), "1e" + "9" * 390, "9" * 401],
)  # fmt: skip
def test_a_monstrous_amount_is_refused_before_it_is_reckoned(amount: Amount) -> None:
    """10 to the power of -9999999 takes minutes, and nobody else is served meanwhile."""
    begun = time.process_time()
    with pytest.raises(QuestionError):
        exact(amount)
    assert time.process_time() - begun < 5


def test_small_and_large_amounts_are_exact() -> None:
    assert exact("1e-400") == Fraction(1, 10**400)
    assert exact("1E+400") == 10**400
    assert exact("0.10") == exact(0.1) == exact("1/10") == Fraction(1, 10)


@pytest.mark.parametrize(
    "body",
    [
        b'{"sql": "x", "epsilon": 1e999}',
        b'{"sql": "x", "epsilon": NaN}',
        b'{"sql": "x", "epsilon": -Infinity}',
        b'{"sql": "x", "epsilon": "1e-999999999"}',
        b'{"sql": "x", "epsilon": "' + b"9" * 900_000 + b'"}',
        b'{"sql": "x", "epsilon": ' + b"9" * 900_000 + b"}",
        b'{"sql": "x", "epsilon": 1, "epsilon": true}',
        b'{"sql": ' + b"[" * 900_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"sql": "\\ud800", "epsilon": 1}',
        b'{"sql": "x", "epsilon": 1, "margin": 1}',
        b'{"sql": "' + b"(" * 90_000 + b'", "epsilon": 1}',
        b'{"sql": "SELECT ' + b"NOT " * 20_000 + b'", "epsilon": 1}',
    ],
)
def test_monsters_of_json_are_refused_at_once(at: Addresses, body: bytes) -> None:
    begun = time.monotonic()
    with client(at) as alice:
        sent = alice.post("/v1/ask", content=body, headers={"Content-Type": "application/json"})
    assert sent.status_code in (400, 422)
    assert len(sent.content) < 2000
    assert time.monotonic() - begun < 60


def test_the_console_remembers_so_many_questions() -> None:
    class Refusing:
        async def ask(self, *_: Any, **__: Any) -> Any:
            raise QuestionError("no")

    async def send() -> int:
        running = Jobs(cast("Service", Refusing()))
        for number in range(3000):
            await running.start(Person("alice", "analyst"), str(number), "x", {}).ended()
        return sum(
            running.find(Person("alice", "analyst"), str(n)) is not None for n in range(3000)
        )

    assert asyncio.run(send()) < 3000


def test_the_console_runs_so_many_questions_of_one_person() -> None:
    class Slow:
        async def ask(self, *_: Any, **__: Any) -> Any:
            await asyncio.sleep(60)

    async def send() -> int:
        running = Jobs(cast("Service", Slow()))
        for number in range(100):
            try:
                running.start(Person("alice", "analyst"), str(number), "x", {})
            except BusyError:
                running.start(Person("bob", "analyst"), "another", "x", {})
                return number
        return 100

    assert asyncio.run(send()) < 100


def drops(at: Addresses, said: bytes) -> bool:
    """Whether the server ends a connection that has said this and goes silent."""
    with socket.create_connection((at.host, at.http or 0), timeout=60) as line:
        line.sendall(said)
        try:
            while line.recv(1 << 16):
                pass
        except TimeoutError:
            return False
        return True


@pytest.mark.parametrize(
    "said",
    [
        b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na",
    ],
    ids=["head", "form"],
)
def test_a_stranger_who_goes_silent_is_let_go(
    at: Addresses, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_context, "SECONDS", 0.5)
    assert drops(at, said)


def dribble(line: socket.socket) -> None:
    """A byte now and then, for a minute."""
    for _ in range(600):
        line.sendall(b"x")
        time.sleep(0.1)


def test_a_byte_at_a_time_is_not_enough(at: Addresses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_context, "SECONDS", 0.2)
    with socket.create_connection((at.host, at.http or 0), timeout=60) as line:
        line.sendall(b"GET /v1/health HTTP/1.1\r\nX-Slow: ")
        with pytest.raises(OSError):  # noqa: PT011 (a broken pipe, or a reset)
            dribble(line)


def test_who_has_waited_longest_makes_room(at: Addresses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "connection_limit", lambda most: 3)
    silent = [socket.create_connection((at.host, at.http or 0), timeout=60) for _ in range(5)]
    try:
        with client(at, None) as stranger:
            assert stranger.get("/v1/health").status_code == 200
        with suppress(ConnectionResetError):
            assert silent[0].recv(1) == b""
        silent[-1].sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert silent[-1].recv(1 << 16).startswith(b"HTTP/1.1 200")
    finally:
        for line in silent:
            line.close()


def test_another_cannot_end_a_question(at: Addresses) -> None:
    asked = {
        "json": {"sql": fresh(), "epsilon": "1/50"},
        "headers": {"Accept": "text/event-stream"},
    }
    with (
        slow_questions(2),
        client(at) as alice,
        client(at, "bob") as bob,
        alice.stream("POST", "/v1/ask", **asked) as told,
    ):
        lines = (line for line in told.iter_lines() if line.startswith("data: "))
        name = json.loads(next(lines).removeprefix("data: "))["question"]
        theirs, nobodys = (bob.delete(f"/v1/questions/{each}") for each in (name, "0" * 32))
        *_, last = lines
    assert (theirs.status_code, theirs.json()) == (nobodys.status_code, nobodys.json())
    assert '"rows"' in last


def test_a_failure_of_the_machinery_shows_no_text(at: Addresses) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("Zzsecret of row 17")

    with patch.object(session_module.Session, "_plan", broken), client(at) as alice:
        told = ask(alice, fresh(), 1)
        browser = signed_in(at, "alice")
        form = {"token": token(browser), "key": "broken" * 5, "sql": COUNT, "amount": "1"}
        page = browser.get(browser.post("/ask", data=form).headers["location"])
    for seen in (told, page):
        assert "ValueError" in seen.text
        assert "Zzsecret" not in seen.text


def test_log_ins_wait_for_no_others_longer_than_their_own(lodge: Lodge) -> None:
    """Many wrong secrets at once are counted before they are hashed."""
    service = lodge.service(LoginLimits(by_address=3))

    async def many() -> list[str]:
        tries = (service.log_in(f"name{n}", "wrong secret", "10.0.0.1") for n in range(40))
        found = await asyncio.gather(*tries, return_exceptions=True)
        return [type(one).__name__ for one in found]

    found = asyncio.run(many())
    assert found.count("UnauthenticatedError") == 3
    assert found.count("TooManyError") == 37
