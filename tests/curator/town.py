"""A small made-up town: its data, its policy, and databases opened on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import adomnia

ATTRIBUTES = """
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 120
[attributes.income]
low = 0
high = 2000
[attributes.region]
low = 1
high = 4
"""


def write_people(folder: Path, rows: int = 1000, seed: int = 1) -> None:
    """`people.parquet`: five rows for each person."""
    chance = np.random.default_rng(seed)
    cities = np.array(["Zzvienna", "Zzlinz", "Zzrome"])
    table = pa.table({
        "person_id": np.arange(rows) % max(1, rows // 5),
        "sex": np.array(["F", "M"])[chance.integers(0, 2, rows)],
        "age": chance.integers(17, 91, rows),
        "income": chance.integers(0, 2001, rows),
        "region": chance.integers(1, 5, rows),
        "city": cities[chance.choice(3, rows, p=[0.6, 0.395, 0.005])],
    })  # fmt: skip
    pq.write_table(table, folder / "people.parquet")


def policy_text(privacy: str = "epsilon = 1000", more: str = "") -> str:
    """A policy over the town with these lines in [privacy], and more sections after it."""
    data = '[data]\nsource = "people.parquet"\ntable = "people"\n'
    return f"{data}[privacy]\nconfirmed = true\n{privacy}\n{ATTRIBUTES}{more}"


@dataclass
class Town:
    """A folder with data and policy; `open` gives databases that are closed afterwards."""

    folder: Path
    opened: list[adomnia.Database]

    def open(self, privacy: str = "epsilon = 1000", more: str = "") -> adomnia.Database:
        """A database on this folder; its ledger stays from one opening to the next."""
        self.write(privacy, more)
        database = adomnia.open(self.folder / "adomnia.toml")
        self.opened.append(database)
        return database

    def write(self, privacy: str = "epsilon = 1000", more: str = "") -> Path:
        """The policy file."""
        file = self.folder / "adomnia.toml"
        text = policy_text(privacy, more)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        return file
