"""All 1-, 2- and 3-way marginals of six small attributes: four ways to count them from Parquet.

    python benchmarks/marginals_pass.py [--rows 10000000,100000000] [--repeats 3] [--readme]

Each way runs in a process of its own, so that its largest memory is its own; the time is the
median of the repeats and begins when the engine is open. All give the same tables, which is
checked. `ours, little memory` may hold one eighth of the cells of the cube at once.

    grouping sets   DuckDB, one statement with 41 GROUPING SETS
    one by one      DuckDB, one GROUP BY for each marginal
    finest          DuckDB, one GROUP BY of all six, summed down in memory
    ours            numbers of cells, counted as the rows stream by (`engines/cubes.py`)
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import readme

from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.engine import Request
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.expression import Column
from adomnia.queries.ranges import cells, from_domain
from adomnia.schema.domain import Grid
from adomnia.schema.table import Attribute, Table

NAMES, SIZES = "abcdef", (2, 7, 9, 14, 50, 26)
SUBSETS = [s for ways in (1, 2, 3) for s in itertools.combinations(range(6), ways)]
PART = 1_000_000


def write(path: Path, rows: int) -> None:
    """Rows whose attributes hang together."""
    chance = np.random.default_rng(1)
    with pq.ParquetWriter(path, pa.schema([(name, pa.int16()) for name in NAMES])) as writer:
        for start in range(0, rows, PART):
            many = min(PART, rows - start)
            base = chance.random(many)
            columns = {
                name: np.minimum(
                    np.where(chance.random(many) < 0.4, base, chance.random(many)) ** 1.5 * size,
                    size - 1,
                ).astype(np.int16)
                for name, size in zip(NAMES, SIZES, strict=True)
            }
            writer.write_table(pa.table(columns))


def grouping_sets(path: str) -> Callable[[], int]:
    connection = duckdb.connect()
    sets = ", ".join(f"({', '.join(NAMES[i] for i in s)})" for s in SUBSETS)
    sql = (
        f"SELECT {', '.join(NAMES)}, COUNT(*) AS n FROM read_parquet('{path}') "
        f"GROUP BY GROUPING SETS ({sets})"
    )
    return lambda: _check({(): connection.sql(sql).to_arrow_table()["n"].to_numpy()})


def one_by_one(path: str) -> Callable[[], int]:
    connection = duckdb.connect()

    def run() -> int:
        found = {}
        for subset in SUBSETS:
            keys = ", ".join(NAMES[i] for i in subset)
            sql = f"SELECT {keys}, COUNT(*) AS n FROM read_parquet('{path}') GROUP BY {keys}"
            found[subset] = connection.sql(sql).to_arrow_table()["n"].to_numpy()
        return _check(found)

    return run


def finest(path: str) -> Callable[[], int]:
    connection = duckdb.connect()
    sql = f"SELECT {', '.join(NAMES)}, COUNT(*) AS n FROM read_parquet('{path}') GROUP BY ALL"

    def run() -> int:
        table = connection.sql(sql).to_arrow_table()
        columns = [table[name].to_numpy().astype(np.int64) for name in NAMES]
        counts = table["n"].to_numpy()
        found = {}
        for subset in SUBSETS:
            cell = np.zeros(len(counts), np.int64)
            for place in subset:
                cell = cell * SIZES[place] + columns[place]
            found[subset] = np.bincount(cell, counts, math.prod(SIZES[i] for i in subset))
        return _check(found)

    return run


def ours(path: str, most_cells: int | None = None, ways: int = 3) -> Callable[[], int]:
    domains = {
        name: Grid(Fraction(0), Fraction(size - 1), Fraction(1))
        for name, size in zip(NAMES, SIZES, strict=True)
    }
    engine = DuckDB(path, "people", domains)
    if most_cells is not None:
        engine.most_cells = most_cells
    table = Table("people", {n: Attribute(n, d) for n, d in domains.items()}, None, 1, {})
    keys = tuple(Column(name, from_domain(domain)) for name, domain in domains.items())
    axes = tuple(tuple(cells(key.range)) for key in keys)
    asked = [s for s in SUBSETS if len(s) <= ways]

    def run() -> int:
        found = engine.contingency(Request(table, None, keys, ()), axes)(asked)
        return _check({subset: unseal(one) for subset, one in found.items()})

    return run


WAYS: dict[str, Callable[[str], Callable[[], int]]] = {
    "grouping sets": grouping_sets,
    "one by one": one_by_one,
    "finest": finest,
    "ours": ours,
    "ours, little memory": lambda path: ours(path, math.prod(SIZES) // 8),
    "ours, 1-way": lambda path: ours(path, ways=1),
    "ours, 2-way": lambda path: ours(path, ways=2),
}


def _check(tables: dict[Any, np.ndarray]) -> int:
    """The rows in all tables together: the same for every way."""
    return int(sum(int(table.sum()) for table in tables.values()))


def measure(way: str, path: str, repeats: int) -> dict[str, float]:
    """Median time and largest memory of a way, in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--path", path, "--repeats", str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def alone(way: str, path: str, repeats: int) -> None:
    """What `measure` starts."""
    run = WAYS[way](path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, total = [], 0
    for _ in range(repeats):
        begun = time.perf_counter()
        total = run()
        seconds.append(time.perf_counter() - begun)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {"seconds": statistics.median(seconds), "megabytes": (most - before) / 1000}
    print(json.dumps(found | {"total": total}))


def exponent(points: list[tuple[float, float]]) -> float:
    """The power of x that y grows with."""
    x, y = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.polyfit(x, y, 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="10000000,100000000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.way:
        alone(said.way, said.path, said.repeats)
        return
    counts = [int(float(part)) for part in said.rows.split(",")]
    shown = [name for name in WAYS if "-way" not in name]
    lines = ["| rows | " + " | ".join(shown) + " |", "|---" * (len(shown) + 1) + "|"]
    growth: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(prefix="adomnia-marginals-") as folder:
        for rows in counts:
            path = Path(folder) / "people.parquet"
            write(path, rows)
            repeats = said.repeats if rows <= 2e7 else max(1, said.repeats - 2)
            found = {way: measure(way, str(path), repeats) for way in shown}
            tables = {way: one["total"] for way, one in found.items()}
            assert set(tables.values()) == {rows * len(SUBSETS)}, tables
            growth.append((rows, found["ours"]["seconds"]))
            parts = [
                f"{one['seconds']:.2f} s, {one['megabytes']:,.0f} MB" for one in found.values()
            ]
            lines.append(f"| {rows:,} | " + " | ".join(parts) + " |")
            print(lines[-1], flush=True)
            if rows == counts[0]:
                few = [(len([s for s in SUBSETS if len(s) <= w]),
                        measure(f"ours, {w}-way", str(path), repeats)["seconds"])
                       for w in (1, 2)]  # fmt: skip
                few.append((len(SUBSETS), found["ours"]["seconds"]))
    told = f"Exponent in marginals: {exponent(few):.2f} ({few[0][0]} to {few[-1][0]} tables)."
    if len(growth) > 1:
        told = f"Exponent in rows: {exponent(growth):.2f}. " + told
    text = "\n".join([*lines, "", told])
    print(text)
    if said.readme:
        readme.put("marginals", text)


if __name__ == "__main__":
    main()
