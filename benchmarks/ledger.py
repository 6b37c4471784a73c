"""Durable debits a second: the ledger against one transaction for each debit.

Run `python benchmarks/ledger.py [seconds for each line]`; with 0 only the reading is measured.
First what a new process does, which is to add up 10,000 earlier answers from their heads, and what
100,000 free repeats add to the file and to the memory of a process that reads them.

Then debits, in a SQLite file (both sides with `synchronous = FULL`), and in a PostgreSQL server of
its own (`fsync` and `synchronous_commit` on, the other side with `SELECT … FOR UPDATE`), once
beside it and once over a line of two milliseconds there and back, as to another machine. Both sides
check a budget before each debit, and run one after the other here.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psycopg

from adomnia.ledger.entry import Record, receipt
from adomnia.ledger.reserve import Budgets, Reservation, answered, reserve
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.ledger.stores.stored_journal import StoredJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace

sys.path.append(str(Path(__file__).parents[1]))
from tests.postgres_server import Server

Debit = Callable[[], None]
Opened = Callable[[str], Debit]

BUDGETS = Budgets(Budget(Fraction(10**9)), Budget(Fraction(10**9)))
ASKED = Reservation(
    "alice", "s1", None, "SELECT COUNT(*) FROM people", Laplace(Fraction(1, 10), Fraction(1))
)


def debits(journal: StoredJournal) -> Debit:
    """A debit as the curator makes it: chained, derived totals, two budgets."""

    def debit() -> None:
        reserve(journal, ASKED, BUDGETS)

    return debit


def sqlite_ours(path: str) -> Debit:
    """A debit in the ledger's file."""
    return debits(SqliteJournal(path))


def sqlite_naive(path: str) -> Debit:
    """A debit as one transaction of its own; the total is kept in the table, without a chain."""
    local = threading.local()
    with sqlite3.connect(path) as setup:
        setup.execute("PRAGMA journal_mode = WAL")
        setup.execute("CREATE TABLE IF NOT EXISTS spent (who TEXT, epsilon REAL, total REAL)")
    setup.close()

    def debit() -> None:
        if not hasattr(local, "connection"):
            local.connection = sqlite3.connect(path, isolation_level=None, timeout=60)
            local.connection.execute("PRAGMA synchronous = FULL")
        connection = local.connection
        connection.execute("BEGIN IMMEDIATE")
        row = connection.execute("SELECT total FROM spent ORDER BY rowid DESC LIMIT 1").fetchone()
        total = (row[0] if row else 0.0) + 0.1
        if total > 1e9:
            raise ValueError
        connection.execute("INSERT INTO spent VALUES (?, ?, ?)", ("alice", 0.1, total))
        connection.execute("COMMIT")

    return debit


def postgres_ours(url: str) -> Debit:
    """A debit in the ledger's tables."""
    return debits(PostgresJournal(url))


def postgres_naive(url: str) -> Debit:
    """A debit as one transaction that locks the total; without a chain."""
    local = threading.local()
    with psycopg.connect(url) as setup:
        setup.execute("SELECT pg_advisory_xact_lock(1)")
        setup.execute("CREATE TABLE IF NOT EXISTS spent (who TEXT, epsilon FLOAT8)")
        setup.execute("CREATE TABLE IF NOT EXISTS total AS SELECT 0.0::FLOAT8 AS epsilon")

    def debit() -> None:
        if not hasattr(local, "connection"):
            local.connection = psycopg.connect(url, autocommit=True)
        connection = local.connection
        connection.execute("BEGIN")
        (total,) = connection.execute("SELECT epsilon FROM total FOR UPDATE").fetchone()
        if total + 0.1 > 1e9:
            raise ValueError
        connection.execute("INSERT INTO spent VALUES ('alice', 0.1)")
        connection.execute("UPDATE total SET epsilon = epsilon + 0.1")
        connection.execute("COMMIT")

    return debit


def timed(debit: Debit, until: float) -> list[float]:
    """How long each debit took, one after the other."""
    waits = []
    while (start := time.perf_counter()) < until:
        debit()
        waits.append(time.perf_counter() - start)
    return waits


