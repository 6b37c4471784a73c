"""Pages of the site that lie elsewhere: the README, the habits, the notes beside the code."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "SOURCE",
    "TOP",
    "Note",
    "first_sentence",
    "limits",
    "moved",
    "note_index",
    "note_page",
    "notes",
    "readable",
    "relinked",
    "rooms",
]

TOP = Path(__file__).resolve().parents[2]
SOURCE = TOP / "src/adomnia"
MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks-method.md",
}
"""Files that are pages of the site too, and their addresses there."""


@dataclass(frozen=True)
class Note:
    """A proof that lies beside the code: its room, its place in the site, and its text."""

    room: str
    page: str
    name: str
    title: str
    text: str

    @property
    def limits(self) -> str:
        """What its section Limits says."""
        found = re.search(r"^## Limits\n(.*?)(?=^## |\Z)", self.text, re.MULTILINE | re.DOTALL)
        return found.group(1).strip() if found else ""


def rooms() -> dict[str, str]:
    """Every room, a folder or a file, and the sentence of its docstring, by name."""
    folders = {file.parent.name: file for file in sorted(SOURCE.glob("*/__init__.py"))}
    files = {file.stem: file for file in sorted(SOURCE.glob("[a-z]*.py"))}
    said = {name: first_sentence(file) for name, file in (folders | files).items()}
    return {name: text for name, text in said.items() if text}


def first_sentence(file: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def notes() -> list[Note]:
    """All notes, by room and name."""
    found = []
    for file in sorted(SOURCE.rglob("*.md")):
        place, text = file.relative_to(SOURCE), file.read_text("utf-8")
        title = text.splitlines()[0].removeprefix("# ").strip()
        found.append(Note(place.parts[0], f"notes/{place.as_posix()}", file.name, title, text))
    return found


def note_page(note: Note, every: list[Note]) -> str:
    """A note as a page: notes that it names are links, and a list has its space."""
    home = f"*`{'/'.join(Path(note.page).parts[1:])}` · `adomnia why {Path(note.name).stem}`*"
    head, _, body = note.text.partition("\n")
    return f"{head}\n\n{home}\n{_linked(body, note.page, every)}"


def note_index(every: list[Note]) -> str:
    """The page that lists all notes, room by room."""
    said = rooms()
    lines = [
        "# The notes",
        "",
        f"No claim without its proof beside it: {len(every)} notes, each with what is given, what "
        "is claimed, the proof, its limits, and which tests check it.",
    ]
    for room in dict.fromkeys(note.room for note in every):
        lines += ["", f"## {room}", "", said.get(room, ""), ""]
        lines += [
            f"- [{note.title}]({note.page.removeprefix('notes/')})"
            for note in every
            if note.room == room
        ]
    return "\n".join(lines) + "\n"


def limits(every: list[Note]) -> str:
    """What is not claimed: the sections Limits of all notes, room by room."""
    lines = [
        "# Limits",
        "",
        "What each part does not do, or not well, in the words of its own note. "
        "This page is collected from the notes when the site is built.",
    ]
    for room in dict.fromkeys(note.room for note in every):
        lines += ["", f"## {room}"]
        for note in (one for one in every if one.room == room and one.limits):
            body = _linked(note.limits, "limits.md", every)
            lines += ["", f"### [{note.title}]({note.page})", "", body]
    return "\n".join(lines) + "\n"


def moved() -> Iterator[tuple[str, str]]:
    """Pages from outside docs/, with links that lead to where things are in the site."""
    for name, page in MOVED.items():
        file = TOP / name
        if file.exists():
            yield page, relinked(file.read_text("utf-8"), name)


def relinked(text: str, name: str) -> str:
    """A file's links, as they lead to the same from its page in the site."""

    def placed(match: re.Match[str]) -> str:
        link, _, anchor = match.group(1).partition("#")
        if not link or "://" in link or link.startswith("mailto:"):
            return match.group()
        path = (TOP / name).parent.joinpath(link).resolve().relative_to(TOP).as_posix()
        target = MOVED.get(path, path.removeprefix("docs/"))
        start = Path(name).parent.relative_to("docs") if name.startswith("docs/") else Path()
        place = os.path.relpath(target, start)
        return f"]({place}{'#' + anchor if anchor else ''})"

    return re.sub(r"\]\(([^)]+)\)", placed, text)


def _linked(text: str, page: str, every: list[Note]) -> str:
    """`name.md` in a note as a link to that note; an index stays one, and is no emphasis."""
    known = {note.name: note.page for note in every}
    depth = len(Path(page).parts) - 1

    def link(match: re.Match[str]) -> str:
        name = Path(match.group(1)).name
        target = known.get(name)
        if target is None or target == page:
            return match.group()
        return f"[{match.group()}]({'../' * depth}{target})"

    linked = re.sub(r"(?<!\[)`([\w/]+\.md)`", link, text)
    return re.sub(r"(`[^`]*`|\]\([^)]*\))|_", lambda kept: kept.group(1) or r"\_", linked)


def readable(text: str) -> str:
    """A page as this Markdown wants it: an empty line before lists, tables and code, which our
    pages leave out, four spaces for what belongs to a list, no word after a block's language.
    """
    made: list[str] = []
    fenced = False
    for given in text.split("\n"):
        line = given
        starts = re.match(r"(- |\d+\. |\| |\|-|```)", line)
        before = made[-1] if made else ""
        inside = re.match(r"(- |\d+\. |\||\s)", before)
        if starts and before.strip() and not inside and not fenced:
            made.append("")
        if not fenced:
            line = re.sub(r"^ {2,3}(?=\S)", "    ", line)
        if line.startswith("```"):
            fenced, line = not fenced, line.removesuffix(" run")
        made.append(line)
    return "\n".join(made)
