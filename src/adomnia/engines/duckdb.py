"""DuckDB, the embedded engine: CSV and Parquet files, globs, folders, and DuckDB databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from adomnia.engines import delimited, parquet
from adomnia.engines.aggregating import Aggregating
from adomnia.engines.clean import clean
from adomnia.engines.contingency import Axes, Contingency
from adomnia.engines.cube import Counts, Subset, Tables, count, cubes_for, passes, sum_down
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.engine import Request
from adomnia.engines.files import find, unreadable, version
from adomnia.engines.interrupts import interruptible
from adomnia.engines.literals import literal, quoted
from adomnia.engines.quiet import quietly, unanswered
from adomnia.engines.statement import DATA, numbering
from adomnia.engines.survey import survey
from adomnia.errors import PolicyError
from adomnia.queries.expression import Expr
from adomnia.schema.domain import Domain
from adomnia.schema.table import Table

__all__ = ["DuckDB"]

T = TypeVar("T")

BATCH = 1 << 20
FEW_ROWS = 2_000_000
LEAST_MEMORY = 64  # megabytes; with less DuckDB cannot read a Parquet file

_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET error_on_division_by_zero = false",
    "SET disabled_optimizers = 'top_n_window_elimination'",  # sorting bounds units 3 times faster
)


class DuckDB(Aggregating):
    """An in-memory DuckDB that reads one source.

    It uses about `memory` megabytes at most: what needs more takes longer, by the disk or by more
    passes over the rows.
    """

    _dialect = DUCKDB
    most_cells = 1 << 26
    """Cubes with more cells than this are not counted whole."""

    def __init__(
        self,
        source: Path | str,
        table: str,
        domains: Mapping[str, Domain],
        memory: int | None = None,
    ) -> None:
        self._source = find(str(source))
        self._memory = memory
        if memory is not None:  # in megabytes; half of it is for cells, of eight bytes each
            self.most_cells = max(1, memory * 1_000_000 // 2 // 8)
        self._version: str | None = None
        self._room = TemporaryDirectory(prefix="adomnia-", ignore_cleanup_errors=True)
        try:
            self._connection = quietly(self._connect, self._unreadable)
            self._types = quietly(lambda: self._open(table, domains), self._unreadable)
        except BaseException:
            self.close()
            raise

    def version(self) -> str:
        """A digest of the files' names, sizes and times; text was read when it was opened."""
        return self._version or version(self._source)

    def contingency(self, table: Table, keys: tuple[Expr, ...], axes: Axes) -> Contingency:
        """All marginals of the keys over their public values, sealed, in as few passes as fit.

        Of few rows the groups that occur are counted instead of all cells that might.
        """
        sizes = [len(axis) for axis in axes]
        request, every = Request(table, None, keys, ()), tuple(range(len(keys)))
        if prod(sizes) <= self.most_cells:
            whole = dict(zip([every], self._cubes(request, axes, [every]), strict=True))
            return lambda subsets: sum_down(whole, subsets)
        if self._few():
            return super().contingency(table, keys, axes)

        def tables(subsets: Sequence[Subset]) -> Tables:
            found: Tables = {}
            for lot in passes(cubes_for(subsets, sizes, self.most_cells), sizes, self.most_cells):
                counted = dict(zip(lot, self._cubes(request, axes, lot), strict=True))
                inside = [s for s in subsets if any({*s} <= {*cube} for cube in lot)]
                found |= sum_down(counted, inside)
            return found

        return tables

    def survey(self) -> Mapping[str, Mapping[str, Any]]:
        """Types, extremes and short lists of values, for a curator's first draft."""
        return quietly(
            lambda: survey(
                self._types, DATA, lambda text: self._connection.execute(text).fetchall(), DUCKDB
            ),
            self._unreadable,
        )

    def close(self) -> None:
        """Let go of the source."""
        if hasattr(self, "_connection"):
            self._connection.close()
        self._room.cleanup()

    def _unreadable(self, kind: str) -> PolicyError:
        return unreadable(self._source.path, kind)

    # Opening

    def _connect(self) -> duckdb.DuckDBPyConnection:
        config: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "temp_directory": str(Path(self._room.name) / "spill"),
        }
        if self._memory is not None:
            config["memory_limit"] = f"{max(self._memory, LEAST_MEMORY)}MB"
        connection = duckdb.connect(config=config)
        for setting in _SETTINGS:
            try:
                connection.execute(setting)
            except duckdb.Error:
                continue  # older versions do not have it, nor what it is set against
        return connection

    def _open(self, table: str, domains: Mapping[str, Domain]) -> Mapping[str, str]:
        if self._source.kind == "database":
            self._attach(table)
        elif self._source.kind == "parquet":
            reader, self._varied = parquet.reader(self._connection, self._source.files, domains)
            self._connection.execute(f"CREATE VIEW {DATA} AS {reader}")
        else:
            self._load(domains)
        types = self._described(DATA)
        if any(name.lower().startswith("adomnia ") for name in types):
            raise PolicyError("a column's name begins with 'adomnia '", "rename it")
        for name, declared in types.items():
            if name in domains:
                clean(
                    name, domains[name], declared, DUCKDB
                )  # a domain that no number can hold fails here
        return types

    def _attach(self, table: str) -> None:
        path = self._source.path
        self._connection.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
        try:
            types = self._described(f"source.{quoted(table)}")
        except duckdb.CatalogException:
            missing = True
        else:
            missing = False
        if missing:
            raise PolicyError(f"the source {path!r} has no table {table!r}", "check [data]")
        columns = ", ".join(DUCKDB.read(name, declared) for name, declared in types.items())
        reader = f"SELECT {columns} FROM source.{quoted(table)}"
        self._connection.execute(f"CREATE VIEW {DATA} AS {reader}")

    def _load(self, domains: Mapping[str, Domain]) -> None:
        """Text is typed by the policy, so that no row can make the reader fail."""
        self._version = version(self._source)
        room = Path(self._room.name)
        files, plain = delimited.readable(self._source.files, room)
        reader = delimited.reader(files, domains, plain)
        self._connection.execute(f"CREATE TEMP VIEW adomnia_text AS {reader}")
        names = self._described("adomnia_text")
        typed = ", ".join(delimited.loaded(name, domains.get(name)) for name in names)
        self._connection.execute(f"CREATE TABLE {DATA} AS SELECT {typed} FROM adomnia_text")
        for file in {*files} - {*self._source.files}:
            file.unlink()

    def _described(self, name: str) -> dict[str, str]:
        found = self._connection.execute(f"DESCRIBE {name}").fetchall()
        return {str(row[0]): str(row[1]) for row in found}

    # Asking

    def _few(self) -> bool:
        """Whether grouping the rows is less work than several cubes."""
        return int(self._rows(f"SELECT COUNT(*) FROM {DATA}")[0][0]) <= FEW_ROWS

    def _cubes(self, request: Request, axes: Axes, cubes: Sequence[Subset]) -> list[Counts]:
        """The cells of these cubes, counted in one pass over the rows."""
        self.check(request.table)
        statement = numbering(request, axes, cubes, self._types, self._dialect)
        shapes = [tuple(len(axes[place]) for place in cube) for cube in cubes]

        def work(cursor: duckdb.DuckDBPyConnection) -> list[Counts]:
            batches: Any = cursor.sql(statement).to_arrow_reader(BATCH)
            return count(([c.to_numpy() for c in batch.columns] for batch in batches), shapes)

        return quietly(lambda: self._run(work), unanswered)

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return quietly(lambda: self._run(lambda c: c.execute(statement).fetchall()), unanswered)

    def _arrays(self, statement: str) -> list[NDArray[Any]]:
        return quietly(lambda: self._run(lambda c: _arrow(c, statement)), unanswered)

    def _run(self, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """What `work` gives, on a cursor of its own that can be interrupted."""
        cursor = self._connection.cursor()
        with interruptible(cursor.interrupt):
            return work(cursor)


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
