"""Editions: the source as it was read once, cleaned by the policy, under a number of its own.

They are kept where the source is (`edition_stores.py`), readable for their owner alone, and each
takes its place at once or not at all. That one was made, and when, is an entry of the ledger and
public; which one is in force, the ledger alone decides. What tells its content from another's is
keyed with a secret of the ledger and for the curator alone: a plain digest would confirm a guess
about the last unknown row (`editions.md`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from adomnia.curator.data.edition_stores import store_of
from adomnia.curator.ledger_view import open_journal, open_ledger, source_name
from adomnia.curator.policy_lines import check_table_columns, located
from adomnia.engines.edition_store import (
    EditionEngine,
    EditionFacts,
    EditionName,
    EditionWriter,
    Means,
    TablesFacts,
    Tell,
)
from adomnia.errors import MachineryError, PolicyError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Record
from adomnia.ledger.journal import Journal
from adomnia.policy.policy import Policy
from adomnia.policy.tables_section import DeclaredTables
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps
from adomnia.schema.table import Attribute, Table
from adomnia.schema.tables import Tables

__all__ = [
    "Edition",
    "EditionDraft",
    "Editions",
    "OpenEdition",
    "Tell",
    "edition_of",
    "in_force",
    "prior_edition",
    "use_edition",
]

FORMAT = 1
"""How editions are written; those of another format are made anew."""

Check = Callable[[Mapping[str, str]], None]
"""Refuses columns that are not those of the policy."""


@dataclass(frozen=True)
class Edition:
    """An edition that is in force: its number, when it was made, and of which content.

    `digest` is for the curator: two editions of the same rows by the same policy have the same. So
    is `rows`, which a load of several tables has: how many rows each has, and how many were
    nobody's.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     first, second = database.edition, database.load()
    >>> second.number, first.digest == second.digest
    (2, True)
    """

    number: int
    at: str
    digest: str
    name: EditionName = field(repr=False)
    rows: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class OpenEdition:
    """An edition, and the engine that asks it."""

    edition: Edition
    engine: EditionEngine


@dataclass(frozen=True)
class EditionDraft:
    """An edition that was written and has no number yet."""

    writer: EditionWriter
    facts: EditionFacts | TablesFacts

    def engine(self, tables: Tables) -> EditionEngine | None:
        """The engine that asks it; None where only what is published can be asked."""
        return self.writer.drafted(tables)

    @property
    def rows(self) -> Mapping[str, tuple[int, int]]:
        """Of several tables how many rows each has, and how many were nobody's."""
        if isinstance(self.facts, EditionFacts):
            return {}
        nobody = self.facts.nobody
        return {name: (facts.rows, nobody[name]) for name, facts in self.facts.tables.items()}


class Editions:
    """The editions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self._store = policy, store_of(policy)
        self._coding = _coding(policy)

    @property
    def place(self) -> str:
        """Where they are, as `[data] editions` says it."""
        return self._store.place

    def newest(self, journal: Journal, table: Table | Tables, after: int = 0) -> OpenEdition | None:
        """The last edition of this policy that the ledger knows and the store has, opened; None
        where there is none after this number."""
        return self._newest(journal.account(), table, after)

    def _newest(self, account: Account, table: Table | Tables, after: int) -> OpenEdition | None:
        for number in sorted((n for n in account.editions if n > after), reverse=True):
            head = account.editions[number]
            if head["coding"] != self._coding:
                continue
            found = Edition(number, head["at"], head["digest"], _name(account, number))
            engine = self._store.open(found.name, table)
            if engine is None:
                continue
            if _keyed(account, engine.facts.digest) == found.digest:
                return OpenEdition(found, engine)
            engine.close()  # it bears this number for a ledger that was copied or went back
        return None

    def later(self, asked: Edition, journal: Journal, table: Table | Tables) -> OpenEdition | None:
        """The last edition after the one that is asked, opened; None where that is the last.

        Whoever edits the policy makes editions of another coding, which erase those of this one:
        then nothing is asked any more, though the files may still be open here.
        """
        account = journal.account()
        found, others = self._newest(account, table, asked.number), account.editions.items()
        if found is None and any(
            number > asked.number and head["coding"] != self._coding for number, head in others
        ):
            engine = self._store.open(asked.name, table)
            if engine is None:
                raise MachineryError(
                    f"the policy was changed since, and edition {asked.number} is gone",
                    "start again: adomnia serve; or open the database again",
                )
            engine.close()
        return found

    def open(self, edition: Edition, table: Table | Tables) -> EditionEngine:
        """The engine that asks an edition."""
        engine = self._store.open(edition.name, table)
        if engine is None:
            raise MachineryError(f"edition {edition.number} is gone", "ask the last one")
        return engine

    def known(self) -> Edition | None:
        """The same from the policy's own ledger, closed again."""
        policy = self.policy
        table: Table | Tables = Table(policy.table, policy.attributes, policy.unit)
        if policy.several is not None:
            table = policy.several.tables
        with open_ledger(self.policy) as journal:
            found = None if journal is None else self.newest(journal, table)
        if found is None:
            return None
        found.engine.close()
        return found.edition

    @contextmanager
    def alone(self) -> Iterator[EditionWriter]:
        """A turn to write an edition: nobody else makes one meanwhile."""
        with self._store.writing() as writer:
            yield writer

    def write(
        self, writer: EditionWriter, table: Table | Tables, check: Check, tell: Tell | None = None
    ) -> EditionDraft:
        """Read the source and write what it holds; nothing that is in force changes.

        Before a row is read, `check` is told the columns that there are; those of several tables
        are held against the policy, each with its line.
        """

        def about(name: str) -> AbstractContextManager[None]:
            return located(self.policy, ("tables", name, "source"))

        columns = partial(check_table_columns, self.policy)
        means = Means(self.policy.memory, tell, check, columns, about)
        return EditionDraft(writer, writer.write(table, means))

    def publish(self, draft: EditionDraft, journal: Journal) -> Edition:
        """Give a draft its number: from now on it is in force. Old ones are erased.

        What ends between the entry and the store leaves the last edition in force: an entry
        without its edition is passed over.
        """

        def decide(account: Account) -> Sequence[Record]:
            number = max(account.editions, default=0) + 1
            at = datetime.now(UTC).isoformat(timespec="seconds")
            head = {"number": number, "coding": self._coding, "at": at}
            return [Record("edition", {**head, "digest": _keyed(account, draft.facts.digest)})]

        (entry,) = journal.append(decide)
        account, number = journal.account(), int(entry.head["number"])
        name = _name(account, number)
        draft.writer.publish(name)
        draft.writer.erase(name.ledger, account.editions.keys(), self.policy.keep)
        at, digest = str(entry.head["at"]), str(entry.head["digest"])
        return Edition(number, at, digest, name, draft.rows)


