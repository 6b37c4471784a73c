"""How parameters come from a client: text or binary, as the value that their type says."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID as Uuid

from adomnia.server.postgres import types
from adomnia.server.postgres.codecs import EPOCH
from adomnia.server.postgres.failures import WireError
from adomnia.server.postgres.messages import decoded
from adomnia.server.postgres.numeric import from_binary
from adomnia.server.postgres.types import ELEMENTS, INTEGERS, OIDS, TEXTS

__all__ = ["decode"]

_TRUE, _FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")


def decode(data: bytes | None, oid: int, form: int) -> Any:
    """The value of a parameter of this type in text (0) or binary (1)."""
    if data is None:
        return None
    try:
        return _binary(data, oid) if form == 1 else _text(decoded(data), oid)
    except (ValueError, InvalidOperation, OverflowError, struct.error, RecursionError):
        code = "22P03" if form == 1 else "22P02"
        raise WireError(f"a parameter is not a value of its type ({oid})", "", code) from None


# Text


def _text(text: str, oid: int) -> Any:
    if oid in ELEMENTS:
        return _array(text, ELEMENTS[oid])
    if oid in INTEGERS or (oid in OIDS and text.isdecimal()):
        return int(text)
    return _TEXT.get(oid, str)(text)


def _truth(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError("not a truth value")
    return word in _TRUE


def _day(text: str) -> date:
    """A day; a time or a zone after it, as Java's driver writes it, says nothing of a day."""
    return date.fromisoformat(text.strip()[:10])


def _array(text: str, element: int) -> list[Any]:
    """A one-dimensional array: {1,2,NULL,"a b"}."""
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError("not an array")
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
                items.append(None if null else _text(word, element))
            word, quoted = "", False
        elif inside or not quoted:  # what follows a closing quote is a space
            word += sign
    if inside or escaped:
        raise ValueError("not an array")
    return items


_TEXT: Mapping[int, Callable[[str], Any]] = {
    types.BOOL: _truth,
    types.FLOAT4: float,
    types.FLOAT8: float,
    types.NUMERIC: Decimal,
    types.DATE: _day,
    types.TIMESTAMP: datetime.fromisoformat,
    types.TIMESTAMPTZ: datetime.fromisoformat,
    types.BYTEA: lambda text: bytes.fromhex(text.removeprefix("\\x")),
}


# Binary


def _binary(data: bytes, oid: int) -> Any:
    if oid in INTEGERS or oid in OIDS:
        if len(data) != INTEGERS.get(oid, 4):
            raise ValueError("not of its size")
        return int.from_bytes(data, "big", signed=oid in INTEGERS)
    if oid in ELEMENTS:
        return _binary_array(data, ELEMENTS[oid])
    if oid in TEXTS:
        return decoded(data)
    found = _BINARY.get(oid)
    if found is None:
        raise WireError(f"parameters of the type {oid} are taken as text only", "", "0A000")
    return found(data)


def _binary_array(data: bytes, element: int) -> list[Any]:
    dimensions, _, _ = struct.unpack_from("!iiI", data)
    if dimensions == 0:
        return []
    count, _ = struct.unpack_from("!ii", data, 12)
    if dimensions != 1 or not 0 <= count * 4 <= len(data):
        raise ValueError("arrays have one dimension here")
    items: list[Any] = []
    at = 20
    for _ in range(count):
        (length,) = struct.unpack_from("!i", data, at)
        at += 4
        if length > len(data) - at:
            raise ValueError("cut short")
        items.append(None if length < 0 else _binary(data[at : at + length], element))
        at += max(length, 0)
    return items


def _one_byte(data: bytes) -> bool:
    (value,) = struct.unpack("!?", data)
    return bool(value)


def _moment(data: bytes) -> datetime:
    (microseconds,) = struct.unpack("!q", data)
    return datetime(2000, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


_BINARY: Mapping[int, Callable[[bytes], Any]] = {
    types.BOOL: _one_byte,
    types.FLOAT4: lambda data: struct.unpack("!f", data)[0],
    types.FLOAT8: lambda data: struct.unpack("!d", data)[0],
    types.NUMERIC: from_binary,
    types.DATE: lambda data: date.fromordinal(EPOCH.toordinal() + struct.unpack("!i", data)[0]),
    types.TIMESTAMP: lambda data: _moment(data).replace(tzinfo=None),
    types.TIMESTAMPTZ: _moment,
    types.BYTEA: bytes,
    types.UUID: lambda data: str(Uuid(bytes=data)),
}
