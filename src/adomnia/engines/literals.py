"""Names and constants as SQL, whatever signs are in them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from adomnia.queries.ranges import Day, Number, Range, Text, Truth

__all__ = ["literal", "quoted", "typed"]


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


def _text(value: str) -> str:
    # Half a surrogate pair is no character, so no text has it: it becomes one that is never used.
    whole = "".join("\ufdd0" if "\ud800" <= sign <= "\udfff" else sign for sign in value)
    parts = ["'" + part.replace("'", "''") + "'" for part in whole.split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"


_TYPES: Mapping[type, str] = {Number: "BIGINT", Text: "VARCHAR", Day: "DATE", Truth: "BOOLEAN"}


def typed(value: Any, spread: Range) -> str:
    """A constant with the type of its range."""
    if value is None or isinstance(spread, Number):
        return f"CAST({literal(value)} AS {_TYPES[type(spread)]})"
    return literal(value)
