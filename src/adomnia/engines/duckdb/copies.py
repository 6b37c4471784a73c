"""Copies: what a source's files hold, decoded once and kept beside the ledger.

Questions read the copy, so that none can fail for a value, or find another file than the one
before it. Every file is copied, whatever is in it: that there is a copy tells nothing. It lies in
a folder that only its owner may enter, under a name that changes when a file does, and takes its
place at once or not at all; others go when a new one is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb

from adomnia.engines.source_files import Source, state
from adomnia.engines.sql.dialect import literal
from adomnia.errors import MachineryError

__all__ = ["ROWS", "Computed", "Copies", "Parts", "Rows", "SourcePart", "Tell"]

ROWS = "adomnia_rows"
"""The name of the table in a copy."""

FORMAT = 1
SETTINGS = ("SET TimeZone = 'UTC'", "SET preserve_insertion_order = false")
SPARE = 64_000_000
"""Bytes that are left free on a disk."""

PATIENCE = 2.0
"""Seconds of work after which it is told how far it is."""

Tell = Callable[[int], None]
"""Called with the number of rows that have been read, now and then."""


Rows = tuple[Any, Iterator[Any]]
"""A schema of Arrow, and batches of rows that have it."""


@dataclass(frozen=True)
class SourcePart:
    """Rows of one schema: what tells it from others, what each column is selected as, the rows."""

    schema: str
    selected: tuple[str, ...]
    read: Callable[[], Rows]


@dataclass(frozen=True)
class Parts:
    """All rows of files; the columns of several types; about how many bytes the rows need."""

    parts: Sequence[SourcePart]
    varied: frozenset[str]
    size: int

    @property
    def plan(self) -> object:
        """What is made of the files."""
        return [(part.schema, part.selected) for part in self.parts]

    def fill(self, connection: duckdb.DuckDBPyConnection, tell: Tell) -> None:
        """Make the table of all rows."""
        selects = []
        for place, part in enumerate(self.parts):
            name = f"adomnia_part{place}"
            import pyarrow as pa  # noqa: PLC0415 (slow to import)

            schema, batches = part.read()
            reader = pa.RecordBatchReader.from_batches(schema, _told(batches, tell))
            connection.register(name, reader)
            selects.append(f"SELECT {', '.join(part.selected)} FROM {name}")
        connection.execute(f"CREATE TABLE {ROWS} AS {' UNION ALL BY NAME '.join(selects)}")


@dataclass(frozen=True)
class Computed:
    """What a database computes: rows of a view, all of them at once."""

    path: str
    select: str
    size: int

    @property
    def plan(self) -> object:
        """What is made of the database."""
        return self.select

    def fill(self, connection: duckdb.DuckDBPyConnection, tell: Tell) -> None:
        """Make the table of all rows."""
        connection.execute(f"ATTACH {literal(self.path)} AS source (READ_ONLY)")
        connection.execute(f"CREATE TABLE {ROWS} AS {self.select}")
        connection.execute("DETACH source")


class Copies:
    """The copies in one folder, of which one at a time is in use by a policy."""

    def __init__(self, folder: Path, tell: Tell | None = None) -> None:
        self._folder, self._tell = folder, tell

    def copy(self, source: Source, rows: Parts | Computed) -> Path:
        """The copy of what these files hold now, made where there is none."""
        before = state(source)
        path = self._folder / f"{_key(before, rows.plan)}.duckdb"
        if path.exists():
            return path
        with self._alone():
            if not path.exists():
                self._clear()
                self._make(path, rows)
                if state(source) != before:
                    path.unlink()
                    raise MachineryError("the source changed while it was read", "try again")
        return path

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else makes a copy in this folder meanwhile."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._folder.stat().st_mode & 0o077:  # one that was there: its files are decoded rows
            self._folder.chmod(0o700)
        with (self._folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _clear(self) -> None:
        """Remove other copies; whoever reads one has it open, and keeps it until then."""
        for old in self._folder.glob("*.duckdb*"):
            old.unlink(missing_ok=True)

    def _make(self, path: Path, rows: Parts | Computed) -> None:
        self._check_space(rows.size)
        unfinished = path.with_name(f"{path.name}.{uuid4().hex}")
        try:
            with duckdb.connect(str(unfinished)) as connection:
                unfinished.chmod(0o600)
                for setting in SETTINGS:
                    connection.execute(setting)
                rows.fill(connection, self._telling())
                connection.execute("CHECKPOINT")
            unfinished.replace(path)
        except duckdb.IOException:
            self._check_space(0)
            raise
        finally:
            for left in self._folder.glob(f"{unfinished.name}*"):
                left.unlink(missing_ok=True)

    def _check_space(self, needed: int) -> None:
        free = shutil.disk_usage(self._folder).free
        if free < needed + SPARE:
            raise MachineryError(
                f"the disk has no room for a copy of the source: {free / 1e6:,.0f} MB are free, "
                f"and it may take {(needed + SPARE) / 1e6:,.0f} MB",
                f"make room at {str(self._folder)!r}",
            )

    def _telling(self) -> Tell:
        began, rows = time.monotonic(), 0

        def tell(more: int) -> None:
            nonlocal rows
            rows += more
            if self._tell is not None and time.monotonic() - began > PATIENCE:
                self._tell(rows)

        return tell


def _key(before: object, plan: object) -> str:
    facts = (FORMAT, duckdb.__version__, metadata.version("pyarrow"), before, plan)
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _told(batches: Iterator[Any], tell: Tell) -> Iterator[Any]:
    for batch in batches:
        tell(batch.num_rows)
        yield batch
