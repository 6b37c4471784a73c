"""The protocol of a store of editions: where they are written, put in force, asked and erased.

An edition is known by its name, which the ledger gives it; a store decides nothing about which one
is in force. The laws every store keeps are in `tests/laws/test_edition_stores.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Protocol, TypeVar

from adomnia.engines.engine import Engine, quietly
from adomnia.errors import MachineryError
from adomnia.schema.domain import Open
from adomnia.schema.table import Table
from adomnia.schema.tables import Tables

__all__ = [
    "EditionEngine",
    "EditionFacts",
    "EditionName",
    "EditionStore",
    "EditionWriter",
    "Means",
    "Relations",
    "TablesFacts",
    "Tell",
    "check_same_table",
    "damaged",
    "if_found",
    "is_open",
    "surplus",
]

Tell = Callable[[int], None]
"""Called with the number of rows that have been read, now and then."""

Relations = Mapping[str, tuple[str, str]]
"""Of several tables by their names: the source of each, and its name there."""


@dataclass(frozen=True)
class EditionName:
    """An edition among all that a place may hold: whose it is, and its number there.

    >>> str(EditionName("9f86d081884c7d65", 3))
    '000003_9f86d081884c7d65'
    """

    ledger: str
    number: int

    def __str__(self) -> str:
        return f"{self.number:06}_{self.ledger}"

    @classmethod
    def read(cls, text: str) -> EditionName | None:
        """The name that a text begins with; None where it is of something else.

        >>> EditionName.read("000003_9f86d081884c7d65_facts")
        EditionName(ledger='9f86d081884c7d65', number=3)
        """
        number, _, rest = text.partition("_")
        ledger = rest.partition("_")[0]
        known = len(number) >= 6 and number.isdecimal() and ledger
        return cls(ledger, int(number)) if known else None


@dataclass(frozen=True)
class EditionFacts:
    """What is known of an edition beside its rows: the columns of its source, those that are kept
    as words, whether the number of rows rests on no value, and a digest of the rows.

    The digest is the curator's, and goes nowhere without a key (`curator/data/editions.py`).
    """

    types: Mapping[str, str]
    words: Sequence[str]
    rows_stay: bool
    rows: int
    digest: str

    def to_json(self) -> str:
        """As it is written beside the rows."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> EditionFacts:
        """What was written."""
        return quietly(lambda: cls(**json.loads(text)), damaged)


@dataclass(frozen=True)
class TablesFacts:
    """The same of an edition of several tables, by their names; and how many rows of each were
    nobody's, and are not in it.

    >>> visits = EditionFacts({"id": "BIGINT"}, ["id"], True, 7, "90 7")
    >>> facts = TablesFacts({"visits": visits}, {"visits": 2})
    >>> facts.digest, facts.rows, TablesFacts.from_json(facts.to_json()) == facts
    ('visits: 90 7', 7, True)
    """

    tables: Mapping[str, EditionFacts]
    nobody: Mapping[str, int]

    @property
    def rows_stay(self) -> bool:
        """Whether the number of rows rests on no value in any table."""
        return all(facts.rows_stay for facts in self.tables.values())

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(facts.rows for facts in self.tables.values())

    @property
    def digest(self) -> str:
        """One digest of the rows of all tables."""
        return "; ".join(f"{name}: {facts.digest}" for name, facts in self.tables.items())

    def to_json(self) -> str:
        """As it is written beside the rows."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> TablesFacts:
        """What was written."""

        def read() -> TablesFacts:
            found = json.loads(text)
            tables = {name: EditionFacts(**facts) for name, facts in found["tables"].items()}
            return cls(tables, found["nobody"])

        return quietly(read, damaged)


def _nowhere(name: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Means:
    """How a source is read: with so many megabytes, telling how many rows were read; before the
    first of them, `check` is told the columns that there are.

    Of several tables `check_table` is told them, with the table's name, and each is read within
    what `about` gives, which may say where a failure comes from.
    """

    memory: int | None = None
    tell: Tell | None = None
    check: Callable[[Mapping[str, str]], None] = lambda types: None
    check_table: Callable[[str, Mapping[str, str]], None] = lambda name, types: None
    about: Callable[[str], AbstractContextManager[None]] = _nowhere


class EditionEngine(Engine, Protocol):
    """An edition that is asked; it never changes."""

    @property
    def facts(self) -> EditionFacts | TablesFacts:
        """What is known of it beside its rows."""
        ...


class SoughtEngine(Protocol):
    """An engine of an edition that may not be there."""

    def found(self) -> bool:
        """Whether it is."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


S = TypeVar("S", bound=SoughtEngine)


def if_found(engine: S) -> S | None:
    """The engine where its edition is there; closed, and None, where it is not."""
    there = False
    try:
        there = engine.found()
    finally:
        if not there:
            engine.close()
    return engine if there else None


class EditionWriter(Protocol):
    """Writes one edition, and nobody else does meanwhile."""

    def write(self, table: Table | Tables, means: Means) -> EditionFacts | TablesFacts:
        """Read the source once and write what it holds; nothing that is in force changes."""
        ...

    def drafted(self, table: Tables) -> EditionEngine | None:
        """The engine that asks what was written, before it is published; None where nobody else
        can see it before. It must be closed before this turn ends."""
        ...

    def source_version(self) -> str | None:
        """Which state of the source is there now, as its engine names it, without reading a row;
        None where nobody can know."""
        ...

    def publish(self, name: EditionName) -> None:
        """Put what was written in its place, whole or not at all; what bore the name is gone."""
        ...

    def erase(self, ledger: str, known: Collection[int], keep: int) -> None:
        """Remove the editions of a ledger but the last ones of those that it knows and that are
        there."""
        ...


class EditionStore(Protocol):
    """A place for the editions of one source, or of the sources of several tables."""

    @property
    def place(self) -> str:
        """What `[data] editions` says to mean this place."""
        ...

    def writing(self) -> AbstractContextManager[EditionWriter]:
        """A turn to write; what is not published at its end is gone."""
        ...

    def open(self, name: EditionName, table: Table | Tables) -> EditionEngine | None:
        """The engine that asks an edition; None where it is not there."""
        ...


def damaged(kind: str) -> MachineryError:
    """The failure of an edition that is not as it was written."""
    return MachineryError(f"the edition cannot be read ({kind})", "make a new one: adomnia load")


def surplus(
    there: Iterable[str], ledger: str, known: Collection[int], keep: int, shared: bool = True
) -> list[str]:
    """Of what is there, by its names, the editions of a ledger that are to be erased; where the
    place is not shared, those of other ledgers, too.

    >>> surplus(["000001_a", "000003_a", "000004_a", "000001_b", "lock"], "a", {1, 2, 3}, keep=1)
    ['000001_a', '000004_a']
    """
    names = {text: name for text in there if (name := EditionName.read(text)) is not None}
    own = [name.number for name in names.values() if name.ledger == ledger and name.number in known]
    kept = {EditionName(ledger, number) for number in sorted(own)[-keep:]}
    return [text for text, name in names.items()
            if name not in kept and (name.ledger == ledger or not shared)]  # fmt: skip


def is_open(table: Table, name: str) -> bool:
    """Whether a column is undeclared text."""
    attribute = table.attributes.get(name)
    return attribute is None or isinstance(attribute.domain, Open)


def check_same_table(asked: Table, coded: Table) -> None:
    """Refuse to read codes by another policy than they were written by."""
    if (asked.attributes, asked.unit) != (coded.attributes, coded.unit):
        raise MachineryError("this edition was made by another policy", "load it again")
