"""Editions: the source as it was read once, cleaned by the policy, under a number of its own.

They lie in a folder beside the ledger that only its owner may enter, each in a folder of its own
that takes its place at once or not at all. That one was made, and when, is an entry of the ledger
and public; what tells its content from another's is keyed with a secret of the ledger and for the
curator alone: a plain digest would confirm a guess about the last unknown row (`editions.md`).
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from adomnia.curator.ledger_view import open_journal, open_ledger
from adomnia.errors import MachineryError, PolicyError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record
from adomnia.ledger.journal import Journal
from adomnia.policy.policy import Policy
from adomnia.schema.table import Table

if TYPE_CHECKING:
    from adomnia.engines.duckdb.edition import DuckDBEdition, EditionFile

__all__ = ["Edition", "EditionDraft", "Editions", "Tell", "edition_of", "in_force"]

FORMAT = 1
"""How editions are written; those of another format are made anew."""

ROWS, FACTS = "rows.duckdb", "edition.json"

Check = Callable[[Mapping[str, str]], None]
"""Refuses columns that are not those of the policy."""

Tell = Callable[[int], None]
"""Called with the number of rows that have been read, now and then."""


@dataclass(frozen=True)
class Edition:
    """An edition that is in force: its number, when it was made, and where it is.

    `digest` is for the curator: two editions of the same rows by the same policy have the same.
    """

    number: int
    at: str
    digest: str
    path: Path


@dataclass(frozen=True)
class EditionDraft:
    """An edition that was written and has no number yet."""

    path: Path
    facts: EditionFile


class Editions:
    """The editions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        beside = policy.file if "://" in policy.ledger else Path(policy.beside(policy.ledger))
        named = policy.editions
        self.folder = Path(policy.beside(named)) if named else beside.with_suffix(".editions")
        self._coding = _coding(policy)

    def current(self, journal: Journal) -> Edition | None:
        """The last edition of this policy that the ledger knows and the folder has."""
        known = journal.account().editions
        for number in sorted(known, reverse=True):
            head, path = known[number], self._path(known[number])
            if head["coding"] == self._coding and (path / FACTS).exists():
                return Edition(number, head["at"], head["digest"], path)
        return None

    def known(self) -> Edition | None:
        """The same, from the policy's own ledger."""
        with open_ledger(self.policy) as journal:
            return None if journal is None else self.current(journal)

    def latest(self) -> int:
        """The highest number in the folder; it changes when an edition is put there."""
        try:
            names = os.listdir(self.folder)
        except OSError:
            return 0
        found = (_NAMED.fullmatch(name) for name in names)
        return max((int(name[1]) for name in found if name is not None), default=0)

    def open(self, edition: Edition, table: Table) -> DuckDBEdition:
        """The engine that is asked."""
        from adomnia.engines.duckdb.edition import (  # noqa: PLC0415 (slow to import)
            DuckDBEdition,
            EditionFile,
        )

        facts = EditionFile.from_json((edition.path / FACTS).read_text())
        name = f"edition {edition.number}"
        return DuckDBEdition(edition.path / ROWS, facts, table, name, self.policy.memory)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else makes an edition in this folder meanwhile."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.folder.stat().st_mode & 0o077:  # one that was there: its files are rows
                self.folder.chmod(0o700)
            (self.folder / "lock").touch(mode=0o600)
            lock = (self.folder / "lock").open("a")
        except OSError as error:
            raise PolicyError(
                f"no edition can be written to {str(self.folder)!r} ({type(error).__name__})",
                'name a folder that can be: [data] editions = "…"', str(self.policy.file),
            ) from None  # fmt: skip
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def write(self, table: Table, check: Check, tell: Tell | None = None) -> EditionDraft:
        """Read the source and write what it holds; nothing that is in force changes.

        Before a row is read, `check` is told the columns that there are.
        """
        from adomnia.engines.duckdb.edition import (  # noqa: PLC0415 (slow to import)
            Means,
            write_edition,
        )

        self._clear()
        policy, path = self.policy, self.folder / f"unfinished-{uuid4().hex}"
        path.mkdir(mode=0o700)
        try:
            source, relation = policy.beside(policy.source), policy.relation or policy.table
            means = Means(policy.memory, tell, check)
            facts = write_edition(path / ROWS, source, relation, table, means)
            _write_durably(path / FACTS, facts.to_json())
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        return EditionDraft(path, facts)

    def discard(self, draft: EditionDraft) -> None:
        """Erase a draft that shall have no number."""
        shutil.rmtree(draft.path, ignore_errors=True)

    def source_version(self) -> str:
        """Which state of the source is there now, without reading a row."""
        from adomnia.engines.source_files import find, version  # noqa: PLC0415 (as above)

        return version(find(self.policy.beside(self.policy.source)))

    def publish(self, draft: EditionDraft, journal: Journal) -> Edition:
        """Give a draft its number: from now on it is in force. Old ones are erased.

        Between entry and folder an end leaves the last edition in force: an entry without its
        folder is passed over.
        """
        mark = uuid4().hex[:12]  # what another ledger's edition of this number does not have

        def decide(account: Account) -> Sequence[Record]:
            number = max(account.editions, default=0) + 1
            at = datetime.now(UTC).isoformat(timespec="seconds")
            head = {"number": number, "coding": self._coding, "at": at, "mark": mark}
            return [Record("edition", {**head, "digest": _keyed(account, draft.facts.digest)})]

        (entry,) = journal.append(decide)
        path = self._path(entry.head)
        draft.path.replace(path)
        _sync(self.folder)
        self._erase(journal.account().editions)
        head = entry.head
        return Edition(int(head["number"]), str(head["at"]), str(head["digest"]), path)

    def _path(self, head: Mapping[str, Any]) -> Path:
        return self.folder / f"{head['number']:06}-{head['mark']}"

    def _clear(self) -> None:
        """Remove what was left unfinished; the lock says that nobody is writing."""
        for left in self.folder.glob("unfinished-*"):
            shutil.rmtree(left, ignore_errors=True)

    def _erase(self, known: Mapping[int, Mapping[str, Any]]) -> None:
        """Remove all editions but the last that there are; whoever reads one has it open, and
        keeps it. A folder beside the ledger has no others; in one that is named, another ledger's
        may lie."""
        there = [path for _, head in sorted(known.items()) if (path := self._path(head)).exists()]
        kept, own = {*there[-self.policy.keep :]}, self.policy.editions is None
        for path in self.folder.iterdir():
            mine = path in there or (own and _NAMED.fullmatch(path.name) is not None)
            if mine and path not in kept:
                shutil.rmtree(path, ignore_errors=True)


