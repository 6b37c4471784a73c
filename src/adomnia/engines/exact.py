"""The auditor's view of an engine: exact groups and their counts, for the curator's own eyes.

Everything else that an engine hands out is sealed. An auditor judges what a release would tell,
and must know what is there to be told; so these numbers are not. Only the room `review` may
import this module, and a contract says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.code_changes import moved_columns
from adomnia.engines.contingency import Axes, ExactTables
from adomnia.engines.engine import Engine, Request
from adomnia.engines.key_facts import MatchedRows, OwnerCounts, OwnerHops
from adomnia.engines.source_facts import (
    CodeCounts,
    InspectedUnits,
    Inspection,
    Patterns,
    RowChanges,
    SourceChanges,
)
from adomnia.errors import MachineryError
from adomnia.privacy.reads import MarginalTables
from adomnia.queries.expression import Expr
from adomnia.schema.table import Table

__all__ = [
    "ExactEngine",
    "ExactGroups",
    "ExactView",
    "LinkedTables",
    "Survey",
    "SurveyedEngine",
    "can_link",
    "changes",
    "exact_view",
    "inspect",
    "linked_tables",
    "owned_rows",
    "survey",
    "unit_rows",
]

ExactGroups = tuple[list[list[Any]], NDArray[np.int64]]
"""The combinations of keys that occur, by columns, and how many rows have each."""

Survey = Mapping[str, Mapping[str, Any]]
"""For each column its type, extremes and a short list of values."""


@runtime_checkable
class ExactEngine(Protocol):
    """What an engine implements for this view, and nobody else calls."""

    def _exact_groups(self, request: Request) -> ExactGroups:
        """The groups of a request that occur, and how many rows each has, unsealed."""
        ...

    def _exact_tables(self, request: Request, axes: Axes) -> ExactTables:
        """All marginals of the keys of a request over their public values, unsealed."""
        ...

    def _code_counts(self, table: Table) -> CodeCounts:
        """How many rows have each code of each declared column, or each band of codes."""
        ...


@runtime_checkable
class SurveyedEngine(Protocol):
    """What an engine that reads a source as it is implements for a first draft of a policy."""

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        ...

    def _inspect(self, table: Table, patterns: Patterns) -> Inspection:
        """What cleaning by the policy does to the rows, for a curator's check."""
        ...

    def _rows_per_value(self, column: str) -> Mapping[int, int]:
        """For each number of rows how many values of a column have it."""
        ...


class LinkedTables(Protocol):
    """Several tables of one source, for a draft of their keys: all is compared as text."""

    def add(self, name: str, engine: Any, columns: Sequence[str]) -> None:
        """Take in these columns of a table, which an engine has open."""
        ...

    def match(self, table: str, column: str, other: str, key: str) -> MatchedRows:
        """How many values of a column are in another table's."""
        ...

    def owned(self, table: str, ways: Sequence[OwnerHops]) -> OwnerCounts:
        """How many rows the units have that these ways lead to."""
        ...

    def differing(self, table: str, ways: tuple[OwnerHops, OwnerHops]) -> int:
        """How many rows have one unit by one way and another by the other."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


@dataclass(frozen=True)
class ExactView:
    """A table as it was at one moment, unsealed."""

    engine: ExactEngine
    table: Table

    def groups(self, keys: tuple[Expr, ...], where: Expr | None = None) -> ExactGroups:
        """The combinations of the keys that occur among the rows, and how many have each."""
        return self.engine._exact_groups(Request(self.table, where, keys, ()))

    def tables(self, reads: MarginalTables) -> ExactTables:
        """The tables that a release would measure, as they are."""
        return self.engine._exact_tables(
            Request(self.table, reads.where, reads.keys, ()), reads.axes
        )


@contextmanager
def exact_view(engine: Engine, table: Table) -> Iterator[ExactView]:
    """The auditor's view of a table; all that is read through it is of one moment."""
    with engine.snapshot() as moment:
        yield ExactView(_exact(moment), table)


def survey(engine: Engine) -> Survey:
    """What a curator needs for a first draft of a policy: it is not public until he says so."""
    return _surveyed(engine)._survey()


def inspect(engine: Engine, table: Table, patterns: Patterns) -> Inspection:
    """What a curator is told of a source before it is loaded, exactly."""
    return _surveyed(engine)._inspect(table, patterns)


@runtime_checkable
class ComparedEngine(Protocol):
    """What an engine implements whose rows can be held against those of an edition."""

    def _row_changes(self, table: Table, edition: Any) -> RowChanges:
        """What the rows have that those of an edition have not, and the other way round."""
        ...


def changes(engine: Engine, table: Table, edition: Engine) -> SourceChanges:
    """What a source has that an edition has not; row by row where both lie in one engine."""
    before, now = (_exact(one)._code_counts(table) for one in (edition, engine))
    rows = engine._row_changes(table, edition) if isinstance(engine, ComparedEngine) else None
    return SourceChanges(before.rows, now.rows, rows, moved_columns(table, before, now))


@runtime_checkable
class OwnedEngine(Protocol):
    """What an engine implements that asks an edition of several tables before it is in force."""

    def _owned_rows(self, table: Table, most: int) -> InspectedUnits:
        """How many rows each unit has, and what bounds cut of them, if at most so many were used
        of each unit."""
        ...


def owned_rows(engine: Engine, table: Table, most: int) -> InspectedUnits:
    """How many rows the units of an edition have, and what bounds cut of them, if at most so many
    were used of each unit."""
    if not isinstance(engine, OwnedEngine):
        raise MachineryError("only an edition of several tables knows whose rows they are")
    return engine._owned_rows(table, most)


def unit_rows(engine: Engine, column: str) -> Mapping[int, int]:
    """For each number of rows how many values of a column have it, if it were the unit."""
    return _surveyed(engine)._rows_per_value(column)


LINKS = {"duckdb.engine": "DuckDBLinks", "postgres.engine": "PostgresLinks"}
"""Where tables of an engine's kind are held against each other: in `linked_tables` beside it."""


def can_link(engine: Engine) -> bool:
    """Whether tables of this engine's kind can be held against each other."""
    return _linked(engine) is not None


def _linked(engine: Engine) -> str | None:
    home, _, name = type(engine).__module__.rpartition(".")
    return LINKS.get(f"{home.rpartition('.')[2]}.{name}")


def linked_tables(engine: Engine, source: str) -> LinkedTables:
    """A place for tables like that of an engine, where their keys are matched; none is there."""
    home, found = type(engine).__module__.rpartition(".")[0], _linked(engine)
    if found is None:
        raise MachineryError("tables of this engine cannot be drafted together", "draft one alone")
    made: LinkedTables = getattr(import_module(f"{home}.linked_tables"), found)(engine, source)
    return made


def _exact(engine: Engine) -> ExactEngine:
    if not isinstance(engine, ExactEngine):
        raise MachineryError("this engine shows nothing to an auditor")
    return engine


def _surveyed(engine: Engine) -> SurveyedEngine:
    if not isinstance(engine, SurveyedEngine):
        raise MachineryError("an edition cannot be surveyed: a draft is made of the source itself")
    return engine
