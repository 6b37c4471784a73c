"""Pages from templates: what is put in is escaped, and what is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia import formatting

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["FOLDER", "environment", "render"]

FOLDER = Path(__file__).parent / "templates"
"""The templates that all pages share, and the style of drawings."""


def environment(*folders: Path) -> Environment:
    """Templates of these folders, and after them the shared ones."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 (slow)
    from markupsafe import Markup  # noqa: PLC0415 (slow)

    made = Environment(
        loader=FileSystemLoader([*folders, FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "amount": formatting.amount,
        "amounts": formatting.symbol_amounts,
        "cell": formatting.label,
        "drawn": Markup,  # only for pictures that we drew, with what is in them escaped
        "moment": formatting.moment,
        "one_line": formatting.one_line,
        "sentence": _sentence,
        "value": formatting.value,
    }
    return made


def render(template: str, facts: Mapping[str, Any]) -> str:
    """A page of a shared template, whole and with its style inside."""
    return _shared().get_template(template).render(facts)


@cache
def _shared() -> Environment:
    return environment()


def _sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    begun = text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "…", "!", "?")) else f"{begun}."
