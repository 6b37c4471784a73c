"""Joined tables: the ten queries of R2T on TPC-H, from SQL to answer, with bounds that are found.

    benchmarks/peers/setup tpch qrlew tumult        # once: what makes the tables, and the peers
    python benchmarks/tables.py [--readme] [--scale 1] [--repeats 5] [--draws 1000] [--only Q3,Q5]
        [--parts ours,persons,qrlew,tumult]

Each policy is loaded once, into build/tpch. Plain DuckDB asks the very Parquet files that were
loaded. Each question is asked under a ledger that knows nothing, its durable writes included; for
the errors the mechanism of that answer is run again on the amounts that it read. R2T stands beside
it, as published, and written anew (`tables_r2t.py`); Qrlew and Tumult Analytics answer what they
can (`tables_peers.py`). What is measured is kept in build/tpch, so parts can be run one by one; the
table has all that is kept. Larger scales tell by which power the time grows.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import shutil
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import ask
import duckdb
import numpy as np
import readme
import tables_peers
import tables_r2t as r2t
from tables_kept import PARTS, Kept
from tables_queries import (
    DECLARED,
    EPSILON,
    LARGEST,
    PER_PERSON,
    QUERIES,
    Query,
    make_tables,
    plain,
    policy,
)

import adomnia
from adomnia.mechanisms.choices.threshold_scan import scan
from adomnia.mechanisms.joins import clamped_totals
from adomnia.mechanisms.joins.measured_at_bound import MeasuredAtBound
from adomnia.mechanisms.joins.pair_sources import TablePairs
from adomnia.mechanisms.joins.removal_distance import RemovalScores
from adomnia.mechanisms.noise import laplace

BETTER, OFF, SECONDS = 30, 1.7, 5.0
RATIOS = {1: 3.0, 2: 10.0}
PERSON_RATIO, GROWTH = 1.5, 1.1
GROUP, CUT = 10, 2
"""R2T's published error is the mean of ten runs without the two least and the two largest."""
LONGEST = 60.0
"""A question is not asked again once its answers took so many seconds."""
DECLARED_ROWS = "{ orders = 50, lineitem = 350 }"