_NUMBERED = re.compile(r"edition (\d+), ")


def edition_of(version: str) -> int | None:
    """The number of the edition that a version of the data is; None where it is none."""
    found = _NUMBERED.match(version)
    return None if found is None else int(found[1])


def use_edition(body: Mapping[str, Any]) -> int | None:
    """The number of the edition that a paid use was of, by the body of its entry."""
    return edition_of(str(body.get("use", {}).get("data", "")))


def prior_edition(published: Mapping[str, Any]) -> int | None:
    """The number of the edition that an exact release was registered with or confirmed for."""
    return edition_of(str(published.get("data") or published.get("confirmed") or ""))


def in_force(
    editions: Editions, table: Table | Tables, check: Check, tell: Tell | None = None
) -> tuple[Journal, OpenEdition]:
    """The ledger, and the edition that is asked; made where there is none.

    Where the policy limits what a source may be, only the first is made without being asked for: a
    load that was refused is not gone round by another domain. A source that cannot be read leaves
    no ledger.
    """
    found = _found(editions, table)
    if found is not None:
        return found
    with editions.alone() as writer:
        found = _found(editions, table)  # somebody may have made one meanwhile
        if found is not None:
            return found
        _refuse_unchecked(editions)
        draft = editions.write(writer, table, check, tell)
        journal = open_journal(editions.policy)
        try:
            editions.publish(draft, journal)
            opened = editions.newest(journal, table)
            if opened is None:
                raise MachineryError("the edition that was written is gone", "load it again")
        except BaseException:
            journal.close()
            raise
        return journal, opened


def _found(editions: Editions, table: Table | Tables) -> tuple[Journal, OpenEdition] | None:
    with open_ledger(editions.policy) as known:
        opened = None if known is None else editions.newest(known, table)
    if opened is None:
        return None
    try:
        return open_journal(editions.policy), opened
    except BaseException:
        opened.engine.close()
        raise


def _refuse_unchecked(editions: Editions) -> None:
    """Refuse to load by itself after the first edition, where the policy sets limits in [check]."""
    if not editions.policy.check.any:
        return
    with open_ledger(editions.policy) as journal:
        number = 0 if journal is None else max(journal.account().editions, default=0)
    if number:
        raise PolicyError(
            f"the domains changed since edition {number} was loaded, or its files are gone",
            "adomnia load --check loads the source by the policy as it is now",
        )


def _keyed(account: Account, digest: str) -> str:
    """The digest of an edition under a secret of the ledger."""
    if account.salt is None:
        raise MachineryError("the ledger has no secret")
    return hmac.new(account.salt.encode(), digest.encode(), hashlib.sha256).hexdigest()


def _name(account: Account, number: int) -> EditionName:
    """The name of an edition: of its ledger, wherever that is moved, it tells nothing else."""
    return EditionName(_keyed(account, "whose editions")[:16], number)


def _coding(policy: Policy) -> str:
    """A digest of all that an edition rests on beside the rows; no password is in it."""
    attributes, place = _attributes(policy.attributes), _place(policy.source)
    facts = [FORMAT, place, policy.relation or policy.table, policy.unit, attributes]
    if policy.several is not None:
        facts = [FORMAT, *_tables(policy.several)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _tables(several: DeclaredTables) -> Iterator[Any]:
    """What an edition of several tables rests on: the units, and all that is said of each table."""
    yield several.tables.units
    for name, table in several.tables.tables.items():
        where = several.sources[name]
        references = list(table.references.items())
        yield [name, _place(where.source), where.relation, table.key, references]
        yield _attributes(table.attributes)


def _attributes(attributes: Mapping[str, Attribute]) -> list[Any]:
    return [(name, _written(part.domain), part.sensitive) for name, part in attributes.items()]


def _place(source: str) -> str:
    return source_name(source) if "://" in source else source


def _written(domain: Domain) -> list[Any]:
    """A domain as plain values, which no change of this code's names can change."""
    if isinstance(domain, Grid):
        return ["number", str(domain.low), str(domain.high), str(domain.step)]
    if isinstance(domain, Dates):
        return ["date", domain.low.isoformat(), domain.high.isoformat()]
    if isinstance(domain, Timestamps):
        ends = domain.low.isoformat(), domain.high.isoformat()
        return ["timestamp", *ends, domain.step, domain.zone]
    if isinstance(domain, Categories):
        return ["values", list(domain.values), domain.other]
    return ["text"]
