"""What both engines of DuckDB do alike: statements that can be interrupted, and cubes.

`engine.py` reads a source as it is, `edition.py` an edition of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from adomnia.engines.contingency import Axes, ExactTables
from adomnia.engines.cubes import Counts, Subset, Tables, count, cubes_for, passes, sum_down
from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.pair_table import DuckDBPairs
from adomnia.engines.engine import Request, quietly, unanswered
from adomnia.engines.interrupts import interruptible
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.engines.sql.statement import DATA, numbering
from adomnia.schema.unit_amounts import Pairs

__all__ = ["BATCH", "DuckDBReader", "connected"]

T = TypeVar("T")

BATCH = 1 << 20
FEW_ROWS = 2_000_000
LEAST_MEMORY = 64  # megabytes; with less DuckDB cannot read a Parquet file

_SETTINGS = (
    "SET enable_progress_bar = false",  # it would stand in the answer, and tell of the data
    "SET TimeZone = 'UTC'",
    "SET error_on_division_by_zero = false",
    "SET disabled_optimizers = 'top_n_window_elimination'",  # sorting bounds units 3 times faster
)


class DuckDBReader(SqlEngine):
    """An in-memory DuckDB that reads one table.

    It uses about `memory` megabytes at most: what needs more takes longer, by the disk or by more
    passes over the rows.
    """

    _dialect = DUCKDB
    _connection: duckdb.DuckDBPyConnection
    most_cells = 1 << 26
    """Cubes with more cells than this are not counted whole."""

    def __init__(self, memory: int | None = None) -> None:
        self._memory = memory
        if memory is not None:  # in megabytes; half of it is for cells, of eight bytes each
            self.most_cells = max(1, memory * 1_000_000 // 2 // 8)
        self._room = TemporaryDirectory(prefix="adomnia-", ignore_cleanup_errors=True)

    @contextmanager
    def snapshot(self) -> Iterator[Self]:
        """The engine for one question: what is read through it is of one moment."""
        yield copy(self)

    def _exact_tables(self, request: Request, axes: Axes) -> ExactTables:
        """All marginals of the keys over their public values, in as few passes as fit.

        Of few rows the groups that occur are counted instead of all cells that might.
        """
        sizes, every = [len(axis) for axis in axes], tuple(range(len(axes)))
        if request.contributions:
            return super()._exact_tables(request, axes)
        if prod(sizes) <= self.most_cells:
            whole = dict(zip([every], self._cubes(request, axes, [every]), strict=True))
            return lambda subsets: sum_down(whole, subsets)
        if self._few():
            return super()._exact_tables(request, axes)

        def tables(subsets: Sequence[Subset]) -> Tables:
            found: Tables = {}
            for lot in passes(cubes_for(subsets, sizes, self.most_cells), sizes, self.most_cells):
                counted = dict(zip(lot, self._cubes(request, axes, lot), strict=True))
                inside = [s for s in subsets if any({*s} <= {*cube} for cube in lot)]
                found |= sum_down(counted, inside)
            return found

        return tables

    def close(self) -> None:
        """Let go of the source."""
        if hasattr(self, "_connection"):
            self._connection.close()
        self._room.cleanup()

    def _alive(self) -> bool:
        try:
            self._connection.execute("SELECT 1").fetchall()
        except duckdb.Error:
            return False
        return True

    # Asking

    def _few(self) -> bool:
        """Whether grouping the rows is less work than several cubes."""
        return int(self._rows(f"SELECT COUNT(*) FROM {DATA}")[0][0]) <= FEW_ROWS

    def _cubes(self, request: Request, axes: Axes, cubes: Sequence[Subset]) -> list[Counts]:
        """The cells of these cubes, counted in one pass over the rows."""
        self.check(request.table)
        statement = numbering(request, axes, cubes, self._read_from(request.table))
        shapes = [tuple(len(axes[place]) for place in cube) for cube in cubes]

        def work(cursor: duckdb.DuckDBPyConnection) -> list[Counts]:
            batches: Any = cursor.sql(statement).to_arrow_reader(BATCH)
            return count(([c.to_numpy() for c in batch.columns] for batch in batches), shapes)

        return quietly(lambda: self._run(work), unanswered)

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return quietly(lambda: self._run(lambda c: c.execute(statement).fetchall()), unanswered)

    def _arrays(self, statement: str) -> list[NDArray[Any]]:
        return quietly(lambda: self._run(lambda c: _arrow(c, statement)), unanswered)

    def _pairs(self, statement: str, alike: bool) -> Pairs:
        return quietly(lambda: DuckDBPairs(self._connection.cursor(), statement, alike), unanswered)

    def _run(self, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """What `work` gives, on a cursor of its own that can be interrupted."""
        cursor = self._connection.cursor()
        with interruptible(cursor.interrupt):
            return work(cursor)


def connected(memory: int | None, spill: Path) -> duckdb.DuckDBPyConnection:
    """A new DuckDB that spills to this folder."""
    config: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "temp_directory": str(spill),
    }
    if memory is not None:
        config["memory_limit"] = f"{max(memory, LEAST_MEMORY)}MB"
    connection = duckdb.connect(config=config)
    for setting in _SETTINGS:
        try:
            connection.execute(setting)
        except duckdb.Error:
            continue  # older versions do not have it, nor what it is set against
    return connection


def _arrow(cursor: duckdb.DuckDBPyConnection, statement: str) -> list[NDArray[Any]]:
    table: Any = cursor.sql(statement).to_arrow_table()
    return [_plain(column) for column in table.columns]


def _plain(column: Any) -> NDArray[Any]:
    """An Arrow column as numpy; days and columns with NULLs as arrays of objects."""
    if column.null_count == 0:
        array: NDArray[Any] = column.to_numpy()
        if array.dtype.kind != "M":
            return array
    out = np.empty(len(column), dtype=object)
    out[:] = column.to_pylist()
    return out
