"""The reference of the Python package: pages for what is public, and an index of every module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.handbook.texts import SOURCE, first_sentence, rooms

__all__ = ["api_pages", "module_index"]


def api_pages() -> Iterator[tuple[str, str, str]]:
    """Title, place and text of a page for the package and for each module that is public.

    Public is what a room offers by its own name (`__all__` in its `__init__.py`), and the tree of
    errors.
    """
    yield "adomnia", "reference/adomnia.md", _page("adomnia", SOURCE / "__init__.py")
    for file in sorted(SOURCE.glob("*/__init__.py")):
        dotted = f"adomnia.{file.parent.name}"
        if _offered(file):
            yield dotted, f"reference/{dotted}.md", _page(dotted, file)
    yield "adomnia.errors", "reference/adomnia.errors.md", _page("adomnia.errors", None)


def module_index() -> str:
    """Every module of every room with the first sentence of its docstring."""
    lines = [
        "# Every module",
        "",
        "What each file is for, in the first sentence of its docstring. "
        "[The map](../map.md) shows how the rooms stand above each other.",
    ]
    for room, sentence in rooms().items():
        if not (SOURCE / room).is_dir():
            continue
        lines += ["", f"## {room}", "", sentence, "", "| module | |", "|---|---|"]
        for file in sorted((SOURCE / room).rglob("*.py")):
            if file.name != "__init__.py":
                name = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
                lines.append(f"| `{name}` | {first_sentence(file).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _page(dotted: str, file: Path | None) -> str:
    offered = _offered(file) if file else []
    chosen = ["    options:", "      members:", *(f"        - {name}" for name in offered)]
    return "\n".join([f"# {dotted}", "", f"::: {dotted}", *(chosen if offered else [])]) + "\n"


def _offered(file: Path) -> list[str]:
    """The names of `__all__`, without loading the module."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = ast.literal_eval(node.value)
            return [name for name in names if not name.startswith("__")]
    return []
