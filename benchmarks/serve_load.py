"""The load of `serve.py`: what is asked, by whom, and how long each answer takes."""

from __future__ import annotations

import base64
import http.client
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psycopg

import adomnia

PEOPLE = [f"analyst{number}" for number in range(10)]
CLIENTS = 50
"""Clients at each door."""

ALL, PHASES = 2 * CLIENTS, 2
PRICE = Fraction(1, 1000)
SETTLING = 10.0
"""Seconds after which memory has to stay as it is."""

PSQL, HTTP, INSIDE, PLAIN = "psql", "HTTP", "in process", "PostgreSQL, exact"

# What is asked

FREE = (
    "SELECT COUNT(*) AS n FROM people",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex",
    "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
    "SELECT AVG(income) AS income FROM people WHERE age >= 30",
    "SELECT education, SUM(income) AS income FROM people GROUP BY education",
)
"""What everybody has asked before, as a page that is looked at again does."""

NEW = (
    "SELECT COUNT(*) AS n FROM people WHERE age >= {} AND income >= {}",
    "SELECT sex, COUNT(*) AS n FROM people WHERE age >= {} AND income >= {} GROUP BY sex",
    "SELECT AVG(age) AS age FROM people WHERE age >= {} AND income >= {}",
)
"""What nobody has asked before; the numbers are never the same."""


def questions(client: int, phase: int) -> Iterator[str]:
    """What a client asks: a new question, an old one, a new one …"""
    turn = 0
    while True:
        number = (turn * ALL + client) * PHASES + phase
        yield NEW[(turn + client) % len(NEW)].format(18 + number // 100_000, number % 100_000)
        yield FREE[(turn + client) % len(FREE)]
        turn += 1


# Who asks

Ask = Callable[[str], bool]
"""Asks one question, and tells whether it was paid for."""


@dataclass(frozen=True)
class Place:
    """Where the systems are."""

    folder: str
    process: int | None = None
    http: int = 0
    pg: int = 0
    plain: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict)


def over_psql(place: Place, who: str) -> Ask:
    line = psycopg.connect(
        host="127.0.0.1", port=place.pg, user=who, password=place.secrets[who], dbname="adomnia",
        autocommit=True, options=f"-c adomnia.epsilon={PRICE}",
    )  # fmt: skip
    paid: list[bool] = []
    line.add_notice_handler(
        lambda notice: paid.append((notice.message_primary or "").startswith("this answer cost e"))
    )

    def ask(sql: str) -> bool:
        paid.clear()
        line.execute(sql).fetchall()
        return any(paid)

    return ask


def over_http(place: Place, who: str) -> Ask:
    line = http.client.HTTPConnection("127.0.0.1", place.http, timeout=120)
    login = base64.b64encode(f"{who}:{place.secrets[who]}".encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {login}"}

    def ask(sql: str) -> bool:
        body = json.dumps({"sql": sql, "epsilon": str(PRICE)})
        line.request("POST", "/v1/ask", body, headers)
        with line.getresponse() as said:
            found = json.load(said)
        return Fraction(found["spent"]["epsilon"]) > 0

    return ask


def over_plain(place: Place, who: str) -> Ask:
    line = psycopg.connect(place.plain, autocommit=True)

    def ask(sql: str) -> bool:
        line.execute(sql).fetchall()
        return False

    return ask


@contextmanager
def inside(place: Place) -> Iterator[Callable[[Place, str], Ask]]:
    """Asking in this process, without a door."""
    with adomnia.open(Path(place.folder) / "inside.toml") as database:

        def asker(_: Place, who: str) -> Ask:
            session = database.session(who)
            return lambda sql: session.ask(sql, PRICE).spent["epsilon"] > 0

        yield asker


DOORS: Mapping[str, Callable[[Place, str], Ask]] = {
    PSQL: over_psql,
    HTTP: over_http,
    PLAIN: over_plain,
}

# Load


@dataclass(frozen=True)
class Phase:
    """One run of the load: how long, and how long a client pauses in the mean."""

    number: int
    seconds: float
    pause: float = 0.0


@dataclass
class Found:
    """What some clients have seen: milliseconds of each answer, payments, and failures.

    `growth` is by how many megabytes the server grew meanwhile, after it had settled.
    """

    new: list[float] = field(default_factory=list)
    free: list[float] = field(default_factory=list)
    paid: int = 0
    errors: list[str] = field(default_factory=list)
    growth: float = 0.0

    def add(self, other: Found) -> None:
        self.new += other.new
        self.free += other.free
        self.paid += other.paid
        self.errors += other.errors

    @property
    def times(self) -> list[float]:
        return sorted(self.new + self.free)


def client(ask: Ask, number: int, phase: Phase, begin: threading.Event | Any) -> Found:
    """One client, from the signal to the end of the phase."""
    found, draw = Found(), random.Random(number)
    asked = questions(number, phase.number)
    begin.wait()
    end = time.perf_counter() + phase.seconds
    time.sleep(draw.random() * phase.pause)
    for turn, sql in enumerate(asked):
        begun = time.perf_counter()
        if begun >= end:
            return found
        try:
            found.paid += ask(sql)
        except Exception as error:
            found.errors.append(f"{type(error).__name__}: {str(error)[:200]}")
            return found
        taken = 1e3 * (time.perf_counter() - begun)
        (found.free if turn % 2 else found.new).append(taken)
        if phase.pause:
            time.sleep(draw.expovariate(1 / phase.pause))
    return found


def crowd(door: str, numbers: Sequence[int], place: Place, phase: Phase, ends: Any) -> None:
    """Some clients, as threads of a process."""
    ready, begin, results = ends
    with ExitStack() as stack:
        maker = stack.enter_context(inside(place)) if door == INSIDE else DOORS[door]
        asks = {number: maker(place, PEOPLE[number % len(PEOPLE)]) for number in numbers}
        for ask in asks.values():
            ask(FREE[0])  # logs in, and recalls what was asked before
        found, threads = Found(), []
        ready.release()
        for number, ask in asks.items():
            work = lambda n=number, a=ask: found.add(client(a, n, phase, begin))  # noqa: E731
            threads.append(threading.Thread(target=work))
            threads[-1].start()
        for thread in threads:
            thread.join()
        results.put((door, found))


@contextmanager
def watched(process: int | None) -> Iterator[list[float]]:
    """The megabytes of a process, twice a second while the block runs, once it has settled."""
    sizes, over, begun = list[float](), threading.Event(), time.monotonic()

    def look() -> None:
        while process is not None and not over.wait(0.5):
            text = Path(f"/proc/{process}/status").read_text("ascii")
            if time.monotonic() >= begun + SETTLING:
                sizes.append(int(text.partition("VmRSS:")[2].split()[0]) / 1024)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield sizes
    finally:
        over.set()
        thread.join()


def load(
    parts: Sequence[tuple[str, Sequence[int]]], place: Place, phase: Phase
) -> dict[str, Found]:
    """What the clients of some systems see when all of them begin at once."""
    spawning = get_context("spawn")
    ready, begin, results = spawning.Semaphore(0), spawning.Event(), spawning.Queue()
    processes = [
        spawning.Process(target=crowd, args=(door, numbers, place, phase, (ready, begin, results)))
        for door, numbers in parts
    ]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire(timeout=120)
    begin.set()
    found: dict[str, Found] = {}
    with watched(place.process) as sizes:
        for _ in processes:
            door, part = results.get(timeout=phase.seconds + 120)
            found.setdefault(door, Found()).add(part)
    for each in found.values():
        each.growth = max(sizes) - sizes[0] if sizes else 0.0
    for process in processes:
        process.join()
    return found
