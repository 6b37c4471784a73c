"""kill -9 in the middle: after a restart nothing is lost, and nothing is answered or paid twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
from lodge import SECRETS, lodging, process

from adomnia.curator.database import open_database
from adomnia.curator.ledger_view import receipt

CLIENTS, EPSILON = 6, Fraction(1, 100)


class Load:
    """Clients that ask until the server is gone, each request under a key of its own."""

    def __init__(self, url: str) -> None:
        self.url, self.asked, self.answers = url, {}, {}  # type: ignore[var-annotated]
        self.threads = [threading.Thread(target=self.ask, args=(i,)) for i in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def ask(self, number: int) -> None:
        name = "alice" if number % 2 else "carol"
        with httpx.Client(base_url=self.url, auth=(name, SECRETS[name]), timeout=60) as who:
            for turn in range(10_000):
                key = f"{name} {number} {turn}"
                low, high = sorted((number * 10 + turn % 10, turn % 121))
                sql = f"SELECT COUNT(*) AS n FROM people WHERE age BETWEEN {low} AND {high}"
                self.asked[key] = (name, {"sql": sql, "epsilon": str(EPSILON)})
                try:
                    told = post(who, key, self.asked[key][1])
                except httpx.HTTPError:
                    return
                self.answers[key] = told.json()


def post(who: httpx.Client, key: str, body: dict[str, Any]) -> httpx.Response:
    told = who.post("/v1/ask", json=body, headers={"Idempotency-Key": key})
    assert told.status_code == 200, told.text
    return told


def test_a_killed_server_keeps_what_was_paid_and_told(tmp_path: Path) -> None:
    with lodging(tmp_path):
        pass
    with process(tmp_path, "--http", "0", "--no-pg") as (running, at):
        load = Load(at["url"])
        end = time.monotonic() + 200
        while len(load.answers) < 60 and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
        running.wait(30)
    for thread in load.threads:
        thread.join(200)
    assert len(load.answers) >= 60
    with open_database(tmp_path / "adomnia.toml") as database:
        assert database.verify().ok
        before = database.budget()
    with process(tmp_path, "--http", "0", "--no-pg") as (running, at):
        unanswered = _again(load, at["url"])
        os.kill(running.pid, signal.SIGTERM)
        assert running.wait(30) == 0
    _check(tmp_path, load, before, unanswered)


def _again(load: Load, url: str) -> set[str]:
    """Every request once more: what was told is told again for nothing. The keys of the others."""
    logins = {name: httpx.Client(base_url=url, auth=(name, SECRETS[name]), timeout=60)
              for name in ("alice", "carol")}  # fmt: skip
    for key, (name, body) in load.asked.items():
        told = post(logins[name], key, body).json()
        if key in load.answers:
            first = load.answers[key]
            assert (told["rows"], told["receipt"]) == (first["rows"], first["receipt"])
            assert told["spent"] == {"epsilon": "0"}
    for client in logins.values():
        client.close()
    return set(load.asked) - set(load.answers)


def _check(folder: Path, load: Load, before: dict[str, Any], unanswered: set[str]) -> None:
    with open_database(folder / "adomnia.toml") as database:
        assert database.verify().ok
        entries, after = database.ledger(), database.budget()
    reserved = {receipt(e): {**e.head, **e.body} for e in entries if e.kind == "reserved"}
    answered = Counter(e.head["receipt"] for e in entries if e.kind == "answered")
    assert max(answered.values()) == 1
    told = Counter(reserved[paid]["key"] for paid in answered)
    assert set(told) == set(load.asked)
    assert max(told.values()) == 1  # no request was answered twice
    paid = Counter(body["key"] for body in reserved.values())
    assert all(paid[key] == 1 for key in load.answers)
    assert all(paid[key] <= 2 for key in unanswered)  # perhaps paid, never seen: paid again
    spent = Fraction(after["data"]["spent"]) - Fraction(before["data"]["spent"])
    assert spent <= EPSILON * len(unanswered)
