"""What an engine does with rows that a question derives: it finds them, and adds up units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from adomnia.engines.engine import Request
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.statement import CodedRows
from adomnia.engines.sql.tables.owners import PAIR
from adomnia.engines.sql.tables.relations import Relations
from adomnia.engines.sql.tables.unit_amounts import (
    amounts_statement,
    pair_amounts,
    pairs_in_order,
    unit_amounts,
)
from adomnia.engines.sql.units import UNIT
from adomnia.queries.derived_table import DerivedTable, owners_of, single_table
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table
from adomnia.schema.unit_amounts import Pairs, UnitAmounts

__all__ = ["DerivedReads"]


class DerivedReads(ABC):
    """An engine whose rows may be derived of its table, or of several."""

    _dialect: Dialect
    _types: Mapping[str, str]

    @abstractmethod
    def _coded(self, table: Table) -> CodedRows:
        """Where a statement finds the coded rows of a table."""

    @abstractmethod
    def _arrays(self, statement: str) -> Sequence[NDArray[Any]]:
        """The columns of a statement."""

    @abstractmethod
    def check(self, table: Table) -> None:
        """Refuse a table about which no promise can be kept here."""

    def unit_sums(self, request: Request) -> Sealed[UnitAmounts]:
        """What each unit adds to each cell by the request's one contribution, sealed."""
        self.check(request.table)
        rows, (one,) = self._read_from(request.table), request.contributions
        found = self._arrays(amounts_statement(request, rows, (UNIT,)))
        return Sealed(unit_amounts(found, one))

    def pair_sums(self, request: Request) -> Sealed[Pairs]:
        """What each pair of units adds by the request's one contribution, sealed."""
        self.check(request.table)
        statement = amounts_statement(request, self._read_from(request.table), PAIR)
        table = request.table
        alike = not isinstance(table, DerivedTable) or table.alike
        return Sealed(self._pairs(statement, alike))

    def _pairs(self, statement: str, alike: bool) -> Pairs:
        """The pairs of a statement, here all at once."""
        source = f"({statement}) AS {self._dialect.quoted('adomnia pairs')}"
        return pair_amounts(self._arrays(pairs_in_order(source, self._dialect)), alike)

    def _read_from(self, table: Table) -> CodedRows:
        """The coded rows of the engine's table, or of what a question derives of it."""
        if not isinstance(table, DerivedTable) or table.base is None:
            return self._coded(table)
        base, names = table.base, tuple(self._types)
        return Relations(
            single_table(base),
            {base.name: names},
            lambda _, needed: self._coded(base).source(base, needed),
            self._dialect,
        ).coded(table)

    def _is_of_pairs(self, request: Request) -> bool:
        """Whether rows belong to two units; then the statement that adds them up is written."""
        if owners_of(request.table) < len(PAIR):
            return False
        amounts_statement(request, self._read_from(request.table), PAIR)
        return True
