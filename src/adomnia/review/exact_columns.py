"""What an audit may see of the data: columns as codes, for the curator's own eyes.

An auditor judges what a release would tell, and must know what is there to be told. So these
numbers are exact and not sealed. Nothing here answers an analyst: only verbs that a curator runs
on his own terminal call it (`docs/audit.md` says what they may print).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.axis_values import side_of
from adomnia.curator.table_backend import TableBackend
from adomnia.engines.engine import Request
from adomnia.engines.sql.sql_engine import SqlEngine
from adomnia.engines.sql.sql_literals import quoted
from adomnia.engines.sql.statement import aggregates
from adomnia.errors import QuestionError
from adomnia.limits import MAX_AXIS_VALUES
from adomnia.queries.expression import Column, Expr
from adomnia.queries.ranges import from_domain, show

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Coded", "coded_file", "exact_counts", "own_columns", "people_of", "read_columns"]

Codes = NDArray[np.int64]
HINT = "a file is CSV (also .csv.gz, .tsv) or Parquet, with the names of its columns"


@dataclass(frozen=True, eq=False)
class Coded:
    """Columns as places in their domains, and the domains."""

    codes: Mapping[str, Codes]
    domains: Mapping[str, Sequence[Any]]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.codes.values()), ()))

    def table(self, names: Sequence[str]) -> Codes:
        """The counts over these columns, an axis for each."""
        shape = tuple(len(self.domains[name]) for name in names)
        place = np.ravel_multi_index([self.codes[name] for name in names], shape)
        found: Codes = np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)
        return found


# A file


def read_columns(file: str | Path, names: Sequence[str] | None = None) -> pyarrow.Table:
    """The named columns of a CSV or Parquet file; all of them unless told."""
    import pyarrow  # noqa: PLC0415 (slow to import)

    path = Path(file)
    if not path.is_file():
        raise QuestionError(f"there is no file {str(path)!r}", HINT)
    try:
        table = _read(path)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        kind = type(error).__name__  # its message could quote data
        raise QuestionError(f"the file {str(path)!r} cannot be read ({kind})", HINT) from None
    if names is None:
        return table
    for name in names:
        if name not in table.column_names:
            there = "it has: " + ", ".join(table.column_names[:30])
            raise QuestionError(f"{path.name!r} has no column {name[:60]!r}", there)
    return table.select(list(dict.fromkeys(names)))


def _read(path: Path) -> pyarrow.Table:
    from pyarrow import csv, parquet  # noqa: PLC0415 (slow to import)

    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".parquet", ".pq")):
        return parquet.read_table(path)
    if not name.endswith((".csv", ".tsv", ".txt")):
        raise QuestionError(f"the file {str(path)!r} is of no known kind", HINT)
    options = csv.ParseOptions(delimiter="\t" if name.endswith(".tsv") else ",")
    return csv.read_csv(path, parse_options=options)


def coded_file(file: str | Path, names: Sequence[str]) -> Coded:
    """Columns of a file; each domain is what occurs in it, a missing value included."""
    table = read_columns(file, names)
    if not table.num_rows:
        raise QuestionError(f"{Path(file).name!r} has no rows", "there is nothing to disclose")
    found = {name: _encoded(table[name]) for name in table.column_names}
    for name, (_, domain) in found.items():
        if len(domain) == table.num_rows > MAX_AXIS_VALUES:
            raise QuestionError(
                f"all values of {name!r} are different",
                "it names people, and no table is made of it: leave it out",
            )
    return Coded({n: c for n, (c, _) in found.items()}, {n: d for n, (_, d) in found.items()})


def _encoded(column: pyarrow.ChunkedArray) -> tuple[Codes, list[Any]]:
    whole = column.combine_chunks().dictionary_encode(null_encoding="encode")
    values = whole.dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda place: (values[place] is None, values[place]))
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    return rank[whole.indices.to_numpy()], [values[place] for place in order]


# The policy's own data


def _counted(engine: SqlEngine, request: Request) -> tuple[list[list[Any]], Codes]:
    """The combinations of the keys that occur, by columns, and how many rows have each.

    The curator himself looks through the engine here: these counts are not sealed.
    """
    statement = aggregates(request, engine.columns(), engine._dialect)
    *columns, counts = engine._arrays(statement.text)
    return [column.tolist() for column in columns], counts.astype(np.int64)


def own_columns(desk: TableBackend, names: Sequence[str]) -> Coded:
    """Declared attributes of the policy's data, as a release would count them.

    Values are cleaned, rows of one unit limited, and rows with NULL in an attribute that is not
    nullable left out.
    """
    attributes = desk.policy.attributes
    for name in names:
        if name not in attributes:
            hint = "declared are: " + ", ".join(attributes)
            raise QuestionError(f"{name[:60]!r} is not a declared attribute", hint)
    keys = tuple(Column(name, from_domain(attributes[name].domain)) for name in names)
    axes = [side_of(desk.policy, name) for name in names]
    with _looking(desk) as count:
        columns, counts = count(keys)
    places = [_places(column, axis) for column, axis in zip(columns, axes, strict=True)]
    inside = np.all([place >= 0 for place in places], axis=0)
    codes = {
        name: np.repeat(place[inside], counts[inside])
        for name, place in zip(names, places, strict=True)
    }
    domains = {
        name: [show(key.range, value) for value in axis]
        for name, key, axis in zip(names, keys, axes, strict=True)
    }
    return Coded(codes, domains)


def people_of(
    desk: TableBackend, column: str, target: str, many: int
) -> tuple[list[Any], list[int]]:
    """The first people by this column, and whether each fulfils the condition (0 or 1).

    For the scoring of an attack that the curator ordered. A value that several rows share names
    nobody, and is left out.
    """
    columns = desk.engine.columns()
    if column not in columns:
        hint = "it has: " + ", ".join(columns)
        raise QuestionError(f"the data has no column {column[:60]!r}", hint)
    name, table = quoted(column), quoted(desk.policy.table)
    keys = desk.bind(f"SELECT {name}, COUNT(*) AS n FROM {table} GROUP BY {name}").keys  # noqa: S608
    where = desk.bind(f"SELECT COUNT(*) AS n FROM {table} WHERE {target}").where  # noqa: S608
    with _looking(desk) as count:
        (values,), counts = count(keys)
        (held,), _ = count(keys, where)
    alone = [v for v, rows in zip(values, counts.tolist(), strict=True) if rows == 1]
    chosen, fulfil = sorted(v for v in alone if v is not None)[:many], set(held)
    bits = [int(value in fulfil) for value in chosen]
    return [show(keys[0].range, value) for value in chosen], bits


def exact_counts(desk: TableBackend, conditions: Sequence[str]) -> list[int]:
    """How many rows fulfil each condition; to score an attack, never to be printed."""
    table = quoted(desk.policy.table)
    asked = [f"SELECT COUNT(*) AS n FROM {table} WHERE {test}" for test in conditions]  # noqa: S608
    with _looking(desk) as count:
        return [int(count((), desk.bind(sql).where)[1].sum()) for sql in asked]


@contextmanager
def _looking(desk: TableBackend) -> Iterator[Callable[..., tuple[list[list[Any]], Codes]]]:
    """A function of keys and a condition that counts; all calls see the data of one moment."""
    with desk.engine.snapshot() as engine:
        assert isinstance(engine, SqlEngine)

        def count(
            keys: tuple[Expr, ...], where: Expr | None = None
        ) -> tuple[list[list[Any]], Codes]:
            return _counted(engine, Request(desk.table, where, keys, ()))

        yield count


def _places(column: Sequence[Any], axis: tuple[Any, ...]) -> Codes:
    place = {value: index for index, value in enumerate(axis)}
    return np.fromiter((place.get(value, -1) for value in column), np.int64, len(column))
