"""A small made-up town: its data, its policy, and databases opened on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import adomnia
from adomnia.testing import worlds


def write_people(folder: Path, rows: int = 1000, seed: int = 1) -> None:
    """`people.parquet`: five rows for each person."""
    pq.write_table(pa.table(worlds.town(rows, seed).columns), folder / "people.parquet")


def policy_text(privacy: str = "epsilon = 1000", more: str = "") -> str:
    """A policy over the town with these lines in [privacy], and more sections after it."""
    return worlds.town(1, privacy=privacy, more=more).policy


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
