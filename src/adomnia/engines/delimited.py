"""Delimited text: CSV files with all that can be wrong with them.

Names and delimiter come from the first line alone, which is public; nothing is guessed from the
rows. Only a quote that is left open joins lines of the file to one row: rows are what the file's
quoting makes of it (`clean.md`). A row that is too short is filled with NULL, one
that is too long is cut or left out. Text that is not UTF-8 is read line by line as Latin-1, so
that every byte has a meaning. What a folder is named for (`year=2020`) is text, too.
"""

from __future__ import annotations

import codecs
import csv
import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, cast

from adomnia.engines.clean import known
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.files import partition_keys, partitions, pattern
from adomnia.engines.literals import literal, quoted
from adomnia.errors import PolicyError
from adomnia.schema.domain import Categories, Dates, Domain, Grid

__all__ = ["loaded", "readable", "reader"]

DELIMITERS = ",;\t|"
CHUNK = 1 << 24


def reader(files: Iterable[Path], known: Iterable[str], plain: bool = False) -> str:
    """The SQL that reads all columns of the files as text, matched by name.

    Where columns are known, the first line must have one of them: else it may be a row. Files
    without quotes are `plain`, and can be read by several threads.
    """
    parts: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Path]] = {}
    for file in files:
        parts.setdefault((*_header(file), partition_keys(file)), []).append(file)
    wanted = set(known)
    if wanted and not any(wanted & {*names} for _, names, _ in parts):
        raise PolicyError("the first line of the source names no column of the policy",
                          "a CSV file begins with a line of column names")  # fmt: skip
    return " UNION ALL BY NAME ".join(
        _read(listed, names, delimiter, plain, bool(keys))
        for (delimiter, names, keys), listed in parts.items()
    )


def _read(
    files: list[Path], names: tuple[str, ...], delimiter: str, plain: bool, keys: bool
) -> str:
    listed = ", ".join(literal(pattern(file)) for file in files)
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    # Several threads refuse line breaks inside quotes when short rows are filled.
    return (
        f"SELECT * FROM read_csv([{listed}], columns = {{{columns}}}, auto_detect = false, "
        f"header = true, delim = {literal(delimiter)}, quote = '\"', escape = '\"', "
        "ignore_errors = true, null_padding = true, strict_mode = false, "
        f"parallel = {literal(plain)}, hive_partitioning = {literal(keys)}, "
        "hive_types_autocast = false)"
    )


def _header(file: Path) -> tuple[str, tuple[str, ...]]:
    """The delimiter and the columns of a file."""
    with _opened(file) as stream:
        line = _decoded(stream.readline(1 << 20)).removeprefix("\ufeff").rstrip("\r\n")
    if not line.strip():
        raise PolicyError(f"the file {file.name!r} has no first line of column names")
    if line.startswith(("ÿþ", "þÿ")):
        raise PolicyError(f"the file {file.name!r} is UTF-16", "save it as UTF-8")
    counts = {sign: len(_split(line, sign)) for sign in DELIMITERS}
    delimiter = "\t" if ".tsv" in file.name.lower() else max(counts, key=lambda s: counts[s])
    names = [name or f"column{i}" for i, name in enumerate(_split(line, delimiter))]
    if len({name.lower() for name in names}) < len(names):
        raise PolicyError(f"the file {file.name!r} has two columns of one name", "rename one")
    return delimiter, tuple(names)


def _split(line: str, delimiter: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]


def _opened(file: Path) -> BinaryIO:
    if file.name.lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(file, "rb"))
    return file.open("rb")


def readable(files: Iterable[Path], room: Path) -> tuple[list[Path], bool]:
    """The files, each that is not UTF-8 replaced by a copy in the room; whether none has quotes."""
    out, plain = [], True
    for number, file in enumerate(files):
        unicode, quotes = _inspected(file)
        copy = Path(room, str(number), *partitions(file), file.name)
        out.append(file if unicode else _copied(file, copy))
        plain = plain and not quotes
    return out, plain


def _inspected(file: Path) -> tuple[bool, bool]:
    """Whether a file is UTF-8, and whether it has quotes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    unicode, quotes = True, False
    with _opened(file) as stream:
        while chunk := stream.read(CHUNK):
            quotes = quotes or b'"' in chunk
            unicode = unicode and _decodes(decoder, chunk)
    return unicode and _decodes(decoder, b"", final=True), quotes


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _copied(file: Path, copy: Path) -> Path:
    plain = copy.with_name(copy.name.removesuffix(".gz").removesuffix(".GZ"))
    plain.parent.mkdir(parents=True)
    with _opened(file) as source, plain.open("wb") as target:
        for line in source:
            target.write(_decoded(line).encode())
    return plain


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def loaded(name: str, domain: Domain | None) -> str:
    """The SQL that gives a text column the type its domain wants.

    What `clean` makes of it later is what it would have made of the text.
    """
    column = quoted(name)
    if isinstance(domain, Dates):
        return f"{DUCKDB.day(column, 'text')} AS {column}"
    if isinstance(domain, Categories) and domain.other is None:
        return f"{_member(column, domain)} AS {column}"
    if not isinstance(domain, Grid):
        return column
    number = DUCKDB.number(column, "text")
    if domain.step == 1:
        # A domain ends at 10^15, so what lies beyond is clamped there or here alike.
        inside = DUCKDB.rounded(f"LEAST(GREATEST({number}, -2e15), 2e15)")
        number = f"CASE WHEN {known(number, DUCKDB)} THEN {inside} END"
    return f"{number} AS {column}"


def _member(column: str, domain: Categories) -> str:
    read = {bool: DUCKDB.truth, int: DUCKDB.integer, str: DUCKDB.words}
    return read[type(domain.values[0])](column, "text")
