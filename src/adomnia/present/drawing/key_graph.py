"""The picture of several tables and their keys: each table to the right of those it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adomnia.present.drawing.svg import element, points, svg, text

__all__ = ["KeyedTable", "key_graph"]

WIDE, HIGH = 190, 58
"""How large the box of a table is."""
APART, BELOW = 120, 26
"""How far boxes are apart: to the right, where columns are named on the way, and below."""
LONGEST = 22
"""Longer names are cut in the picture."""

Place = tuple[float, float]


@dataclass(frozen=True)
class KeyedTable:
    """A table: what is said below its name, and to which table each of its columns refers.

    >>> KeyedTable("the unit").references
    {}
    """

    about: str
    references: Mapping[str, str] = field(default_factory=dict)


def key_graph(tables: Mapping[str, KeyedTable], title: str) -> str:
    """The SVG of tables that refer to each other in no circle.

    >>> picture = key_graph({"people": KeyedTable("the unit")}, "one table")
    >>> "people" in picture
    True
    """
    places = _places(tables)
    width = max(x for x, _ in places.values()) + WIDE + 1
    height = max(y for _, y in places.values()) + HIGH + 1
    drawn = [part for name in tables for part in _box(name, tables[name].about, places[name])]
    ways = [part for name in tables for part in _ways(tables[name], places[name], places)]
    return svg(title, width, height, *ways, *drawn, class_="keys",
               viewBox=f"0 0 {width:.0f} {height:.0f}")  # fmt: skip


def _places(tables: Mapping[str, KeyedTable]) -> dict[str, Place]:
    """Where the box of each table begins: in the column of how far it is from the unit."""
    found: dict[str, Place] = {}
    filled: dict[int, int] = {}
    for name in tables:
        column = _depth(tables, name)
        row = filled.get(column, 0)
        filled[column] = row + 1
        found[name] = (column * (WIDE + APART) + 0.5, row * (HIGH + BELOW) + 0.5)
    return found


def _depth(tables: Mapping[str, KeyedTable], name: str) -> int:
    """By how many references a table leads to one that refers to none."""
    others = tables[name].references.values()
    return 1 + max(_depth(tables, other) for other in others) if others else 0


def _box(name: str, about: str, place: Place) -> Iterator[str]:
    x, y = place
    yield element("rect", class_="box", x=x, y=y, width=WIDE, height=HIGH, rx=6)
    yield text(_short(name), x + 12, y + 24, class_="label")
    yield text(about, x + 12, y + 44, class_="soft")


def _ways(table: KeyedTable, place: Place, places: Mapping[str, Place]) -> Iterator[str]:
    """An arrow from a table to each that it refers to, with the name of the column."""
    many = len(table.references)
    for number, (column, other) in enumerate(table.references.items(), 1):
        start = (place[0], place[1] + HIGH * number / (many + 1))
        goal = (places[other][0] + WIDE, places[other][1] + HIGH / 2)
        yield element("polyline", class_="way", points=points([start, goal]))
        tip = [(goal[0] + 9, goal[1] - 5), goal, (goal[0] + 9, goal[1] + 5)]
        yield element("polyline", class_="way", points=points(tip))
        middle = (
            start[0] - APART / 2,
            start[1] + (goal[1] - start[1]) * APART / 2 / (start[0] - goal[0]),
        )
        yield text(_short(column), middle[0], middle[1] - 6, class_="soft", text_anchor="middle")


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
