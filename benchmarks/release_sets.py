"""The sets that releases are compared on: coded tables with the number of values of each column.

Adult and NLTCS lie in the folder that `--data` or `ADOMNIA_DATA` names. The others are written to
build/sets by `peers/run_sets.py`, in an environment that `benchmarks/peers/setup sets` makes; how
their columns are coded is written there. What is missing is left out, and the run says so.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
MADE = ROOT / "build" / "sets"
RUNNER = ROOT / "benchmarks" / "peers" / "run_sets.py"
TUNED = ("fertility", "flights", "stops", "health", "resume", "hi")
HELD_OUT = ("military", "births", "mortgages", "votes", "crashes", "youth")
FIVE = ("age", "education-num", "marital-status", "sex", "income>50K")
"""Five columns of Adult with 38,080 combinations."""


@dataclass(frozen=True)
class Data:
    """Records and the number of values of each column; where they lie as files, if they do."""

    name: str
    records: np.ndarray
    domain: dict[str, int]
    file: Path | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(self.domain.values())

    @property
    def description(self) -> Path:
        """The file with the number of values of each column."""
        if self.file is None:
            raise ValueError(f"{self.name} is not in a file")
        return self.file.with_name(self.file.name.removesuffix(".csv.gz") + ".json")

    def part(self, name: str, rows: np.ndarray | slice) -> Data:
        """Some of the rows, under another name."""
        return Data(name, self.records[rows], self.domain)

    def columns(self, name: str, wanted: tuple[str, ...]) -> Data:
        """Some of the columns, under another name."""
        places = [list(self.domain).index(column) for column in wanted]
        return Data(
            name, self.records[:, places], {column: self.domain[column] for column in wanted}
        )

    def written(self) -> Data:
        """The same, in files under build/sets."""
        file = MADE / f"{self.name}.csv.gz"
        MADE.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            with gzip.open(file, "wt") as out:
                np.savetxt(out, self.records, "%d", ",", header=",".join(self.domain), comments="")
        found = Data(self.name, self.records, self.domain, file)
        found.description.write_text(json.dumps(self.domain))
        return found


def read(file: Path) -> np.ndarray:
    with gzip.open(file, "rt") as held:
        return np.loadtxt(held, delimiter=",", skiprows=1, dtype=np.int64)


def prepare() -> bool:
    """Write the coded sets where they are not there yet; whether they are there now."""
    if all((MADE / f"{name}.json").exists() for name in (*TUNED, *HELD_OUT)):
        return True
    python = ROOT / "build" / "peers" / "sets" / "bin" / "python"
    if not python.exists():
        print("the public sets are not there; get them with: benchmarks/peers/setup sets")
        return False
    subprocess.run([python, RUNNER, MADE], check=True)
    return True


@lru_cache(maxsize=2)
def load(name: str, folder: Path) -> Data | None:
    """A set by its name; None where it is missing."""
    if name == "made-up":
        return made_up()
    if name == "nltcs":
        return _shared(folder / "nltcs/nltcs.csv.gz", name)
    if name in ("adult", "five", "adult_taught", "adult_held"):
        adult = _shared(folder / "adult/adult_coded.csv.gz", "adult")
        return adult and _of_adult(adult, name)
    if not (MADE / f"{name}.json").exists():
        return None
    domain = json.loads((MADE / f"{name}.json").read_text())
    file = MADE / f"{name}.csv.gz"
    return Data(name, read(file), domain, file)


def _shared(file: Path, name: str) -> Data | None:
    if not file.exists():
        return None
    described = file.with_name(file.name.removesuffix(".csv.gz") + "_domain.json")
    records = read(file)
    with gzip.open(file, "rt") as held:
        names = held.readline().strip().split(",")
    if described.exists():
        return Data(name, records, json.loads(described.read_text())).written()
    return Data(name, records, dict.fromkeys(names, 2)).written()


def _of_adult(adult: Data, name: str) -> Data:
    """Adult, five of its columns, or the rows that models learn from or are judged by."""
    taught = np.random.default_rng(1).random(len(adult.records)) < 0.7
    match name:
        case "five":
            return adult.columns(name, FIVE)
        case "adult_taught":
            return adult.part(name, taught).written()
        case "adult_held":
            return adult.part(name, ~taught)
    return adult


def made_up(rows: int = 10_000) -> Data:
    """Seven attributes in a chain: each leans on the one before it, half of the time."""
    chance = np.random.default_rng(1)
    domain = {f"a{size}": size for size in (2, 3, 4, 5, 6, 8, 10)}
    columns: list[np.ndarray] = []
    for size in domain.values():
        own = np.minimum(chance.geometric(2 / (size + 1), rows) - 1, size - 1)
        before = columns[-1] % size if columns else own
        columns.append(np.where(chance.random(rows) < 0.5, before, own))
    return Data("made-up", np.column_stack(columns), domain)


def wide(values: int, rows: int = 10_000) -> Data:
    """Two columns of many values, bell-shaped."""
    drawn = np.random.default_rng(1).normal(values / 2, values / 8, (rows, 2)).astype(np.int64)
    return Data("wide", np.clip(drawn, 0, values - 1), {"a": values, "b": values})
