"""The rooms in CONTRIBUTING.md, a table: `python -m tools.handbook.room_list` writes it anew."""

from __future__ import annotations

from tools.handbook.room_map import layers
from tools.handbook.texts import TOP, rooms

__all__ = ["room_table", "written_table"]

PAGE = TOP / "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms -->\n", "<!-- /rooms -->"


def room_table() -> str:
    """Every room from the top down, those of one storey in one line, with their sentences."""
    said = rooms()
    lines = ["| room | its sentence |", "|---|---|"]
    for layer in layers():
        names = ", ".join(f"`{name}`" for name in layer)
        lines.append(f"| {names} | {' '.join(said.get(name, '') for name in layer)} |")
    return "\n".join(lines) + "\n"


def written_table() -> str:
    """What stands in CONTRIBUTING.md now."""
    return PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page.replace(written_table(), room_table()), "utf-8")
