"""How values travel to a client: as text, or in the binary form of their type."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite, isnan
from typing import Any
from uuid import UUID as Uuid

from adomnia.wire.errors import WireError
from adomnia.wire.values import types
from adomnia.wire.values.numeric import as_decimal, to_binary
from adomnia.wire.values.types import ELEMENTS, INTEGERS, OIDS, TEXTS

__all__ = ["EPOCH", "encode", "encoders", "show"]

Encoder = Callable[[Any], bytes]

EPOCH = date(2000, 1, 1)
_MIDNIGHT = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encoders(oids: Sequence[int], formats: Sequence[int]) -> list[Callable[[Any], bytes | None]]:
    """One function for each column of a result."""
    return [_nullable(_encoder(oid, form)) for oid, form in zip(oids, formats, strict=True)]


def encode(value: Any, oid: int, form: int) -> bytes | None:
    """A value of this type in text (0) or binary (1); NULL is None."""
    return _nullable(_encoder(oid, form))(value)


def _nullable(encoder: Encoder) -> Callable[[Any], bytes | None]:
    return lambda value: None if value is None else encoder(value)


def _encoder(oid: int, form: int) -> Encoder:
    if form == 0:
        return lambda value: _fitting(value, oid).encode("utf-8", "replace")
    if oid in INTEGERS or oid in OIDS:
        return _whole(INTEGERS.get(oid, 4), signed=oid in INTEGERS)
    if oid in ELEMENTS:
        return lambda value: _array(value, ELEMENTS[oid])
    encoder = _BINARY.get(oid)
    if encoder is None and oid in TEXTS:
        return lambda value: show(value).encode("utf-8", "replace")
    if encoder is None:
        raise WireError(f"values of the type {oid} are sent as text only", "", "0A000")
    return encoder


# Text


def show(value: Any) -> str:
    """A value as PostgreSQL writes it."""
    shower = _TEXT.get(type(value))
    if shower is not None:
        return shower(value)
    return _list(value) if isinstance(value, list | tuple) else str(value)


def _fitting(value: Any, oid: int) -> str:
    """A value as its column's type is written: a whole number has no decimals."""
    if isinstance(value, float) and (oid in INTEGERS or oid in OIDS):
        return str(int(value))
    if oid == types.BOOL and isinstance(value, int):
        return "t" if value else "f"
    if oid in (22, 30) and isinstance(value, list | tuple):  # vectors have no brackets
        return " ".join(map(show, value))
    return show(value)


def _float(value: float) -> str:
    if isfinite(value):
        return repr(value).removesuffix(".0")
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _decimal(value: Decimal) -> str:
    return format(value, "f") if value.is_finite() else _float(float(value))


def _list(values: Sequence[Any]) -> str:
    return "{" + ",".join(map(_item, values)) + "}"


def _item(value: Any) -> str:
    if value is None:
        return "NULL"
    text = show(value)
    if isinstance(value, list | tuple):
        return text
    plain = text and text.upper() != "NULL" and not set(text) & set('{}," \t\r\n\v\f\\')
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_TEXT: Mapping[type, Callable[[Any], str]] = {
    str: lambda value: value,
    bool: lambda value: "t" if value else "f",
    int: str,
    float: _float,
    Decimal: _decimal,
    Fraction: lambda value: _decimal(as_decimal(value)),
    bytes: lambda value: "\\x" + value.hex(),
    date: date.isoformat,
    time: time.isoformat,
    datetime: lambda value: value.isoformat(" "),
}


# Binary


def _whole(size: int, signed: bool) -> Encoder:
    def encoder(value: Any) -> bytes:
        try:
            return int(value).to_bytes(size, "big", signed=signed)
        except (OverflowError, ValueError):
            raise WireError("a number is out of its type's range", "", "22003") from None

    return encoder


def _date(value: Any) -> bytes:
    day = value if isinstance(value, date) else date.fromisoformat(str(value))
    return struct.pack("!i", day.toordinal() - EPOCH.toordinal())


def _moment(value: Any) -> bytes:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return struct.pack("!q", (aware - _MIDNIGHT) // _MICROSECOND)


def _array(values: Sequence[Any], element: int) -> bytes:
    """A one-dimensional array; vectors count from zero as in PostgreSQL."""
    if not values:
        return struct.pack("!iiI", 0, 0, element)
    encoder = _nullable(_encoder(element, 1))
    items = [encoder(value) for value in values]
    nulls = int(any(item is None for item in items))
    parts = [
        b"\xff\xff\xff\xff" if item is None else struct.pack("!i", len(item)) + item
        for item in items
    ]
    return struct.pack("!iiIii", 1, nulls, element, len(items), 1) + b"".join(parts)


_BINARY: Mapping[int, Encoder] = {
    types.BOOL: lambda value: b"\x01" if value else b"\x00",
    types.FLOAT4: lambda value: struct.pack("!f", float(value)),
    types.FLOAT8: lambda value: struct.pack("!d", float(value)),
    types.NUMERIC: lambda value: to_binary(as_decimal(value)),
    types.DATE: _date,
    types.TIMESTAMP: _moment,
    types.TIMESTAMPTZ: _moment,
    types.BYTEA: lambda value: value if isinstance(value, bytes) else str(value).encode(),
    types.UUID: lambda value: Uuid(str(value)).bytes,
    types.CHAR: lambda value: str(value).encode()[:1] or b"\x00",
}
