"""Editions of files: each in a folder of its own, in a folder that only its owner may enter.

A new one is written under a name that means nothing and takes its place by one renaming.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.engines.duckdb.tables_edition import DuckDBTablesEdition, write_tables
from adomnia.engines.edition_store import (
    EditionFacts,
    EditionName,
    Means,
    Relations,
    TablesFacts,
    damaged,
    surplus,
)
from adomnia.engines.engine import quietly
from adomnia.engines.private_folder import locked_folder
from adomnia.engines.source_files import find, version
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["EditionFolder"]

ROWS, FACTS = "rows.duckdb", "edition.json"
UNFINISHED = "unfinished-"


@dataclass(frozen=True)
class EditionFolder:
    """A folder of editions of the files at `source`, or of those of several tables (`relations`);
    a question uses about so much `memory`.

    It may be `shared` by several ledgers; else nothing stays there that this one does not know.
    """

    folder: Path
    source: str
    relation: str
    memory: int | None = None
    shared: bool = True
    relations: Relations = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    @contextmanager
    def writing(self) -> Iterator[_FolderWriter]:
        """A turn to write, which the folder's lock gives."""
        with locked_folder(self.folder):
            self._clear()  # nobody else is writing, so it was left by one that died
            try:
                yield _FolderWriter(self, self.folder / f"{UNFINISHED}{uuid4().hex}")
            finally:
                self._clear()

    def open(
        self, name: EditionName, table: Table | Tables
    ) -> DuckDBEdition | DuckDBTablesEdition | None:
        """The engine that asks an edition; None where it is not there."""
        path = self.path(name)
        if not (path / FACTS).exists():
            return None
        text, label = quietly((path / FACTS).read_text, damaged), f"edition {name.number}"
        if isinstance(table, Tables):
            several = TablesFacts.from_json(text)
            return DuckDBTablesEdition(path / ROWS, several, table, label, self.memory)
        facts = EditionFacts.from_json(text)
        return DuckDBEdition(path / ROWS, facts, table, label, self.memory)

    def path(self, name: EditionName) -> Path:
        """Where an edition is, if it is."""
        return self.folder / str(name)

    def _clear(self) -> None:
        for left in self.folder.glob(f"{UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)


@dataclass(frozen=True)
class _FolderWriter:
    """Writes one edition into a folder that has no name yet."""

    store: EditionFolder
    draft: Path

    def write(self, table: Table | Tables, means: Means) -> EditionFacts | TablesFacts:
        """Read the source once and write what it holds."""
        self.draft.mkdir(mode=0o700)
        path, store = self.draft / ROWS, self.store
        facts: EditionFacts | TablesFacts
        if isinstance(table, Tables):
            facts = write_tables(path, store.relations, table, means)
        else:
            facts = write_edition(path, store.source, store.relation, table, means)
        _write_durably(self.draft / FACTS, facts.to_json())
        return facts

    def drafted(self, table: Tables) -> DuckDBTablesEdition:
        """The engine that asks what was written."""
        facts = TablesFacts.from_json(quietly((self.draft / FACTS).read_text, damaged))
        return DuckDBTablesEdition(self.draft / ROWS, facts, table, "a draft", self.store.memory)

    def source_version(self) -> str:
        """Which state of the files is there now."""
        store = self.store
        places = [source for source, _ in store.relations.values()] or [store.source]
        found = [version(find(source)) for source in dict.fromkeys(places)]
        return found[0] if len(found) == 1 else sha256(" ".join(found).encode()).hexdigest()

    def publish(self, name: EditionName) -> None:
        """Put it in its place; what bears the name is no edition that the ledger knows."""
        path = self.store.path(name)
        shutil.rmtree(path, ignore_errors=True)
        self.draft.replace(path)
        _sync(path.parent)

    def erase(self, ledger: str, known: Collection[int], keep: int) -> None:
        """Remove all but the last; whoever reads one has it open, and keeps it."""
        there = sorted(path.name for path in self.store.folder.iterdir())
        for name in surplus(there, ledger, known, keep, self.store.shared):
            shutil.rmtree(self.store.folder / name, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Have the names in a folder on disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _write_durably(path: Path, text: str) -> None:
    with path.open("w") as file:
        path.chmod(0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
