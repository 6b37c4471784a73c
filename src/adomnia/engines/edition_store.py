"""The protocol of a store of editions: where they are written, put in force, asked and erased.

An edition is known by its name, which the ledger gives it; a store decides nothing about which one
is in force. The laws every store keeps are in `tests/laws/test_edition_stores.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Protocol

from adomnia.engines.engine import Engine, quietly
from adomnia.errors import MachineryError
from adomnia.schema.domain import Open
from adomnia.schema.table import Table

__all__ = [
    "EditionEngine",
    "EditionFacts",
    "EditionName",
    "EditionStore",
    "EditionWriter",
    "Means",
    "Tell",
    "check_same_table",
    "damaged",
    "is_open",
    "surplus",
]

Tell = Callable[[int], None]
"""Called with the number of rows that have been read, now and then."""


@dataclass(frozen=True)
class EditionName:
    """An edition among all that a place may hold: whose it is, and its number there.

    >>> str(EditionName("9f86d081884c7d65", 3))
    '9f86d081884c7d65_000003'
    """

    ledger: str
    number: int

    def __str__(self) -> str:
        return f"{self.ledger}_{self.number:06}"

    @classmethod
    def number_of(cls, text: str, ledger: str) -> int | None:
        """The number in the name of an edition of a ledger, with or without more after it."""
        whose, _, rest = text.partition("_")
        number = rest.partition("_")[0]
        return int(number) if whose == ledger and number.isdecimal() else None


@dataclass(frozen=True)
class EditionFacts:
    """What is known of an edition beside its rows: the columns of its source, those that are kept
    as words, whether the number of rows rests on no value, and a digest of the rows.

    The digest is for the curator's eyes, and goes nowhere without a key (`curator/editions.py`).
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
class Means:
    """How a source is read: with so many megabytes, telling how many rows were read; before the
    first of them, `check` is told the columns that there are."""

    memory: int | None = None
    tell: Tell | None = None
    check: Callable[[Mapping[str, str]], None] = lambda types: None


class EditionEngine(Engine, Protocol):
    """An edition that is asked; it never changes."""

    @property
    def facts(self) -> EditionFacts:
        """What is known of it beside its rows."""
        ...


class EditionWriter(Protocol):
    """Writes one edition, and nobody else does meanwhile."""

    def write(self, table: Table, means: Means) -> EditionFacts:
        """Read the source once and write what it holds; nothing that is in force changes."""
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
    """A place for the editions of one source."""

    @property
    def place(self) -> str:
        """What `[data] editions` says to mean this place."""
        ...

    def writing(self) -> AbstractContextManager[EditionWriter]:
        """A turn to write; what is not published at its end is gone."""
        ...

    def open(self, name: EditionName, table: Table) -> EditionEngine | None:
        """The engine that asks an edition; None where it is not there."""
        ...


def damaged(kind: str) -> MachineryError:
    """The failure of an edition that is not as it was written."""
    return MachineryError(f"the edition cannot be read ({kind})", "make a new one: adomnia load")


def surplus(there: Mapping[str, int], known: Collection[int], keep: int) -> list[str]:
    """Of editions that are there, by their names, those to be erased.

    >>> surplus({"a_1": 1, "a_3": 3, "a_4": 4}, {1, 2, 3}, keep=1)
    ['a_1', 'a_4']
    """
    kept = sorted(number for number in there.values() if number in known)[-keep:]
    return [name for name, number in there.items() if number not in kept]


def is_open(table: Table, name: str) -> bool:
    """Whether a column is undeclared text."""
    attribute = table.attributes.get(name)
    return attribute is None or isinstance(attribute.domain, Open)


def check_same_table(asked: Table, coded: Table) -> None:
    """Refuse to read codes by another policy than they were written by."""
    if (asked.attributes, asked.unit) != (coded.attributes, coded.unit):
        raise MachineryError("this edition was made by another policy", "load it again")
