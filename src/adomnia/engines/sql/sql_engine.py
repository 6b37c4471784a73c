"""What every SQL engine does alike: a request becomes one statement, its groups sealed cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.contingency import Axes, Contingency, ExactTables, sealed, tables_of
from adomnia.engines.engine import Cells, Histogram, Keyed, Request
from adomnia.engines.exact import ExactGroups
from adomnia.engines.source_facts import CodeCounts, Inspection, Patterns
from adomnia.engines.sql.components import components
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.statement import (
    DATA,
    CodedRows,
    Decodes,
    Statement,
    aggregates,
    coded_in_place,
    listing,
)
from adomnia.engines.sql.tables.derived_reads import DerivedReads
from adomnia.engines.sql.unit_scores import laid_on_grid, score_statement
from adomnia.errors import PolicyError
from adomnia.privacy.contribution import Ranked
from adomnia.privacy.reads import UnitPeaks, UnitRows
from adomnia.queries.expression import Expr
from adomnia.queries.grouping import axes, cell_count
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = ["SqlEngine", "exact", "grid", "lay_out", "places", "refuse_varied_unit", "split"]


class SqlEngine(DerivedReads, ABC):
    """An engine that is asked in SQL; the table is called `statement.DATA` there."""

    _dialect: Dialect
    _types: Mapping[str, str]
    _varied: frozenset[str] = frozenset()
    """Columns, in small letters, that have several types in several files."""

    def _coded(self, table: Table) -> CodedRows:
        """Where a statement finds the coded rows of a table: they are coded as they are read."""
        return coded_in_place(self._types, self._dialect)

    @abstractmethod
    def _rows(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a statement; whatever fails, fails quietly."""

    @abstractmethod
    def _arrays(self, statement: str) -> Sequence[NDArray[Any]]:
        """The columns of a statement, for answers that may be long."""

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows is the same whatever stands in them: so it is in a table."""
        return True

    def columns(self) -> Mapping[str, str]:
        """The names of the table's columns and their declared types."""
        return self._types

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The engine for one question: what is read through it is of one moment."""
        yield self

    def prepare(self, request: Request) -> None:
        """Write the statements and run none: what cannot be written is refused unpaid."""
        if self._is_of_pairs(request):
            return
        self._aggregates(request)
        for one in request.contributions:
            if isinstance(one, Ranked):
                listing(request, one, self._read_from(request.table))

    def measure(self, request: Request) -> tuple[Cells, ...]:
        """One pass over the rows; components of each contribution on all cells, sealed."""
        statement = self._aggregates(request)
        rows = _decoded(self._rows(statement.text), statement.decodes)
        cell, cells = grid(request.keys, rows)
        return tuple(Sealed(part) for part in _measured(request, statement, rows, cell, cells))

    def histogram(self, request: Request, ranked: Ranked) -> Histogram:
        """The values that have ranks in each cell, sorted, with their counts, sealed."""
        self.check(request.table)
        statement, decodes = listing(request, ranked, self._read_from(request.table))
        found = _turned(self._arrays(statement), decodes)
        return Sealed(split(request.keys, found))

    def keyed(self, request: Request) -> Keyed:
        """All keys that occur, with the components of all contributions, sealed."""
        statement = self._aggregates(request)
        rows = _decoded(self._rows(statement.text), statement.decodes)
        keys = [tuple(row[: len(request.keys)]) for row in rows]
        place = {key: index for index, key in enumerate(dict.fromkeys(keys))}
        cell = np.array([place[key] for key in keys], dtype=np.int64)
        parts = list(_measured(request, statement, rows, cell, len(place)))
        return Sealed(([*place], np.concatenate(parts, axis=1)))

    def contingency(self, request: Request, axes: Axes) -> Contingency:
        """All marginals of the keys over their public values, sealed, from one pass."""
        return sealed(self._exact_tables(request, axes))

    def unit_scores(self, table: Table, reads: UnitRows | UnitPeaks) -> Cells:
        """For each bound of a grid how many units are above it, sealed."""
        self.check(table)
        found = self._rows(score_statement(table, reads, self._coded(table)))
        return Sealed(laid_on_grid(reads, found))

    def _exact_tables(self, request: Request, axes: Axes) -> ExactTables:
        """The same unsealed, for the auditor's view."""
        return tables_of(*self._exact_groups(request), axes)

    def _exact_groups(self, request: Request) -> ExactGroups:
        """The groups that occur and how many rows each has, for the auditor's view; or what rows
        add up to, where the request has a contribution."""
        statement = self._aggregates(request)
        *columns, counts = _turned(self._arrays(statement.text), statement.decodes)
        return [column.tolist() for column in columns], counts.astype(np.int64)

    def _inspect(self, table: Table, patterns: Patterns) -> Inspection:
        """What cleaning does to the rows, for the auditor's view; all of one moment."""
        from adomnia.engines.sql.inspection.source_inspection import RowsToInspect, inspect  # noqa: PLC0415 (rare)

        self.check(table)
        with self.snapshot() as moment:
            rows = RowsToInspect(
                self._types, self._dialect, moment._rows, moment._coded(table), moment._staged
            )
            return inspect(rows, table, patterns)

    def _code_counts(self, table: Table) -> CodeCounts:
        """How many rows have each code, for the auditor's view."""
        from adomnia.engines.sql.inspection.code_counts import count_codes  # noqa: PLC0415 (rare)

        with self.snapshot() as moment:
            return count_codes(moment._rows, table, moment._coded(table), moment._staged)

    @contextmanager
    def _staged(self, select: str) -> Iterator[str]:
        """What a statement selects, for several others: worked out again by each, unless an engine
        has a place of its own."""
        name = self._dialect.quoted("adomnia staged")
        yield f"({select}{self._dialect.barrier}) AS {name}"

    def _rows_per_value(self, column: str) -> Mapping[int, int]:
        """For each number of rows how many values of a column have it, for the auditor's view."""
        name = self._dialect.quoted(column)
        grouped = f"SELECT COUNT(*) AS many FROM {DATA} WHERE {name} IS NOT NULL GROUP BY {name}"
        found = self._rows(f"SELECT many, COUNT(*) FROM ({grouped}) AS grouped GROUP BY many")
        return {int(many): int(values) for many, values in sorted(found)}

    def _aggregates(self, request: Request) -> Statement:
        self.check(request.table)
        return aggregates(request, self._read_from(request.table))

    def check(self, table: Table) -> None:
        """Refuse a unit that may have one name here and another there."""
        refuse_varied_unit(table, self._varied)


