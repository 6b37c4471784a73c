"""Tumult Analytics over TPC-H: Spark frames in memory, joined on the protected column.

The argument is a folder with the tables and `tumult.json`, which `benchmarks/tables_peers.py`
wrote. A table must have the column of its unit: lines of orders get that of their customer here,
before the clock starts.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from serve import Ask, Prepare, cells, serve
from tmlt.analytics import (
    AddRowsWithID,
    ColumnType,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

CORES = 2
NAMES = {"o_custkey": "c_custkey", "l_orderkey": "o_orderkey", "ps_suppkey": "s_suppkey",
         "l_suppkey": "s_suppkey", "ps_partkey": "l_partkey"}  # fmt: skip
"""Columns are joined by one name."""
KEYS = {"customer": "c_custkey", "orders": "o_orderkey", "supplier": "s_suppkey"}
Frames = Mapping[str, DataFrame]


def bought() -> Any:
    """Customers with their orders."""
    return QueryBuilder("customer").join_private("orders", join_columns=["c_custkey"])


def ordered() -> Any:
    """Customers with the lines of their orders."""
    return bought().join_private("lineitem", join_columns=["c_custkey", "o_orderkey"])


def lines() -> Any:
    """Orders with their lines."""
    return QueryBuilder("orders").join_private("lineitem", join_columns=["o_orderkey"])


def supplied() -> Any:
    """Suppliers with what they supply."""
    nation = QueryBuilder("supplier").join_public("nation_s", join_columns=["s_nationkey"])
    return nation.join_private("partsupp", join_columns=["s_suppkey"])


def cost(row: Mapping[str, Any]) -> dict[str, float]:
    """What all of a part costs."""
    return {"cost": row["ps_supplycost"] * row["ps_availqty"]}


WHEN = "o_orderdate < DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'"
YEARS = "o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'"
HOME = "c_nationkey = s_nationkey"
TO = ["s_suppkey"]
QUERIES: Mapping[str, Callable[[], Any]] = {
    "Q3": lambda: ordered().filter(WHEN),
    "Q10": lambda: bought().join_public("nation_c", join_columns=["c_nationkey"]),
    "Q12": lines,
    "Q18": ordered,
    "Q20": lambda: supplied().join_private("lineitem", join_columns=["s_suppkey", "l_partkey"]),
    "Q11": lambda: supplied().map(cost, {"cost": ColumnType.DECIMAL}, augment=True),
    "Q5": lambda: ordered().join_private("supplier", join_columns=TO).filter(HOME),
    "Q7": lambda: ordered().join_private("supplier", join_columns=TO),
    "Q8": lambda: ordered().filter(YEARS).join_private("supplier", join_columns=TO),
    "Q21": lambda: lines().join_private("supplier", join_columns=TO),
}
SUMS = {"Q18": "l_quantity", "Q11": "cost", "Q7": "l_extendedprice"}
COLUMNS: Mapping[str, Mapping[str, list[str]]] = {
    "customer": {
        "customer": ["c_custkey", "c_nationkey"],
        "orders": ["c_custkey", "o_orderkey", "o_orderdate"],
        "lineitem": ["c_custkey", "o_orderkey", "s_suppkey", "l_shipdate", "l_quantity"],
    },
    "orders": {"orders": ["o_orderkey"], "lineitem": ["o_orderkey", "s_suppkey"]},
    "supplier": {
        "supplier": ["s_suppkey", "s_nationkey"],
        "partsupp": ["s_suppkey", "l_partkey", "ps_availqty", "ps_supplycost"],
        "lineitem": ["s_suppkey", "l_partkey"],
    },
}
"""The private tables of a unit; of two units the first has a table that both have."""


def spark_at(place: Path) -> SparkSession:
    """Spark on this machine, a partition for each core, with its tables in a folder."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers must find Tumult's modules
    build = SparkSession.builder.master(f"local[{CORES}]").config("spark.driver.memory", "6g")
    build = build.config("spark.sql.shuffle.partitions", CORES).config("spark.ui.enabled", "false")
    return build.config("spark.sql.warehouse.dir", str(place)).getOrCreate()


def load(folder: Path) -> Frames:
    """The tables in memory: decimals as doubles, and lines with the customer of their order."""
    spark, frames = spark_at(folder / "spark"), {}
    for file in sorted(folder.glob("*.parquet")):
        frame = spark.read.parquet(str(file))
        kinds = dict(frame.dtypes)
        frames[file.stem] = frame.select(*(
            (col(name).cast("double") if kinds[name].startswith("decimal") else col(name))
            .alias(NAMES.get(name, name)) for name in frame.columns
        ))  # fmt: skip
    whose = frames["orders"].select("o_orderkey", "c_custkey")
    frames["lineitem"] = frames["lineitem"].join(whose, "o_orderkey")
    for name, frame in frames.items():
        frames[name] = frame.repartition(CORES).cache()
        frames[name].count()
    return frames


def session_over(frames: Frames, units: list[str]) -> Any:
    """A session that protects these units, each in a space of names of its own."""
    build = Session.Builder().with_privacy_budget(PureDPBudget(float("inf")))
    taken: set[str] = set()
    for unit in units:
        build = build.with_id_space(unit)
        for table in sorted(COLUMNS[unit].keys() - taken):
            frame = frames[table].select(COLUMNS[unit][table])
            build = build.with_private_dataframe(table, frame, AddRowsWithID(KEYS[unit], unit))
        taken |= COLUMNS[unit].keys()
    for key in ("c_nationkey", "s_nationkey"):
        nation = frames["nation"].select(col("n_nationkey").alias(key))
        build = build.with_public_dataframe(f"nation_{key[0]}", nation)
    return build.build()


def query_of(name: str, rows: int, high: float) -> Any:
    """The query with so many rows of a unit."""
    bounded = QUERIES[name]().enforce(MaxRowsPerID(rows))
    return bounded.sum(SUMS[name], 0, high) if name in SUMS else bounded.count()


def main() -> None:
    folder = Path(sys.argv[1])
    asked = json.loads((folder / "tumult.json").read_text("utf-8"))
    frames, epsilon = load(folder), PureDPBudget(asked["budget"]["epsilon"])

    def prepare(name: str) -> tuple[Ask, Any]:
        facts = asked["queries"][name]

        def ask() -> list[Any]:
            query = query_of(name, facts["rows"], facts["high"])
            return list(session_over(frames, facts["units"]).evaluate(query, epsilon).collect())

        return ask, cells

    questions: dict[str, Prepare] = {name: partial(prepare, name) for name in asked["queries"]}
    about = f"Spark {version('pyspark')}, local[{CORES}], {CORES} shuffle partitions"
    serve(f"Tumult Analytics {version('tmlt.analytics')} ({about})", questions, {})


if __name__ == "__main__":
    main()
