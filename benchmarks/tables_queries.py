"""TPC-H and the ten queries of R2T (SIGMOD 2022): the tables, the policies, what was published.

The queries are those of the paper's public repository, with the units that it protects. Truths of
the data that `tpchgen-cli` makes are the published ones to the digit.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import ask
import duckdb

EPSILON = "0.8"
LARGEST = 10**6
"""What a unit may add at most, as R2T's experiments declare it, in the published measure."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "nation": ("n_nationkey",),
    "customer": ("c_custkey", "c_nationkey"),
    "supplier": ("s_suppkey", "s_nationkey"),
    "orders": ("o_orderkey", "o_custkey", "o_orderdate"),
    "partsupp": ("ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost"),
    "lineitem": ("l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice",
                 "l_discount", "l_shipdate"),
}  # fmt: skip
"""The columns that the queries read."""


@dataclass(frozen=True)
class Query:
    """A query, whose units it protects, and what R2T says of it.

    `measure` is how many of the answer's units the published numbers are in; `oracle` is the mean
    error of the best fixed bound, known in advance, with all epsilon spent on Laplace noise.
    """

    name: str
    units: str
    sql: str
    published: float
    truth: float
    oracle: float
    published_seconds: float
    measure: int = 1

    @property
    def owners(self) -> int:
        return len(self.units.split(","))


LINES = "orders JOIN lineitem ON l_orderkey = o_orderkey"
BOUGHT = "customer JOIN orders ON o_custkey = c_custkey"
ORDERED = f"{BOUGHT} JOIN lineitem ON l_orderkey = o_orderkey"
SUPPLIED = "JOIN supplier ON s_suppkey = l_suppkey"
HOME = "supplier JOIN nation ON nation.n_nationkey = s_nationkey"
BOTH = "customer,supplier"

QUERIES = (
    Query("Q3", "customer", f"SELECT COUNT(*) AS n FROM {ORDERED} WHERE o_orderdate < "
          "DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'", 7339, 2888656, 124, 3.0),
    Query("Q10", "customer", f"SELECT COUNT(*) AS n FROM {BOUGHT} "
          "JOIN nation ON nation.n_nationkey = c_nationkey", 2615, 1500000, 49.5, 1.7),
    Query("Q12", "orders", f"SELECT COUNT(*) AS n FROM {LINES}", 1373, 6001215, 8.75, 7.6),
    Query("Q18", "customer", f"SELECT SUM(l_quantity) AS n FROM {ORDERED}",
          201958, 153078795, 5466, 6.3),
    Query("Q20", "supplier", f"SELECT COUNT(*) AS n FROM {HOME} "
          "JOIN partsupp ON ps_suppkey = s_suppkey "
          "JOIN lineitem ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey",
          34726, 6001215, 864, 5.0),
    Query("Q11", "supplier", f"SELECT SUM(ps_supplycost * ps_availqty) AS n FROM {HOME} "
          "JOIN partsupp ON ps_suppkey = s_suppkey", 36438, 2003609.4, 336, 0.8, 10**6),
    Query("Q5", BOTH, f"SELECT COUNT(*) AS n FROM {ORDERED} {SUPPLIED} "
          "WHERE s_nationkey = c_nationkey", 3902, 239917, 51.3, 2.7),
    Query("Q7", BOTH, f"SELECT SUM(l_extendedprice * (1 - l_discount)) AS n "
          f"FROM {ORDERED} {SUPPLIED}", 1324463, 218102223.9, 35293, 91.5, 1000),
    Query("Q8", BOTH, f"SELECT COUNT(*) AS n FROM {ORDERED} {SUPPLIED} WHERE o_orderdate "
          "BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'", 35087, 1829418, 285, 24.8),
    Query("Q21", "orders,supplier", f"SELECT COUNT(*) AS n FROM {LINES} {SUPPLIED}",
          39262, 6001215, 864, 82.9),
)  # fmt: skip

PER_PERSON: Mapping[str, tuple[str, str]] = {
    "AVG of orders of a customer": (
        "customer",
        "SELECT AVG(n) AS n FROM "
        "(SELECT o_custkey, COUNT(*) AS n FROM orders GROUP BY o_custkey) t",
    ),
    "AVG of lines of a customer": (
        "customer",
        f"SELECT AVG(n) AS n FROM (SELECT c_custkey, COUNT(*) AS n FROM {ORDERED} "
        "GROUP BY c_custkey) t",
    ),
    "customers by how often they ordered": (
        "customer",
        "SELECT CASE WHEN n > 10 THEN 'often' ELSE 'seldom' END AS who, COUNT(*) AS n FROM "
        "(SELECT o_custkey, COUNT(*) AS n FROM orders GROUP BY o_custkey) t GROUP BY who",
    ),
}
"""Statistics of each person and then over persons: whose, and the question."""

