"""Editions of files: each in a folder of its own, in a folder that only its owner may enter.

A new one is written under a name that means nothing and takes its place by one renaming.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.engines.edition_store import EditionFacts, EditionName, Means, damaged, surplus
from adomnia.engines.engine import quietly
from adomnia.engines.private_folder import locked_folder
from adomnia.engines.source_files import find, version
from adomnia.schema.table import Table

__all__ = ["EditionFolder"]

ROWS, FACTS = "rows.duckdb", "edition.json"
UNFINISHED = "unfinished-"


@dataclass(frozen=True)
class EditionFolder:
    """A folder of editions of the files at `source`; a question uses about so much `memory`.

    It may be `shared` by several ledgers; else nothing stays there that this one does not know.
    """

    folder: Path
    source: str
    relation: str
    memory: int | None = None
    shared: bool = True

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

    def open(self, name: EditionName, table: Table) -> DuckDBEdition | None:
        """The engine that asks an edition; None where it is not there."""
        path = self.path(name)
        if not (path / FACTS).exists():
            return None
        facts = EditionFacts.from_json(quietly((path / FACTS).read_text, damaged))
        label = f"edition {name.number}"
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

    def write(self, table: Table, means: Means) -> EditionFacts:
        """Read the source once and write what it holds."""
        self.draft.mkdir(mode=0o700)
        facts = write_edition(
            self.draft / ROWS, self.store.source, self.store.relation, table, means
        )
        _write_durably(self.draft / FACTS, facts.to_json())
        return facts

    def source_version(self) -> str:
        """Which state of the files is there now."""
        return version(find(self.store.source))

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
