"""Qrlew and Tumult Analytics on R2T's ten queries, each in an environment of its own.

Neither finds a bound: both are told how many rows of a unit count. They get the number that is best
for their noise, worked out of the data without privacy, which nobody could know and which favours
them; adomnia and R2T get a million. What a peer says where it refuses stands in the table.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ask
import numpy as np
from numpy.typing import NDArray
from tables_kept import Kept
from tables_queries import DOMAINS, EPSILON, KEYS, QUERIES, Query, plain

PEERS: Mapping[str, str] = {"qrlew": "Qrlew", "tumult": "Tumult Analytics"}
DELTA = 1e-7
"""Qrlew's noise is Gaussian; it cannot do without."""
RUNS, CUT = 10, 0.2
LONGEST = 900.0
"""A query is not put to a peer again once its answers took so many seconds."""
WAIT = 1800.0
"""So long a peer may take to load, or to answer once."""
HIGHS: Mapping[str, float] = {"Q18": 50, "Q11": 9999 * 1000, "Q7": 110_000}
"""What a row adds at most to a sum; to a count, one."""
RANGED = {"l_quantity": "lineitem", "l_extendedprice": "lineitem", "l_discount": "lineitem",
          "ps_availqty": "partsupp", "ps_supplycost": "partsupp"}  # fmt: skip
SHAPE = re.compile(r"SELECT (?:COUNT\(\*\)|SUM\((?P<value>.*)\)) AS n (?P<rest>FROM .*)")

NOTES: Mapping[str, str] = {
    "qrlew": "Qrlew takes the numbers of rows of the tables as public and cuts its answers there: "
    "where the truth is such a number (Q10, Q12) half of its answers are exact for that reason. "
    "A table leads to one unit only: given two (Q5, Q7, Q8, Q21) it refuses nothing, but joins the "
    "rows of which both units have the same key, which is another question. Its dates were written "
    "as texts: their literals are not implemented.",
    "tumult": "Tumult Analytics joins private tables on the unit's column only, so the customer of "
    "each line was put into its table beforehand; sums are of floating-point numbers.",
}


# What a peer is told


def best_rows(amounts: NDArray[Any], noise: float, lost: float) -> int:
    """The bound at which losing more costs as much as the noise that it saves.

    `noise` is the mean error that one more row of the bound adds, `lost` what a lost row costs.
    """
    few = min(int(noise / lost), amounts.size - 1)
    return max(1, math.ceil(float(np.sort(amounts)[::-1][few])))


def bound_of(name: str, query: Query, folder: Path) -> int:
    """How many rows of a unit are best for a peer's noise."""
    shape = SHAPE.fullmatch(query.sql)
    assert shape is not None
    key, high = KEYS[query.units.split(",", maxsplit=1)[0]], HIGHS.get(query.name, 1)
    value = shape["value"] or "1"
    with plain(folder) as exact:
        found = exact.execute(f"SELECT COUNT(*) AS n, CAST(SUM({value}) AS DOUBLE) AS total "
                              f"{shape['rest']} GROUP BY {key}").fetchnumpy()  # fmt: skip
    rows, totals = np.asarray(found["n"], float), np.asarray(found["total"], float) / high
    epsilon = float(EPSILON)
    if name == "qrlew":  # clamps the total of a unit; the mean of |Gaussian| is sqrt(2/pi)
        spread = math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon
        return best_rows(totals, spread * math.sqrt(2 / math.pi), 1.0)
    return best_rows(rows, 1 / epsilon, float(totals.sum() / rows.sum()))


def tell(name: str, queries: Sequence[Query], folder: Path) -> dict[str, int]:
    """Write what a peer is told into its file, and say the bounds."""
    rows = {query.name: bound_of(name, query, folder) for query in queries}
    ranges = [(table, column, float(DOMAINS[column]["low"]), float(DOMAINS[column]["high"]))
              for column, table in RANGED.items()]  # fmt: skip
    facts = {
        query.name: {"sql": query.sql, "units": query.units.split(","), "rows": rows[query.name],
                     "high": HIGHS.get(query.name, 1)}
        for query in queries
    }  # fmt: skip
    budget = {"epsilon": float(EPSILON), "delta": DELTA}
    (folder / f"{name}.json").write_text(
        json.dumps({"queries": facts, "budget": budget, "ranges": ranges}), "utf-8"
    )
    return rows


# Asking


