"""Lines of delimited text that have more or fewer fields than the first, counted for the curator.

Rows are read by the rules of `delimited.py`, which fills what is short and cuts what is long; this
is a reading of its own, which changes nothing of that.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial, reduce
from itertools import chain
from pathlib import Path

from adomnia.engines.duckdb import delimited
from adomnia.engines.engine import quietly
from adomnia.engines.source_facts import LineCounts
from adomnia.engines.source_files import Source, find, unreadable

__all__ = ["count_lines"]

LOOKED_AT, WIDEST = 20, 10_000
"""So many lines after the first tell whether that is a title, and so many bytes of each."""


def count_lines(path: str, table: str) -> LineCounts | None:
    """What is counted of the lines of all files that a path names, or of a table's sheets whose
    first line is a title; None where they are none of these."""
    source = find(path)
    if source.kind == "excel":
        return quietly(lambda: _of_sheets(source, table), partial(unreadable, path))
    if source.kind != "text":
        return None
    return quietly(lambda: _of_files(source), partial(unreadable, path))


def _of_sheets(source: Source, table: str) -> LineCounts | None:
    from adomnia.engines.duckdb.excel.workbook import header_line  # noqa: PLC0415 (loads Arrow)

    files = [file for file in source.files if isinstance(file, Path)]
    found = [line for file in files if (line := header_line(file, table))]
    return LineCounts(titles=len(found), header=max(found)) if found else None


def _of_files(source: Source) -> LineCounts:
    files = [file for file in source.files if isinstance(file, Path)]
    return reduce(LineCounts.together, map(_of_file, files), LineCounts())


def _of_file(file: Path) -> LineCounts:
    form = delimited._form(file)
    with delimited._opened(file) as stream:
        counts = _of_pieces(delimited._lines(stream), form)
    header = _header_line(file, form)
    return counts.together(LineCounts(titles=int(header > 0), header=header))


def _of_pieces(pieces: Iterator[str], form: delimited._Form) -> LineCounts:
    """Before the first quote a line is a row, and Arrow reads those that are as they should be."""
    counts = LineCounts()
    for piece in pieces:
        quote = '"' in piece
        table = None if quote else delimited._simple(piece, form)
        if table is not None:
            counts = counts.together(LineCounts(int(table.num_rows)))
        else:
            counts = counts.together(_of_rows(chain((piece,), pieces) if quote else [piece], form))
    return counts


def _of_rows(pieces: Iterator[str] | list[str], form: delimited._Form) -> LineCounts:
    width, at = len(form.names), 0
    rows = longer = shorter = broken = most = 0
    lines = (line for piece in pieces for line in delimited._split_lines(piece))
    reader = delimited._reader(lines, form.delimiter)
    assert isinstance(reader, _READER)
    for row in reader:
        if row:
            rows += 1
            longer += len(row) > width
            shorter += len(row) < width
            if reader.line_num > at + 1:
                breaks = [many for field in row if (many := field.count("\n"))]
                broken, most = broken + len(breaks), max(most, *breaks, 0)
        at = reader.line_num
    return LineCounts(rows, longer, shorter, broken, most)


_READER = type(csv.reader(()))


def _header_line(file: Path, form: delimited._Form) -> int:
    """The line that seems to have the names of columns, where the first has one field that is not
    empty and later ones have several; else 0."""
    with delimited._opened(file) as stream:
        first = delimited._decoded(stream.readline(delimited.LONGEST)).removeprefix("\ufeff")
        later = [delimited._decoded(stream.readline(WIDEST)) for _ in range(LOOKED_AT)]
    if sum(map(bool, delimited._split(first.rstrip("\r\n"), form.delimiter))) > 1:
        return 0
    lines = {at: text.rstrip("\r\n") for at, text in enumerate(later, 2) if text.strip()}
    for sign in delimited.DELIMITERS:
        wide = [at for at, line in lines.items() if _filled(line, sign) > 1]
        if 2 * len(wide) > len(lines):
            return wide[0]
    return 0


def _filled(line: str, sign: str) -> int:
    return sum(map(bool, delimited._split(line, sign)))
