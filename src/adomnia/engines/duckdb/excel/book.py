"""A workbook around its sheets: where they are, the texts that cells share, styles of numbers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat
from zipfile import ZipFile

from adomnia.engines.duckdb.excel.sheet_cells import (
    CLOCK,
    DAY,
    Meanings,
    refuse_doctype,
    unescaped,
)
from adomnia.errors import PolicyError

__all__ = ["Book"]

TIMES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
CLOCKS = {18, 19, 20, 21, 45, 46, 47}
"""Styles of Excel's own that stand for days and moments, and those of them that have no day."""

_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')


@dataclass(frozen=True)
class Book:
    """A workbook that is open."""

    file: ZipFile
    sheets: Mapping[str, str]
    meanings: Meanings

    @classmethod
    def of(cls, file: ZipFile) -> Book:
        """What the parts of a workbook say that are no sheets."""
        book = _BookPart(file, "xl/workbook.xml")
        links = _BookPart(file, "xl/_rels/workbook.xml.rels")
        targets = {facts["Id"]: facts["Target"] for facts in links.every("Relationship")}
        sheets = {
            facts["name"]: posixpath.normpath(posixpath.join("/xl", targets[facts["id"]]))[1:]
            for facts in book.every("sheet")
            if "worksheets/" in targets.get(facts.get("id", ""), "")
        }
        old = any(f.get("date1904") in ("1", "true") for f in book.every("workbookPr"))
        return cls(file, sheets, Meanings(_shared(file), _styles(file), old))

    def place(self, table: str, name: str) -> str:
        """The sheet of this name; the only one, whatever it is called."""
        if len(self.sheets) == 1:
            return next(iter(self.sheets.values()))
        alike = [place for sheet, place in self.sheets.items() if _simple(sheet) == _simple(table)]
        if len(alike) != 1:
            listed = ", ".join(map(repr, self.sheets))
            hint = f"name one in [data] as table; the sheets are {listed}"
            raise PolicyError(f"the workbook {name!r} has no sheet {table!r}", hint)
        return alike[0]


def _simple(name: str) -> str:
    return re.sub(r"\W+", "_", name.strip()).lower()


class _BookPart:
    """A small part of a workbook: its elements by name, in order, with their attributes."""

    def __init__(self, file: ZipFile, name: str) -> None:
        self.found: list[tuple[str, dict[str, str]]] = []
        if name in file.namelist():
            reader = _reader(self._start)
            reader.Parse(file.read(name), True)

    def _start(self, name: str, facts: dict[str, str]) -> None:
        plain = {key.rpartition(" ")[2]: value for key, value in facts.items()}
        self.found.append((name.rpartition(" ")[2], plain))

    def every(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements of this name."""
        return [facts for name, facts in self.found if name == tag]


def _reader(start: Callable[[str, dict[str, str]], None]) -> Any:
    reader = expat.ParserCreate(namespace_separator=" ")
    reader.buffer_text = True
    reader.StartElementHandler = start
    reader.StartDoctypeDeclHandler = refuse_doctype
    return reader


def _styles(file: ZipFile) -> dict[str, str]:
    """Which styles of cells stand for days, moments or times, by the numbers cells give them."""
    part = _BookPart(file, "xl/styles.xml")
    own = {facts.get("numFmtId", ""): facts.get("formatCode", "") for facts in part.every("numFmt")}
    tags = [(tag, facts) for tag, facts in part.found if tag in ("cellXfs", "cellStyles", "xf")]
    begin = next((place for place, (tag, _) in enumerate(tags) if tag == "cellXfs"), len(tags))
    found = {}
    for place, (tag, facts) in enumerate(tags[begin + 1 :]):
        if tag != "xf":
            break
        meaning = _meaning(facts.get("numFmtId", ""), own)
        if meaning is not None:
            found[str(place)] = meaning
    return found


def _meaning(number: str, own: Mapping[str, str]) -> str | None:
    """What numbers of a format stand for; spans such as `[h]:mm` stay numbers."""
    if number not in own:
        known = int(number) if number.isdigit() else 0
        return None if known not in TIMES else CLOCK if known in CLOCKS else DAY
    code = own[number].split(";")[0].lower()
    if re.search(r"\[(h+|m+|s+)\]", code):
        return None
    signs = {*_LITERAL.sub("", code.replace("am/pm", "h"))}
    if signs & {"y", "d"} or ("m" in signs and not signs & {"h", "s"}):
        return DAY
    return CLOCK if signs & {"h", "s"} else None


def _shared(file: ZipFile) -> list[str]:
    """The texts that cells share, in order."""
    name = "xl/sharedStrings.xml"
    if name not in file.namelist():
        return []
    texts: list[list[str]] = []
    state = {"text": False, "spoken": False}

    def start(tag: str, facts: dict[str, str]) -> None:
        match tag.rpartition(" ")[2]:
            case "si":
                texts.append([])
            case "rPh":
                state["spoken"] = True
            case "t":
                state["text"] = not state["spoken"]

    def end(tag: str) -> None:
        plain = tag.rpartition(" ")[2]
        state["text"] = state["text"] and plain != "t"
        state["spoken"] = state["spoken"] and plain != "rPh"

    def characters(text: str) -> None:
        if state["text"] and texts:
            texts[-1].append(text)

    reader = _reader(start)
    reader.EndElementHandler, reader.CharacterDataHandler = end, characters
    with file.open(name) as stream:
        reader.ParseFile(stream)
    return [unescaped("".join(parts)) for parts in texts]
