"""Parquet files: all of one schema, or of several that are brought together by name.

No file decides how another is read (`coding.md`, Claim 6): the values that folders are named for
(`year=2020`) are text, and a column that has several types is read in each file by itself. No
value decides whether one can be read at all (Claim 7): Arrow takes the bytes as they are, and
`decoding` makes values of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.engines.duckdb.decoding import INTERVAL, UUID, decoded
from adomnia.engines.duckdb.file_schemas import by_schema
from adomnia.engines.duckdb.source_rows import Parts, Rows
from adomnia.engines.remote_files import RemoteFile
from adomnia.engines.source_files import check_declared, check_names, partitions
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

__all__ = ["columns", "parts"]

ROWS = 1 << 16


@dataclass(frozen=True)
class _File:
    """A file and what its footer says: what bytes mean, and which columns are INT96."""

    path: Path | RemoteFile
    names: tuple[str, ...]
    meanings: tuple[str, ...]
    old: frozenset[str]
    size: int
    schema: Any

    @property
    def folders(self) -> Mapping[str, str | None]:
        return partitions(self.path)


def parts(files: Iterable[Path | RemoteFile], domains: Mapping[str, Domain], table: str) -> Parts:
    """The files by their schemas, what each column is selected as, and which have several types."""
    found = [*map(_footer, files)]
    size = sum(file.size for file in found)
    check_declared([(file.path.name, file.schema.names) for file in found], domains)
    return by_schema([(file.schema, file) for file in found], _rows, domains, size)


def columns(file: Path | RemoteFile, table: str) -> tuple[str, ...]:
    """The columns of a file and of its folders."""
    return tuple(_footer(file).schema.names)


def _rows(schema: Any, files: Sequence[_File]) -> Rows:
    """All rows of files of one schema, each value decoded."""
    return schema, (_batch(file, batch) for file in files for batch in _read(file))


def _footer(path: Path | RemoteFile) -> _File:
    """What is known of a file without a row of it; refused is what no rule can read."""
    with _opened(path) as opened:
        stored, arrow = opened.schema, opened.schema_arrow
        leaves = [stored.column(place) for place in range(len(stored))]
        groups = [opened.metadata.row_group(i) for i in range(opened.metadata.num_row_groups)]
    for leaf in leaves:
        if leaf.physical_type == "BYTE_ARRAY" and leaf.converted_type == "DECIMAL":
            raise PolicyError(
                f"the column {leaf.path!r} of {path.name!r} has decimals of any length",
                "write them with a fixed length: as INT64 or FIXED_LEN_BYTE_ARRAY",
            )
    names = tuple(arrow.names)
    check_names(path.name, names)
    said = {leaf.path: _meaning(leaf) for leaf in leaves}
    old = frozenset(leaf.path.split(".")[0] for leaf in leaves if leaf.physical_type == "INT96")
    size = sum(group.total_byte_size for group in groups)
    file = _File(path, names, tuple(said.get(name, "") for name in names), old, size, None)
    empty = pa.RecordBatch.from_arrays([_empty(field.type) for field in arrow], names=names)
    return _File(path, names, file.meanings, old, size, _batch(file, empty).schema)


_HINT, _NONE = b"ARROW:schema", b"arrow-schema"


@contextmanager
def _opened(path: Path | RemoteFile, unit: str = "ms") -> Iterator[Any]:
    """A file whose types are those of Parquet. Arrow keeps its own in a footer that it writes, and
    would turn values into them, which can fail: so it does not find them."""
    with path.open("rb") as stream:
        stream.seek(-8, io.SEEK_END)
        end = stream.read()
        stream.seek(-8 - int.from_bytes(end[:4], "little"), io.SEEK_END)
        footer = stream.read().replace(_HINT, _NONE)
        metadata = pq.read_metadata(io.BytesIO(end[4:] + footer))
        # Of a file that is far away, all that is needed of a group of rows is asked for at once.
        place, far = (path, False) if isinstance(path, Path) else (stream, True)
        more: dict[str, Any] = {"coerce_int96_timestamp_unit": unit, "pre_buffer": far}
        with pq.ParquetFile(place, metadata=metadata, **more) as opened:
            yield opened


def _empty(kind: Any) -> Any:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _empty(kind.storage_type))
    return pa.array([], kind)


def _meaning(leaf: Any) -> str:
    """What bytes of a fixed length stand for."""
    if leaf.converted_type == INTERVAL:
        return INTERVAL
    return UUID if leaf.logical_type.type == UUID else ""


def _read(file: _File) -> Iterator[Any]:
    """The rows of a file as its bytes say. INT96 can pass the microseconds of 64 bits, and Arrow
    would let it: so it is read in milliseconds too, which tell."""
    with _opened(file.path) as opened:
        coarse = opened.iter_batches(ROWS)
        if not file.old:
            yield from coarse
            return
        with _opened(file.path, "us") as again:
            for batch, fine in zip(coarse, again.iter_batches(ROWS), strict=True):
                yield _joined(batch, fine)


def _joined(coarse: Any, fine: Any) -> Any:
    columns = []
    for rough, exact in zip(coarse.columns, fine.columns, strict=True):
        if rough.type == exact.type or not pa.types.is_timestamp(rough.type):
            columns.append(rough)
        else:
            columns.append(pa.compute.if_else(decoded(rough).is_valid(), exact, None))
    return pa.RecordBatch.from_arrays(columns, names=coarse.schema.names)


def _batch(file: _File, batch: Any) -> Any:
    """The columns of a batch and those of the folders, whose values are text."""
    folders = {name.lower(): (name, value) for name, value in file.folders.items()}
    columns = {
        name: decoded(column, meaning)
        for name, column, meaning in zip(file.names, batch.columns, file.meanings, strict=True)
        if name.lower() not in folders
    }
    for name, value in folders.values():
        columns[name] = pa.array([value] * batch.num_rows, pa.string())
    return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])
