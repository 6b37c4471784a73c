"""Editions in Spark: folders of Parquet files that all machines of the cluster can read.

They are in the folder that the policy names; else beside the ledger where Spark runs on this
machine, and beside the source where it does not. A new one is written under a name that means
nothing, and put in its place by renaming it.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

from adomnia.engines.edition_store import (
    EditionFacts,
    EditionName,
    Means,
    Relations,
    TablesFacts,
    if_found,
    surplus,
)
from adomnia.engines.engine import quietly
from adomnia.engines.private_folder import locked_folder
from adomnia.engines.spark.edition import FACTS, ROWS, SparkEdition, write_edition
from adomnia.engines.spark.folders import SparkFolder
from adomnia.engines.spark.reader import unreadable
from adomnia.engines.spark.sessions import Address, address
from adomnia.engines.spark.tables import SparkRelation, relation, state_digest
from adomnia.engines.spark.tables_edition import SparkTablesEdition, write_tables
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = ["EditionFiles"]

UNFINISHED = "unfinished-"
DRAFT = "facts.draft"


class EditionFiles:
    """The editions of what Spark reads, one table or several (`relations`, all read by the
    application of `source`); `room` is a folder of this machine for the loads' lock."""

    def __init__(
        self, source: str, relation: str, room: Path, named: str | None = None,
        relations: Relations | None = None,
    ) -> None:  # fmt: skip
        self._source, self._room = source, room
        self._relations = relations or {"": (source, relation)}
        self.place = _place(address(source), room, named)
        told = f"{platform.node()} {room.absolute()}"
        self._prefix = f"{UNFINISHED}{hashlib.sha256(told.encode()).hexdigest()[:12]}-"

    @contextmanager
    def writing(self) -> Iterator[_FilesWriter]:
        """A turn to write, which a lock on this machine gives."""
        with locked_folder(self._room), ExitStack() as stack:
            sources = {name: self._found(name, stack) for name in self._relations}
            folder = SparkFolder(next(iter(sources.values())).session, self.place)
            quietly(folder.make_private, self._refused)
            self._clear(folder)  # nobody else is writing, so it was left by one that died
            shared = self.place != _local(self._room)  # by ledgers that are elsewhere
            try:
                yield _FilesWriter(sources, folder, f"{self._prefix}{uuid4().hex}", shared)
            finally:
                with suppress(Exception):  # the application may have ended
                    self._clear(folder)

    def _found(self, name: str, stack: ExitStack) -> SparkRelation:
        """A source, which is left with the stack."""
        place, table = self._relations[name]
        source = quietly(lambda: relation(place, table), unreadable)
        stack.callback(source.leave)
        return source

    def open(
        self, name: EditionName, table: Table | Tables
    ) -> SparkEdition | SparkTablesEdition | None:
        """The engine that asks an edition; None where it is not there."""
        label, path = f"edition {name.number}", f"{self.place}/{name}"
        if isinstance(table, Tables):
            return if_found(SparkTablesEdition(self._source, path, table, label))
        return if_found(SparkEdition(self._source, path, table, label))

    def _clear(self, folder: SparkFolder) -> None:
        for name in folder.names():
            if name.startswith(self._prefix):
                folder.remove(name)

    def _refused(self, kind: str) -> AdomniaError:
        return PolicyError(
            f"no edition can be written beside the source in Spark ({kind})",
            'name a folder that can be: [data] editions = "…"; or say in_place = true in [data]: '
            "the source is then read as it is at each question, which promises less "
            "(docs/sources.md)",
        )


@dataclass(frozen=True)
class _FilesWriter:
    """Writes one edition into a folder that has no name yet."""

    sources: Mapping[str, SparkRelation]
    folder: SparkFolder
    draft: str
    shared: bool

    def write(self, table: Table | Tables, means: Means) -> EditionFacts | TablesFacts:
        """Read the source once and write what it holds."""
        facts: EditionFacts | TablesFacts
        address = f"{self.folder.address}/{self.draft}"
        if isinstance(table, Tables):
            draft = SparkFolder(self.folder.session, address)
            several = partial(write_tables, self.sources, table, draft, means)
            facts = quietly(several, unreadable)
        else:
            (source,) = self.sources.values()
            one = partial(write_edition, source, table, f"{address}/{ROWS}", means)
            facts = quietly(one, unreadable)
        quietly(lambda: self.folder.write(f"{self.draft}/{DRAFT}", facts.to_json()), _unwritten)
        return facts

    def drafted(self, table: Tables) -> None:
        """Nothing is seen of it before it is published."""
        return

    def source_version(self) -> str | None:
        """Which state of the files is there now; a view is new each time it is looked at."""
        first, second = (quietly(self._states, unreadable) for _ in range(2))
        return first if first == second else None

    def _states(self) -> str:
        return " ".join(map(state_digest, self.sources.values()))

    def publish(self, name: EditionName) -> None:
        """Put it in its place; what bears the name is no edition that the ledger knows.

        In an object store folders are renamed file by file: it is one once its facts are there.
        """

        def work() -> None:
            self.folder.remove(str(name))
            self.folder.rename(self.draft, str(name))
            self.folder.rename(f"{name}/{DRAFT}", f"{name}/{FACTS}")

        quietly(work, _unwritten)

    def erase(self, ledger: str, known: Collection[int], keep: int) -> None:
        """Remove all but the last."""
        with suppress(Exception):  # the next load removes it
            for name in surplus(self.folder.names(), ledger, known, keep, self.shared):
                self.folder.remove(name)


def _local(folder: Path) -> str:
    return f"file://{folder.absolute()}"


def _place(where: Address, room: Path, named: str | None) -> str:
    """The folder of editions, as Spark is told it."""
    if named is not None and "://" in named:
        return named.rstrip("/")
    if where.master.startswith("local"):
        return _local(Path(named) if named else room)
    if named is not None:
        return named.rstrip("/")
    if where.path is None or {*where.path} & {*"*?[{"}:
        raise PolicyError(
            "editions of this source need a folder that all machines of the cluster can reach",
            'name it: [data] editions = "hdfs://…"; or say in_place = true in [data]: the source '
            "is then read as it is at each question, which promises less (docs/sources.md)",
        )
    return where.path.rstrip("/") + ".editions"


def _unwritten(kind: str) -> AdomniaError:
    return MachineryError(f"the edition could not be written ({kind})", "load it again")
