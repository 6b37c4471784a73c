"""Delimited text: CSV files with all that can be wrong with them, read by rules (`coding.md`).

Names and delimiter come from the first line alone, which is public; nothing is guessed from the
rows. A line ends with a line feed, or with a carriage return and a line feed; any other carriage
return is a space. Marks of byte order at the start of a line are left out, and so are its bytes
beyond a million; a line that is not UTF-8 is Latin-1, so that every byte has a meaning. Only a
quote that is left open joins lines to one row; an empty line outside quotes is no row. A row that
is too short is filled with NULL, one that is too long is cut, and an empty field is NULL. What a
folder is named for (`year=2020`) is text, too.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from adomnia.engines.duckdb.source_rows import Parts, Rows, SourcePart
from adomnia.engines.source_files import check_declared, check_names, partitions
from adomnia.engines.sql.dialect import quoted
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

__all__ = ["columns", "parts"]

DELIMITERS = ",;\t|"
CHUNK = 1 << 23
LONGEST = 1_000_000
"""Bytes of a line that are read."""

LOT = 1 << 14
PACKED = 10
"""So many times as large a file may be as it is when compressed, for a guess of the space."""


@dataclass(frozen=True)
class _Form:
    """What the first line says, and the columns of folders."""

    delimiter: str
    names: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the lines that no folder names, and those of folders."""
        taken = {name.lower() for name in self.folders}
        return *(name for name in self.names if name.lower() not in taken), *self.folders


def parts(files: Iterable[Path], domains: Mapping[str, Domain], table: str) -> Parts:
    """The files by the forms of their lines, all columns as text.

    Where columns are known, the first line must have one of them: else it may be a row.
    """
    groups: dict[_Form, list[Path]] = {}
    size = 0
    for file in files:
        groups.setdefault(_form(file), []).append(file)
        size += file.stat().st_size * (PACKED if _packed(file) else 1)
    if domains and not any({*domains} & {*form.names} for form in groups):
        raise PolicyError("the first line of the source names no column of the policy",
                          "a CSV file begins with a line of column names")  # fmt: skip
    headed = [(file.name, form.columns) for form, listed in groups.items() for file in listed]
    check_declared(headed, domains)
    found = (
        SourcePart(
            repr(form.columns),
            tuple(map(quoted, form.columns)),
            partial(_rows, form, tuple(listed)),
        )
        for form, listed in groups.items()
    )
    return Parts(tuple(found), frozenset(), size)


def columns(file: Path, table: str) -> tuple[str, ...]:
    """The columns of a file and of its folders."""
    return _form(file).columns


def _form(file: Path) -> _Form:
    """The delimiter and the columns of a file."""
    with _opened(file) as stream:
        line = _decoded(stream.readline(LONGEST)).removeprefix("\ufeff").rstrip("\r\n")
    if not line.strip():
        raise PolicyError(f"the file {file.name!r} has no first line of column names")
    if line.startswith(("ÿþ", "þÿ")):
        raise PolicyError(f"the file {file.name!r} is UTF-16", "save it as UTF-8")
    counts = {sign: len(_split(line, sign)) for sign in DELIMITERS}
    delimiter = "\t" if ".tsv" in file.name.lower() else max(counts, key=lambda s: counts[s])
    names = [name or f"column{i}" for i, name in enumerate(_split(line, delimiter))]
    check_names(file.name, names)
    return _Form(delimiter, tuple(names), tuple(partitions(file)))


def _split(line: str, delimiter: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]


def _packed(file: Path) -> bool:
    return file.name.lower().endswith(".gz")


def _opened(file: Path) -> BinaryIO:
    if _packed(file):
        return cast(BinaryIO, gzip.open(file, "rb"))
    return file.open("rb")


