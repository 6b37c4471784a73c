"""Durable debits a second: the ledger against SQLite with one transaction for each debit.

Run `python benchmarks/ledger.py [seconds for each line]`. Both sides write with
`synchronous = FULL`, check a budget before each debit, and run one after the other here.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.sqlite import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace

Debit = Callable[[], None]
Opened = Callable[[Path], Debit]

BUDGETS = Budgets(Budget(Fraction(10**9)), Budget(Fraction(10**9)))
ASKED = Reservation(
    "alice", "s1", None, "SELECT COUNT(*) FROM people", Laplace(Fraction(1, 10), Fraction(1))
)


def ours(path: Path) -> Debit:
    """A debit as the curator makes it: chained, derived totals, two budgets."""
    journal = SqliteJournal(path)

    def debit() -> None:
        reserve(journal, ASKED, BUDGETS)

    return debit


def naive(path: Path) -> Debit:
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


def timed(debit: Debit, until: float) -> list[float]:
    """How long each debit took, one after the other."""
    waits = []
    while (start := time.perf_counter()) < until:
        debit()
        waits.append(time.perf_counter() - start)
    return waits


def threads(opened: Opened, path: Path, count: int, seconds: float) -> list[float]:
    """The waits of `count` threads of one process."""
    debit, waits = opened(path), []
    until = time.perf_counter() + seconds
    workers = [
        threading.Thread(target=lambda: waits.extend(timed(debit, until))) for _ in range(count)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return waits


def _process(opened: Opened, path: Path, until: float, back: object) -> None:
    back.put(timed(opened(path), until))  # type: ignore[attr-defined]


def processes(opened: Opened, path: Path, count: int, seconds: float) -> list[float]:
    """The waits of `count` processes, forked so that all of them start at once."""
    context = get_context("fork")
    opened(path)
    back = context.SimpleQueue()
    until = time.perf_counter() + seconds
    workers = [
        context.Process(target=_process, args=(opened, path, until, back)) for _ in range(count)
    ]
    for worker in workers:
        worker.start()
    waits = [wait for _ in workers for wait in back.get()]
    for worker in workers:
        worker.join()
    return waits


def sync(folder: Path) -> float:
    """What one fsync of a small write costs here, in milliseconds."""
    with Path(folder, "probe").open("wb", buffering=0) as probe:
        start = time.perf_counter()
        for _ in range(100):
            probe.write(b"x" * 4096)
            os.fsync(probe.fileno())
    return 10 * (time.perf_counter() - start)


LINES = [
    ("1 thread", threads, 1),
    ("8 threads", threads, 8),
    ("32 threads", threads, 32),
    ("8 processes", processes, 8),
]


def main() -> None:
    """Print one line for each way of asking."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        print(f"one fsync here: {sync(Path(folder)):.2f} ms")
    print(
        f"{'durable debits a second':24} {'adomnia':>9} {'naive':>9} {'ratio':>6}"
        f" {'p99 ms':>8} {'worst ms':>9} {'naive worst ms':>15}"
    )
    for name, run, count in LINES:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            mine = sorted(run(ours, Path(folder, "ours"), count, seconds))
            theirs = sorted(run(naive, Path(folder, "naive"), count, seconds))
        print(
            f"{name:24} {len(mine) / seconds:9.0f} {len(theirs) / seconds:9.0f}"
            f" {len(mine) / max(1, len(theirs)):6.1f} {1000 * mine[len(mine) * 99 // 100]:8.1f}"
            f" {1000 * mine[-1]:9.1f} {1000 * theirs[-1]:15.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
