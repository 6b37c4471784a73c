"""Users who own many rows: adomnia and its peers in one run, 1,000,000 rows of 200,000 users.

    python benchmarks/units.py [--quick] [--readme] [--repeats 7]

All protect all rows of one person at epsilon 1, with the same bounds: five rows of a person, or
one row in each of three regions. The error is told twice: against all rows, where the rows that
bounding leaves out count too, and around a system's own mean: each keeps the same rows every time,
so this is the noise alone. Peers have the rows in memory; adomnia reads Parquet, opens an empty
ledger for each question, and its time includes the ledger's durable write. A peer is asked less
often where its answers took more than a minute together.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import ask
import duckdb
import readme

import adomnia

ROWS = "max_rows = 5"
GROUPS = "max_rows = 15\nmax_groups = 3\nmax_rows_per_group = 1"
BY = "SELECT region, {} FROM people GROUP BY region"
PEERS = {"OpenDP": "opendp", "Tumult Analytics": "tumult"}
LEAST, SECONDS = 3, 60.0


@dataclass(frozen=True)
class Question:
    """A question by region, the bounds of a person, and the exact value over all rows."""

    name: str
    what: str
    value: str
    bounds: str

    @property
    def sql(self) -> str:
        return BY.format(self.value)

    @property
    def plain(self) -> str:
        return BY.format(self.value.replace("income", ask.CLAMPED))


PERSONS = "COUNT(DISTINCT person_id)"
QUESTIONS = (
    Question("a", "COUNT, 5 rows a person", "COUNT(*)", ROWS),
    Question("b", "SUM of income, 5 rows a person", "SUM(income)", ROWS),
    Question("c", "COUNT, 3 regions a person, 1 row in each", "COUNT(*)", GROUPS),
    Question("d", "SUM of income, 3 regions a person, 1 row in each", "SUM(income)", GROUPS),
    Question("e", "COUNT(DISTINCT person), 3 regions a person", PERSONS, GROUPS),
)


class Ours:
    """adomnia with an empty ledger for each question: nothing is answered from memory."""

    version = f"adomnia {adomnia.__version__}"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ask(self, question: Question, repeat: int) -> ask.Sample | None:
        name = f"{question.name}-{repeat}"
        policy = self._folder / f"{name}.toml"
        unit = f'unit = "person_id"\n{question.bounds}'
        policy.write_text(ask.POLICY.format(unit=unit, ledger=f"{name}.ledger"), "utf-8")
        with adomnia.open(policy) as database:
            session = database.session()
            session.ask(ask.WARM, epsilon=1)
            begun = time.perf_counter()
            answer = session.ask(question.sql, epsilon=1)
            return ask.Sample(time.perf_counter() - begun, ask._values(answer.rows))


class Peer(ask.Peer):
    """A runner of these questions in the peer's environment."""

    def __init__(self, name: str, file: Path) -> None:
        self._process = subprocess.Popen(
            [ask.python_of(name), str(runner_of(name)), str(file)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        hello = self._hear() or {}
        self.version = str(hello.get("version", f"{name}: did not start"))
        self.assumes: Mapping[str, str] = hello.get("assumes", {})
        self._can = set(hello.get("questions", ()))


def runner_of(name: str) -> Path:
    """The file that asks a peer."""
    return ask.ROOT / "benchmarks" / "peers" / f"run_units_{name}.py"


def missing(name: str) -> str | None:
    """Why a peer cannot be asked here."""
    if not ask.python_of(name).exists():
        return f"there is no environment build/peers/{name}, and this run installs nothing"
    return None if runner_of(name).exists() else f"there is no {runner_of(name).name}"


# Measuring


@dataclass(frozen=True)
class Result:
    """What one system did with one question."""

    seconds: float
    error: float
    noise: float
    repeats: int
    prepared: float | None
    """The seconds without finding the scale of the noise, where a system can do that before."""


def summary(samples: list[ask.Sample], exact: ask.Values) -> Result:
    """The median time, the error against all rows, and the spread around the own mean."""
    groups = {key: [sample.values[key] for sample in samples] for key in samples[0].values}
    squares = [(v - exact[key]) ** 2 for key, values in groups.items() for v in values]
    spreads = [statistics.variance(values) for values in groups.values() if len(values) > 1]
    return Result(
        statistics.median(sample.seconds for sample in samples),
        math.sqrt(statistics.fmean(squares)),
        math.sqrt(statistics.fmean(spreads)) if spreads else math.nan,
        len(samples),
        None
        if samples[0].prepared is None
        else statistics.median(s.prepared or 0 for s in samples),
    )


Systems = Mapping[str, Ours | Peer]
Results = dict[tuple[str, str], Result]


def measure(systems: Systems, repeats: int, file: Path) -> Results:
    """Every question to every system in turn, again and again, each time in another order."""
    taken: dict[tuple[str, str], list[ask.Sample]] = {}
    labels = list(systems)
    for repeat in range(repeats):
        first = repeat % len(labels)
        for question in QUESTIONS:
            for label in labels[first:] + labels[:first]:
                found = taken.setdefault((label, question.name), [])
                if label != ask.OURS and enough(found):
                    continue
                sample = systems[label].ask(question, repeat)  # type: ignore[arg-type]
                if sample is not None:
                    found.append(sample)
    exact = truth(file)
    return {place: summary(found, exact[place[1]]) for place, found in taken.items() if found}


def enough(samples: list[ask.Sample]) -> bool:
    """Whether a slow system need not be asked again."""
    return len(samples) >= LEAST and sum(sample.seconds for sample in samples) >= SECONDS


def truth(file: Path) -> dict[str, ask.Values]:
    """What all rows say, no person bounded."""
    with duckdb.connect() as connection:
        source = str(file).replace("'", "''")
        connection.execute(f"CREATE VIEW people AS SELECT * FROM read_parquet('{source}')")
        return {q.name: ask._values(connection.execute(q.plain).fetchall()) for q in QUESTIONS}


# Reporting


def lines(results: Results) -> Iterator[str]:
    """One line for each system and question, and how many times as much as ours it is."""
    yield f"{'':2} {'system':17} {'repeats':>7} {'seconds':>8} {'RMSE':>11} {'noise':>11}  x ours"
    for question in QUESTIONS:
        ours = results[ask.OURS, question.name]
        for label in (ask.OURS, *PEERS):
            found = results.get((label, question.name))
            if found is None:
                continue
            times = (f"{x / y:.3g}" for x, y in _pairs(found, ours))
            yield (
                f"{question.name:2} {label:17} {found.repeats:7} {found.seconds:8.3f} "
                f"{found.error:11.4g} {found.noise:11.4g}  {', '.join(times)}{_ready(found)}"
            )


def _ready(found: Result) -> str:
    if found.prepared is None:
        return ""
    return f" ({found.prepared:.3f} s once its noise scale is found)"


def _pairs(one: Result, other: Result) -> list[tuple[float, float]]:
    return [
        (one.seconds, other.seconds),
        (one.error, other.error),
        (one.noise, other.noise),
    ]


def worse(results: Results) -> Iterator[str]:
    """Where a peer is faster, or more accurate against all rows by more than one in a hundred."""
    for question in QUESTIONS:
        ours = results[ask.OURS, question.name]
        for label in PEERS:
            found = results.get((label, question.name))
            if found is not None and found.seconds < ours.seconds:
                yield f"({question.name}) slower than {label}"
            if found is not None and found.error < 0.99 * ours.error:
                yield f"({question.name}) less accurate than {label}"


def markdown(systems: Systems, results: Results, rows: int, absent: list[str]) -> str:
    """The table for docs/benchmarks.md."""
    head = ["by region (50 groups)", *systems]
    table = [head, ["---"] * len(head)]
    for question in QUESTIONS:
        cells = (_cell(results, label, question) for label in systems)
        table.append([f"({question.name}) {question.what}", *cells])
    versions = ", ".join(system.version for system in systems.values())
    repeats = max(found.repeats for found in results.values())
    return "\n".join([
        f"{rows:,} rows of {rows // 5:,} people, all rows of a person protected together, epsilon "
        f"1, {os.cpu_count()} cores, Python {platform.python_version()}; {versions}. Median time "
        f"of {repeats} answers, fewer where told (as a multiple of ours), RMSE against all rows, "
        "and noise alone, whose scale is the same for all: its differences are chance.",
        "",
        *(f"| {' | '.join(cells)} |" for cells in table),
        "",
        *absent,
        *(f"{label} in ({name}) {text}." for label, system in systems.items()
          for name, text in getattr(system, "assumes", {}).items()),
    ])  # fmt: skip


def _cell(results: Results, label: str, question: Question) -> str:
    found, ours = results.get((label, question.name)), results[ask.OURS, question.name]
    if found is None:
        return "–"
    times = "" if label == ask.OURS else f" ({ask._figure(found.seconds / ours.seconds)}×)"
    if found.repeats < ours.repeats:
        times += f" in {found.repeats} answers"
    if found.prepared is not None:
        times += f", {ask._time(found.prepared)} once its noise scale is found"
    return (
        f"{ask._time(found.seconds)}{times}, {ask._figure(found.error)}, noise "
        f"{ask._figure(found.noise)}"
    )


def run(rows: int, repeats: int) -> str:
    """Make the table, open what is there, ask everything, and print it."""
    place = ask.ROOT / "build"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as name, ExitStack() as opened:
        file = Path(name) / "people.parquet"
        ask.make_table(file, rows)
        systems: dict[str, Ours | Peer] = {ask.OURS: Ours(Path(name))}
        absent = []
        for label, peer in PEERS.items():
            reason = missing(peer)
            if reason is None:
                systems[label] = opened.enter_context(Peer(peer, file))
            else:
                absent.append(f"{label} was not measured: {reason}.")
        results = measure(systems, repeats, file)
    found = markdown(systems, results, rows, absent)
    for part in (absent, lines(results), worse(results), [found]):
        print(*part, sep="\n", end="\n\n")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="100,000 rows and few repeats")
    parser.add_argument(
        "--readme", action="store_true", help="put the table into docs/benchmarks.md"
    )
    parser.add_argument("--repeats", type=int, default=7)
    asked = parser.parse_args()
    table = run(100_000 if asked.quick else 1_000_000, 2 if asked.quick else asked.repeats)
    if asked.readme:
        readme.put("units", table)


if __name__ == "__main__":
    main()
