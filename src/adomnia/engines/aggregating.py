"""What every SQL engine does alike: a request becomes one statement, its groups sealed cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.arrange import combined, exact, grid, lay_out, split
from adomnia.engines.contingency import Axes, Contingency, tables_of
from adomnia.engines.dialect import Dialect
from adomnia.engines.engine import Cells, Histogram, Keyed, Request
from adomnia.engines.statement import aggregates, listing, shift
from adomnia.errors import PolicyError
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import Primitive, Quantile, primitives
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = ["Aggregating"]


class Aggregating(ABC):
    """An engine that is asked in SQL; the table is called `statement.DATA` there."""

    _dialect: Dialect
    _types: Mapping[str, str]
    _varied: frozenset[str] = frozenset()
    """Columns, in small letters, that have several types in several files."""

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

    def measure(self, request: Request) -> tuple[Cells, ...]:
        """One pass over the rows; components of each measurement on all cells, sealed."""
        needed = _needed(request)
        rows = self._rows(self._aggregates(request, needed))
        cell, cells = grid(request.keys, rows)
        columns = {
            part: lay_out(cell, values, cells)
            for part, values in _columns(request, needed, rows).items()
        }
        parts = combined(request.measurements, columns, _shifts(needed))
        return tuple(Sealed(part) for part in parts)

    def histogram(self, request: Request, quantile: Quantile) -> Histogram:
        """The values of an expression in each cell, sorted, with their counts, sealed."""
        self.check(request.table)
        found = self._arrays(listing(request, quantile.argument, self._types, self._dialect))
        return Sealed(split(request.keys, list(found)))

    def keyed(self, request: Request) -> Keyed:
        """All keys that occur, with the components of all measurements, sealed."""
        needed = _needed(request)
        rows = self._rows(self._aggregates(request, needed))
        columns = _columns(request, needed, rows)
        parts = list(combined(request.measurements, columns, _shifts(needed)))
        keys = [tuple(row[: len(request.keys)]) for row in rows]
        return Sealed((keys, np.concatenate(parts, axis=1)))

    def contingency(self, table: Table, keys: tuple[Expr, ...], axes: Axes) -> Contingency:
        """All marginals of the keys over their public values, sealed, from one pass."""
        request = Request(table, None, keys, ())
        *columns, counts = self._arrays(self._aggregates(request, [Primitive("rows")]))
        return tables_of([column.tolist() for column in columns], counts.astype(np.int64), axes)

    def _aggregates(self, request: Request, needed: Sequence[Primitive]) -> str:
        self.check(request.table)
        return aggregates(request, needed, self._types, self._dialect)

    def check(self, table: Table) -> None:
        """Refuse a unit that may have one name here and another there: 7 and 7.0 are two texts."""
        if table.unit is not None and table.unit.lower() in self._varied:
            raise PolicyError(
                f"the unit {table.unit!r} has another type in another file",
                "write it as one type in all files",
            )


def _needed(request: Request) -> list[Primitive]:
    return list(dict.fromkeys(part for m in request.measurements for part in primitives(m)))


def _columns(
    request: Request, needed: Sequence[Primitive], rows: Sequence[tuple[Any, ...]]
) -> dict[Primitive, NDArray[Any]]:
    width = len(request.keys)
    return {part: exact([row[width + i] for row in rows]) for i, part in enumerate(needed)}


def _shifts(needed: Sequence[Primitive]) -> dict[Primitive, int]:
    return {part: off for part in needed if (off := shift(part, needed))}
