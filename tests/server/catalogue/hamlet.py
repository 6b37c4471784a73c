"""A hamlet with a private table and a public one, and its catalogue."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from adomnia.curator.database import PrivateDatabase
from adomnia.server.accounts import Person
from adomnia.server.postgres.catalogue_content import budget_rows, shared_catalogue
from adomnia.testing.worlds import World, analysts, dates, listed, number
from adomnia.wire.catalogue import Catalogue, SharedCatalogue
from adomnia.wire.statements.lexer import split

PUBLIC = """[public.regions]
source = "regions.csv"
key = "region_id"
"""


def write_hamlet(folder: Path, rows: int = 137) -> Path:
    """Data and policy; the policy's path. There is a column that is not declared."""
    days = [f"20{15 + row % 10}-03-0{1 + row % 9}" for row in range(rows)]
    columns = {
        "sex": ["F" if row % 3 else "M" for row in range(rows)],
        "age": list(range(rows)),
        "weight": [50.5] * rows,
        "member": [row % 2 == 0 for row in range(rows)],
        "admitted": pa.array(days).cast(pa.date32()),
        "region": [1 + row % 3 for row in range(rows)],
        "diagnosis": ["A"] * rows,
        "surname": ["Zzmayer"] * rows,
    }
    attributes = {
        "sex": listed("F", "M"),
        "age": number(0, 120),
        "weight": number(0, 200, 0.5),
        "member": listed(True, False),
        "admitted": dates("2015-01-01", "2025-12-31"),
        "region": listed(1, 2, 3),
        "diagnosis": listed("A", "B", other="other"),
    }
    (folder / "regions.csv").write_text("region_id,name,area\n1,North,1.5\n2,South,2.5\n3,East,\n")
    more = analysts(alice=1, bob=2) + PUBLIC
    return World(columns, attributes, "epsilon = 4", more).write(folder)


@lru_cache
def _shared(database: PrivateDatabase) -> SharedCatalogue:
    return shared_catalogue(database)


def view(database: PrivateDatabase, name: str = "alice", role: str = "analyst") -> Catalogue:
    """What somebody sees of the catalogue of a database."""
    person = Person(name, role)
    return Catalogue(
        _shared(database),
        name,
        database="hamlet",
        variables={"budget": lambda: budget_rows(database, person)},
    )


def ask(catalogue: Catalogue, sql: str) -> list[tuple[Any, ...]]:
    """The rows of an answer."""
    (statement,) = split(sql)
    assert catalogue.answers(statement)
    return catalogue.run(sql).rows
