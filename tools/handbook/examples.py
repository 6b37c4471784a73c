"""Examples in docstrings as code: Markdown would read `>>>` as a quotation."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object

__all__ = ["Examples", "fenced"]


class Examples(Extension):
    """Sets the examples of every docstring between fences, before it is read as Markdown."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Called once for each thing that has a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with a fence around each run of lines from `>>>` to the next empty one."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.lstrip().startswith(">>>"):
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
