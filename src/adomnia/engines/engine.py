"""The protocol of an engine: where the data lives, and what may be asked of it.

An engine computes exact aggregates and hands them out sealed. The laws every engine keeps are
in `tests/laws/test_engine.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from adomnia.engines.contingency import Axes, Contingency
from adomnia.errors import AdomniaError, MachineryError
from adomnia.privacy.contribution import Contribution, Ranked
from adomnia.privacy.reads import UnitPeaks, UnitRows
from adomnia.queries.expression import Expr
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table
from adomnia.schema.unit_amounts import Pairs, UnitAmounts

__all__ = ["ADDRESS", "Cells", "Engine", "Histogram", "Keyed", "Request", "quietly", "unanswered"]

Cells = Sealed[NDArray[Any]]
"""Whole numbers, one row per cell and one column per component."""

Histogram = Sealed[dict[int, tuple[NDArray[Any], NDArray[Any]]]]
"""For each cell that has rows: the sorted values in it, and how many rows have each."""

Keyed = Sealed[tuple[list[tuple[Any, ...]], NDArray[Any]]]
"""Keys that are not public, and their components."""


@dataclass(frozen=True)
class Request:
    """What one question needs of the data: rows, keys, and what a row may add to its cell.

    The statement enforces each contribution. Without any, rows are counted, all that a unit keeps.

    The keys after `grouping` of them are no groups of the question: a mode counts every value in
    each of its groups, and a unit is bounded in these.
    """

    table: Table
    where: Expr | None
    keys: tuple[Expr, ...]
    contributions: tuple[Contribution, ...]
    grouping: int | None = None

    @property
    def groups(self) -> tuple[Expr, ...]:
        """The keys of the question's GROUP BY."""
        return self.keys[: self.grouping]


class Engine(Protocol):
    """Where the private rows are."""

    def columns(self) -> Mapping[str, str]:
        """The names of the table's columns and their declared types, without reading rows."""
        ...

    def check(self, table: Table) -> None:
        """Refuse a table about which no promise can be kept here, without reading rows."""
        ...

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows is the same whatever stands in them."""
        ...

    def ready(self) -> None:
        """Open the source anew where it was lost or has changed; no question reads while it is.

        It is called before anything is paid, and reads nothing where all is well.
        """
        ...

    def version(self) -> str:
        """A text that changes when the data does, as of when the engine was last made ready."""
        ...

    def snapshot(self) -> AbstractContextManager[Engine]:
        """The engine for one question: what is read through it is of one moment."""
        ...

    def prepare(self, request: Request) -> None:
        """Refuse what cannot be computed safely, whatever the rows; reads none of them."""
        ...

    def measure(self, request: Request) -> tuple[Cells, ...]:
        """For each contribution its components, for every cell of the keys' public domain."""
        ...

    def histogram(self, request: Request, ranked: Ranked) -> Histogram:
        """In each cell, the values that have ranks with their counts."""
        ...

    def keyed(self, request: Request) -> Keyed:
        """The components of all contributions side by side, for every key that occurs."""
        ...

    def contingency(self, request: Request, axes: Axes) -> Contingency:
        """All marginals of the keys over their public values, sealed, from one pass.

        Of whole numbers: rows, or what rows add by the one contribution of the request.
        """
        ...

    def unit_sums(self, request: Request) -> Sealed[UnitAmounts]:
        """What each unit adds to each cell by the request's one contribution."""
        ...

    def pair_sums(self, request: Request) -> Sealed[Pairs]:
        """What each pair of units adds by the request's one contribution."""
        ...

    def unit_scores(self, table: Table, reads: UnitRows | UnitPeaks) -> Cells:
        """For each bound of a grid how many units are above it, and what goes with it."""
        ...

    def close(self) -> None:
        """Let go of the source."""
        ...


# Quiet failure: the messages of readers and engines can quote data, so they never leave.

ADDRESS = frozenset("=&;#@")
"""Signs that no name has, but what stands beside one in an address that is badly written: what
has one of them may hold a password, and is not shown."""

T = TypeVar("T")


def quietly(work: Callable[[], T], failure: Callable[[str], AdomniaError]) -> T:
    """What `work` gives. What it fails with becomes a `failure`, told only the error's kind.

    The failure is raised after the error has been let go, so that it is not its context either.
    """
    try:
        return work()
    except AdomniaError:
        raise
    except Exception as error:
        kind = type(error).__name__
    raise failure(kind)


def unanswered(kind: str) -> AdomniaError:
    """The failure of a question."""
    return MachineryError(
        "the question could not be computed",
        f"the engine gave up ({kind}); see the policy's [data]",
    )
