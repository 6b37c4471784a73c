"""Qrlew over TPC-H: it writes the SQL of a query anew, and DuckDB runs that on the Parquet files.

The argument is a folder with the tables and `qrlew.json`, which `benchmarks/tables_peers.py` wrote.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import sqlalchemy as sa
from pyqrlew.wrappers import Dataset
from serve import Ask, Prepare, cells, serve

UNITS: Mapping[str, list[tuple[str, list[tuple[str, str, str]], str]]] = {
    "customer": [
        ("customer", [], "c_custkey"),
        ("orders", [], "o_custkey"),
        ("lineitem", [("l_orderkey", "orders", "o_orderkey")], "o_custkey"),
    ],
    "orders": [("orders", [], "o_orderkey"), ("lineitem", [], "l_orderkey")],
    "supplier": [
        ("supplier", [], "s_suppkey"),
        ("partsupp", [], "ps_suppkey"),
        ("lineitem", [], "l_suppkey"),
    ],
}
"""For each table the keys that lead to its unit, and the unit's column. Of two units of a table
only the first is kept, so two of these lists after each other protect it for the first alone."""
KEYS = {"customer": "c_custkey", "orders": "o_orderkey", "supplier": "s_suppkey",
        "nation": "n_nationkey"}  # fmt: skip
KINDS = {"DATE": "DATE", "BIGINT": "BIGINT", "INTEGER": "BIGINT"}


def described(connection: duckdb.DuckDBPyConnection, ranges: Mapping[str, Any]) -> Dataset:
    """The schema as Qrlew reads it from a database, with the sizes of the tables and ranges."""
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    tables = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
    sizes = {}
    with engine.begin() as empty:
        for table in tables:
            columns = connection.execute(f"DESCRIBE {table}").fetchall()
            body = ", ".join(f"{name} {KINDS.get(kind, 'FLOAT')}" for name, kind, *_ in columns)
            empty.execute(sa.text(f"CREATE TABLE {table} ({body})"))
            (sizes[table],) = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() or (0,)
    data = sized(Dataset.from_database("tpch", engine), sizes)
    for table, key in KEYS.items():
        data = data.with_constraint(None, table, key, Dataset.CONSTRAINT_UNIQUE)
    for table, column, low, high in ranges:
        data = data.with_range(None, table, column, low, high)
    return data


def sized(data: Dataset, sizes: Mapping[str, int]) -> Dataset:
    """The same with the sizes of the full tables: it was read from empty ones."""
    whole = json.loads(data.size)
    for table in whole["statistics"]["union"]["fields"]:
        table["statistics"]["struct"]["size"] = str(sizes[table["name"]])
    about = {"@type": "sarus_data_spec/sarus_data_spec.Dataset", "uuid": whole["dataset"],
             "name": "tpch", "properties": {}, "doc": "",
             "spec": {"transformed": {"transform": whole["uuid"], "arguments": [],
                                      "named_arguments": {}}}}  # fmt: skip
    return Dataset.from_str(json.dumps(about), data.schema, json.dumps(whole))


def rewritten(data: Dataset, query: Mapping[str, Any], budget: Mapping[str, float]) -> str:
    """Its private SQL. It reads dates as texts only: it has not implemented their literals."""
    sql = re.sub(r"DATE ('[^']*')", r"\1", query["sql"])
    units = [path for unit in query["units"] for path in UNITS[unit]]
    try:
        found = data.relation(sql).rewrite_with_differential_privacy(
            data, units, dict(budget), max_multiplicity=float(query["rows"]),
            max_multiplicity_share=1.0,
        )  # fmt: skip
    except BaseException as panic:  # its panics are no Exceptions, and would end the runner
        raise RuntimeError(str(panic)) from panic
    return str(found.relation().to_query())


def main() -> None:
    folder = Path(sys.argv[1])
    asked = json.loads((folder / "qrlew.json").read_text("utf-8"))
    connection = duckdb.connect()
    for file in sorted(folder.glob("*.parquet")):
        connection.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM '{file}'")
    data = described(connection, asked["ranges"])

    def prepare(query: Mapping[str, Any]) -> tuple[Ask, Any]:
        def ask() -> list[Any]:
            return connection.execute(rewritten(data, query, asked["budget"])).fetchall()

        return ask, cells

    questions: dict[str, Prepare] = {
        name: partial(prepare, query) for name, query in asked["queries"].items()
    }
    about = f"DuckDB {duckdb.__version__}, delta {asked['budget']['delta']:g}"
    serve(f"Qrlew {version('pyqrlew')} ({about})", questions, {})


if __name__ == "__main__":
    main()
