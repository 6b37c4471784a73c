"""Tumult Analytics over a Spark frame in memory, where a person owns many rows."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from serve import Ask, Prepare, cells, serve
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

CORES = 2


def table(*columns: str) -> Any:
    """The columns that a question needs: Tumult would hash all others too, to choose rows."""
    return QueryBuilder("people").select(["person_id", "region", *columns])


def in_groups(query: Any) -> Any:
    """Three regions of a person, and one row in each."""
    return query.enforce(MaxGroupsPerID("region", 3)).enforce(MaxRowsPerGroupPerID("region", 1))


def questions() -> dict[str, Any]:
    """The queries by the names they have in `benchmarks/units.py`."""
    keys, five = KeySet.from_dict({"region": list(range(1, 51))}), MaxRowsPerID(5)
    return {
        "a": table().enforce(five).groupby(keys).count(),
        "b": table("income").enforce(five).groupby(keys).sum("income", 0, 200_000),
        "c": in_groups(table()).groupby(keys).count(),
        "d": in_groups(table("income")).groupby(keys).sum("income", 0, 200_000),
        "e": in_groups(table()).groupby(keys).count_distinct(["person_id"]),
    }


def spark_at(place: Path) -> SparkSession:
    """Spark on this machine, a partition for each core, with its tables in a folder."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers must find Tumult's modules
    build = SparkSession.builder.master(f"local[{CORES}]").config("spark.driver.memory", "4g")
    build = build.config("spark.sql.shuffle.partitions", CORES).config("spark.ui.enabled", "false")
    return build.config("spark.sql.warehouse.dir", str(place)).getOrCreate()


def load(file: Path) -> DataFrame:
    """The rows, held in memory before anything is asked."""
    spark = spark_at(file.parent / "spark")
    frame = spark.read.parquet(str(file)).repartition(CORES).cache()
    frame.count()
    return frame


def main() -> None:
    frame, epsilon = load(Path(sys.argv[1])), PureDPBudget(1)

    def prepare(query: Any) -> tuple[Ask, Any]:
        session = Session.from_dataframe(epsilon, "people", frame, AddRowsWithID("person_id"))

        def ask() -> list[Row]:
            return session.evaluate(query, epsilon).collect()

        return ask, cells

    asked: dict[str, Prepare] = {name: partial(prepare, q) for name, q in questions().items()}
    asked["d"]()[0]()  # the first query of all is slow: Spark starts its workers and compiles
    about = f"Spark {version('pyspark')}, local[{CORES}], {CORES} shuffle partitions"
    serve(f"Tumult Analytics {version('tmlt.analytics')} ({about})", asked, {})


if __name__ == "__main__":
    main()
