"""A hospital in three tables, with keys that dangle, repeat or are NULL, as editions of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.engines.duckdb.tables_edition import DuckDBTablesEdition, write_tables
from adomnia.engines.engine import Request
from adomnia.mechanisms.unseal import unseal
from adomnia.privacy.contribution import Setting
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.queries.derived_table import derived_table
from adomnia.queries.rows import OWNER
from adomnia.queries.sql.bind import Several, bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute, Table
from adomnia.schema.tables import PrivateTable, Tables
from adomnia.schema.unit_amounts import Pairs

COLUMNS = {
    "patients": ("id", "sex", "age"),
    "visits": ("id", "patient", "cost", "ward"),
    "diagnoses": ("visit", "code"),
}
NUMBERS = ("age", "cost")
SHARED = Table("", {}, OWNER)
Rows = dict[str, list[tuple]]


def hospital(visits: int = 6, diagnoses: int = 12, patients: int = 1) -> Tables:
    """The declared tables, with these bounds of rows of one patient."""

    def whole(name: str, high: int) -> Attribute:
        return Attribute(name, Grid(Fraction(0), Fraction(high)))

    def listed(name: str, *values: str) -> Attribute:
        return Attribute(name, Categories(values))

    parts = (
        PrivateTable("patients", {"sex": listed("sex", "F", "M"), "age": whole("age", 99)}, "id",
                     max_rows=patients),
        PrivateTable("visits", {"cost": whole("cost", 100), "ward": listed("ward", "a", "b", "c")},
                     "id", {"patient": "patients"}, visits),
        PrivateTable("diagnoses", {"code": listed("code", "x", "y")}, None, {"visit": "visits"},
                     diagnoses),
    )  # fmt: skip
    return Tables({part.name: part for part in parts}, ("patients",))


def admitted(draw: random.Random, patients: int = 25, tidy: bool = True) -> Rows:
    """Rows of the tables; if not tidy, with keys that lead nowhere, to two, or to too many."""
    found: Rows = {name: [] for name in COLUMNS}
    for patient in range(patients):
        found["patients"].append((f"p{patient}", draw.choice("FM"), draw.randrange(100)))
        for _ in range(draw.choice((0, 1, 2, 5))):
            key = f"v{len(found['visits'])}"
            cost, ward = draw.choice((None, 0, 30, 60, 100)), draw.choice(("a", "b", "c", None))
            found["visits"].append((key, f"p{patient}", cost, ward))
            found["diagnoses"] += [(key, draw.choice("xy")) for _ in range(draw.choice((0, 1, 2)))]
    if not tidy:
        anybody = [row[0] for row in found["patients"]] + [None, "nobody"]
        anything = [row[0] for row in found["visits"]] + [None, "nothing"]
        for _ in range(patients):
            found["visits"].append((draw.choice(anything), draw.choice(anybody), 999, "z"))
            found["diagnoses"].append((draw.choice(anything), draw.choice(("x", "q", None))))
        found["patients"] += draw.sample(found["patients"], 2)
    return found


def without(rows: Rows, patient: str | None) -> Rows:
    """The rows without a patient and all that refers to it, directly or not."""
    patients = [row for row in rows["patients"] if row[0] != patient]
    gone = {row[0] for row in rows["visits"] if row[1] == patient} - {None}
    visits = [row for row in rows["visits"] if row[1] != patient]
    diagnoses = [row for row in rows["diagnoses"] if row[0] not in gone]
    return {"patients": patients, "visits": visits, "diagnoses": diagnoses}


@dataclass
class Hospital:
    """An edition of such rows, asked for exact numbers."""

    folder: Path
    tables: Tables
    rows: Rows
    engine: DuckDBTablesEdition = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        places = {}
        for name, columns in COLUMNS.items():
            file = self.folder / f"{name}.parquet"
            data = {c: pa.array([row[i] for row in self.rows[name]],
                                pa.int64() if c in NUMBERS else pa.string())
                    for i, c in enumerate(columns)}  # fmt: skip
            pq.write_table(pa.table(data), file)
            places[name] = (str(file), name)
        facts = write_tables(self.folder / "edition.duckdb", places, self.tables)
        path = self.folder / "edition.duckdb"
        self.engine = DuckDBTablesEdition(path, facts, self.tables, "1")

    @property
    def several(self) -> Several:
        """The tables as statements see them."""
        return Several(self.tables, COLUMNS)

    def exact(self, sql: str) -> list[list[list[int]]]:
        """What is measured for a statement, without noise: each measurement's cells."""
        question = bind(sql, SHARED, (), self.several)
        table = derived_table(question.rows, self.tables, SHARED)
        setting = Setting(question.where, question.keys, OWNER)
        neighbors, found = Neighbors(rows=table.max_rows), []
        for measurement in plan_measurements(question).measurements:
            one = contribution_of(measurement, setting, neighbors)
            request = Request(table, question.where, question.keys, (one,))
            found.append(unseal(self.engine.measure(request)[0]).tolist())
        return found

    def plain(self, sql: str) -> list[tuple]:
        """What DuckDB says of the files themselves."""
        with duckdb.connect() as connection:
            for name in COLUMNS:
                file = self.folder / f"{name}.parquet"
                connection.execute(f"CREATE VIEW {name} AS FROM '{file}'")
            return connection.execute(sql).fetchall()

    def pairs(self, sql: str) -> Pairs:
        """What pairs of patients add to a statement's one number."""
        question = bind(sql, SHARED, (), self.several)
        table = derived_table(question.rows, self.tables, SHARED)
        (measurement,) = plan_measurements(question).measurements
        setting = Setting(question.where, question.keys, OWNER)
        one = contribution_of(measurement, setting, Neighbors(rows=table.max_rows))
        return unseal(self.engine.pair_sums(Request(table, question.where, (), (one,))))

    def marks(self, sql: str) -> list[tuple[int, int]]:
        """The units and ranks of the rows that a statement derives."""
        question = bind(sql, SHARED, (), self.several)
        table = derived_table(question.rows, self.tables, SHARED)
        source = self.engine._coded(table).source(table, ())
        return self.engine._rows(f'SELECT "adomnia unit", "adomnia rank" FROM {source}')
