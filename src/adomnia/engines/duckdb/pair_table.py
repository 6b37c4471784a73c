"""Rows of two units in DuckDB: they stay in a table of its own, which spills to the disk, and only
those of a few units leave it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.engine import quietly, unanswered
from adomnia.engines.interrupts import interruptible
from adomnia.engines.sql.tables.owners import PAIR
from adomnia.engines.sql.tables.unit_amounts import AMOUNT, pair_amounts, pairs_in_order
from adomnia.schema.unit_amounts import PairAmounts, SideTotals

__all__ = ["DuckDBPairs"]

T = TypeVar("T")
Integers = NDArray[np.int64]
PAIRS = '"adomnia pairs"'
FIRST, SECOND = (DUCKDB.quoted(mark) for mark in PAIR)
ADDED = DUCKDB.quoted(AMOUNT)


class DuckDBPairs:
    """The pairs that a statement gives, read once; the table goes with the cursor."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, statement: str, alike: bool) -> None:
        self.alike, self._cursor = alike, cursor
        self._run(lambda: cursor.execute(f"CREATE TEMP TABLE {PAIRS} AS {statement}"))

    def totals(self, most: int, largest: int) -> tuple[SideTotals, SideTotals]:
        """Of both sides."""
        other = f"WHERE {FIRST} <> {SECOND}" if self.alike else ""
        first, second = (
            f"SELECT {unit}, CAST(LEAST(SUM(GREATEST(0, LEAST({ADDED}, {most}))), {largest}) AS "
            f"BIGINT), COUNT(*) FROM {PAIRS} {where} GROUP BY 1 ORDER BY 1"
            for unit, where in ((FIRST, ""), (SECOND, other))
        )
        return SideTotals(*self._columns(first)), SideTotals(*self._columns(second))

    def touching(self, first: Integers, second: Integers) -> PairAmounts:
        """The rows whose first unit is one of these, or whose second is one of those."""
        for name, units in (("adomnia_first", first), ("adomnia_second", second)):
            self._run(partial(self._chosen, name, units))
        chosen = (
            f"{PAIRS} WHERE {FIRST} IN (SELECT unit FROM adomnia_first) "
            f"OR {SECOND} IN (SELECT unit FROM adomnia_second)"
        )
        return pair_amounts(self._columns(pairs_in_order(chosen, DUCKDB)), self.alike)

    def _chosen(self, name: str, units: Integers) -> None:
        import pyarrow as pa  # noqa: PLC0415 (slow to import)

        self._cursor.register(name, pa.table({"unit": units}))

    def _columns(self, statement: str) -> list[Integers]:
        table: Any = self._run(lambda: self._cursor.sql(statement).to_arrow_table())
        return [column.to_numpy() for column in table.columns]

    def _run(self, work: Callable[[], T]) -> T:
        with interruptible(self._cursor.interrupt):
            return quietly(work, unanswered)
