"""A hamlet with a private table and a public one, and the statements that clients send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.server.postgres.catalogue import Catalogue

STATEMENTS = Path(__file__).parent / "statements"
OIDS = {"{people}": "16400", "{regions}": "16410", "{budget}": "16420"}

POLICY = """
[data]
source = "people.parquet"
table = "people"
[privacy]
confirmed = true
epsilon = 4
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 120
[attributes.weight]
low = 0
high = 200
step = 0.5
[attributes.member]
values = [true, false]
[attributes.admitted]
kind = "date"
low = "2015-01-01"
high = "2025-12-31"
[attributes.region]
values = [1, 2, 3]
[attributes.diagnosis]
values = ["A", "B"]
other = "other"
[analysts.alice]
epsilon = 1
[analysts.bob]
epsilon = 2
[public.regions]
source = "regions.csv"
key = "region_id"
"""


def write_hamlet(folder: Path, rows: int = 137) -> Path:
    """Data and policy; the policy's path. There is a column that is not declared."""
    days = [f"20{15 + row % 10}-03-0{1 + row % 9}" for row in range(rows)]
    table = pa.table({
        "sex": ["F" if row % 3 else "M" for row in range(rows)],
        "age": list(range(rows)),
        "weight": [50.5] * rows,
        "member": [row % 2 == 0 for row in range(rows)],
        "admitted": pa.array(days).cast(pa.date32()),
        "region": [1 + row % 3 for row in range(rows)],
        "diagnosis": ["A"] * rows,
        "surname": ["Zzmayer"] * rows,
    })  # fmt: skip
    pq.write_table(table, folder / "people.parquet")
    (folder / "regions.csv").write_text("region_id,name,area\n1,North,1.5\n2,South,2.5\n3,East,\n")
    policy = folder / "adomnia.toml"
    policy.write_text(POLICY)
    return policy


@dataclass(frozen=True)
class Sent:
    """A statement of a client, its parameters, and the columns that PostgreSQL 15 gives."""

    client: str
    sql: str
    parameters: list[Any]
    columns: list[tuple[str, int]] | None


def sent(file: Path) -> Iterator[Sent]:
    """The statements of a file, each beneath a line of what is known of it."""
    for part in file.read_text().split("--> ")[1:]:
        head, sql = part.split("\n", 1)
        for name, oid in OIDS.items():
            head, sql = head.replace(name, oid), sql.replace(name, oid)
        facts = json.loads(head)
        columns = facts["columns"] and [tuple(column) for column in facts["columns"]]
        yield Sent(facts["client"], sql.strip(), facts.get("parameters", []), columns)


def ask(catalogue: Catalogue, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of an answer."""
    assert catalogue.answers(sql)
    return catalogue.run(sql, list(parameters)).rows