def _rows(form: _Form, files: tuple[Path, ...]) -> Rows:
    """All rows of files of one form, as text."""
    import pyarrow as pa  # noqa: PLC0415 (slow, and a copy needs it no more)

    text = pa.string()
    schema = pa.schema([(name, text) for name in form.columns])

    def batches() -> Iterator[Any]:
        for file in files:
            said = partitions(file)
            with _opened(file) as stream:
                for table in _tables(_lines(stream), form):
                    found = dict(zip(form.names, table.columns, strict=True))
                    found |= {n: pa.array([v] * table.num_rows, text) for n, v in said.items()}
                    columns = [found[name] for name in form.columns]
                    yield from pa.table(columns, schema=schema).to_batches()

    return schema, batches()


def _lines(stream: BinaryIO) -> Iterator[str]:
    """The text after the first line, in pieces that end with a line."""
    stream.readline()
    while chunk := stream.read(CHUNK):
        if not chunk.endswith(b"\n"):
            chunk += stream.readline()
        lines = chunk.replace(b"\r\n", b"\n").replace(b"\r", b" ")
        yield _decoded(_shortened(_unmarked(lines)))


_MARKS = re.compile(rb"^(?:%s)+" % BOM_UTF8, re.MULTILINE)


def _unmarked(lines: bytes) -> bytes:
    """Without the marks that files begin with, at the start of any line: readers differ in which
    of them they take off, and by that a row could change how others are read."""
    return _MARKS.sub(b"", lines) if BOM_UTF8 in lines else lines


def _shortened(lines: bytes) -> bytes:
    """Every line cut where it is too long; the time is that of the bytes, however long they are."""
    if len(lines) <= LONGEST:
        return lines
    parts = lines.split(b"\n")
    long = max(map(len, parts)) > LONGEST
    return b"\n".join(part[:LONGEST] for part in parts) if long else lines


def _decoded(lines: bytes) -> str:
    try:
        return lines.decode("utf-8")
    except UnicodeDecodeError:
        if lines.count(b"\n", 0, -1):
            return "".join(map(_decoded, lines.splitlines(keepends=True)))
        return lines.decode("latin-1")


def _tables(pieces: Iterator[str], form: _Form) -> Iterator[Any]:
    """The rows in lots. Before the first quote a line is a row, which Arrow reads faster."""
    for piece in pieces:
        table = None if '"' in piece else _simple(piece, form)
        if table is None:
            yield from _quoted(chain((piece,), pieces) if '"' in piece else iter((piece,)), form)
        else:
            yield table


def _simple(piece: str, form: _Form) -> Any:
    """Lines without quotes that all have as many fields as the first line, or None."""
    if "\0" in piece or not piece.strip("\n"):
        return None
    import pyarrow as pa  # noqa: PLC0415 (as above)
    from pyarrow import csv as pc  # noqa: PLC0415

    text = piece.encode()
    options = {
        "read_options": pc.ReadOptions(column_names=form.names, block_size=len(text) + 1),
        "parse_options": pc.ParseOptions(delimiter=form.delimiter, quote_char=False),
        "convert_options": pc.ConvertOptions(
            column_types=dict.fromkeys(form.names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    try:
        return pc.read_csv(io.BytesIO(text), **options)
    except pa.ArrowInvalid:
        return None


def _quoted(pieces: Iterable[str], form: _Form) -> Iterator[Any]:
    import pyarrow as pa  # noqa: PLC0415 (as above)

    width, lines = len(form.names), (line for piece in pieces for line in _split_lines(piece))
    rows = (row for row in _reader(lines, form.delimiter) if row)
    while lot := [[*row[:width], *[""] * (width - len(row))] for row in islice(rows, LOT)]:
        columns = ([value or None for value in column] for column in zip(*lot, strict=True))
        yield pa.table([pa.array(c, pa.string()) for c in columns], names=form.names)


def _split_lines(piece: str) -> Iterator[str]:
    return (line + "\n" for line in piece.removesuffix("\n").split("\n"))


def _reader(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(sys.maxsize)  # an open quote makes a field of any length
    return csv.reader(lines, delimiter=delimiter)
