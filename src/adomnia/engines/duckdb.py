"""DuckDB, the embedded engine: CSV and Parquet files, globs, folders, and DuckDB databases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from adomnia.engines.arrange import lay_out, places
from adomnia.engines.clean import clean, loaded
from adomnia.engines.engine import Cells, Histogram, Keyed, Request
from adomnia.engines.translate import aggregate, literal, quoted, translate
from adomnia.errors import MachineryError, PolicyError
from adomnia.queries.expression import columns as columns_of
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Measurement, Primitive, Quantile, combine, primitives
from adomnia.queries.ranges import count_cells
from adomnia.schema.domain import Domain, Open
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import Table

__all__ = ["DuckDB"]

MAX_RAW_GROUPS = 100_000
"""Rows are grouped by their raw columns first when the public domain promises no more groups."""

_DATA = "adomnia_data"


class DuckDB:
    """An in-memory DuckDB that reads one source."""

    def __init__(self, source: Path | str, table: str, domains: Mapping[str, Domain]) -> None:
        self._path = str(source)
        self._connection = duckdb.connect(config={"autoinstall_known_extensions": False})
        try:
            with _quietly("the source cannot be read"):
                self._open(table, domains)
                described = self._connection.execute(f"DESCRIBE {_DATA}").fetchall()
        except BaseException:
            self._connection.close()
            raise
        self._types = {str(row[0]): str(row[1]) for row in described}

    def columns(self) -> Mapping[str, str]:
        """The names of the table's columns and their declared types."""
        return self._types

    def version(self) -> str:
        """A digest of the files' names, sizes and times."""
        stats = [(file.name, file.stat()) for file in _files(self._path)]
        facts = repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
        return hashlib.sha256(facts.encode()).hexdigest()

    def measure(self, request: Request) -> tuple[Cells, ...]:
        """One pass over the rows; components of each measurement on all cells, sealed."""
        needed = _needed(request.measurements)
        rows = self._run(self._statement(request, needed))
        return tuple(Sealed(part) for part in _on_cells(request, needed, rows))

    def histogram(self, request: Request, quantile: Quantile) -> Histogram:
        """The values of an expression in each cell, sorted, with their counts, sealed."""
        extended = (*request.keys, quantile.argument)
        values = Request(request.table, request.where, extended, ())
        found = self._frame(self._statement(values, [Primitive("rows")], flat=True))
        return Sealed(_split(request, found))

    def keyed(self, request: Request) -> Keyed:
        """All keys that occur, with the components of all measurements, sealed."""
        needed = _needed(request.measurements)
        rows = self._run(self._statement(request, needed))
        width = len(request.keys)
        columns = [_column([row[width + i] for row in rows]) for i in range(len(needed))]
        parts = [combine(m, _taken(m, needed, columns)) for m in request.measurements]
        return Sealed(([tuple(row[:width]) for row in rows], np.concatenate(parts, axis=1)))

    def survey(self) -> Mapping[str, Mapping[str, Any]]:
        """Types, extremes and short lists of values, for a curator's first draft."""
        return {name: self._survey(name) for name in self._types}

    def close(self) -> None:
        """Let go of the source."""
        self._connection.close()

    # Opening

    def _open(self, table: str, domains: Mapping[str, Domain]) -> None:
        path = self._path
        if path.lower().endswith((".duckdb", ".db", ".ddb")):
            _existing(path)
            self._connection.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
            self._connection.execute(f"CREATE VIEW {_DATA} AS SELECT * FROM source.{quoted(table)}")
            return
        files = [str(file) for file in _files(path)]
        listed = "[" + ", ".join(literal(file) for file in files) + "]"
        if files[0].lower().endswith((".parquet", ".pq")):
            reader = f"read_parquet({listed}, union_by_name = true)"
            self._connection.execute(f"CREATE VIEW {_DATA} AS SELECT * FROM {reader}")
            return
        self._load_csv(listed, domains)

    def _load_csv(self, listed: str, domains: Mapping[str, Domain]) -> None:
        # Read as text and typed by the policy, so that no row can make the reader fail.
        reader = (
            f"read_csv({listed}, header = true, all_varchar = true, union_by_name = true, "
            "ignore_errors = true, null_padding = true, strict_mode = false)"
        )
        self._connection.execute(f"CREATE TEMP VIEW adomnia_text AS SELECT * FROM {reader}")
        names = [
            str(row[0]) for row in self._connection.execute("DESCRIBE adomnia_text").fetchall()
        ]
        typed = ", ".join(loaded(name, domains.get(name)) for name in names)
        self._connection.execute(f"CREATE TABLE {_DATA} AS SELECT {typed} FROM adomnia_text")

    # Asking

    def _statement(self, request: Request, needed: list[Primitive], flat: bool = False) -> str:
        """The aggregate query: keys, then primitives."""

        def column(name: str) -> str:
            attribute = request.table.attributes.get(name)
            return clean(name, attribute.domain if attribute else Open(), self._types[name])

        where = "" if request.where is None else f" WHERE {translate(request.where, column)}"
        aggregates = [aggregate(primitive, column) for primitive in needed]
        source = self._source(request.table)
        keys = [translate(key, column) for key in request.keys]
        if not keys:
            return f"SELECT {', '.join(aggregates)} FROM {source}{where}"
        raw = [] if flat else _raw(request, needed)
        if raw:
            inner = ", ".join([*raw, *(f"{text} AS p{i}" for i, text in enumerate(aggregates))])
            source = f"(SELECT {inner} FROM {source}{where} GROUP BY {', '.join(raw)})"
            aggregates, where = [f"SUM(p{i})" for i in range(len(aggregates))], ""
        listed = [f"{text} AS k{i}" for i, text in enumerate(keys)]
        group = ", ".join(str(i + 1) for i in range(len(keys)))
        return f"SELECT {', '.join([*listed, *aggregates])} FROM {source}{where} GROUP BY {group}"

    def _source(self, table: Table) -> str:
        """The rows; with a unit, at most `max_rows` of each, chosen by what is in them."""
        if table.unit is None:
            return _DATA
        unit, every = quoted(table.unit), ", ".join(quoted(name) for name in self._types)
        order = f"ROW_NUMBER() OVER (PARTITION BY {unit} ORDER BY HASH({every}))"
        return (
            f"(SELECT * FROM {_DATA} WHERE {unit} IS NOT NULL QUALIFY {order} <= {table.max_rows})"
        )

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        with _quietly("the question could not be computed"):
            return self._connection.cursor().execute(statement).fetchall()

    def _frame(self, statement: str) -> list[NDArray[Any]]:
        with _quietly("the question could not be computed"):
            table = self._connection.cursor().sql(statement).to_arrow_table()
        return [_plain(column) for column in table.columns]

    def _survey(self, name: str) -> dict[str, Any]:
        column = quoted(name)
        with _quietly("the source cannot be read"):
            ends = self._connection.execute(
                f"SELECT MIN({column}), MAX({column}), COUNT(*) > COUNT({column}) FROM {_DATA}"
            ).fetchone()
            few = self._connection.execute(
                f"SELECT DISTINCT {column} FROM {_DATA} WHERE {column} IS NOT NULL LIMIT 101"
            ).fetchall()
        low, high, nulls = ends or (None, None, False)
        values = [row[0] for row in few] if len(few) <= 100 else None
        return {
            "type": self._types[name],
            "low": low,
            "high": high,
            "nulls": bool(nulls),
            "values": values,
        }


