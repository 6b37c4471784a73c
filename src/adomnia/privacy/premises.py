"""Premises: what a mechanism believes of the data beyond the bounds of a row, by name.

A premise may be checked only where it is the same on all neighbours: which edition of the data is
read, of which kind the source is. Whatever one row or one unit can change is enforced in the
statement that runs, or never used. So a check decides nothing that tells of a row (`premises.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from adomnia.errors import NotAllowedError

__all__ = ["ExactReleasesHold", "Facts", "Premise", "RowsStay", "check_premises"]


@dataclass(frozen=True)
class Facts:
    """What is the same on all neighbours, and so may be looked at.

    `version` names the state of the data that is read; `confirmed` those for which the curator
    has said that the exact releases hold; `rows_stay`: no row's content can change how many rows
    the source is read as.
    """

    version: str
    confirmed: frozenset[str] | None = None
    rows_stay: bool = True


class Premise(Protocol):
    """Something that must be true of the edition that is read."""

    @property
    def name(self) -> str:
        """The premise in a few words, as the ledger records it."""
        ...

    def holds(self, facts: Facts) -> bool:
        """Whether it is true, judged by what is the same on all neighbours."""
        ...

    @property
    def refusal(self) -> NotAllowedError:
        """What is said where it is not true, and what to do."""
        ...


@dataclass(frozen=True)
class ExactReleasesHold:
    """What was released exactly is true of the data that is read."""

    name: str = "exact releases hold"

    def holds(self, facts: Facts) -> bool:
        """Whether the curator has said so of this version; without releases there is nothing."""
        return facts.confirmed is None or facts.version in facts.confirmed

    @property
    def refusal(self) -> NotAllowedError:
        """The data changed since the releases were registered."""
        return NotAllowedError(
            "the data changed since what was released exactly was registered: it is not known "
            "whether that holds for the data as they are now",
            "the curator checks and confirms it: adomnia prior confirm",
        )


@dataclass(frozen=True)
class RowsStay:
    """Neighbours have the same number of rows, and the source is read as that many."""

    name: str = "as many rows among neighbours"

    def holds(self, facts: Facts) -> bool:
        """Whether the kind of source sees to it."""
        return facts.rows_stay

    @property
    def refusal(self) -> NotAllowedError:
        """A line of a text file can be read as none, or as several rows."""
        return NotAllowedError(
            "how many rows a text file has depends on what is in them, so it is not public",
            "keep the data in Parquet or a database, or count with a condition",
        )


def check_premises(premises: tuple[Premise, ...], facts: Facts) -> None:
    """Refuse what rests on a premise that does not hold; before anything is paid or read."""
    for premise in premises:
        if not premise.holds(facts):
            raise premise.refusal
