"""The same questions to adomnia, plain DuckDB and three peers in one run: time, error, ratio.

    python benchmarks/ask.py [--quick] [--readme] [--repeats 30] [--seconds 8]

Plain DuckDB computes the exact aggregate on the same Parquet file, contribution bounding
included. Peers run in environments of their own (`benchmarks/peers/setup` makes them) and have
the rows in memory beforehand; adomnia asks an edition, loaded once, and its time includes the
ledger's durable write. All get epsilon 1 and the same neighbours: one row more or less, and in
(f) one person.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import select
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import readme

import adomnia

ROOT = Path(__file__).resolve().parent.parent
PEERS = {"OpenDP": "opendp", "SmartNoise SQL": "smartnoise", "diffprivlib": "diffprivlib"}
OURS, PLAIN = "adomnia", "DuckDB, exact"
SEED, JOBS, LONGEST = 1, 400, 300.0
SHARE, EXTRA = 0.15, 0.005
FEW = 20
OWNED = 'unit = "person_id"\nmax_rows = 5'

Values = dict[tuple[str, ...], float]


@dataclass(frozen=True)
class Question:
    """A question, for us and for DuckDB; `promised` where the target is part of the promise."""

    name: str
    what: str
    sql: str
    plain: str
    promised: bool = False
    person: bool = False
    delta: str | None = None


CLAMPED = "LEAST(GREATEST(income, 0), 200000)"
BOUNDED = (
    "SELECT COUNT(*) FROM (SELECT * FROM people QUALIFY ROW_NUMBER() OVER (PARTITION BY person_id"
    " ORDER BY HASH(person_id, sex, education, region, age, income, job)) <= 5)"
)
CROSSED = "SELECT sex, education, COUNT(*) FROM people GROUP BY sex, education"
JOB = "SELECT job, COUNT(*) FROM people GROUP BY job"
PERSONS = "SELECT sex, COUNT(DISTINCT person_id) FROM people GROUP BY sex"
REGION = "SELECT region, {} FROM people GROUP BY region"
ALL, MEDIAN = "SELECT COUNT(*) FROM people", "SELECT MEDIAN(age) FROM people"
WARM = "SELECT COUNT(*) FROM people WHERE age >= 40"

QUESTIONS = (
    Question("a", "COUNT(\\*)", ALL, ALL, promised=True),
    Question("b", "COUNT by sex, education (32 cells)", CROSSED, CROSSED, promised=True),
    Question("c1", "SUM of income by region (50 groups)", REGION.format("SUM(income)"),
             REGION.format(f"SUM({CLAMPED})"), promised=True),
    Question("c2", "AVG of income by region (50 groups)", REGION.format("AVG(income)"),
             REGION.format(f"AVG({CLAMPED})"), promised=True),
    Question("d", "median age", MEDIAN, MEDIAN),
    Question("e1", "COUNT by job, keys unknown, delta 1e-7", JOB, JOB, delta="1e-7"),
    Question("f1", "COUNT(\\*), at most 5 rows a person", ALL, BOUNDED, promised=True, person=True),
    Question("f2", "COUNT(DISTINCT person) by sex", PERSONS, PERSONS, person=True),
)  # fmt: skip

POLICY = """
[data]
source = "people.parquet"
table = "people"
[privacy]
epsilon = 1000
delta = 1e-3
confirmed = true
{unit}
[attributes.sex]
values = ["F", "M"]
[attributes.education]
low = 1
high = 16
[attributes.region]
low = 1
high = 50
[attributes.age]
low = 17
high = 90
[attributes.income]
low = 0
high = 200000
[ledger]
url = "{ledger}"
"""


def make_table(file: Path, rows: int) -> None:
    """Rows of people: about five a person, one sex each, incomes some of which pass the bound."""
    draw = np.random.default_rng(SEED)
    person = draw.integers(0, rows // 5, rows)
    weights = 1 / np.arange(1, JOBS + 1) ** 2
    job = draw.choice(JOBS, rows, p=weights / weights.sum())
    columns = {
        "person_id": person,
        "sex": np.array(["F", "M"])[draw.integers(0, 2, rows // 5)][person],
        "education": draw.integers(1, 17, rows),
        "region": draw.integers(1, 51, rows),
        "age": draw.integers(17, 91, rows),
        "income": draw.lognormal(10.3, 0.7, rows).astype(np.int64),
        "job": np.array([f"job {i}" for i in range(JOBS)])[job],
    }
    pq.write_table(pa.table(columns), file)


# Systems


@dataclass(frozen=True)
class Sample:
    """One answer: how long it took, and what it said."""

    seconds: float
    values: Values
    prepared: float | None = None


class System(Protocol):
    """What can be asked; `assumes` says of a question what is taken for granted beyond others."""

    version: str
    assumes: Mapping[str, str]

    def ask(self, question: Question, repeat: int) -> Sample | None:
        """A sample, or None if this system cannot answer the question."""
        ...


def _values(rows: Iterable[Sequence[Any]]) -> Values:
    return {tuple(str(key) for key in keys): float(value) for *keys, value in rows}


class Plain:
    """DuckDB by itself, opened anew for each question, as ours is."""

    assumes: Mapping[str, str] = {}

    def __init__(self, folder: Path) -> None:
        self.version = f"DuckDB {duckdb.__version__}"
        self._file = str(folder / "people.parquet").replace("'", "''")

    def ask(self, question: Question, repeat: int) -> Sample | None:
        with duckdb.connect() as connection:
            connection.execute(f"CREATE VIEW people AS SELECT * FROM read_parquet('{self._file}')")
            connection.execute(WARM).fetchall()
            begun = time.perf_counter()
            rows = connection.execute(question.plain).fetchall()
            return Sample(time.perf_counter() - begun, _values(rows))


class LoadedOnce:
    """An edition that is asked again and again, each time under a ledger that knows only it."""

    def __init__(self, policy: Path, ledger: Path) -> None:
        self._policy, self._ledger, self._kept = policy, ledger, ledger.with_suffix(".kept")
        with adomnia.open(policy):
            pass
        shutil.copy(ledger, self._kept)

    def ask(self, sql: str, delta: str | None = None) -> Sample:
        """What one question takes, from SQL to answer: nothing is answered from memory."""
        for file in self._ledger.parent.glob(f"{self._ledger.name}*"):
            file.unlink()
        shutil.copy(self._kept, self._ledger)
        with adomnia.open(self._policy) as database:
            session = database.session()
            session.ask(WARM, epsilon=1)
            begun = time.perf_counter()
            answer = session.ask(sql, epsilon=1, delta=delta)
            return Sample(time.perf_counter() - begun, _values(answer.rows))


class Ours:
    """adomnia on an edition of the Parquet file."""

    assumes: Mapping[str, str] = {}

    def __init__(self, folder: Path) -> None:
        self.version = f"adomnia {adomnia.__version__}"
        self._loaded = {person: self._load(folder, person) for person in (False, True)}

    def ask(self, question: Question, repeat: int) -> Sample | None:
        return self._loaded[question.person].ask(question.sql, question.delta)

    @staticmethod
    def _load(folder: Path, person: bool) -> LoadedOnce:
        name, unit = ("people", "") if not person else ("persons", OWNED)
        policy = folder / f"{name}.toml"
        policy.write_text(POLICY.format(unit=unit, ledger=f"{name}.ledger"), "utf-8")
        return LoadedOnce(policy, folder / f"{name}.ledger")


class Peer:
    """A runner in an environment of its own, which waits while others are asked."""

    longest = LONGEST
    """So many seconds it may take to load, or to answer once."""

    def __init__(self, name: str, file: Path) -> None:
        runner = ROOT / "benchmarks" / "peers" / f"run_{name}.py"
        self._process = subprocess.Popen(
            [python_of(name), str(runner), str(file)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        hello = self._hear() or {}
        self.version = str(hello.get("version", f"{name}: did not start"))
        self.assumes: Mapping[str, str] = hello.get("assumes", {})
        self._can = set(hello.get("questions", ()))

    def ask(self, question: Question, repeat: int) -> Sample | None:
        if question.name not in self._can:
            return None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{question.name} {repeat}\n".encode())
        self._process.stdin.flush()
        found = self._hear()
        if found is None or "error" in found:
            reason = "no answer" if found is None else found["error"]
            print(f"{self.version} cannot answer ({question.name}): {reason}", flush=True)
            self._can = set() if found is None else self._can - {question.name}
            return None
        rows = [(*keys, value) for keys, value in found["values"]]
        return Sample(found["seconds"], _values(rows), found.get("prepared"))

    def _hear(self) -> dict[str, Any] | None:
        """The next line; None if it ended or takes too long."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], self.longest)[0]:
            self._process.kill()
            return None
        line = self._process.stdout.readline()
        found: dict[str, Any] | None = json.loads(line) if line else None
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, which may not be there."""
    return ROOT / "build" / "peers" / name / "bin" / "python"


# Measuring


@dataclass
class Samples:
    """All answers of one system to one question."""

    taken: list[Sample] = field(default_factory=list)
    refused: bool = False

    @property
    def seconds(self) -> float:
        return statistics.median(sample.seconds for sample in self.taken)

    @property
    def prepared(self) -> float | None:
        known = [sample.prepared for sample in self.taken if sample.prepared is not None]
        return statistics.median(known) if known else None

    def groups(self) -> float:
        """How many groups were shown, in the middle."""
        return statistics.median(len(sample.values) for sample in self.taken)

    def error(self, exact: Values) -> tuple[float, float]:
        """The root mean squared error over repeats and groups shown, and its relative doubt:
        the standard error that it has for Laplace noise, whose kurtosis is 6."""
        squares = [
            (value - exact[key]) ** 2
            for sample in self.taken
            for key, value in sample.values.items()
            if key in exact
        ]
        if not squares:
            return math.nan, math.inf
        return math.sqrt(statistics.fmean(squares)), math.sqrt(5 / len(squares)) / 2


Results = dict[tuple[str, str], Samples]


@dataclass(frozen=True)
class Effort:
    """How often is asked: peers until their seconds are used up, but at least `least` times.

    Where they gave few values so far, five times as long: their error is known from these.
    """

    repeats: int
    seconds: float
    least: int

    def enough(self, label: str, samples: Samples) -> bool:
        if label in (OURS, PLAIN):
            return False
        used = sum(sample.seconds for sample in samples.taken)
        few = sum(len(sample.values) for sample in samples.taken) < FEW
        limit = self.seconds * (5 if few else 1)
        return samples.refused or (len(samples.taken) >= self.least and used >= limit)


def measure(systems: Mapping[str, System], effort: Effort) -> Results:
    """Every question to every system in turn, again and again, each time in another order."""
    results: Results = {(label, q.name): Samples() for label in systems for q in QUESTIONS}
    for repeat, question, label in turns(list(systems), effort.repeats):
        samples = results[label, question.name]
        if effort.enough(label, samples):
            continue
        sample = systems[label].ask(question, repeat)
        if sample is None:
            samples.refused = True
        else:
            samples.taken.append(sample)
    return {place: samples for place, samples in results.items() if samples.taken}


def turns(labels: list[str], repeats: int) -> Iterator[tuple[int, Question, str]]:
    """Whose turn it is."""
    for repeat in range(repeats):
        first = repeat % len(labels)
        for question in QUESTIONS:
            for label in labels[first:] + labels[:first]:
                yield repeat, question, label


# Reporting


@dataclass(frozen=True)
class Report:
    """What was measured, and how it is told."""

    systems: Mapping[str, System]
    results: Results
    rows: int

    def exact(self, question: Question) -> Values:
        return self.results[PLAIN, question.name].taken[0].values

    def lines(self) -> Iterator[str]:
        """One line for each system and question."""
        head = f"{'':3} {'system':15} {'repeats':>7} {'ms':>9} {'x plain':>8} {'RMSE':>10}"
        yield f"{head}         groups"
        for question in QUESTIONS:
            for label in self.systems:
                if (label, question.name) in self.results:
                    yield self._line(question, label)

    def _line(self, question: Question, label: str) -> str:
        samples = self.results[label, question.name]
        error, doubt = samples.error(self.exact(question))
        ratio = samples.seconds / self.results[PLAIN, question.name].seconds
        ready = samples.prepared
        more = "" if ready is None else f"  ({ready * 1e3:.1f} ms once its noise scale is found)"
        return (
            f"{question.name:3} {label:15} {len(samples.taken):7} {samples.seconds * 1e3:9.2f}"
            f" {ratio:8.2f} {error:10.4g} ± {doubt:4.0%}  {samples.groups():.0f}{more}"
        )

    def targets(self) -> Iterator[str]:
        """Whether the private layer stays within its allowance."""
        yield f"target: at most {SHARE:.0%} + {EXTRA * 1e3:.0f} ms".replace("%", " %")
        for question in QUESTIONS:
            plain = self.results[PLAIN, question.name].seconds
            added = self.results[OURS, question.name].seconds - plain
            allowed = SHARE * plain + EXTRA
            verdict = "met" if added <= allowed else "not met"
            yield (
                f"{question.name:3} added {added * 1e3:7.2f} ms, allowed {allowed * 1e3:7.2f} ms: "
                f"{verdict}{'' if question.promised else ' (not promised)'}"
            )

    def worse(self) -> Iterator[str]:
        """Where a peer is faster, or more accurate beyond doubt (two standard errors)."""
        for question, label in ((q, p) for q in QUESTIONS for p in self.systems if p in PEERS):
            theirs = self.results.get((label, question.name))
            if theirs is None:
                continue
            ours, exact = self.results[OURS, question.name], self.exact(question)
            extra = self.systems[label].assumes.get(question.name)
            but = f" (it {extra})" if extra else ""
            if ours.seconds > theirs.seconds:
                yield f"({question.name}) slower than {label}{but}"
            (mine, doubt), (other, second) = ours.error(exact), theirs.error(exact)
            if mine - other > 2 * mine * math.hypot(doubt, second):
                yield f"({question.name}) less accurate than {label}{but}"

    def notes(self) -> Iterator[str]:
        """What each peer assumes beyond the others."""
        for label, system in self.systems.items():
            by_text: dict[str, list[str]] = {}
            for name, text in system.assumes.items():
                by_text.setdefault(text, []).append(name)
            for text, names in by_text.items():
                yield f"\\* {label} in ({', '.join(names)}) {text}."

    def markdown(self) -> str:
        """The table for docs/benchmarks.md."""
        labels = list(self.systems)
        head = ["question", *labels]
        table = [head, ["---"] * len(head)]
        for question in QUESTIONS:
            title = f"({question.name}) {question.what}"
            table.append([title, *(self._cell(question, label) for label in labels)])
        versions = ", ".join(system.version for system in self.systems.values())
        return "\n".join([
            f"{self.rows:,} rows, epsilon 1, {os.cpu_count()} cores, Python "
            f"{platform.python_version()}; {versions}. Median time, in brackets as a multiple of "
            "plain DuckDB's exact aggregate on the same Parquet file, then the RMSE (with its "
            "standard error where few values were drawn). Peers have "
            "the rows in memory beforehand; adomnia asks an edition of the file, loaded once, and "
            "its time includes the ledger's durable write.",
            "",
            *(f"| {' | '.join(cells)} |" for cells in table),
            "",
            *self.notes(),
        ])  # fmt: skip

    def figure(self) -> str:
        """The line for the README: counts in a table of cells, against plain DuckDB."""
        ours, exact = (self.results[label, "b"].seconds for label in (OURS, PLAIN))
        return (
            f"**{_time(ours)}** for private counts in 32 cells of {self.rows:,} rows of a Parquet "
            f"file, the debit on disk included: {_figure(ours / exact)} times plain DuckDB's exact "
            "answer."
        )

    def _cell(self, question: Question, label: str) -> str:
        samples = self.results.get((label, question.name))
        if samples is None:
            return "–"
        if label == PLAIN:
            return _time(samples.seconds)
        ratio = samples.seconds / self.results[PLAIN, question.name].seconds
        mark = "\\*" if question.name in self.systems[label].assumes else ""
        error, doubt = samples.error(self.exact(question))
        about = f" ±{doubt * 100:.0f} %" if error and doubt > 0.1 else ""
        return f"{_time(samples.seconds)} ({_figure(ratio)}×), {_figure(error)}{about}{mark}"


def _time(seconds: float) -> str:
    return f"{_figure(seconds)} s" if seconds >= 1 else f"{_figure(seconds * 1e3)} ms"


def _figure(number: float) -> str:
    """Two or three figures, without a power of ten."""
    if not number or not math.isfinite(number):
        return "0" if not number else "–"
    places = max(0, (1 if number < 100 else 2) - math.floor(math.log10(abs(number))))
    return (
        f"{round(number, places):,.{places}f}" if number < 1e5 else f"{float(f'{number:.2g}'):,.0f}"
    )


def fsync(folder: Path) -> float:
    """What one durable write of a page costs here, in milliseconds."""
    with (folder / "probe").open("wb", buffering=0) as probe:
        begun = time.perf_counter()
        for _ in range(50):
            probe.write(b"x" * 4096)
            os.fsync(probe.fileno())
    return 20 * (time.perf_counter() - begun)


def run(rows: int, effort: Effort) -> Report:
    """Make the table, open what is there, ask everything."""
    place = ROOT / "build"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as name, ExitStack() as opened:
        folder = Path(name)
        file = folder / "people.parquet"
        make_table(file, rows)
        print(f"{rows:,} rows; one durable write here: {fsync(folder):.2f} ms", flush=True)
        systems: dict[str, System] = {PLAIN: Plain(folder), OURS: Ours(folder)}
        for label, peer in PEERS.items():
            if python_of(peer).exists():
                systems[label] = opened.enter_context(Peer(peer, file))
            else:
                print(f"{label} is not installed; make it with: benchmarks/peers/setup {peer}")
        return Report(systems, measure(systems, effort), rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="100,000 rows and few repeats")
    parser.add_argument(
        "--readme", action="store_true", help="put the table into docs/benchmarks.md"
    )
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=8.0, help="for a peer and a question")
    asked = parser.parse_args()
    effort = Effort(asked.repeats, asked.seconds, 3)
    rows = 1_000_000
    if asked.quick:
        effort, rows = Effort(3, 0.0, 1), 100_000
    report = run(rows, effort)
    table = report.markdown()
    for part in (report.lines(), report.targets(), report.worse(), [table]):
        print(*part, sep="\n", end="\n\n")
    print("adomnia's time includes the ledger's durable write; peers have the rows in memory.")
    if asked.readme:
        readme.put("benchmarks", table)
        readme.figure("ask", report.figure())


if __name__ == "__main__":
    main()