def refuse_varied_unit(table: Table, varied: frozenset[str]) -> None:
    """Refuse a unit whose column is of several types in several files: 7 and 7.0 are two texts."""
    if table.unit is not None and table.unit.lower() in varied:
        raise PolicyError(
            f"the unit {table.unit!r} has another type in another file",
            "write it as one type in all files",
        )


def _decoded(rows: Sequence[tuple[Any, ...]], decodes: Decodes) -> Sequence[tuple[Any, ...]]:
    """Rows with the values that their keys' codes stand for."""
    if not any(decodes):
        return rows
    size = len(decodes)
    return [
        (*(v if f is None else f(v) for v, f in zip(row[:size], decodes, strict=True)), *row[size:])
        for row in rows
    ]


def _turned(columns: Sequence[NDArray[Any]], decodes: Decodes) -> list[NDArray[Any]]:
    """The same of columns, of which those of the keys come first."""
    found = list(columns)
    for place, decode in enumerate(decodes):
        if decode is not None:
            values = np.empty(len(found[place]), dtype=object)
            values[:] = [decode(code) for code in found[place].tolist()]
            found[place] = values
    return found


def _measured(
    request: Request,
    statement: Statement,
    rows: Sequence[tuple[Any, ...]],
    cell: NDArray[np.int64],
    cells: int,
) -> Iterator[NDArray[Any]]:
    """The components of each contribution, from the rows that a statement found."""
    start = len(request.keys)
    columns = [
        lay_out(cell, exact([row[start + i] for row in rows]), cells, part.kind == "distinct")
        for i, part in enumerate(statement.aggregates)
    ]
    for contribution, places in zip(request.contributions, statement.places, strict=True):
        yield components(contribution, [columns[place] for place in places])


# Arranging: the groups that an engine found are laid out on the cells of the public domain.


def places(
    keys: tuple[Expr, ...], columns: Sequence[Sequence[Any]], size: int
) -> NDArray[np.int64]:
    """The cell of each group: mixed radix over the keys' values, NULL last on each axis.

    A group outside the derived range is left out (-1).
    """
    cell = np.zeros(size, dtype=np.int64)
    outside = np.zeros(size, dtype=bool)
    for axis, column in zip(axes(keys), columns, strict=True):
        position = {value: index for index, value in enumerate(axis)}
        codes = np.fromiter((position.get(value, -1) for value in column), np.int64, size)
        outside |= codes < 0
        cell = cell * len(axis) + codes
    cell[outside] = -1
    return cell


def lay_out(
    cell: NDArray[np.int64], values: NDArray[Any], cells: int, largest: bool = False
) -> NDArray[Any]:
    """The groups' values on all cells, zero where there is no row.

    Groups of one cell are added up, so that every row counts there and none hides another; of
    distinct counts the `largest` is taken, so that a unit still moves a cell by one.
    """
    out = np.zeros(cells, dtype=values.dtype)
    if out.dtype == object:
        out[:] = 0
    inside = cell >= 0
    (np.maximum if largest else np.add).at(out, cell[inside], values[inside])
    return out


def exact(values: Sequence[int]) -> NDArray[Any]:
    """Whole numbers of any size: as 64-bit integers where they fit with room, else as Python's."""
    if all(-(2**62) < value < 2**62 for value in values):
        return np.array(values, dtype=np.int64)
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def split(
    keys: tuple[Expr, ...], found: list[NDArray[Any]]
) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Rows of (keys, value, count) as sorted values and counts per cell; groups of one cell are
    taken together."""
    *columns, values, counts = found
    cell = places(keys, [column.tolist() for column in columns], len(values))
    exact_values, many = values.astype(np.int64), counts.astype(np.int64)
    order = np.lexsort((exact_values, cell))
    cell, exact_values, many = cell[order], exact_values[order], many[order]
    if not len(cell):
        return {}
    starts = np.flatnonzero(np.diff(cell, prepend=-2))
    ends = np.append(starts[1:], len(cell))
    return {
        int(cell[a]): (exact_values[a:b], many[a:b])
        for a, b in zip(starts, ends, strict=True)
        if cell[a] >= 0
    }


def grid(keys: tuple[Expr, ...], rows: Sequence[tuple[Any, ...]]) -> tuple[NDArray[np.int64], int]:
    """The cell of each row that starts with the keys, and how many cells there are."""
    columns = list(zip(*rows, strict=True))[: len(keys)] or [()] * len(keys)
    return places(keys, columns, len(rows)), cell_count(keys)