def threads(debit: Debit, count: int, until: float) -> list[float]:
    """The waits of `count` threads of one process."""
    waits: list[float] = []
    workers = [
        threading.Thread(target=lambda: waits.extend(timed(debit, until))) for _ in range(count)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return waits


def measured(opened: Opened, place: str, size: tuple[int, int], seconds: float) -> list[float]:
    """The waits of so many processes with so many threads each, sorted.

    All are forked before they start; one alone is not forked.
    """
    processes, each = size
    debit = opened(place)
    if processes == 1:
        return sorted(threads(debit, each, time.perf_counter() + seconds))
    context = get_context("fork")
    back = context.SimpleQueue()
    until = time.perf_counter() + seconds

    def work() -> None:
        back.put(threads(opened(place), each, until))

    workers = [context.Process(target=work) for _ in range(processes)]
    for worker in workers:
        worker.start()
    waits = [wait for _ in workers for wait in back.get()]
    for worker in workers:
        worker.join()
    return sorted(waits)


def sync(folder: Path) -> float:
    """What one fsync of a small write costs here, in milliseconds."""
    with Path(folder, "probe").open("wb", buffering=0) as probe:
        start = time.perf_counter()
        for _ in range(100):
            probe.write(b"x" * 4096)
            os.fsync(probe.fileno())
    return 10 * (time.perf_counter() - start)


SIZES = {
    "1 client": (1, 1),
    "8 clients": (1, 8),
    "32 clients": (1, 32),
    "8 in 8 processes": (8, 1),
    "32 in 8 processes": (8, 4),
}


def row(name: str, mine: list[float], theirs: list[float], seconds: float) -> str:
    """One line of a table."""
    return (
        f"{name:24} {len(mine) / seconds:9.0f} {len(theirs) / seconds:9.0f}"
        f" {len(mine) / max(1, len(theirs)):6.1f} {1000 * mine[len(mine) * 99 // 100]:8.1f}"
        f" {1000 * mine[-1]:9.1f} {1000 * theirs[-1]:15.1f}"
    )


def heading(name: str) -> str:
    """The heading of a table."""
    return (
        f"{name:24} {'adomnia':>9} {'naive':>9} {'ratio':>6}"
        f" {'p99 ms':>8} {'worst ms':>9} {'naive worst ms':>15}"
    )


def in_sqlite(seconds: float) -> None:
    """Print the table for a file: a new one for each line."""
    print(heading("SQLite, debits a second"))
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            mine = measured(sqlite_ours, f"{folder}/ours", size, seconds)
            theirs = measured(sqlite_naive, f"{folder}/naive", size, seconds)
        print(row(name, mine, theirs, seconds), flush=True)


async def relay(port: int, told: Callable[[int], None]) -> None:
    """Hand on what comes, both ways and a millisecond late; tell the port that it listens on."""
    loop = asyncio.get_running_loop()

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            loop.call_later(0.001, writer.write, data)
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(late(reader, forth), late(back, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    told(server.sockets[0].getsockname()[1])
    await server.serve_forever()


@contextmanager
def far(url: str, port: int) -> Iterator[str]:
    """The same server at the end of a longer line."""
    context = get_context("fork")
    back = context.SimpleQueue()
    line = context.Process(target=lambda: asyncio.run(relay(port, back.put)), daemon=True)
    line.start()
    try:
        yield url.replace(f":{port}/", f":{back.get()}/")
    finally:
        line.kill()
        line.join()


def in_postgres(seconds: float) -> None:
    """Print the tables for a server, near and far."""
    with Server(durable=True) as server:
        server._settings["full_page_writes"] = "on"  # as everywhere but in tests
        server.start()
        print(heading("PostgreSQL, debits a second"))
        at_server(server.url(), "near", seconds)
        print(heading("over a line of 2 ms"))
        with far(server.url(), server.port) as url:
            at_server(url, "far", seconds)


def at_server(url: str, where: str, seconds: float) -> None:
    """Print the lines of one table: a new ledger for each."""
    for name, size in SIZES.items():
        ours = f"{url}?ledger={where}_{name.replace(' ', '_')}"
        mine = measured(postgres_ours, ours, size, seconds)
        theirs = measured(postgres_naive, url, size, seconds)
        print(row(name, mine, theirs, seconds), flush=True)


def fill(journal: StoredJournal, answers: int) -> None:
    """So many questions of ten kinds and prices, each with an answer of a hundred rows."""
    for _ in range(0, answers, 500):
        written = journal.append(lambda _: [question(step) for step in range(500)], durable=False)
        journal.append(lambda _, paid=written: list(map(answer, paid)), durable=False)


def question(step: int) -> Record:
    """A paid question, as it is stored."""
    price = Fraction(1, 10 + step % 10)
    loss = {"epsilon": str(price), "squares": str(price**2)}
    head = {"analyst": "alice", "key": f"k{step}", "loss": loss, "measured": [f"{step:016x}"]}
    return Record(
        "reserved", head, {"statement": f"SELECT COUNT(*) FROM people WHERE age > {step}"}
    )


def answer(paid: Any) -> Record:
    """Its answer."""
    rows = [[number, number**2] for number in range(100)]
    return Record("answered", {"receipt": receipt(paid)}, {"rows": rows})


def replay(path: str) -> float:
    """What a new process takes to know what is spent, in milliseconds of a processor; the best of
    five."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        with SqliteJournal(path) as journal:
            journal.account()
        best = min(best, 1000 * (time.process_time() - start))
    return best


def resident(path: str) -> int:
    """The memory that a process of its own keeps once it has read a ledger, in kilobytes."""
    context = get_context("fork")
    back = context.SimpleQueue()

    def work() -> None:
        before = pages()
        with SqliteJournal(path) as journal:
            journal.account()
            back.put(4 * (pages() - before))

    reader = context.Process(target=work)
    reader.start()
    found: int = back.get()
    reader.join()
    return found


def pages() -> int:
    """The memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1])


def reading() -> None:
    """Print what it takes to open ledgers with more and more in them."""
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 10, 10_000):
            path = f"{folder}/{count}"
            with SqliteJournal(path) as journal:
                if count < 500:
                    for _ in range(count):
                        answered(journal, reserve(journal, ASKED, BUDGETS).receipt, {"rows": []})
                else:
                    fill(journal, count)
            print(f"replay of {count:,} answers: {replay(path):.1f} ms", flush=True)
        before, kept = Path(path).stat().st_size, resident(path)
        with SqliteJournal(path) as journal:
            told = next(iter(journal.account().answered("alice")))
            again = [Record("repeated", {"analyst": "alice", "receipts": [told]})] * 1000
            for _ in range(100):
                journal.append(lambda _: again, durable=False)
        more = (Path(path).stat().st_size - before) / 1e6
        print(f"100,000 repeats: {more:.1f} MB more in the file, replay {replay(path):.1f} ms")
        print(f"memory of the account: {kept:,} KB before, {resident(path):,} KB after")


def main() -> None:
    """Print one table for each storage, one line for each way of asking."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        with tempfile.TemporaryDirectory(dir=folder) as probe:
            print(f"one fsync in {folder}: {sync(Path(probe)):.2f} ms")
    reading()
    if seconds:
        in_sqlite(seconds)
        in_postgres(seconds)


if __name__ == "__main__":
    main()
