"""Editions: how long a source takes to load, what a row takes on disk, and how fast it is asked.

    python benchmarks/editions.py [--readme] [--rows 1e6,1e7,1e8] [--repeats 15]

A load reads a Parquet file once, with at most `[data] memory` megabytes. Questions are asked of an
edition of 1,000,000 rows, each under an empty ledger, its durable writes included; plain DuckDB
computes the exact aggregate on the Parquet file itself, and a question with bounds of a person
stands beside the same one without. diffprivlib has the rows as coded arrays in memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import ask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import readme

import adomnia

MEMORY = 1000
PART = 2_000_000
UNIT = 'unit = "person_id"\nmax_rows = 5'
BOUNDS: Mapping[str, str] = {
    "no unit": "",
    "max_rows = 5": UNIT,
    "max_groups = 3, max_rows_per_group = 2": f"{UNIT}\nmax_groups = 3\nmax_rows_per_group = 2",
}
QUESTIONS: Mapping[str, str] = {
    "COUNT by sex, education (32 cells)": ask.CROSSED,
    "SUM of income by region": ask.REGION.format("SUM(income)"),
    "AVG of income by region": ask.REGION.format("AVG(income)"),
    "median age": ask.MEDIAN,
}
TARGETS: Mapping[str, float] = dict(zip(BOUNDS, (1.0, 1.5, 4.0), strict=True))


def write_people(file: Path, rows: int) -> None:
    """The people of `ask.py`, some at a time; a person's rows lie anywhere."""
    draw = np.random.default_rng(ask.SEED)
    writer: pq.ParquetWriter | None = None
    for begin in range(0, rows, PART):
        many = min(PART, rows - begin)
        jobs = draw.integers(0, ask.JOBS, many)
        table = pa.table({
            "person_id": draw.integers(0, rows // 5, many),
            "sex": np.array(["F", "M"])[draw.integers(0, 2, many)],
            "education": draw.integers(1, 17, many),
            "region": draw.integers(1, 51, many),
            "age": draw.integers(17, 91, many),
            "income": draw.lognormal(10.3, 0.7, many).astype(np.int64),
            "job": np.array([f"job {i}" for i in range(ask.JOBS)])[jobs],
        })  # fmt: skip
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def policy_in(folder: Path, bounds: str, name: str = "adomnia") -> Path:
    """A policy over the people of a folder."""
    text = ask.POLICY.format(unit=bounds, ledger=f"{name}.ledger")
    file = folder / f"{name}.toml"
    file.write_text(text.replace("[privacy]", f"memory = {MEMORY}\n[privacy]", 1), "utf-8")
    return file


# Loading


@dataclass(frozen=True)
class Load:
    """One load: what it took, and what it left."""

    rows: int
    bounds: str
    seconds: float
    cpu: float
    megabytes: float
    bytes_a_row: float

    @property
    def cells(self) -> list[str]:
        return [
            f"{self.rows:,}", self.bounds, f"{self.seconds:.1f} s",
            f"{self.seconds * 1e7 / self.rows:.1f} s", f"{self.cpu * 1e7 / self.rows:.1f} s",
            f"{self.megabytes:,.0f} MB", f"{self.bytes_a_row:.1f}",
        ]  # fmt: skip


HEAD = ["rows", "bounds", "time", "for 10⁷ rows", "CPU for 10⁷", "most memory", "bytes a row"]


def load(policy: Path, rows: int, bounds: str) -> Load:
    """Load in a process of its own, so that its memory is its own."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import editions; "
    code += "editions.child(sys.argv[1])"
    found = subprocess.run(
        [sys.executable, "-c", code, str(policy)], check=True, capture_output=True, text=True
    )
    facts = json.loads(found.stdout)
    return Load(rows, bounds, facts["seconds"], facts["cpu"], facts["megabytes"],
                facts["bytes"] / rows)  # fmt: skip


def child(policy: str) -> None:
    """Load, and say what it took."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    with adomnia.open(policy) as database:
        edition = database.edition
        assert edition is not None
        folder = Path(policy).with_suffix(".editions") / str(edition.name)
        size = sum(file.stat().st_size for file in folder.iterdir())
    spent = resource.getrusage(resource.RUSAGE_SELF)
    cpu = spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime
    facts = {"seconds": time.perf_counter() - began, "cpu": cpu, "bytes": size}
    print(json.dumps({**facts, "megabytes": spent.ru_maxrss / 1000}))


def loads(folder: Path, sizes: list[int]) -> Iterator[Load]:
    """Every size without a unit and with one."""
    for rows in sizes:
        place = folder / f"load-{rows}"
        place.mkdir()
        write_people(place / "people.parquet", rows)
        for name in ("no unit", "max_rows = 5"):
            yield load(policy_in(place, BOUNDS[name], name.split()[0]), rows, name)
        shutil.rmtree(place)


# Asking


@dataclass(frozen=True)
class Asked:
    """The seconds of one question: plain, ours by bounds, and those of diffprivlib."""

    question: str
    plain: float
    ours: Mapping[str, float]
    peer: float | None

    @property
    def cells(self) -> list[str]:
        first = self.ours["no unit"]
        theirs = "–" if self.peer is None else f"{self.peer * 1e3:.1f} ms"
        ours = (
            f"{seconds * 1e3:.1f} ms ({seconds / (self.plain if i == 0 else first):.2f}×)"
            for i, seconds in enumerate(self.ours.values())
        )
        return [self.question, f"{self.plain * 1e3:.1f} ms", *ours, theirs]


class Edition:
    """An edition that is asked again and again, each time under a ledger that knows only it."""

    def __init__(self, folder: Path, name: str, bounds: str) -> None:
        self._policy = policy_in(folder, bounds, name)
        self._ledger, self._kept = folder / f"{name}.ledger", folder / f"{name}.kept"
        with adomnia.open(self._policy):
            pass
        shutil.copy(self._ledger, self._kept)

    def ask(self, sql: str) -> float:
        """How long one question takes, from SQL to answer."""
        for file in self._ledger.parent.glob(f"{self._ledger.name}*"):
            file.unlink()
        shutil.copy(self._kept, self._ledger)
        with adomnia.open(self._policy) as database:
            session = database.session()
            session.ask(ask.WARM, epsilon=1)
            began = time.perf_counter()
            session.ask(sql, epsilon=1)
            return time.perf_counter() - began


def questions(folder: Path, repeats: int) -> Iterator[Asked]:
    """Every question, in turns: plain, ours under each bound, the peer."""
    file = folder / "people.parquet"
    ask.make_table(file, 1_000_000)
    editions = {name: Edition(folder, f"p{i}", b) for i, (name, b) in enumerate(BOUNDS.items())}
    plain, peer = ask.Plain(folder), None
    if ask.python_of("diffprivlib").exists():
        peer = ask.Peer("diffprivlib", file)
    names = {ask.CROSSED: "b", QUESTIONS["SUM of income by region"]: "c1",
             QUESTIONS["AVG of income by region"]: "c2", ask.MEDIAN: "d"}  # fmt: skip
    for what, sql in QUESTIONS.items():
        question = next(q for q in ask.QUESTIONS if q.name == names[sql])
        taken: dict[str, list[float]] = {}
        for repeat in range(repeats):
            found = plain.ask(question, repeat)
            taken.setdefault("plain", []).append(found.seconds if found else 0.0)
            for name, edition in editions.items():
                taken.setdefault(name, []).append(edition.ask(sql))
            theirs = peer.ask(question, repeat) if peer is not None else None
            if theirs is not None:
                taken.setdefault("peer", []).append(theirs.seconds)
        middle = {name: statistics.median(values) for name, values in taken.items()}
        ours = {name: middle[name] for name in BOUNDS}
        yield Asked(what, middle["plain"], ours, middle.get("peer"))
    persons = {name: statistics.median(edition.ask(ask.PERSONS) for _ in range(repeats))
               for name, edition in editions.items() if name == "max_rows = 5"}  # fmt: skip
    question = next(q for q in ask.QUESTIONS if q.name == "f2")
    exact = statistics.median(found.seconds for i in range(repeats)
                              if (found := plain.ask(question, i)) is not None)  # fmt: skip
    print(f"COUNT(DISTINCT person) by sex: plain {exact * 1e3:.1f} ms, ours "
          f"{persons['max_rows = 5'] * 1e3:.1f} ms", flush=True)  # fmt: skip
    if peer is not None:
        peer.__exit__()


def verdicts(asked: list[Asked]) -> Iterator[str]:
    """Where a target is missed."""
    first = asked[0]
    if first.ours["no unit"] > 0.8 * first.plain:
        yield f"missed: {first.question} takes {first.ours['no unit'] / first.plain:.2f} of plain"
    for one in asked:
        if one.peer is not None and one.ours["no unit"] > one.peer:
            yield f"missed: {one.question} is slower than diffprivlib"
        for name, most in TARGETS.items():
            ratio = one.ours[name] / one.ours["no unit"]
            if ratio > most:
                yield f"missed: {one.question} with {name} takes {ratio:.1f} times (at most {most})"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", default="1e6,1e7,1e8")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--readme", action="store_true", help="put it into docs/benchmarks.md")
    wish = parser.parse_args()
    build = ask.ROOT / "build"
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build) as name:
        asked = list(questions(Path(name), wish.repeats))
        answered = table(["question", "DuckDB on Parquet", *BOUNDS, "diffprivlib"],
                         [one.cells for one in asked])  # fmt: skip
        print(answered, *verdicts(asked), sep="\n", flush=True)
        loaded = []
        for one in loads(Path(name), [int(float(size)) for size in wish.rows.split(",")]):
            loaded.append(one.cells)
            print(*one.cells, sep=" | ", flush=True)
    if wish.readme:
        readme.put("editions", f"{answered}\n\n{table(HEAD, loaded)}")


if __name__ == "__main__":
    main()
