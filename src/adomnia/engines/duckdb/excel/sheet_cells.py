"""Cells of a sheet in Excel's own format: each becomes a text by a rule that sees it alone.

A number is written as a number, a day as `2020-02-03`, a moment with its time after it, a truth as
`true` or `false`; an error, an empty text and what is none of these are NULL. So no cell decides
what a column is, and none can make a reading fail (`coding.md`, Claim 8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import IO
from xml.parsers import expat

from adomnia.errors import PolicyError

__all__ = ["CLOCK", "DAY", "Cells", "Meanings", "parse", "refuse_doctype", "unescaped"]

CHUNK = 1 << 16
MOST_ROWS = 1 << 20
"""A sheet has no more lines."""

DAY, CLOCK = "day", "clock"
"""What a number stands for by its style: a day or a moment, or a time of the day."""

LAST = 2_958_466.0
"""One after the last day of Excel, in the year 9999."""

_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_LETTERS = re.compile("[A-Za-z]{1,3}")

Cells = dict[int, str]
"""The texts of a line by the places of their columns, from 0."""


@dataclass(frozen=True)
class Meanings:
    """What cells point to: shared texts, the styles that mean time, and the first day."""

    texts: list[str]
    styles: Mapping[str, str]
    since_1904: bool = False

    def text(self, kind: str, style: str, raw: str) -> str | None:
        """The text of a cell of this kind and style."""
        if kind in ("str", "inlineStr", "d"):
            return unescaped(raw) or None
        if kind == "s":
            place = _number(raw)
            whole = place is not None and place.is_integer() and 0 <= place < len(self.texts)
            return (self.texts[int(place or 0)] or None) if whole else None
        if kind == "b":
            return {"1": "true", "0": "false"}.get(raw.strip())
        number = _number(raw) if kind == "n" else None
        if number is None:
            return None
        meaning = self.styles.get(style)
        return _plain(number) if meaning is None else self._time(number, meaning)

    def _time(self, number: float, meaning: str) -> str | None:
        """A day, a moment or a time: whole days since the first, and a part of one."""
        if not 0 <= number < LAST:
            return None
        if meaning == CLOCK and number < 1:
            return _seconds(datetime(2000, 1, 1) + timedelta(days=number)).partition(" ")[2]
        first = datetime(1904, 1, 1) if self.since_1904 else datetime(1899, 12, 30)
        early = 0 if self.since_1904 or number >= 60 else 1  # 1900 has a 29th of February there
        try:
            moment = first + timedelta(days=number + early)
            text = _seconds(moment)
        except OverflowError:
            return None
        return text.removesuffix(" 00:00:00")


def unescaped(text: str) -> str:
    """A text with the signs that Excel writes by their numbers; halves of pairs are none."""
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text
    return re.sub("[\ud800-\udfff]", "\ufffd", plain)


def _number(raw: str) -> float | None:
    try:
        return float(raw)
    except ValueError:
        return None


def _plain(number: float) -> str:
    whole = number.is_integer() and abs(number) < 10**15
    return str(int(number)) if whole else repr(number)


def _seconds(moment: datetime) -> str:
    """A moment to the thousandth of a second: a day's parts are not exact beyond it."""
    near = moment + timedelta(microseconds=500)
    text = near.strftime("%Y-%m-%d %H:%M:%S").zfill(19)
    thousandths = near.microsecond // 1000
    return f"{text}.{thousandths:03}" if thousandths else text


# Reading: a stream of XML, of which a line is kept at a time.


def parse(stream: IO[bytes], meanings: Meanings) -> Iterator[tuple[int, Cells]]:
    """The lines of a sheet that are stored, by their numbers from 1, and their cells."""
    sheet = _Sheet(meanings)
    reader = expat.ParserCreate(namespace_separator=" ")
    reader.buffer_text = True
    reader.StartElementHandler = sheet.start
    reader.EndElementHandler = sheet.end
    reader.CharacterDataHandler = sheet.characters
    reader.StartDoctypeDeclHandler = refuse_doctype
    while chunk := stream.read(CHUNK):
        reader.Parse(chunk, False)
        yield from sheet.lines
        sheet.lines.clear()
    reader.Parse(b"", True)
    yield from sheet.lines


def refuse_doctype(*_: object) -> None:
    """Refuse a document that defines its own words: no sheet does, and they can be endless."""
    raise PolicyError("a part of the workbook has a document type, which no sheet has")


class _Sheet:
    """The line and the cell that are being read."""

    def __init__(self, meanings: Meanings) -> None:
        self.meanings = meanings
        self.lines: list[tuple[int, Cells]] = []
        self.row, self.column = 0, -1
        self.cells: Cells = {}
        self.kind, self.style = "n", ""
        self.raw: list[str] | None = None
        self.inside = self.spoken = False

    def start(self, name: str, facts: dict[str, str]) -> None:
        tag = _tag(name)
        if tag == "row":
            self._begin_row(facts.get("r", ""))
        elif tag == "c":
            self.kind, self.style = facts.get("t", "n"), facts.get("s", "")
            place = _column(facts.get("r", ""))
            self.column = self.column + 1 if place is None else place
            self.raw = []
        elif tag in ("v", "t"):
            self.inside = not self.spoken
        elif tag == "rPh":  # how a text is spoken
            self.spoken = True

    def _begin_row(self, said: str) -> None:
        number = int(said) if said.isascii() and said.isdigit() else self.row + 1
        if not self.row < number <= MOST_ROWS:
            raise PolicyError("the lines of a sheet are not in order, or too many")
        self.row, self.column, self.cells = number, -1, {}

    def characters(self, text: str) -> None:
        if self.inside and self.raw is not None:
            self.raw.append(text)

    def end(self, name: str) -> None:
        tag = _tag(name)
        if tag in ("v", "t"):
            self.inside = False
        elif tag == "rPh":
            self.spoken = False
        elif tag == "c":
            text = self.meanings.text(self.kind, self.style, "".join(self.raw or ()))
            if text is not None:
                self.cells[self.column] = text
            self.raw = None
        elif tag == "row":
            self.lines.append((self.row, self.cells))


@lru_cache(maxsize=1000)
def _tag(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(" ")[2]


def _column(reference: str) -> int | None:
    """The place of a cell such as `AB12`, from 0."""
    return _place(reference.rstrip("0123456789"))


@lru_cache(maxsize=20_000)
def _place(letters: str) -> int | None:
    if not _LETTERS.fullmatch(letters):
        return None
    place = 0
    for letter in letters.upper():
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1
