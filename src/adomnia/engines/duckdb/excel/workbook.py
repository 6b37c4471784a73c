"""Workbooks of Excel (`.xlsx`): a sheet is a table, its first line the names of the columns.

All columns are text, as in CSV: in a sheet every cell has a type of its own, and a column none.
Every line below the first is a row, up to the last that has a value: a blank one before that is a
row of NULLs, so that no value decides how many there are in between. What stands beyond the last
name is left out. Formulas count as what they were last computed to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow as pa

from adomnia.engines.duckdb.excel.book import Book
from adomnia.engines.duckdb.excel.sheet_cells import Cells, parse
from adomnia.engines.duckdb.source_rows import Parts, Rows, SourcePart
from adomnia.engines.source_files import check_declared, check_names, partitions
from adomnia.engines.sql.dialect import quoted
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

__all__ = ["columns", "header_line", "parts", "sheets"]

LOT = 1 << 14
LOOKED_AT = 20
"""So many lines after the first tell whether that is a title."""

PACKED = 10
"""So many times as large the rows may be as the file, for a guess of the space."""

Form = tuple[tuple[str, ...], tuple[str, ...]]
"""The names in the first line, and the columns of folders."""


def parts(files: Iterable[Path], domains: Mapping[str, Domain], table: str) -> Parts:
    """The workbooks by the first lines of their sheets, all columns as text."""
    groups: dict[Form, list[Path]] = {}
    size = 0
    for file in files:
        groups.setdefault(_form(file, table), []).append(file)
        size += file.stat().st_size * PACKED
    if domains and not any({*domains} & {*names} for names, _ in groups):
        raise PolicyError("the first line of the sheet names no column of the policy",
                          "a sheet begins with a line of column names")  # fmt: skip
    headed = [(file.name, _columns(form)) for form, listed in groups.items() for file in listed]
    check_declared(headed, domains)
    found = (
        SourcePart(
            repr(form), tuple(map(quoted, _columns(form))), partial(_rows, form, table, listed)
        )
        for form, listed in groups.items()
    )
    return Parts(tuple(found), frozenset(), size)


def columns(file: Path, table: str) -> tuple[str, ...]:
    """The columns of a sheet and of the file's folders."""
    return _columns(_form(file, table))


def sheets(file: Path) -> dict[str, int]:
    """The sheets of a workbook that have a first line, and how many columns it names."""
    with ZipFile(file) as opened:
        book = Book.of(opened)
        firsts = {name: _first(book, place)[1] for name, place in book.sheets.items()}
    return {name: len(first) for name, first in firsts.items() if first}


def header_line(file: Path, table: str) -> int:
    """The line of a sheet that seems to have the names of columns, where the first with anything in
    it has one cell and later ones have several; else 0."""
    with _sheet(file, table) as (book, place), book.file.open(place) as stream:
        filled = ((number, cells) for number, cells in parse(stream, book.meanings) if cells)
        looked = [*islice(filled, LOOKED_AT + 1)]
    wide = [number for number, cells in looked[1:] if len(cells) > 1]
    title = bool(looked) and len(looked[0][1]) == 1
    return wide[0] if title and 2 * len(wide) > len(looked) - 1 else 0


def _columns(form: Form) -> tuple[str, ...]:
    names, folders = form
    taken = {name.lower() for name in folders}
    return *(name for name in names if name.lower() not in taken), *folders


def _form(file: Path, table: str) -> Form:
    with _sheet(file, table) as (book, place):
        _, first = _first(book, place)
    if not first:
        raise PolicyError(f"the sheet of {file.name!r} has no first line of column names")
    names = tuple(first.get(i, "").strip() or f"column{i}" for i in range(max(first) + 1))
    check_names(file.name, names)
    return names, tuple(partitions(file))


def _first(book: Book, place: str) -> tuple[int, Cells]:
    """The first line with anything in it."""
    with book.file.open(place) as stream:
        found = ((number, cells) for number, cells in parse(stream, book.meanings) if cells)
        return next(found, (0, {}))


def _rows(form: Form, table: str, files: Iterable[Path]) -> Rows:
    schema = pa.schema([(name, pa.string()) for name in _columns(form)])
    return schema, (batch for file in files for batch in _batches(schema, form, table, file))


def _batches(schema: Any, form: Form, table: str, file: Path) -> Iterator[Any]:
    said, names = partitions(file), form[0]
    with _sheet(file, table) as (book, place):
        start, _ = _first(book, place)
        with book.file.open(place) as stream:
            lines = _lines(parse(stream, book.meanings), start, len(names))
            while lot := [*islice(lines, LOT)]:
                found: dict[str, Any] = {
                    name: [cells.get(place) for cells in lot] for place, name in enumerate(names)
                }
                found |= {name: [value] * len(lot) for name, value in said.items()}
                arrays = [pa.array(found[name], pa.string()) for name in schema.names]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _lines(stored: Iterator[tuple[int, Cells]], start: int, width: int) -> Iterator[Cells]:
    """All lines after the first up to the last with a value below a name, blank ones too."""
    last = start
    for number, cells in stored:
        if number <= start or all(place >= width for place in cells):
            continue
        for _ in range(number - last - 1):
            yield {}
        last = number
        yield cells


@contextmanager
def _sheet(file: Path, table: str) -> Iterator[tuple[Book, str]]:
    """The workbook of a file, and where in it the table's sheet is."""
    with ZipFile(file) as opened:
        book = Book.of(opened)
        yield book, book.place(table, file.name)
