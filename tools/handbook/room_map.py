"""The map of the rooms: who imports whom, and in which order they stand, from the code itself."""

from __future__ import annotations

import re
import tomllib
from functools import cache

import grimp

from tools.handbook.svg import arrow, box, circle, label, picture
from tools.handbook.texts import SOURCE, TOP, rooms

__all__ = ["layers", "map_page", "map_picture", "matrix_picture", "needed"]

WIDTH, HEIGHT, GAP, LEFT = 820, 46, 26, 20
Box = tuple[float, float, float]
"""Where a room is drawn: its left edge, its upper edge, its width."""


def layers() -> list[list[str]]:
    """The storeys, top first, as the contract on imports has them; those that exist."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    contract = next(
        one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    named = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    return [here for layer in named if (here := [name for name in layer if _exists(name)])]


def _exists(name: str) -> bool:
    return (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()


@cache
def needed() -> dict[tuple[str, str], int]:
    """How many imports lead from a room to another."""
    graph = grimp.build_graph("adomnia", cache_dir=None)
    found: dict[tuple[str, str], int] = {}
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            pair = _room(importer), _room(imported)
            if pair[0] != pair[1] and all(pair):
                found[pair] = found.get(pair, 0) + 1
    return found


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _reduced(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The arrows that are needed to see who stands on whom: no way round leads there too."""
    below: dict[str, set[str]] = {}
    for layer in reversed(layers()):
        for name in layer:
            direct = {end for start, end in pairs if start == name}
            below[name] = direct.union(*(below.get(end, set()) for end in direct))
    return {
        (start, end)
        for start, end in pairs
        if not any((start, by) in pairs and end in below.get(by, set()) for by in below)
    }


def map_picture() -> str:
    """Rooms as boxes, one storey above the other, with the arrows that cannot be left out."""
    said, storeys = rooms(), layers()
    boxes: dict[str, Box] = {}
    parts: list[str] = []
    for level, names in enumerate(storeys):
        wide = (WIDTH - GAP * (len(names) - 1)) / len(names)
        for index, name in enumerate(names):
            boxes[name] = LEFT + index * (wide + GAP), 14 + level * (HEIGHT + GAP), wide
    for index, (start, end) in enumerate(sorted(_reduced(set(needed())))):
        if start in boxes and end in boxes:
            parts.append(_arrow(boxes[start], boxes[end], index, f"{start} imports {end}"))
    for name, (x, y, wide) in boxes.items():
        sentence = said.get(name, "").removesuffix(".").replace(" is here", "")
        parts.append(box(x, y, wide, HEIGHT))
        parts.append(label(x + 12, y + 20, name))
        parts.append(label(x + 12, y + 37, _short(sentence, wide), "small"))
    high = 14 + len(storeys) * (HEIGHT + GAP)
    return picture(WIDTH + 2 * LEFT, high, parts, "The rooms, and which stands on which")


def _arrow(start: Box, end: Box, index: int, about: str) -> str:
    """From the lower edge of a room to the upper edge of one below, each at a place of its own."""
    low, high = max(start[0], end[0]), min(start[0] + start[2], end[0] + end[2])
    share = 0.08 + 0.84 * ((index * 0.618) % 1)
    if low < high:
        x = to = low + (high - low) * share
    else:
        x, to = start[0] + start[2] * share, end[0] + end[2] * share
    top, bottom = start[1] + HEIGHT, end[1] - 1
    middle = (top + bottom) / 2
    return arrow(
        f"M{x:.1f} {top:g}C{x:.1f} {middle:g} {to:.1f} {middle:g} {to:.1f} {bottom:g}", about
    )


def _short(text: str, wide: float) -> str:
    room = int((wide - 20) / 5.6)
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def matrix_picture() -> str:
    """Who imports whom: a disc for each pair, its size the number of imports."""
    names = [name for layer in layers() for name in layer]
    cell, left, top = 34, 110, 96
    parts = []
    for row, name in enumerate(names):
        y = top + row * cell
        parts.append(box(left, y + 1, cell * len(names), cell - 2, "band") if row % 2 == 0 else "")
        parts.append(label(left - 10, y + cell / 2 + 4, name, anchor="end"))
        x = left + row * cell + cell / 2
        parts.append(
            f'<g transform="translate({x + 4:g} {top - 8}) rotate(-60)">{label(0, 0, name)}</g>'
        )
        parts.append(f'<path class="faint" d="M{x - 5:g} {y + cell / 2:g}h10"/>')
    for (start, end), many in sorted(needed().items()):
        if start in names and end in names:
            x = left + names.index(end) * cell + cell / 2
            y = top + names.index(start) * cell + cell / 2
            parts.append(
                circle(x, y, min(15, 2 + many**0.5), f"{start} imports {end} {many} times")
            )
    side = cell * len(names)
    return picture(left + side + 60, top + side + 12, parts, "Imports between rooms")


def map_page() -> str:
    """The page of the map, with every room and its sentence."""
    said = rooms()
    lines = [
        "---\nhide: [toc]\n---",
        "# The map of the rooms",
        "",
        "Imports go down only, and a contract says so. The picture is made from the code when this "
        "site is built: an arrow is an import that no way round replaces.",
        "",
        "![The rooms in their storeys](pictures/rooms.svg)",
        "",
        "Every pair that imports: a row uses the columns, larger discs more often. Nothing lies "
        "below the diagonal, which is what *no way up* looks like.",
        "",
        "![Imports between rooms, as a triangle](pictures/imports.svg)",
        "",
        "| room | its sentence |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | {said.get(name, '')} |" for layer in layers() for name in layer]
    return "\n".join(lines) + "\n"