def _needed(measurements: tuple[Measurement, ...]) -> list[Primitive]:
    return list(dict.fromkeys(part for m in measurements for part in primitives(m)))


def _taken(
    measurement: Measurement, needed: list[Primitive], columns: list[NDArray[Any]]
) -> list[NDArray[Any]]:
    return [columns[needed.index(part)] for part in primitives(measurement)]


def _on_cells(
    request: Request, needed: list[Primitive], rows: list[tuple[Any, ...]]
) -> Iterator[NDArray[Any]]:
    width, cells = len(request.keys), cell_count(request.keys)
    cell = places(request.keys, [[row[i] for row in rows] for i in range(width)], len(rows))
    columns = [
        lay_out(cell, _column([row[width + i] for row in rows]), cells) for i in range(len(needed))
    ]
    for measurement in request.measurements:
        yield combine(measurement, _taken(measurement, needed, columns))


def _column(values: list[Any]) -> NDArray[Any]:
    """Whole numbers of any size; an aggregate over no rows is zero."""
    out = np.empty(len(values), dtype=object)
    out[:] = [int(value or 0) for value in values]
    small = all(abs(value) < 2**62 for value in out)
    return out.astype(np.int64) if small else out


def _split(
    request: Request, found: list[NDArray[Any]]
) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Rows of (keys, value, count) as sorted values and counts per cell; NULL values are left out."""
    *keys, values, counts = found
    present = np.array([value is not None for value in values], dtype=bool)
    cell = places(request.keys, [key.tolist() for key in keys], len(values))[present]
    exact, many = values[present].astype(np.int64), counts[present].astype(np.int64)
    order = np.lexsort((exact, cell))
    cell, exact, many = cell[order], exact[order], many[order]
    starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]]) if len(cell) else np.array([], int)
    ends = np.r_[starts[1:], len(cell)]
    return {
        int(cell[a]): (exact[a:b], many[a:b])
        for a, b in zip(starts, ends, strict=True)
        if cell[a] >= 0
    }


def _plain(column: Any) -> NDArray[Any]:
    """An Arrow column as numpy; with NULLs as an array of objects."""
    array: NDArray[Any] = (
        column.to_numpy() if column.null_count == 0 else np.array(column.to_pylist(), dtype=object)
    )
    return array if array.dtype.kind != "M" else np.array(column.to_pylist(), dtype=object)


def _raw(request: Request, needed: list[Primitive]) -> list[str]:
    """The raw columns to group by first, where that is no more work than the question itself."""
    if any(primitive.kind == "distinct" for primitive in needed):
        return []
    used = {column.name: column for key in request.keys for column in columns_of(key)}
    groups = 1
    for column in used.values():
        groups *= count_cells(column.range) or MAX_RAW_GROUPS
    return [quoted(name) for name in used] if groups <= MAX_RAW_GROUPS else []


@contextmanager
def _quietly(message: str) -> Iterator[None]:
    """DuckDB's own messages can quote data, so they never leave."""
    try:
        yield
    except duckdb.Error as error:
        kind = type(error).__name__
        raise MachineryError(message, f"DuckDB gave up ({kind}); see the policy's [data]") from None


def _existing(path: str) -> None:
    if not Path(path).exists():
        raise PolicyError(f"the source {path!r} does not exist", "check source in [data]")


def _files(path: str) -> list[Path]:
    """The files a source names: one, those of a folder, or those a pattern matches."""
    place = Path(path)
    if place.is_dir():
        files = sorted(f for f in place.rglob("*") if _known(f))
    elif any(sign in path for sign in "*?["):
        root = Path(place.anchor or ".")
        files = sorted(root.glob(str(place.relative_to(place.anchor) if place.anchor else place)))
    else:
        files = [place] if place.exists() else []
    if not files:
        raise PolicyError(f"the source {path!r} has no file", "check source in [data]")
    return files


def _known(file: Path) -> bool:
    return file.is_file() and file.name.lower().endswith(
        (".parquet", ".pq", ".csv", ".csv.gz", ".tsv")
    )
