"""Names and constants as SQL, whatever signs are in them."""

from __future__ import annotations

from datetime import date
from typing import Any

__all__ = ["literal", "quoted", "whole_text"]


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A constant: NULL, a truth value, a whole number, a date or a text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return _text(str(value))


def whole_text(value: str) -> str:
    """A text that can be encoded: half a surrogate pair is no character, so no text has it, and it
    becomes one that is never used."""
    return "".join("\ufdd0" if "\ud800" <= sign <= "\udfff" else sign for sign in value)


def _text(value: str) -> str:
    parts = ["'" + part.replace("'", "''") + "'" for part in whole_text(value).split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"
