"""What the text of a value means: spelled as PostgreSQL spells it, refused as PostgreSQL refuses.

Python reads more than PostgreSQL does (1_000, digits of other scripts), which must not pass.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID as Uuid

from adomnia.wire.errors import WireError
from adomnia.wire.values import types
from adomnia.wire.values.types import ELEMENTS, INTEGERS, OIDS, name_of

__all__ = ["parse_text", "utf8"]

LONGEST = 40
"""A longer text is not repeated in a message."""

WRONG, OUT_OF_RANGE, NO_DATE, NO_SUCH_DATE, NO_BYTES = "22P02", "22003", "22007", "22008", "22023"
_LOST = (OUT_OF_RANGE, NO_SUCH_DATE)

_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER = re.compile(
    r"\s*([+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?|nan|[+-]?inf(inity)?)\s*", re.A | re.I
)
_DAY = re.compile(r"\s*(\d{4,}-\d\d-\d\d|\d{8})([ T+Z-][\d:. TZ+-]*)?", re.ASCII)
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_SHORT = {"on": True, "1": True, "off": False, "of": False, "0": False}
_LARGEST = 131_072
"""Digits that a numeric has before its point at most."""


def parse_text(text: str, oid: int) -> Any:
    """The value of the type that a text means."""
    if oid in ELEMENTS:
        return _array(text, ELEMENTS[oid])
    if oid in INTEGERS or oid == types.OID:
        return _whole(text, oid)
    if oid in OIDS and text.isdecimal():
        return int(text)
    try:
        reader = _READERS.get(oid)
        return text if reader is None else reader(text, oid)
    except (ValueError, ArithmeticError, IndexError):
        raise _refusal(text, oid) from None


def utf8(data: bytes) -> str:
    """UTF-8 text; anything else, and a zero byte, is refused as PostgreSQL does."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise WireError("a text is not valid UTF-8", "", "22021") from None
    if "\0" in text:
        raise WireError("a text holds a zero byte", "", "22021")
    return text


def _refusal(text: str, oid: int, code: str = WRONG) -> WireError:
    shown = f': "{text}"' if len(text) <= LONGEST and text.isprintable() else ""
    of = name_of(oid)
    what = f"out of range for the type {of}" if code in _LOST else f"not of the type {of}"
    return WireError(f"the value is {what}{shown}", "", code)


# Numbers


def _whole(text: str, oid: int) -> int:
    if not _WHOLE.fullmatch(text):
        raise _refusal(text, oid)
    bits = 8 * INTEGERS.get(oid, 4) - 1
    unsigned = oid == types.OID
    value = int(text) if len(text) < 100 else 2**99
    if not -(2**bits) <= value < 2 ** (bits + unsigned):
        raise _refusal(text, oid, OUT_OF_RANGE)
    return value % 2**32 if unsigned else value


def _float(text: str, oid: int) -> float:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError("not a number")
    value = float(text)
    digits = match[2] or ""  # none of infinity and of what is not a number
    is_lost = not math.isfinite(value) if value else bool(digits.strip("0."))
    if (digits and is_lost) or (oid == types.FLOAT4 and not _fits(value)):
        raise _refusal(text, oid, OUT_OF_RANGE)
    return value


def _fits(value: float) -> bool:
    """Whether four bytes hold it, and hold more than nothing."""
    try:
        (stored,) = struct.unpack("!f", struct.pack("!f", value))
    except OverflowError:
        return False
    return bool(stored) or not value


def _numeric(text: str, oid: int) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    value = Decimal(text)
    if value.is_finite() and value.adjusted() >= _LARGEST:
        raise _refusal(text, oid, OUT_OF_RANGE)
    return value


def _truth(text: str, oid: int) -> bool:
    """Any beginning of a word says it, where no other word begins so."""
    word = text.strip().lower()
    meant = [truth for full, truth in _WORDS.items() if word and full.startswith(word)]
    return _SHORT[word] if word in _SHORT else meant[0]


# Days


def _day(text: str, oid: int) -> date:
    """A day; a time or a zone after it, as Java's driver writes it, says nothing of a day."""
    match = _DAY.fullmatch(text)
    if match is None:
        raise _refusal(text, oid, NO_DATE)
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        raise _refusal(text, oid, NO_SUCH_DATE) from None


def _moment(text: str, oid: int) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        code = NO_SUCH_DATE if _DAY.fullmatch(text) else NO_DATE
        raise _refusal(text, oid, code) from None


# Bytes and lists


def _bytes(text: str, oid: int) -> bytes:
    if not text.startswith("\\x"):
        if "\\" in text:
            raise ValueError("write bytes as \\x and hexadecimal digits")
        return text.encode()
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise _refusal(text, oid, NO_BYTES) from None


def _array(text: str, element: int) -> list[Any]:
    """A one-dimensional array: {1,2,NULL,"a b"}."""
    if not (text.startswith("{") and text.endswith("}")):
        raise _refusal(text, types.ARRAYS.get(element, types.UNKNOWN))
    items: list[Any] = []
    word, quoted, inside, escaped = "", False, False, False
    for sign in text[1:-1] + ",":
        if escaped:
            word, escaped = word + sign, False
        elif sign == "\\":
            escaped = True
        elif sign == '"':
            word = word if quoted else ""
            inside, quoted = not inside, True
        elif sign == "," and not inside:
            word = word if quoted else word.strip()  # spaces around a bare item are not its own
            if word or quoted or len(text) > 2:
                null = not quoted and word.upper() == "NULL"
                items.append(None if null else parse_text(word, element))
            word, quoted = "", False
        elif inside or not quoted:  # what follows a closing quote is a space
            word += sign
    if inside or escaped:
        raise _refusal(text, types.ARRAYS.get(element, types.UNKNOWN))
    return items


_READERS: Mapping[int, Callable[[str, int], Any]] = {
    types.BOOL: _truth,
    types.FLOAT4: _float,
    types.FLOAT8: _float,
    types.NUMERIC: _numeric,
    types.DATE: _day,
    types.TIMESTAMP: _moment,
    types.TIMESTAMPTZ: _moment,
    types.BYTEA: _bytes,
    types.UUID: lambda text, _: str(Uuid(text)),
}
