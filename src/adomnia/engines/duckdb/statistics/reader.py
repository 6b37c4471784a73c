"""Files of Stata, SPSS and SAS: numbers, texts, days and moments, as each file itself declares.

What a column is follows from the file's head alone: its type, its format and the labels of its
values. pyreadstat gives the numbers and the bytes as they are stored, in lots of rows, and turns
nothing into dates or texts, since that can fail; here every value is decoded by a rule of its own
(`coding.md`, Claim 8). Missing values of every kind are NULL, and so is an empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from adomnia.engines.duckdb.file_schemas import by_schema
from adomnia.engines.duckdb.source_rows import Parts, Rows
from adomnia.engines.duckdb.statistics.variables import Variable, decoded_column, variable_of
from adomnia.engines.source_files import check_declared, check_names, partitions
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

__all__ = ["column_labels", "columns", "parts"]

CELLS = 1 << 21
"""So many values are read at a time, about."""

LEAST_ROWS = 1 << 10
PACKED = 10
"""So many times as large the rows of a file may be as the file is, for a guess of the space."""

BYTES = "LATIN1"
"""Read so, every byte of a text is one sign of its own: nothing is converted, nothing can fail."""

Read = Callable[..., tuple[dict[str, Any], Any]]


@dataclass(frozen=True)
class _Dataset:
    """A file and what its head says."""

    path: Path
    read: Read
    variables: tuple[Variable, ...]

    @property
    def schema(self) -> Any:
        """The columns and those of the folders, whose values are text."""
        folders = partitions(self.path)
        taken = {name.lower() for name in folders}
        own = [(v.name, v.arrow) for v in self.variables if v.name.lower() not in taken]
        return pa.schema([*own, *((name, pa.string()) for name in folders)])


def parts(files: Iterable[Path], domains: Mapping[str, Domain], table: str) -> Parts:
    """The files by their schemas."""
    found = [*map(_head, files)]
    size = sum(file.path.stat().st_size * PACKED for file in found)
    check_declared([(file.path.name, file.schema.names) for file in found], domains)
    return by_schema([(file.schema, file) for file in found], _rows, domains, size)


def columns(file: Path, table: str) -> tuple[str, ...]:
    """The columns of a file and of its folders."""
    return tuple(_head(file).schema.names)


def column_labels(file: Path) -> dict[str, str]:
    """What a file says of its columns, in words."""
    _, meta = _reader(file)(str(file), metadataonly=True)
    return {name: label for name, label in meta.column_names_to_labels.items() if label}


def _head(path: Path) -> _Dataset:
    """What is known of a file without a row of it."""
    read = _reader(path)
    _, meta = read(str(path), metadataonly=True)
    missing = _missing(read, path)
    system = path.suffix.lower()
    variables = tuple(variable_of(name, meta, missing, system) for name in meta.column_names)
    if not variables:
        raise PolicyError(f"the file {path.name!r} has no column")
    check_names(path.name, [variable.name for variable in variables])
    return _Dataset(path, read, variables)


def _missing(read: Read, path: Path) -> Mapping[str, Any]:
    """Which values a file of SPSS declares to be missing."""
    if path.suffix.lower() not in (".sav", ".zsav"):
        return {}
    _, meta = read(str(path), metadataonly=True, user_missing=True)
    return dict(meta.missing_ranges)


def _reader(path: Path) -> Read:
    try:
        import pyreadstat  # noqa: PLC0415 (an extra)
    except ImportError:
        raise PolicyError(
            "files of Stata, SPSS and SAS are read by pyreadstat, which is not installed",
            "install it: pip install 'adomnia[files]'",
        ) from None
    known: dict[str, Any] = {
        ".dta": pyreadstat.read_dta,
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
    }
    read = known[path.suffix.lower()]
    return partial(read, output_format="dict", disable_datetime_conversion=True)


def _rows(schema: Any, files: Sequence[_Dataset]) -> Rows:
    """All rows of files of one schema, each value decoded."""
    return schema, (batch for file in files for batch in _batches(schema, file))


def _batches(schema: Any, file: _Dataset) -> Iterator[Any]:
    lot = max(LEAST_ROWS, CELLS // len(file.variables))
    folders, start = partitions(file.path), 0
    while True:
        values, _ = file.read(str(file.path), encoding=BYTES, row_offset=start, row_limit=lot)
        lists = [*values.values()]  # names come as bytes, too: the order tells
        size = len(lists[0])
        if not size:
            return
        found = {
            variable.name: decoded_column(variable, column)
            for variable, column in zip(file.variables, lists, strict=True)
        }
        found |= {name: pa.array([value] * size, pa.string()) for name, value in folders.items()}
        yield pa.RecordBatch.from_arrays([found[name] for name in schema.names], schema=schema)
        if size < lot:
            return
        start += lot
