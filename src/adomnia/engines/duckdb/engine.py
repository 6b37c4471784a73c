"""DuckDB, the embedded engine: CSV and Parquet files, globs, folders, and DuckDB databases."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from adomnia.engines.contingency import Axes, ExactTables
from adomnia.engines.cubes import Counts, Subset, Tables, count, cubes_for, passes, sum_down
from adomnia.engines.duckdb.copies import ROWS, Computed, Copies, Parts, Tell
from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.engine import Request, quietly, unanswered
from adomnia.engines.exact import Survey
from adomnia.engines.interrupts import interruptible
from adomnia.engines.source_files import Source, find, unreadable, version
from adomnia.engines.sql.clean import clean
from adomnia.engines.sql.dialect import literal, quoted
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.engines.sql.statement import DATA, numbering
from adomnia.errors import AdomniaError, PolicyError
from adomnia.schema.domain import Domain

__all__ = ["DuckDB", "Kept"]

_READERS = {"parquet": "parquet", "text": "delimited"}
"""Which module reads the rows of which files; they load Arrow, so they wait until there are any."""

T = TypeVar("T")

_STORED = """
SELECT sql FROM duckdb_tables() WHERE database_name = 'source' AND LOWER(table_name) = LOWER(?)
"""

BATCH = 1 << 20
FEW_ROWS = 2_000_000
LEAST_MEMORY = 64  # megabytes; with less DuckDB cannot read a Parquet file

_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET error_on_division_by_zero = false",
    "SET disabled_optimizers = 'top_n_window_elimination'",  # sorting bounds units 3 times faster
)


@dataclass(frozen=True)
class Kept:
    """Where copies of files are kept, and who is told while one is made; None: while it is open."""

    folder: Path | None = None
    tell: Tell | None = None


class DuckDB(SqlEngine):
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
        kept: Kept = Kept(),  # noqa: B008 (frozen)
    ) -> None:
        self._path, self._name, self._domains = str(source), table, domains
        self._memory = memory
        if memory is not None:  # in megabytes; half of it is for cells, of eight bytes each
            self.most_cells = max(1, memory * 1_000_000 // 2 // 8)
        self._room = TemporaryDirectory(prefix="adomnia-", ignore_cleanup_errors=True)
        self._copies = Copies(kept.folder or Path(self._room.name) / "copies", kept.tell)
        self._mutex, self._refused = threading.Lock(), ""
        try:
            self._open(find(self._path))
        except BaseException:
            self.close()
            raise

    @property
    def row_count_is_stable(self) -> bool:
        """Whether the number of rows rests on no value: in text, a quote can join two of them."""
        return self._source.kind != "text"

    def version(self) -> str:
        """A digest of the names, sizes and times of the files when they were opened."""
        return self._version

    def ready(self) -> None:
        """Open the source anew where the engine has died, or where files have changed.

        What cannot be opened stays as it was: whoever asks does not see that it cannot.
        """
        with self._mutex:
            if not self._alive():
                self._open(self._source)
            source, current = _now(self._path)
            if source is None or current in (self._version, self._refused):
                return
            before = self._types
            try:
                self._open(source, before)
            except AdomniaError as error:
                self._refused = current
                warnings.warn(f"what was opened before stays: {error.message}", stacklevel=2)

    @contextmanager
    def snapshot(self) -> Iterator[DuckDB]:
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

    def _survey(self) -> Survey:
        """Types, extremes and short lists of values, for a curator's first draft."""
        from adomnia.engines.survey import survey  # noqa: PLC0415 (for a draft alone)

        return quietly(
            lambda: survey(
                self._types, DATA, lambda text: self._connection.execute(text).fetchall(), DUCKDB
            ),
            partial(unreadable, self._path),
        )

    def close(self) -> None:
        """Let go of the source."""
        if hasattr(self, "_connection"):
            self._connection.close()
        self._room.cleanup()

    # Opening

    def _alive(self) -> bool:
        try:
            self._connection.execute("SELECT 1").fetchall()
        except duckdb.Error:
            return False
        return True

    def _open(self, source: Source, before: Mapping[str, str] | None = None) -> None:
        """Take what the source holds now in the place of what was open."""
        current = version(source)
        failure = partial(unreadable, source.path)
        connection = quietly(self._connect, failure)
        opened = quietly(lambda: self._view(connection, source), failure)
        if before is not None and opened.types != before:
            raise PolicyError("the columns of the source have changed", "open it anew")
        self._connection, self._source, self._version = connection, source, current
        self._types, self._varied = opened.types, opened.varied

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

    def _view(self, connection: duckdb.DuckDBPyConnection, source: Source) -> _Opened:
        """The table of a database, or the copy of files, under the name of the private table."""
        varied: frozenset[str] = frozenset()
        if source.kind == "database":
            reader = self._attached(connection, source)
        else:
            module = import_module(f"{__package__}.{_READERS[source.kind]}")  # slow to import
            rows = module.parts(source.files, self._domains)
            reader, varied = self._copied(connection, source, rows), rows.varied
        connection.execute(f"CREATE VIEW {DATA} AS {reader}")
        types = _described(connection, DATA)
        if any(name.lower().startswith("adomnia ") for name in types):
            raise PolicyError("a column's name begins with 'adomnia '", "rename it")
        for name, declared in types.items():
            if name in self._domains:  # a domain that no number can hold fails here
                clean(name, self._domains[name], declared, DUCKDB)
        return _Opened(types, varied)

    def _copied(
        self, connection: duckdb.DuckDBPyConnection, source: Source, rows: Parts | Computed
    ) -> str:
        path = self._copies.copy(source, rows)
        try:
            connection.execute(f"ATTACH {literal(str(path))} AS copied (READ_ONLY)")
        except duckdb.Error:  # the copy was damaged: the source is copied anew
            path.unlink(missing_ok=True)
            path = self._copies.copy(source, rows)
            connection.execute(f"ATTACH {literal(str(path))} AS copied (READ_ONLY)")
        return f"SELECT * FROM copied.{ROWS}"

    def _attached(self, connection: duckdb.DuckDBPyConnection, source: Source) -> str:
        """A table as it is; what is computed (a view, a generated column) is computed now."""
        connection.execute(f"ATTACH {literal(source.path)} AS source (READ_ONLY)")
        table = f"source.{quoted(self._name)}"
        try:
            types = _described(connection, table)
        except duckdb.CatalogException:
            types = {}
        if not types:
            raise PolicyError(
                f"the source {source.path!r} has no table {self._name!r}", "check [data]"
            )
        columns = ", ".join(DUCKDB.read(name, declared) for name, declared in types.items())
        reader = f"SELECT {columns} FROM {table}"
        stored = connection.execute(_STORED, [self._name]).fetchall()
        if stored and "GENERATED" not in str(stored[0][0]):
            return reader
        connection.execute("DETACH source")
        size = sum(file.stat().st_size for file in source.files)
        return self._copied(connection, source, Computed(source.path, reader, size))

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


@dataclass(frozen=True)
class _Opened:
    """The columns of a source that has been opened."""

    types: Mapping[str, str]
    varied: frozenset[str]


def _described(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
    found = connection.execute(f"DESCRIBE {name}").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def _now(path: str) -> tuple[Source | None, str]:
    """The files that are there now, and their version; None where they cannot be found."""
    try:
        source = find(path)
        return source, version(source)
    except AdomniaError:
        return None, ""


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
