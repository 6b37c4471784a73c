"""DuckDB, the embedded engine: CSV and Parquet files, globs, folders, and DuckDB databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from adomnia.engines import delimited, parquet
from adomnia.engines.arrange import combined, exact, grid, lay_out, split
from adomnia.engines.clean import clean, loaded
from adomnia.engines.contingency import Axes, Contingency, tables_of
from adomnia.engines.engine import Cells, Histogram, Keyed, Request
from adomnia.engines.files import find, unreadable, version
from adomnia.engines.interrupts import interruptible
from adomnia.engines.literals import literal, quoted
from adomnia.engines.quiet import quietly, unanswered
from adomnia.engines.statement import DATA, aggregates, listing, shift
from adomnia.engines.survey import survey
from adomnia.errors import PolicyError
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import Primitive, Quantile, primitives
from adomnia.schema.domain import Domain
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = ["DuckDB"]

T = TypeVar("T")

_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET error_on_division_by_zero = false",
    "SET disabled_optimizers = 'top_n_window_elimination'",  # sorting bounds units 3 times faster
)


class DuckDB:
    """An in-memory DuckDB that reads one source."""

    def __init__(self, source: Path | str, table: str, domains: Mapping[str, Domain]) -> None:
        self._source = find(str(source))
        self._version: str | None = None
        self._room = TemporaryDirectory(prefix="adomnia-", ignore_cleanup_errors=True)
        try:
            self._connection = quietly(self._connect, self._unreadable)
            self._types = quietly(lambda: self._open(table, domains), self._unreadable)
        except BaseException:
            self.close()
            raise

    def columns(self) -> Mapping[str, str]:
        """The names of the table's columns and their declared types."""
        return self._types

    def version(self) -> str:
        """A digest of the files' names, sizes and times; text was read when it was opened."""
        return self._version or version(self._source)

    def measure(self, request: Request) -> tuple[Cells, ...]:
        """One pass over the rows; components of each measurement on all cells, sealed."""
        needed = _needed(request)
        rows = self._rows(aggregates(request, needed, self._types))
        cell, cells = grid(request.keys, rows)
        columns = {
            part: lay_out(cell, values, cells)
            for part, values in _columns(request, needed, rows).items()
        }
        parts = combined(request.measurements, columns, _shifts(needed))
        return tuple(Sealed(part) for part in parts)

    def histogram(self, request: Request, quantile: Quantile) -> Histogram:
        """The values of an expression in each cell, sorted, with their counts, sealed."""
        statement = listing(request, quantile.argument, self._types)
        found = quietly(lambda: self._arrays(statement), unanswered)
        return Sealed(split(request.keys, found))

    def keyed(self, request: Request) -> Keyed:
        """All keys that occur, with the components of all measurements, sealed."""
        needed = _needed(request)
        rows = self._rows(aggregates(request, needed, self._types))
        columns = _columns(request, needed, rows)
        parts = list(combined(request.measurements, columns, _shifts(needed)))
        keys = [tuple(row[: len(request.keys)]) for row in rows]
        return Sealed((keys, np.concatenate(parts, axis=1)))

    def contingency(self, table: Table, keys: tuple[Expr, ...], axes: Axes) -> Contingency:
        """All marginals of the keys over their public values, sealed, from one pass."""
        request = Request(table, None, keys, ())
        statement = aggregates(request, [Primitive("rows")], self._types)
        *columns, counts = quietly(lambda: self._arrays(statement), unanswered)
        return tables_of([column.tolist() for column in columns], counts.astype(np.int64), axes)

    def survey(self) -> Mapping[str, Mapping[str, Any]]:
        """Types, extremes and short lists of values, for a curator's first draft."""
        return quietly(
            lambda: survey(
                self._types, DATA, lambda text: self._connection.execute(text).fetchall()
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
            reader = parquet.reader(self._connection, self._source.files)
            self._connection.execute(f"CREATE VIEW {DATA} AS {reader}")
        else:
            self._load(domains)
        types = self._described(DATA)
        if any(name.lower().startswith("adomnia ") for name in types):
            raise PolicyError("a column's name begins with 'adomnia '", "rename it")
        for name, declared in types.items():
            if name in domains:
                clean(name, domains[name], declared)  # a domain that no number can hold fails here
        return types

    def _attach(self, table: str) -> None:
        path = self._source.path
        self._connection.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
        try:
            self._connection.execute(f"CREATE VIEW {DATA} AS SELECT * FROM source.{quoted(table)}")
        except duckdb.CatalogException:
            missing = True
        else:
            missing = False
        if missing:
            raise PolicyError(f"the source {path!r} has no table {table!r}", "check [data]")

    def _load(self, domains: Mapping[str, Domain]) -> None:
        """Text is typed by the policy, so that no row can make the reader fail."""
        self._version = version(self._source)
        room = Path(self._room.name)
        files, plain = delimited.readable(self._source.files, room)
        reader = delimited.reader(files, domains, plain)
        self._connection.execute(f"CREATE TEMP VIEW adomnia_text AS {reader}")
        names = self._described("adomnia_text")
        typed = ", ".join(loaded(name, domains.get(name)) for name in names)
        self._connection.execute(f"CREATE TABLE {DATA} AS SELECT {typed} FROM adomnia_text")
        for file in {*files} - {*self._source.files}:
            file.unlink()

    def _described(self, name: str) -> dict[str, str]:
        found = self._connection.execute(f"DESCRIBE {name}").fetchall()
        return {str(row[0]): str(row[1]) for row in found}

    # Asking

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return quietly(lambda: self._run(lambda c: c.execute(statement).fetchall()), unanswered)

    def _arrays(self, statement: str) -> list[NDArray[Any]]:
        table: Any = self._run(lambda cursor: cursor.sql(statement).to_arrow_table())
        return [_plain(column) for column in table.columns]

    def _run(self, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """What `work` gives, on a cursor of its own that can be interrupted."""
        cursor = self._connection.cursor()
        with interruptible(cursor.interrupt):
            return work(cursor)


def _needed(request: Request) -> list[Primitive]:
    return list(dict.fromkeys(part for m in request.measurements for part in primitives(m)))


def _columns(
    request: Request, needed: Sequence[Primitive], rows: Sequence[tuple[Any, ...]]
) -> dict[Primitive, NDArray[Any]]:
    width = len(request.keys)
    return {part: exact([row[width + i] for row in rows]) for i, part in enumerate(needed)}


def _shifts(needed: Sequence[Primitive]) -> dict[Primitive, int]:
    return {part: off for part in needed if (off := shift(part, needed))}


def _plain(column: Any) -> NDArray[Any]:
    """An Arrow column as numpy; days and columns with NULLs as arrays of objects."""
    if column.null_count == 0:
        array: NDArray[Any] = column.to_numpy()
        if array.dtype.kind != "M":
            return array
    out = np.empty(len(column), dtype=object)
    out[:] = column.to_pylist()
    return out