class Edition:
    """A policy loaded once; each question is asked under a ledger that knows only the edition."""

    def __init__(self, folder: Path, units: str, rows: str = '"auto"') -> None:
        self.name = units.replace(",", "-") + ("" if rows == '"auto"' else "-declared")
        self._warm = f"SELECT COUNT(*) AS n FROM {units.split(',', maxsplit=1)[0]}"
        self._policy, self._ledger = folder / f"{self.name}.toml", folder / f"{self.name}.ledger"
        self._kept, text = folder / f"{self.name}.kept", policy(units, rows, self.name)
        if self._kept.exists() and self._policy.read_text("utf-8") == text:
            return
        shutil.rmtree(folder / f"{self.name}.editions", ignore_errors=True)
        self._forget()
        self._policy.write_text(text, "utf-8")
        begun = time.perf_counter()
        with adomnia.open(self._policy):
            print(f"{self.name}: loaded in {time.perf_counter() - begun:.1f} s", flush=True)
        shutil.copy(self._ledger, self._kept)

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A session under such a ledger, after one other question."""
        self._forget()
        shutil.copy(self._kept, self._ledger)
        with adomnia.open(self._policy) as database:
            session = database.session()
            session.ask(self._warm, epsilon=1)
            yield session

    def _forget(self) -> None:
        for file in self._ledger.parent.glob(f"{self._ledger.name}*"):
            file.unlink()


# Errors


@dataclass
class Seen:
    """What a mechanism read, and what it worked out of that: with both it is run again."""

    way: Any = None
    data: Any = None
    scores: Any = None
    totals: dict[int, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.at(self.way.most)

    def hold(self) -> None:
        """Take all pairs out of the engine, which is closed soon."""
        if isinstance(self.data, TablePairs):
            self.data = self.data.above(-1)
            plan = self.way.plan
            self.scores = RemovalScores(self.data, plan.grid, self.way.cap)

    def at(self, bound: int) -> int:
        """The total at a bound."""
        if bound not in self.totals:
            cut = self.data.cut(bound, 1)[0] if hasattr(self.data, "cut") else None
            found = clamped_totals.water_filling(self.data, bound) if cut is None else cut
            self.totals[bound] = int(found)
        return self.totals[bound]

    def errors(self, many: int) -> np.ndarray:
        """Errors of so many runs, in steps of the amounts."""
        plan, found = self.way.plan, []
        for _ in range(many):
            bound = plan.grid[scan(self.scores, plan)]
            noise = int(laplace.sample(self.way.noise(bound).parameter, 1)[0])
            found.append(abs(self.at(bound) + noise - self.total))
        return np.array(found, np.float64)


@contextmanager
def watched() -> Iterator[Seen]:
    """Note what the mechanism of the next answer reads."""
    seen = Seen()
    release = MeasuredAtBound.release
    vectors = clamped_totals.unit_vectors

    def scores(pairs: Any, grid: Any, cap: int) -> Any:
        found = RemovalScores(pairs, grid, cap)
        seen.data, seen.scores, seen.totals = pairs, found, {}
        return found

    def totals(given: Any, cells: int, least: int, most: int) -> Any:
        seen.data, seen.scores, seen.totals = vectors(given, cells, least, most), None, {}
        return seen.data

    def released(self: MeasuredAtBound, *given: Any, **named: Any) -> Any:
        seen.way = self.way
        return release(self, *given, **named)

    with (
        mock.patch.object(clamped_totals, "RemovalScores", scores),
        mock.patch.object(clamped_totals, "unit_vectors", totals),
        mock.patch.object(MeasuredAtBound, "release", released),
    ):
        yield seen
    if seen.data is not None and seen.scores is None:
        seen.scores = seen.data.above(seen.way.plan.grid)


def trimmed(errors: np.ndarray) -> float:
    """R2T's measure of errors: means of ten runs without the extremes."""
    groups = np.sort(errors[: errors.size // GROUP * GROUP].reshape(-1, GROUP), axis=1)
    return float(groups[:, CUT : GROUP - CUT].mean())


# Measuring


@dataclass(frozen=True)
class Result:
    """What one query took, and how far its answers are off, in the published measure."""

    query: Query
    truth: float
    trimmed: float
    mean: float
    seconds: float
    plain: float
    asked: int
    again: tuple[float, float]
    """R2T written anew: trimmed and mean."""
    again_seconds: float
    bounded: int

    @property
    def better(self) -> float:
        return self.query.published / self.trimmed

    @property
    def off(self) -> float:
        return self.mean / self.query.oracle

    @property
    def ratio(self) -> float:
        return self.seconds / self.plain


@dataclass(frozen=True)
class Timed:
    """What a question of another kind took."""

    what: str
    seconds: float
    plain: float
    most: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.plain


def clock(
    edition: Edition, sql: str, exact: duckdb.DuckDBPyConnection, repeats: int,
    seen: Seen | None = None,
) -> tuple[list[float], list[float], list[Any], Any]:  # fmt: skip
    """Times of ours and of plain DuckDB in turns, our answers, and the exact one."""
    ours, theirs, answers, truth = [], [], [], None
    exact.execute(sql).fetchall()
    while len(ours) < repeats and sum(ours) < LONGEST:
        begun = time.perf_counter()
        truth = exact.execute(sql).fetchall()
        theirs.append(time.perf_counter() - begun)
        with edition.session() as session:
            begun = time.perf_counter()
            answers.append(session.ask(sql, epsilon=EPSILON).rows[0][-1])
            ours.append(time.perf_counter() - begun)
            if seen is not None and (len(ours) == repeats or sum(ours) >= LONGEST):
                seen.hold()
    return ours, theirs, answers, truth


def measure(query: Query, edition: Edition, folder: Path, repeats: int, draws: int) -> Result:
    """Ask it some times, then run its mechanism again and again on what it read."""
    with plain(folder) as exact, watched() as seen:
        ours, theirs, answers, rows = clock(edition, query.sql, exact, repeats, seen)
    truth = float(rows[0][0]) / query.measure
    step = 10.0 ** round(math.log10(truth / seen.total))
    errors = seen.errors(draws) * step
    told = [abs(float(answer) / query.measure - truth) for answer in answers]
    print(f"{query.name}: answers off by {', '.join(f'{one:.4g}' for one in told)}; "
          f"{', '.join(f'{one:.2f}' for one in ours)} s, plain "
          f"{', '.join(f'{one:.2f}' for one in theirs)} s", flush=True)  # fmt: skip
    begun = time.perf_counter()
    race = truncated(seen, step, query)
    took = time.perf_counter() - begun
    again = np.abs(
        race.answers(float(EPSILON), 10_000, np.random.default_rng(QUERIES.index(query))) - truth
    )
    return Result(
        query, truth, trimmed(errors), float(errors.mean()), statistics.median(ours),
        statistics.median(theirs), len(ours), (trimmed(again), float(again.mean())), took,
        race.bounded,
    )  # fmt: skip


def truncated(seen: Seen, step: float, query: Query) -> r2t.Truncated:
    """R2T on the same amounts."""
    if query.owners == 1:
        return r2t.of_units(np.asarray(seen.data.totals, np.float64) * step, LARGEST)
    rows = seen.data.above(-1)
    return r2t.of_pairs((rows.first, rows.second), rows.amounts * step, LARGEST)


def timed(folder: Path, repeats: int) -> Iterator[Timed]:
    """Statistics of each person, and totals with a declared bound."""
    edition = Edition(folder, "customer", DECLARED_ROWS)
    kinds = ((PER_PERSON, PERSON_RATIO), (DECLARED, RATIOS[1]))
    for questions, most in kinds:
        for what, (_, sql) in questions.items():
            with plain(folder) as exact:
                ours, theirs, _, _ = clock(edition, sql, exact, repeats)
            yield Timed(what, statistics.median(ours), statistics.median(theirs), most)


# Reporting


def verdicts(results: list[Result], others: list[Timed], scale: int) -> Iterator[str]:
    """Where a target is missed."""
    for one in results:
        name, most = one.query.name, RATIOS[one.query.owners]
        if scale == 1 and one.better < BETTER:
            yield f"missed: {name} errs 1/{one.better:.0f} of R2T's published (1/{BETTER})"
        if scale == 1 and one.off > OFF:
            yield f"missed: {name} errs {one.off:.2f} times the best fixed bound (at most {OFF})"
        if scale == 1 and one.seconds > SECONDS:
            yield f"missed: {name} takes {one.seconds:.1f} s (at most {SECONDS:.0f})"
        if one.ratio > most:
            yield f"missed: {name} takes {one.ratio:.1f} times plain DuckDB (at most {most:.0f})"
    for other in others:
        if other.ratio > other.most:
            yield (f"missed: {other.what} takes {other.ratio:.2f} times plain DuckDB "
                   f"(at most {other.most})")  # fmt: skip


def _cells(one: Result) -> list[str]:
    number = ask._figure
    mark = "\\*" if one.bounded else ""
    return [
        f"{one.query.name} ({one.query.units.replace(',', ', ')})", f"{one.truth:,.0f}",
        number(one.trimmed), number(one.mean), number(one.query.published),
        f"{number(one.again[0])} ({number(one.again[1])}){mark}", f"{one.better:.0f}×",
        f"{one.off:.2f}", ask._time(one.seconds), f"{one.ratio:.1f}×",
        f"{one.query.published_seconds:.1f} s",
    ]  # fmt: skip


HEAD = ["query (units)", "truth", "ours, trimmed", "ours, mean", "R2T published, trimmed",
        "R2T anew, trimmed (mean)", "R2T published / ours", "mean / best fixed bound", "time",
        "of plain DuckDB's", "R2T's programs"]  # fmt: skip


def markdown(kept: Kept, larger: Mapping[int, Kept]) -> str:
    """All that is kept of scale 1, and the growth, for docs/benchmarks.md."""
    results = [result(one, facts) for one in QUERIES if (facts := kept.of("ours").get(one.name))]
    others = [Timed(**without_time(facts)) for facts in kept.of("persons").values()]
    lines = [HEAD, ["---"] * len(HEAD), *map(_cells, results)]
    head = ["with a declared bound", "plain DuckDB", "time"]
    more = [head, ["---"] * len(head)]
    more += [[one.what, ask._time(one.plain), f"{ask._time(one.seconds)} ({one.ratio:.2f}×)"]
             for one in others]  # fmt: skip
    asked = min((one.asked for one in results), default=0)
    draws = min((facts["draws"] for facts in kept.of("ours").values()), default=0)
    grown = [line for scale, found in larger.items() for line in growth(kept, found, scale)]
    missed = [*verdicts(results, others, 1), *(line for line in grown if "missed" in line)]
    return "\n".join([
        f"TPC-H at scale 1, epsilon {EPSILON}, add or remove a unit with all its rows, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}, DuckDB {duckdb.__version__}, "
        f"adomnia {adomnia.__version__}, {kept.when}. Errors over {draws:,} runs or more of "
        "the mechanism; "
        "trimmed is R2T's measure, the mean of the middle six of ten. Median time of "
        f"{asked} answers or more, from SQL to answer. The best fixed bound is one that is known "
        "in advance, with all epsilon on the noise. R2T's seconds are those of its programs alone, "
        "on its authors' machine. No bound is declared but 10⁶ rows of a unit.",
        "",
        *(f"| {' | '.join(cells)} |" for cells in lines),
        "",
        *(["\\* Programs of more than "
           f"{r2t.MOST_ROWS:,} rows are not solved: what the units of one side allow stands for "
           "them, which favours R2T.", ""] if any(one.bounded for one in results) else []),
        *tables_peers.table(kept),
        "",
        *(f"| {' | '.join(cells)} |" for cells in more),
        "",
        *(f"- {line}" for line in grown if "missed" not in line),
        *(f"- {line}" for line in (*missed, *tables_peers.behind(kept))),
        *(["All targets were met."] if complete(kept, larger) and not missed else []),
    ])  # fmt: skip


def complete(kept: Kept, larger: Mapping[int, Kept]) -> bool:
    """Whether every target was measured."""
    ours = [kept.of("ours"), *(one.of("ours") for one in larger.values())]
    whole = all(len(one) == len(QUERIES) for one in ours)
    return whole and bool(larger) and len(kept.of("persons")) == len({**PER_PERSON, **DECLARED})


def without_time(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What was kept, without when."""
    return {name: value for name, value in facts.items() if name != "at"}


def result(query: Query, facts: Mapping[str, Any]) -> Result:
    """A result that was kept."""
    given = {name: value for name, value in without_time(facts).items() if name != "draws"}
    return Result(query, **{**given, "again": tuple(given["again"])})


def growth(small: Kept, large: Kept, scale: int) -> Iterator[str]:
    """By which power of the size the time grows from scale 1."""
    for name, facts in large.of("ours").items():
        before = small.of("ours").get(name)
        if before is not None:
            power, exact = (math.log(facts[what] / before[what]) / math.log(scale)
                            for what in ("seconds", "plain"))  # fmt: skip
            word = "missed: " if power > GROWTH else ""
            yield (
                f"{word}{name} takes {ask._time(facts['seconds'])} at scale {scale}: it grows "
                f"by the power {power:.2f} (at most {GROWTH}; plain DuckDB {exact:.2f})"
            )


def run(wish: argparse.Namespace) -> str:
    """Make and load the tables, ask everything, keep and print it."""
    only, parts = ([name for name in text.split(",") if name] for text in (wish.only, wish.parts))
    scale, repeats, draws = wish.scale, wish.repeats, wish.draws
    folder = make_tables(scale)
    kept, chosen = Kept(folder), [query for query in QUERIES if not only or query.name in only]
    for query in chosen if "ours" in parts else ():
        edition = Edition(folder, query.units)
        if scale > 1:
            kept.put("ours", query.name, times(query, edition, folder, repeats))
            continue
        found = measure(query, edition, folder, repeats, draws)
        facts = {name: value for name, value in asdict(found).items() if name != "query"}
        kept.put("ours", query.name, {**facts, "draws": draws})
        print(*_cells(found), sep=" | ", flush=True)
    for one in timed(folder, max(3, repeats)) if scale == 1 and "persons" in parts else ():
        kept.put("persons", one.what, asdict(one))
    for name in tables_peers.PEERS:
        if scale == 1 and name in parts:
            tables_peers.measure(name, chosen, folder, kept, wish.runs)
    return assembled(folder.parent)


def times(query: Query, edition: Edition, folder: Path, repeats: int) -> dict[str, float]:
    """The seconds of ours and of plain DuckDB at a larger scale, where no error is measured."""
    with plain(folder) as exact:
        ours, theirs, _, _ = clock(edition, query.sql, exact, repeats)
    print(f"{query.name}: {', '.join(f'{one:.2f}' for one in ours)} s, plain "
          f"{', '.join(f'{one:.2f}' for one in theirs)} s", flush=True)  # fmt: skip
    return {"seconds": statistics.median(ours), "plain": statistics.median(theirs)}


def assembled(place: Path) -> str:
    """The table of all that is kept."""
    scales = sorted(int(file.stem.rpartition("-")[2]) for file in place.glob("measured-*.json"))
    larger = {scale: Kept(place / str(scale)) for scale in scales if scale > 1}
    text = markdown(Kept(place / "1"), larger)
    print(text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readme", action="store_true", help="put it into docs/benchmarks.md")
    parser.add_argument("--scale", type=int, default=1, help="of TPC-H; 10 also tells the growth")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", default="", help="queries by name, with commas")
    parser.add_argument("--runs", type=int, default=tables_peers.RUNS, help="of each peer")
    parser.add_argument("--parts", default=",".join(PARTS), help="what to measure now, or none")
    wish = parser.parse_args()
    known = {*PARTS, "none", "", *(query.name for query in QUERIES)}
    if unknown := {*wish.parts.split(","), *wish.only.split(",")} - known:
        parser.error(f"{', '.join(sorted(unknown))}: neither a part ({', '.join(PARTS)}, none) "
                     f"nor a query ({', '.join(query.name for query in QUERIES)})")  # fmt: skip
    table = run(wish)
    if wish.readme:
        readme.put("tables", table)


if __name__ == "__main__":
    main()
