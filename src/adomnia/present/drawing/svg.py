"""Elements of SVG: every word is escaped, every picture has a name that is read aloud."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

__all__ = ["Value", "element", "points", "standalone", "style", "svg", "text"]

Value = str | float | None


def element(tag: str, *inside: str, **attributes: Value) -> str:
    """An element around markup; `text_anchor` stands for text-anchor, `class_` for class.

    An attribute that is None is left out.
    """
    given = "".join(
        f' {_name(name)}="{_written(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{given}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{given}/>"


def text(words: str, x: Value, y: Value, **attributes: Value) -> str:
    """Words at a place."""
    return element("text", escape(words, quote=False), x=x, y=y, **attributes)


def svg(title: str, width: Value, height: float, *inside: str, **attributes: Value) -> str:
    """A whole picture; its title is read aloud in its place."""
    named = {"aria_label": title} if "aria_labelledby" not in attributes else {}
    kinds = f"drawing {attributes.pop('class_', '')}".strip()
    return element(
        "svg", "", *inside, class_=kinds, role="img", **named, width=width, height=height,
        **attributes,
    )  # fmt: skip


def points(places: list[tuple[float, float]]) -> str:
    """Places as a polyline takes them."""
    return " ".join(f"{_written(x)},{_written(y)}" for x, y in places)


@cache
def style() -> str:
    """How drawings look; a page may set other colours by its variables."""
    return files("adomnia.present").joinpath("templates/drawing.css").read_text("utf-8")


def standalone(picture: str) -> str:
    """The picture as a file of its own, with its colours inside."""
    named = picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    head, _, rest = named.partition(">")
    ground = ".drawing { background: #fff; }"
    return f"{head}><style>{style()}{ground}</style>{rest}\n"


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))