DECLARED: Mapping[str, tuple[str, str]] = {
    "COUNT of lines by nation": (
        "customer",
        f"SELECT c_nationkey, COUNT(*) AS n FROM {ORDERED} GROUP BY c_nationkey",
    ),
    "SUM of quantity": ("customer", f"SELECT SUM(l_quantity) AS n FROM {ORDERED}"),
    "COUNT of orders": ("customer", f"SELECT COUNT(*) AS n FROM {BOUGHT}"),
}
"""Questions with a declared bound of rows."""

DAYS = {"kind": '"date"', "low": "1992-01-01", "high": "1998-12-31"}
PARTS = {"low": "1", "high": "20000000"}
"""As many as there are at scale 100."""
DOMAINS: Mapping[str, Mapping[str, str]] = {
    "c_nationkey": {"low": "0", "high": "24"},
    "s_nationkey": {"low": "0", "high": "24"},
    "o_orderdate": DAYS,
    "l_shipdate": DAYS,
    "l_partkey": PARTS,
    "l_quantity": {"low": "1", "high": "50"},
    "l_extendedprice": {"low": "0", "high": "110000", "step": "0.01"},
    "l_discount": {"low": "0", "high": "0.1", "step": "0.01"},
    "ps_partkey": PARTS,
    "ps_availqty": {"low": "0", "high": "9999"},
    "ps_supplycost": {"low": "0", "high": "1000", "step": "0.01"},
}
KEYS = {"customer": "c_custkey", "supplier": "s_suppkey", "orders": "o_orderkey"}
REFERENCES = {"o_custkey": "customer", "ps_suppkey": "supplier", "l_orderkey": "orders",
              "l_suppkey": "supplier"}  # fmt: skip


def policy(units: str, rows: str = '"auto"', name: str = "") -> str:
    """The policy that protects these units: only what refers to them is private."""
    owners = units.split(",")
    held = [*owners]
    for table in ("orders", "partsupp", "lineitem"):
        if any(REFERENCES.get(column) in held for column in COLUMNS[table]) and table not in held:
            held.append(table)
    parts = [_table(table, held) for table in held]
    unit = f'"{owners[0]}"' if len(owners) == 1 else str(owners).replace("'", '"')
    parts.append('[public.nation]\nsource = "nation.parquet"\nkey = "n_nationkey"')
    parts.append(f"[privacy]\nunit = {unit}\nepsilon = 100000\nconfirmed = true\nmax_rows = {rows}")
    parts.append(f'[ledger]\nurl = "{name}.ledger"')
    return "\n".join(parts) + "\n"


def _table(name: str, held: list[str]) -> str:
    lines = [f"[tables.{name}]", f'source = "{name}.parquet"']
    if name in KEYS:
        lines.append(f'key = "{KEYS[name]}"')
    leads = {c: REFERENCES[c] for c in COLUMNS[name] if REFERENCES.get(c) in held}
    if leads:
        pairs = ", ".join(f'{column} = "{other}"' for column, other in leads.items())
        lines.append(f"references = {{ {pairs} }}")
    for column in COLUMNS[name]:
        if column in DOMAINS:
            lines.append(f"[tables.{name}.attributes.{column}]")
            lines += [f"{key} = {value}" for key, value in DOMAINS[column].items()]
    return "\n".join(lines)


def make_tables(scale: int) -> Path:
    """The folder with the needed columns of TPC-H, made once under build/tpch."""
    folder = ask.ROOT / "build" / "tpch" / str(scale)
    if (folder / "made").exists():
        return folder
    whole = folder / "whole"
    whole.mkdir(parents=True, exist_ok=True)
    tool = ask.python_of("tpch").with_name("tpchgen-cli")
    if not tool.exists():
        raise SystemExit("there is no tpchgen-cli: run benchmarks/peers/setup tpch")
    subprocess.run(
        [tool, "parquet", "-s", str(scale), f"--output-dir={whole}", "--tables", ",".join(COLUMNS)],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    with duckdb.connect() as connection:
        for name, columns in COLUMNS.items():
            connection.execute(
                f"COPY (SELECT {', '.join(columns)} FROM '{whole / name}.parquet') "
                f"TO '{folder / name}.parquet'"
            )
            (whole / f"{name}.parquet").unlink()
    whole.rmdir()
    (folder / "made").touch()
    return folder


def plain(folder: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB by itself over the Parquet files."""
    connection = duckdb.connect()
    for name in COLUMNS:
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder / name}.parquet'")
    return connection


def exact(value: object, query: Query) -> float:
    """An answer in the published measure."""
    return float(Decimal(str(value)) / query.measure)
