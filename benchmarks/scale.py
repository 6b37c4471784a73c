"""What one row, one cell and one debit cost here, and what they come to for a billion rows.

    python benchmarks/scale.py [--readme]

Costs are CPU seconds, fitted over several sizes, so that what is fixed drops out. Spark's shuffle
is read off its own counters. The sums for a billion rows are made from these figures alone;
`docs/scale.md` says what they leave out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import threading
import time
from fractions import Fraction
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import readme

import adomnia
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
GROUPED = "SELECT sex, education, COUNT(*) AS n, SUM(income) AS s FROM people GROUP BY 1, 2"
BILLION, MACHINES, CORES = 10**9, 100, 8


def write(folder: Path, rows: int, parts: int = 1) -> Path:
    """Made-up people in some files, and their policy."""
    chance = np.random.default_rng(1)
    (folder / "people").mkdir(parents=True)
    for part in range(parts):
        many = rows // parts
        table = pa.table({
            "sex": np.array(["F", "M"])[chance.integers(0, 2, many)],
            "education": chance.integers(0, 16, many).astype(np.int16),
            "income": chance.integers(0, 200_001, many).astype(np.int32),
            "place": chance.integers(0, 100_000, many).astype(np.int32),
        })  # fmt: skip
        pq.write_table(table, folder / "people" / f"{part}.parquet")
    policy = folder / "adomnia.toml"
    policy.write_text(
        '[data]\nsource = "people"\ntable = "people"\n[privacy]\nepsilon = 1000\nconfirmed = true\n'
        '[attributes.sex]\nvalues = ["F", "M"]\n[attributes.education]\nlow = 0\nhigh = 15\n'
        "[attributes.income]\nlow = 0\nhigh = 200000\n"
        "[attributes.place]\nlow = 0\nhigh = 99999\n"
    )
    return policy


def spent_on(policy: Path, sql: str) -> float:
    """The CPU seconds of an answer, the best of three."""
    found = []
    with adomnia.open(policy) as database:
        session = database.session()
        session.ask("SELECT COUNT(*) FROM people", 1)
        for number in range(3):
            begun = time.process_time()
            session.ask(sql, Fraction(1 + number))  # a sharper answer each time, so it is measured
            found.append(time.process_time() - begun)
    return min(found)


def slope(points: list[tuple[float, float]]) -> float:
    """Seconds for each one more."""
    return float(np.polyfit([x for x, _ in points], [y for _, y in points], 1)[0])


def per_row() -> float:
    """CPU seconds for a row of a grouped question, in DuckDB from Parquet."""
    points = []
    for rows in (1_000_000, 4_000_000, 8_000_000):
        with tempfile.TemporaryDirectory() as folder:
            points.append((rows, spent_on(write(Path(folder), rows), GROUPED)))
    return slope(points)


def per_cell() -> float:
    """CPU seconds for a cell of an answer: laid out, made noisy, recorded, tabulated."""
    points = []
    with tempfile.TemporaryDirectory() as folder:
        policy = write(Path(folder), 100_000)
        for width in (100, 10, 2):
            sql = f"SELECT place / {width} AS p, COUNT(*) AS n FROM people GROUP BY 1"
            points.append((100_000 / width, spent_on(policy, sql)))
    return slope(points)


def debits() -> float:
    """Durable debits a second of one ledger with 32 clients."""
    with tempfile.TemporaryDirectory() as folder:
        journal = SqliteJournal(Path(folder) / "adomnia.ledger")
        budgets = Budgets(Budget(Fraction(10**9)))
        asked = Reservation("alice", None, None, "SELECT 1", Laplace(Fraction(1, 10), Fraction(1)))
        end, done = time.monotonic() + 4, []

        def client() -> None:
            while time.monotonic() < end:
                reserve(journal, asked, budgets)
                done.append(1)

        threads = [threading.Thread(target=client) for _ in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.close()
    return len(done) / 4


def shuffled(parts: int) -> tuple[int, int]:
    """How many bytes and records our plan shuffles in Spark, for so many files."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as folder:
        policy = write(Path(folder), 400_000, parts)
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.port", "0")
            .config("spark.sql.files.maxPartitionBytes", "1m")
            .config("spark.sql.files.openCostInBytes", "1m")
            .config("spark.sql.shuffle.partitions", "8")
            .getOrCreate()
        )
        try:
            frame = spark.read.parquet(str(Path(folder) / "people"))
            with adomnia.open(policy, source=frame) as database:
                before = _written(spark)
                database.session().ask(GROUPED, 1)
                after = _written(spark)
        finally:
            spark.stop()
    return after[0] - before[0], after[1] - before[1]


def _written(spark: object) -> tuple[int, int]:
    context = spark.sparkContext  # type: ignore[attr-defined]
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    time.sleep(1)  # its counters are a moment late
    with urlopen(address) as page:
        stages = json.load(page)
    return (sum(stage["shuffleWriteBytes"] for stage in stages),
            sum(stage["shuffleWriteRecords"] for stage in stages))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", action="store_true", help="put the table into docs/scale.md")
    said = parser.parse_args()
    row, cell, debit = per_row(), per_cell(), debits()
    few, many = shuffled(4), shuffled(16)
    record = (many[0] - few[0]) / max(1, many[1] - few[1])
    groups, whole = 32, row * BILLION
    tasks = math.ceil(BILLION / 4_000_000)
    lines = [
        "| what | here | a billion rows on 100 machines of 8 cores |",
        "|---|---|---|",
        f"| one row of a grouped question | {row * 1e9:.0f} ns of CPU | "
        f"{whole:,.0f} CPU s, {whole / (MACHINES * CORES):.2f} s if all cores work |",
        f"| one cell of an answer | {cell * 1e6:.0f} µs of CPU, on one core | "
        f"{cell * 1e6:,.0f} s for a million cells |",
        f"| Spark's shuffle, {groups} groups | {few[1]:,} records with 4 tasks, {many[1]:,} with "
        f"16; about {record:.0f} bytes each | at most {tasks * groups:,} records, "
        f"{tasks * groups * record / 1e6:.1f} MB ({tasks} tasks of 4,000,000 rows) |",
        f"| one debit | {debit:,.0f} a second, durable, 32 clients | the same: one ledger for each "
        "data set |",
    ]
    text = "\n".join(lines)
    print(text)
    if said.readme:
        readme.put("scale", text, PAGE)


if __name__ == "__main__":
    sys.exit(main())
