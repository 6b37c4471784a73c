"""kill -9 under load at both doors: clients come back, and the ledger tells who paid for what."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from lodge import SECRETS, lodging, process

from adomnia.curator.database import open_database
from adomnia.curator.ledger_view import receipt
from adomnia.privacy import events
from tests.free_port import free_port

PRICE = Fraction(1, 100)
EACH = 4
"""Clients at each door."""

ENOUGH = 50
"""Answers that are told before the server is killed, and again after it has come back."""

LOST = (httpx.TransportError, psycopg.OperationalError)


@dataclass(frozen=True)
class Told:
    """An answer as a client saw it."""

    who: str
    sql: str
    value: int
    receipt: str
    is_paid: bool


class OverHttp:
    """A client of the HTTP door."""

    def __init__(self, load: Load, who: str) -> None:
        self._who = who
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{load.http}", auth=(who, SECRETS[who]), timeout=60
        )

    def ask(self, sql: str) -> Told:
        said = self._client.post("/v1/ask", json={"sql": sql, "epsilon": str(PRICE)})
        assert said.status_code == 200, said.text
        found = said.json()
        is_paid = found["spent"] == {"epsilon": str(PRICE)}
        return Told(self._who, sql, found["rows"][0][0], found["receipt"], is_paid)


class OverPsql:
    """A client of the door for psql."""

    def __init__(self, load: Load, who: str) -> None:
        self._who = who
        self._line = psycopg.connect(
            host="127.0.0.1", port=load.pg, user=who, password=SECRETS[who], dbname="adomnia",
            autocommit=True, options=f"-c adomnia.epsilon={float(PRICE)}",
        )  # fmt: skip
        self._said: list[str] = []
        self._line.add_notice_handler(
            lambda notice: self._said.append(f"{notice.message_primary} {notice.message_detail}")
        )

    def ask(self, sql: str) -> Told:
        self._said.clear()
        row = self._line.execute(sql).fetchone()
        assert row is not None
        text = " ".join(self._said)
        paid = re.search(r"receipt (\w+)", text)
        assert paid is not None, text
        return Told(self._who, sql, row[0], paid[1], f"cost epsilon {float(PRICE)}" in text)


@dataclass
class Load:
    """Clients at both doors; each asks its own questions, each of them until it is told."""

    http: int = field(default_factory=free_port)
    pg: int = field(default_factory=free_port)
    told: list[Told] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> list[threading.Thread]:
        """Set the clients to work."""
        doors = [OverHttp, OverPsql] * EACH
        clients = [threading.Thread(target=self._work, args=(i, d)) for i, d in enumerate(doors)]
        for client in clients:
            client.start()
        return clients

    def _work(self, number: int, door: type[OverHttp | OverPsql]) -> None:
        who = "alice" if number < EACH else "carol"
        client: OverHttp | OverPsql | None = None
        turn = number
        while not self.is_over.is_set():
            low, high = turn % 60 + 1, turn // 60 + 61
            sql = f"SELECT COUNT(*) AS n FROM people WHERE age BETWEEN {low} AND {high}"
            try:
                client = client or door(self, who)
                self.told.append(client.ask(sql))
                turn += 2 * EACH
            except LOST:
                client = None
                self.cut.append(sql)
                time.sleep(0.05)
            except BaseException as error:
                self.failures.append(error)
                return

    def wait(self, count: int) -> None:
        """Until so many answers are told."""
        end = time.monotonic() + 200
        while len(self.told) < count and not self.failures:
            assert time.monotonic() < end
            time.sleep(0.01)


@pytest.fixture
def load() -> Iterator[Load]:
    made = Load()
    yield made
    made.is_over.set()


def test_a_server_that_is_killed_under_load(tmp_path: Path, load: Load) -> None:
    with lodging(tmp_path):
        pass
    doors = ("--http", str(load.http), "--pg", str(load.pg))
    with process(tmp_path, *doors) as (running, _):
        clients = load.start()
        load.wait(ENOUGH)
        os.kill(running.pid, signal.SIGKILL)
        running.wait(30)
    before = len(load.told)
    with process(tmp_path, *doors) as (running, _):
        load.wait(before + ENOUGH)
        load.is_over.set()
        for client in clients:
            client.join(200)
        os.kill(running.pid, signal.SIGTERM)
        assert running.wait(30) == 0
    assert load.failures == []
    assert len(load.told) >= before + ENOUGH
    check_books(tmp_path, load)


def check_books(folder: Path, load: Load) -> None:
    """Every answer is in the ledger once and was paid once, and the sum is right."""
    with open_database(folder / "adomnia.toml") as database:
        assert database.verify().ok
        entries, budget = database.ledger(), database.budget()
    uses = (entry for entry in entries if entry.kind == "reserved")
    reserved = {receipt(entry): {**entry.head, **entry.body} for entry in uses}
    answered = Counter(entry.head["receipt"] for entry in entries if entry.kind == "answered")
    assert max(answered.values()) == 1
    seen = Counter(told.receipt for told in load.told)
    assert max(seen.values()) == 1  # no receipt served two answers
    for told in load.told:
        body = reserved[told.receipt]
        asks_as = "curator" if told.who == "carol" else told.who
        assert (body["analyst"], body["statement"]) == (asks_as, told.sql)
        assert told.receipt in answered
        assert price(body) == PRICE
        assert told.is_paid or told.sql in load.cut  # then it was paid when it was cut off
    check_payments(reserved, load)
    total = sum(map(price, reserved.values()), Fraction())
    assert Fraction(budget["data"]["spent"]) == total


def check_payments(reserved: dict[str, Any], load: Load) -> None:
    """What was not cut off was paid once; what was, perhaps again: nobody knows who saw it."""
    paid = Counter(body["statement"] for body in reserved.values() if price(body))
    values: dict[str, set[int]] = {}
    for told in load.told:
        values.setdefault(told.sql, set()).add(told.value)
    for sql, found in values.items():
        assert len(found) <= paid[sql] <= 1 + (sql in load.cut)
    unseen = set(paid) - set(values)
    assert len(unseen) <= 2 * EACH


def price(body: dict[str, Any]) -> Fraction:
    """What a reservation cost."""
    loss = events.loss(events.from_json(body["event"]))
    assert loss.epsilon in (0, PRICE)
    return loss.epsilon
