"""The tables of docs/benchmarks.md and the figures of the README.

Each lies between two markers, and comes from one command.
"""

from __future__ import annotations

from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PAGE, README = TOP / "docs/benchmarks.md", TOP / "README.md"


def put(name: str, text: str, file: Path = PAGE) -> None:
    """Put the text between `<!-- name -->` and `<!-- /name -->`, if both are there."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    whole = file.read_text("utf-8") if file.exists() else ""
    before, opened, rest = whole.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        print(f"{file.name} is left alone: it lacks {begin} or {end}")
        return
    file.write_text(f"{before}{begin}\n{text}\n{end}{after}", "utf-8")


def figure(name: str, text: str) -> None:
    """Put one line into the README's three figures."""
    put(f"figure-{name}", f"- {text}", README)