_NAMED = re.compile(r"(\d{6,})-[0-9a-f]{12}")
_NUMBERED = re.compile(r"edition (\d+), ")


def edition_of(version: str) -> int | None:
    """The number of the edition that a version of the data is; None where it is none."""
    found = _NUMBERED.match(version)
    return None if found is None else int(found[1])


def in_force(
    editions: Editions, table: Table, check: Check, tell: Tell | None = None
) -> tuple[Journal, Edition]:
    """The ledger, and the edition that is asked; made where there is none.

    A source that cannot be read leaves no ledger.
    """
    current = editions.known()
    if current is not None:
        return open_journal(editions.policy), current
    with editions.alone():
        current = editions.known()  # somebody may have made one meanwhile
        if current is not None:
            return open_journal(editions.policy), current
        draft = editions.write(table, check, tell)
        opened = open_journal(editions.policy)
        try:
            return opened, editions.publish(draft, opened)
        except BaseException:
            opened.close()
            raise


def _write_durably(path: Path, text: str) -> None:
    with path.open("w") as file:
        path.chmod(0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Have the names in a folder on disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _keyed(account: Account, digest: str) -> str:
    """The digest of an edition under a secret of the ledger."""
    if account.salt is None:
        raise MachineryError("the ledger has no secret")
    return hmac.new(account.salt.encode(), digest.encode(), hashlib.sha256).hexdigest()


def _coding(policy: Policy) -> str:
    """A digest of all that an edition rests on beside the rows."""
    attributes = [(name, repr(part.domain), part.sensitive)
                  for name, part in policy.attributes.items()]  # fmt: skip
    facts = [FORMAT, policy.source, policy.relation or policy.table, policy.unit, attributes]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