class Peer(ask.Peer):
    """A runner of these queries in the peer's environment."""

    longest = WAIT

    def __init__(self, name: str, folder: Path) -> None:
        self._log = folder / f"{name}.log"
        runner = ask.ROOT / "benchmarks" / "peers" / f"run_tables_{name}.py"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [ask.python_of(name), str(runner), str(folder)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        hello = self._hear()
        self.version = PEERS[name] if hello is None else str(hello["version"])

    def answer(self, query: Query, repeat: int) -> dict[str, Any]:
        """Its seconds and its value; under `error` its words, under `failed` why there are none."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{query.name} {repeat}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"failed": f"its process has ended, see {self._log.name}"}
        why = f"its process ended or took more than {WAIT:.0f} s, see {self._log.name}"
        return self._hear() or {"failed": why}


def answers(peer: Peer, query: Query, runs: int) -> dict[str, Any]:
    """So many answers to a query, in the published measure, or the words of a refusal."""
    seconds: list[float] = []
    values: list[float] = []
    while len(values) < runs and sum(seconds) < LONGEST:
        found = peer.answer(query, len(values))
        if "error" in found or "failed" in found:
            return {"version": peer.version, "refused": found.get("error"),
                    "failed": found.get("failed")}  # fmt: skip
        seconds.append(found["seconds"])
        values.append(float(found["values"][0][1]) / query.measure)
    return {"version": peer.version, "seconds": seconds, "values": values}


def measure(
    name: str, queries: Sequence[Query], folder: Path, kept: Kept, runs: int = RUNS
) -> None:
    """Put the queries to a peer, and keep what it answers."""
    if not ask.python_of(name).exists():
        why = f"there is no environment, run benchmarks/peers/setup {name}"
        for query in queries:
            kept.put(name, query.name, {"version": PEERS[name], "failed": why})
        print(f"{PEERS[name]} {why}", flush=True)
        return
    rows = tell(name, queries, folder)
    with Peer(name, folder) as peer:
        for query in queries:
            facts = {**answers(peer, query, runs), "rows": rows[query.name]}
            kept.put(name, query.name, facts)
            print(f"{query.name}: {peer.version}, {rows[query.name]} rows: "
                  f"{cell(query, facts)}", flush=True)  # fmt: skip


# Reporting


def middle(errors: Sequence[float]) -> float:
    """The mean without a fifth at either end: of ten, the middle six."""
    cut = int(len(errors) * CUT)
    return float(np.mean(sorted(errors)[cut : len(errors) - cut]))


def cell(query: Query, facts: Mapping[str, Any]) -> str:
    """Trimmed error and mean, time and bound; or why not."""
    if facts.get("failed"):
        return f"not measured: {facts['failed']}"
    if facts.get("refused"):
        words = " ".join(str(facts["refused"]).split()).replace("|", "\\|")
        return f"refused: “{words}”"
    errors = [abs(value - query.truth) for value in facts["values"]]
    few = "" if len(errors) == RUNS else f" in {len(errors)} runs"
    took = ask._time(float(np.median(facts["seconds"])))
    return (
        f"{ask._figure(middle(errors))} ({ask._figure(float(np.mean(errors)))}), {took}{few}, "
        f"{facts['rows']:,} rows"
    )


def behind(kept: Kept) -> Iterator[str]:
    """Where a peer, told its bound, errs less than ours or is faster."""
    for query in QUERIES:
        ours = kept.of("ours").get(query.name)
        for name, label in PEERS.items():
            facts = kept.of(name).get(query.name, {})
            if ours is None or "values" not in facts:
                continue
            if middle([abs(value - query.truth) for value in facts["values"]]) < ours["trimmed"]:
                yield f"{query.name} errs more than {label}, which is told its bound"
            if float(np.median(facts["seconds"])) < ours["seconds"]:
                yield f"{query.name} takes longer than {label}"


def table(kept: Kept) -> Iterator[str]:
    """Ours and the peers beside each other, for docs/benchmarks.md."""
    there = [name for name in PEERS if kept.of(name)]
    absent = [label for name, label in PEERS.items() if name not in there]
    if there:
        versions = {str(facts["version"]) for name in there for facts in kept.of(name).values()}
        yield (f"Beside others: error trimmed (mean) of {RUNS} runs, median time, and the bound of "
               "rows that a peer was told, which is the best for its noise and not private. "
               f"{'; '.join(sorted(versions))}.")  # fmt: skip
        yield ""
        head = ["query", "adomnia", *(PEERS[name] for name in there)]
        yield from (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head)))
        yield from (f"| {' | '.join(_row(query, there, kept))} |" for query in QUERIES)
        yield ""
        yield from (NOTES[name] for name in there)
    yield from (f"{label} was not asked." for label in absent)


def _row(query: Query, names: Sequence[str], kept: Kept) -> Iterator[str]:
    yield query.name
    ours = kept.of("ours").get(query.name)
    yield (
        "–"
        if ours is None
        else (
            f"{ask._figure(ours['trimmed'])} ({ask._figure(ours['mean'])}), "
            f"{ask._time(ours['seconds'])}"
        )
    )
    for name in names:
        facts = kept.of(name).get(query.name)
        yield "–" if facts is None else cell(query, facts)
