"""Both doors under load: 50 psql connections and 50 HTTP clients at once, for a minute.

    python benchmarks/serve.py [--quick] [--readme] [--seconds 60] [--rows 1000000]

Beside them, in the same run and on the same machine: the same questions asked in process by as
many threads, and plain PostgreSQL answering the exact queries over as many connections. Each is
loaded twice: as fast as it answers (saturated), and with pauses between the questions so that the
doors are at half of that (steady). Clients run in processes of their own on the same cores.

Half of the questions are new and paid; the other half are of a fixed set that the same person has
asked before, so they are free. In the end the ledger must add up to the last unit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb
import psycopg
import readme
from ask import POLICY, make_table
from serve_load import (
    ALL,
    CLIENTS,
    FREE,
    HTTP,
    INSIDE,
    PEOPLE,
    PLAIN,
    PRICE,
    PSQL,
    Found,
    Phase,
    Place,
    load,
)

import adomnia
from adomnia.policy.policy import read_policy
from adomnia.server.accounts import open_accounts

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from tests import postgres_server  # noqa: E402 (found by the line above)

CROWDS = 2
"""Processes that the clients of a door run in."""

MOST_ADDED, MOST_GROWTH = 10.0, 50.0
"""Targets: milliseconds that a door adds to the median, megabytes that it grows by."""

# The systems


@contextmanager
def served(folder: Path, secrets: Mapping[str, str]) -> Iterator[Place]:
    """`adomnia serve` in a process of its own."""
    words = [sys.executable, "-c", "from adomnia.cli.main import main; main()", "serve"]
    words += ["--http", "0", "--pg", "0", "--policy", "served.toml", "--format", "json"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            at = json.loads(running.stdout.readline())
            yield Place(str(folder), running.pid, at["http"], at["pg"], secrets=secrets)
        finally:
            running.send_signal(signal.SIGTERM)
            running.wait(60)


@contextmanager
def plain(folder: Path) -> Iterator[Place]:
    """A PostgreSQL server with the same rows."""
    postgres_server.SETTINGS.update(max_connections=str(ALL + 20), shared_buffers="256MB")
    with postgres_server.Server.started() as server:
        rows = duckdb.sql(f"SELECT * FROM '{folder / 'people.parquet'}'")
        kinds = [
            (name, _kind(str(kind))) for name, kind in zip(rows.columns, rows.types, strict=True)
        ]
        declared = ", ".join(f"{name} {kind}" for name, kind in kinds)
        rows.write_csv(str(folder / "people.csv"), header=False)
        with psycopg.connect(server.url(), autocommit=True) as line, line.cursor() as cursor:
            cursor.execute(f"CREATE TABLE people ({declared})")
            with cursor.copy("COPY people FROM STDIN (FORMAT csv)") as copy:
                copy.write((folder / "people.csv").read_bytes())
            cursor.execute("VACUUM ANALYZE people")
        yield Place(str(folder), plain=server.url())


def _kind(of_duckdb: str) -> str:
    return "text" if of_duckdb == "VARCHAR" else "bigint"


def prepare(folder: Path, rows: int) -> dict[str, str]:
    """The data, two policies for it, accounts, and the old questions, asked; the secrets."""
    make_table(folder / "people.parquet", rows)
    for name in ("served", "inside"):
        text = POLICY.format(unit="", ledger=f"{name}.ledger")
        (folder / f"{name}.toml").write_text(text, "utf-8")
        with adomnia.open(folder / f"{name}.toml") as database:
            for who in PEOPLE:
                for sql in FREE:
                    database.session(who).ask(sql, PRICE)
    with open_accounts(read_policy(folder / "served.toml")) as accounts:
        return {who: accounts.add(who, "analyst") for who in PEOPLE}


def balance(folder: Path, name: str) -> tuple[bool, Fraction]:
    """Whether a ledger verifies, and what was spent of it."""
    with adomnia.open(folder / f"{name}.toml") as database:
        spent = Fraction(database.budget()["data"]["spent"])
        return database.verify().ok, spent


# Measuring

SATURATED, STEADY = "saturated", "steady"


@dataclass(frozen=True)
class Report:
    """What was measured, and how it is told."""

    found: Mapping[tuple[str, str], Found]
    asked: argparse.Namespace
    is_right: bool

    def lines(self) -> Iterator[str]:
        """One line for each system and load."""
        yield f"{'':34} {'a second':>9} {'p50 ms':>8} {'p99 ms':>8}   new p50, free p50   failed"
        for (system, load_name), found in self.found.items():
            half, most = (quantile(found.times, share) for share in (0.5, 0.99))
            new, free = (quantile(sorted(some), 0.5) for some in (found.new, found.free))
            yield (
                f"{system:18} {load_name:15} {self.rate(found):9.1f} {half:8.1f} {most:8.1f}"
                f"   {new:7.1f}, {free:7.1f}   {len(found.errors):8}"
            )

    def rate(self, found: Found) -> float:
        """Answers a second."""
        return len(found.times) / float(self.asked.seconds)

    def answers(self, load_name: str) -> int:
        """How many answers the doors gave."""
        return sum(len(self.found[door, load_name].times) for door in (PSQL, HTTP))

    def added(self, door: str, load_name: str) -> float:
        """Milliseconds that a door adds to the median in process."""
        ours, theirs = (self.found[name, load_name].times for name in (door, INSIDE))
        return quantile(ours, 0.5) - quantile(theirs, 0.5)

    def targets(self) -> Iterator[str]:
        """Whether each target is met."""
        for name, door in ((name, door) for name in (STEADY, SATURATED) for door in (PSQL, HTTP)):
            added = self.added(door, name)
            verdict = _met(added <= MOST_ADDED)
            yield f"{name}, {door} adds {added:.1f} ms to the median in process: {verdict}"
        failed = sum(len(found.errors) for found in self.found.values())
        yield f"{failed} failures: {_met(not failed)}"
        yield f"the ledgers add up to the last unit: {_met(self.is_right)}"
        for name in (SATURATED, STEADY):
            growth, count = self.found[PSQL, name].growth, self.answers(name)
            verdict = _met(growth < MOST_GROWTH)
            yield f"{name}, the server grew by {growth:.0f} MB in {count:,} answers: {verdict}"

    def figure(self) -> str:
        """The line for the README: answers a second of both doors, saturated."""
        rates = {name: self.rate(found) for (name, load), found in self.found.items()
                 if load == SATURATED}  # fmt: skip
        plain = (
            f", where plain PostgreSQL gives {rates[PLAIN]:.0f} exact ones"
            if PLAIN in rates
            else ""
        )
        return (
            f"**{rates[PSQL] + rates[HTTP]:.0f} answers a second** through psql and HTTP on "
            f"{os.cpu_count()} cores, half of them new and paid{plain}."
        )

    def markdown(self) -> str:
        """The table for docs/benchmarks.md."""
        systems = list(dict.fromkeys(system for system, _ in self.found))
        rows = [
            [load_name, *(self._cell(system, load_name) for system in systems)]
            for load_name in (SATURATED, STEADY)
        ]
        table = [["load", *systems], ["---"] * (1 + len(systems)), *rows]
        return "\n".join([
            f"{CLIENTS} psql connections and {CLIENTS} HTTP clients at once for "
            f"{self.asked.seconds:g} s on {os.cpu_count()} cores, clients included, "
            f"{self.asked.rows:,} rows, Python {platform.python_version()}. Half of the questions "
            "are new and paid, half were asked before. Answers a second, median / 99th percentile.",
            "",
            *(f"| {' | '.join(cells)} |" for cells in table),
            "",
            *(f"{line[0].upper()}{line[1:]}." for line in self.targets()),
        ])  # fmt: skip

    def _cell(self, system: str, load_name: str) -> str:
        found = self.found[system, load_name]
        half, most = quantile(found.times, 0.5), quantile(found.times, 0.99)
        return f"{self.rate(found):.0f}/s, {half:,.0f} / {most:,.0f} ms"


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of the sorted values is."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def _met(is_met: bool) -> str:
    return "met" if is_met else "not met"


def spread(door: str, first: int, processes: int = CROWDS) -> list[tuple[str, Sequence[int]]]:
    """The clients of a door, dealt out to processes."""
    return [(door, range(first + i, first + CLIENTS, processes)) for i in range(processes)]


def both_loads(
    parts: Sequence[tuple[str, Sequence[int]]], place: Place, seconds: float, pause: float | None
) -> tuple[dict[tuple[str, str], Found], float]:
    """Some systems saturated, then steady; and the pause, found from the first if not given."""
    first = load(parts, place, Phase(0, seconds))
    if pause is None:
        pause = 2 * ALL * seconds / sum(len(found.times) for found in first.values())
    second = load(parts, place, Phase(1, seconds, pause))
    named = {(name, SATURATED): found for name, found in first.items()}
    return named | {(name, STEADY): found for name, found in second.items()}, pause


def run(asked: argparse.Namespace) -> Report:
    """Everything, one system after the other."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as name:
        folder = Path(name)
        secrets = prepare(folder, asked.rows)
        before = {name: balance(folder, name)[1] for name in ("served", "inside")}
        with served(folder, secrets) as place:
            parts = [*spread(PSQL, 0), *spread(HTTP, CLIENTS)]
            ours, pause = both_loads(parts, place, asked.seconds, None)
        within, _ = both_loads([(INSIDE, range(ALL))], Place(str(folder)), asked.seconds, pause)
        paid = {"served": ours, "inside": within}
        is_right = all(
            balance(folder, name)
            == (True, before[name] + PRICE * sum(each.paid for each in found.values()))
            for name, found in paid.items()
        )
        others: dict[tuple[str, str], Found] = {}
        if postgres_server.binaries() is not None:
            with plain(folder) as place:
                parts = [*spread(PLAIN, 0), *spread(PLAIN, CLIENTS)]
                others, _ = both_loads(parts, place, asked.seconds, pause)
        return Report(ours | within | others, asked, is_right)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="100,000 rows, five seconds each")
    parser.add_argument(
        "--readme", action="store_true", help="put the table into docs/benchmarks.md"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each line")
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    if asked.quick:
        asked.rows, asked.seconds = 100_000, 5.0
    report = run(asked)
    for part in (report.lines(), report.targets(), [report.markdown()]):
        print(*part, sep="\n", end="\n\n")
    for error in sorted({error for found in report.found.values() for error in found.errors}):
        print("failed:", error)
    if asked.readme:
        readme.put("serve", report.markdown())
        readme.figure("serve", report.figure())


if __name__ == "__main__":
    main()
