"""Published files: columns of CSV and Parquet, also as codes, and the edges of a network."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError

if TYPE_CHECKING:
    import pyarrow

__all__ = ["CodedColumns", "read_coded", "read_columns", "read_edges", "single_file"]

Codes = NDArray[np.int64]
MAX_DISTINCT = 10_000
"""A column with more values, all different, names people."""

HINT = "a file is CSV (also .csv.gz, .tsv) or Parquet, with the names of its columns"
EDGES = "one edge a line: two numbers, such as 17 4; also .gz"


@dataclass(frozen=True, eq=False)
class CodedColumns:
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
        cell = np.ravel_multi_index([self.codes[name] for name in names], shape)
        counts: Codes = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
        return counts


def read_columns(file: str | Path, names: Sequence[str] | None = None) -> pyarrow.Table:
    """The named columns of a CSV or Parquet file; all of them unless told.

    Raises a QuestionError where there is no such file or column, or it cannot be read.
    """
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


def single_file(files: Sequence[str]) -> str:
    """The only one of the files; a QuestionError where there are more, or none."""
    if len(files) != 1:
        raise QuestionError("this attack takes one file", "give one")
    return files[0]


def read_coded(file: str | Path, names: Sequence[str]) -> CodedColumns:
    """Columns of a file; each domain is what occurs in it, a missing value included."""
    table = read_columns(file, names)
    if not table.num_rows:
        raise QuestionError(f"{Path(file).name!r} has no rows", "there is nothing to disclose")
    coded = {name: _encoded(table[name]) for name in table.column_names}
    for name, (_, domain) in coded.items():
        if len(domain) == table.num_rows > MAX_DISTINCT:
            raise QuestionError(
                f"all values of {name!r} are different",
                "it names people, and no table is made of it: leave it out",
            )
    return CodedColumns(
        {name: codes for name, (codes, _) in coded.items()},
        {name: domain for name, (_, domain) in coded.items()},
    )


def _encoded(column: pyarrow.ChunkedArray) -> tuple[Codes, list[Any]]:
    whole = column.combine_chunks().dictionary_encode(null_encoding="encode")
    values = whole.dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda index: (values[index] is None, values[index]))
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    return rank[whole.indices.to_numpy()], [values[index] for index in order]


def read_edges(file: str | Path) -> list[tuple[int, int]]:
    """The edges of a network: two numbers a line; lines that begin with # or % are comments."""
    path = Path(file)
    if not path.is_file():
        raise QuestionError(f"there is no file {str(path)!r}", EDGES)
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        raise QuestionError(f"the file {str(path)!r} cannot be read", EDGES) from None
    edges = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.replace(",", " ").split()
        if not parts or parts[0].startswith(("#", "%")):
            continue
        try:
            edges.append((int(parts[0]), int(parts[1])))
        except (ValueError, IndexError):
            raise QuestionError(f"{path.name!r}, line {number}: this is no edge", EDGES) from None
    if not edges:
        raise QuestionError(f"{path.name!r} has no edges", EDGES)
    return edges
