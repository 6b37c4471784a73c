"""Parquet files: all of one schema, or of several that are brought together by name.

No file decides how another is read (`coding.md`, Claim 6): the values that folders are named for
(`year=2020`) are text, and a column that has several types is read in each file by itself. No
value decides whether one can be read at all (Claim 7): Arrow takes the bytes as they are, and
`decoding` makes values of them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.engines.duckdb.decoding import INTERVAL, UUID, decoded
from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.duckdb.source_rows import Parts, Rows, SourcePart
from adomnia.engines.source_files import partitions
from adomnia.engines.sql.dialect import quoted
from adomnia.errors import PolicyError
from adomnia.schema.domain import Dates, Domain, Grid, Open, Timestamps

__all__ = ["columns", "parts"]

ROWS = 1 << 16

_SMALL = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
"""Types whose values are the same, as numbers and as text, in 64 bits."""


@dataclass(frozen=True)
class _File:
    """A file and what its footer says: what bytes mean, and which columns are INT96."""

    path: Path
    names: tuple[str, ...]
    meanings: tuple[str, ...]
    old: frozenset[str]
    size: int
    schema: Any

    @property
    def folders(self) -> Mapping[str, str | None]:
        return partitions(self.path)


def parts(files: Iterable[Path], domains: Mapping[str, Domain]) -> Parts:
    """The files by their schemas, what each column is selected as, and which have several types.

    Those are given in small letters: DuckDB takes names that differ by case alone for one.
    """
    groups: dict[Any, list[_File]] = {}
    for file in map(_footer, files):
        groups.setdefault(file.schema, []).append(file)
    kinds = [_types(schema) for schema in groups]
    found: dict[str, set[str]] = {}
    for types in kinds:
        for name, declared in types.items():
            found.setdefault(name.lower(), set()).add(declared)
    varied = frozenset(name for name, each in found.items() if len(each) > 1 and not each <= _SMALL)
    known = {name.lower(): domain for name, domain in domains.items()}

    def column(name: str, declared: str) -> str:
        if name.lower() not in varied:
            return quoted(name)  # UNION makes small types one
        return f"{_alone(name, declared, known.get(name.lower(), Open()))} AS {quoted(name)}"

    made = (
        SourcePart(
            schema.to_string(),
            tuple(column(*pair) for pair in types.items()),
            partial(_rows, schema, tuple(listed)),
        )
        for (schema, listed), types in zip(groups.items(), kinds, strict=True)
    )
    size = sum(file.size for listed in groups.values() for file in listed)
    return Parts(tuple(made), varied, size)


def columns(file: Path) -> tuple[str, ...]:
    """The columns of a file and of its folders."""
    return tuple(_footer(file).schema.names)


def _rows(schema: Any, files: Sequence[_File]) -> Rows:
    """All rows of files of one schema, each value decoded."""
    return schema, (_batch(file, batch) for file in files for batch in _read(file))


def _footer(path: Path) -> _File:
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
    if len({name.lower() for name in names}) < len(names):
        raise PolicyError(f"the file {path.name!r} has two columns of one name", "rename one")
    said = {leaf.path: _meaning(leaf) for leaf in leaves}
    old = frozenset(leaf.path.split(".")[0] for leaf in leaves if leaf.physical_type == "INT96")
    size = sum(group.total_byte_size for group in groups)
    file = _File(path, names, tuple(said.get(name, "") for name in names), old, size, None)
    empty = pa.RecordBatch.from_arrays([_empty(field.type) for field in arrow], names=names)
    return _File(path, names, file.meanings, old, size, _batch(file, empty).schema)


_HINT, _NONE = b"ARROW:schema", b"arrow-schema"


def _opened(path: Path, unit: str = "ms") -> Any:
    """A file whose types are those of Parquet. Arrow keeps its own in a footer that it writes, and
    would turn values into them, which can fail: so it does not find them."""
    with path.open("rb") as stream:
        stream.seek(-8, io.SEEK_END)
        end = stream.read()
        stream.seek(-8 - int.from_bytes(end[:4], "little"), io.SEEK_END)
        footer = stream.read().replace(_HINT, _NONE)
    metadata = pq.read_metadata(io.BytesIO(end[4:] + footer))
    return pq.ParquetFile(path, metadata=metadata, coerce_int96_timestamp_unit=unit)


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


def _types(schema: Any) -> Mapping[str, str]:
    """The types that DuckDB gives the columns."""
    with duckdb.connect() as connection:
        connection.register("adomnia_part", schema.empty_table())
        found = connection.execute("DESCRIBE adomnia_part").fetchall()
    return {str(row[0]): str(row[1]) for row in found}


def _alone(name: str, declared: str, domain: Domain) -> str:
    """A column of this type as the one that its domain reads in every file: a number or a day, or
    its text. The domain makes of it what it would have made of the column itself."""
    column, kind = quoted(name), DUCKDB.family(declared)
    if kind == "other":
        column, kind = DUCKDB.words(column, kind), "text"
    if isinstance(domain, Grid):
        return DUCKDB.number(column, kind)
    if isinstance(domain, Dates):
        return DUCKDB.day(column, kind)
    if isinstance(domain, Timestamps):
        return _written(column, kind)
    words, first = DUCKDB.words(column, kind), getattr(domain, "values", ("",))[0]
    if isinstance(first, str):
        return words
    read = DUCKDB.truth if isinstance(first, bool) else DUCKDB.integer
    return f"COALESCE(CAST({read(column, kind)} AS VARCHAR), {words})"


def _written(column: str, kind: str) -> str:
    """A moment as the text that stands for it, with its zone where it knows one; the years before
    the first have no such text, and are as far away as can be."""
    words = DUCKDB.words(column, kind)
    if kind not in ("date", "moment"):
        return words
    before = f"{DUCKDB.day(column, kind)} < DATE '0001-01-01'"
    return f"CASE WHEN {before} THEN '-infinity' ELSE {words} END"
