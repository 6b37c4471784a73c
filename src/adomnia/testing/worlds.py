"""Small made-up databases: a table, a policy over it, and a ledger in a folder of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.review.database import Database, open_database

__all__ = [
    "CLASS",
    "CLOUDS",
    "World",
    "analysts",
    "clouds",
    "dates",
    "listed",
    "number",
    "timestamps",
    "town",
]

CLOUDS = ("a b", 'c"d')
"""The features of `clouds`, whose names must be quoted."""
CLASS = "y"
"""Its target."""


@dataclass(frozen=True)
class World:
    """A private table and the policy over it.

    `columns` is whatever Arrow makes a table of. `attributes` has the lines of each declared
    domain, as `number`, `listed`, `dates` and `timestamps` write them; columns that it leaves out
    are not declared. `privacy` has the lines of that section, and `more` the sections that come
    after.

    >>> world = World({"age": [30, 40]}, {"age": number(0, 120)})
    >>> with world.open() as database:
    ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    >>> answer.columns
    ('n',)
    """

    columns: Mapping[str, Any]
    attributes: Mapping[str, str]
    privacy: str = "epsilon = 1000"
    more: str = ""
    table: str = "people"

    @property
    def policy(self) -> str:
        """The text of the policy file."""
        data = f'[data]\nsource = "{self.table}.parquet"\ntable = "{self.table}"\n'
        domains = (f"[attributes.{_key(name)}]\n{part}\n" for name, part in self.attributes.items())
        return f"{data}[privacy]\nconfirmed = true\n{self.privacy}\n{''.join(domains)}{self.more}"

    def write(self, folder: str | Path) -> Path:
        """Put data and policy into a folder, which must be there; returns the policy's path."""
        pq.write_table(pa.table(dict(self.columns)), Path(folder) / f"{self.table}.parquet")
        file = Path(folder) / "adomnia.toml"
        file.write_text(self.policy, "utf-8")
        return file

    @contextmanager
    def open(self, folder: str | Path | None = None) -> Iterator[Database]:
        """A database on it, in a temporary folder with a new ledger.

        In a `folder` that is given, a ledger that is there goes on. Raises a PolicyError where the
        policy is wrong.
        """
        with ExitStack() as stack:
            if folder is None:
                folder = stack.enter_context(TemporaryDirectory())
            yield stack.enter_context(open_database(self.write(folder)))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


# Domains and analysts, as policies write them


def number(low: Any, high: Any, step: Any = None) -> str:
    """The lines of a number's domain.

    >>> number(0, 120)
    'low = 0\\nhigh = 120'
    """
    return f"low = {low}\nhigh = {high}" + ("" if step is None else f"\nstep = {step}")


def listed(*values: Any, other: str | None = None) -> str:
    """The lines of a domain that is a list; `other` is where further values go.

    >>> listed("F", "M")
    'values = ["F", "M"]'
    """
    more = "" if other is None else f"\nother = {json.dumps(other)}"
    return f"values = {json.dumps(values)}{more}"


def dates(low: str, high: str) -> str:
    """The lines of a domain of days, from one to another.

    >>> dates("2020-01-01", "2020-12-31")
    'kind = "date"\\nlow = "2020-01-01"\\nhigh = "2020-12-31"'
    """
    return f'kind = "date"\nlow = "{low}"\nhigh = "{high}"'


def timestamps(low: str, high: str, step: str, zone: str | None = None) -> str:
    """The lines of a domain of moments, in steps from one to another by a zone's clock.

    >>> timestamps("2024-01-01", "2024-12-31 23:00", "1h")
    'kind = "timestamp"\\nlow = "2024-01-01"\\nhigh = "2024-12-31 23:00"\\nstep = "1h"'
    """
    lines = f'kind = "timestamp"\nlow = "{low}"\nhigh = "{high}"\nstep = "{step}"'
    return lines if zone is None else f'{lines}\nzone = "{zone}"'


def analysts(**epsilons: Any) -> str:
    """The sections of analysts, with the epsilon of each.

    >>> analysts(alice=1)
    '[analysts.alice]\\nepsilon = 1\\n'
    """
    return "".join(f"[analysts.{name}]\nepsilon = {most}\n" for name, most in epsilons.items())


# Worlds


def town(rows: int = 1000, seed: int = 1, privacy: str = "epsilon = 1000", more: str = "") -> World:
    """A town of made-up people, five rows for each.

    Declared are `sex`, `age`, `income` and `region`; there are also `person_id` and `city`.

    >>> sorted(town(rows=5).attributes)
    ['age', 'income', 'region', 'sex']
    """
    chance = np.random.default_rng(seed)
    cities = np.array(["Zzvienna", "Zzlinz", "Zzrome"])
    columns = {
        "person_id": np.arange(rows) % max(1, rows // 5),
        "sex": np.array(["F", "M"])[chance.integers(0, 2, rows)],
        "age": chance.integers(17, 91, rows),
        "income": chance.integers(0, 2001, rows),
        "region": chance.integers(1, 5, rows),
        "city": cities[chance.choice(3, rows, p=[0.6, 0.395, 0.005])],
    }
    attributes = {
        "sex": listed("F", "M"),
        "age": number(0, 120),
        "income": number(0, 2000),
        "region": number(1, 4),
    }
    return World(columns, attributes, privacy, more)


def clouds(rows: int = 400, columns: Mapping[str, Any] | None = None) -> World:
    """Two clouds of points, one for each class: the features `CLOUDS` and the target `CLASS`.

    Other `columns` of these names may be put in their place, as awkward as one likes.

    >>> with clouds(50).open() as database:
    ...     sorted(database.session().table.attributes)
    ['a b', 'c"d', 'y']
    """
    chance = np.random.default_rng(3)
    y = chance.integers(0, 2, rows)
    first, second = (
        np.clip(np.round(middle + 6 * y + chance.standard_normal(rows)), low, low + 10).astype(int)
        for middle, low in ((2, 0), (-3, -5))
    )
    own = {CLOUDS[0]: first, CLOUDS[1]: second, CLASS: np.array(["no", "yes"])[y]}
    attributes = {
        CLOUDS[0]: number(0, 10),
        CLOUDS[1]: number(-5, 5),
        CLASS: listed("no", "yes"),
    }
    return World(columns or own, attributes, "epsilon = 100000", table="clouds")
