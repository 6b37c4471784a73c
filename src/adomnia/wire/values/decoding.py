"""How parameters come from a client: text or binary, as the value that their type says."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID as Uuid

from adomnia.wire.errors import WireError, of_parameter
from adomnia.wire.values import types
from adomnia.wire.values.codecs import EPOCH
from adomnia.wire.values.numeric import from_binary
from adomnia.wire.values.parse_text import parse_text, utf8
from adomnia.wire.values.types import ELEMENTS, INTEGERS, OIDS, TEXTS, name_of, size_of

__all__ = ["decode", "decode_all"]


def decode_all(
    values: Sequence[bytes | None], formats: Sequence[int], oids: Sequence[int]
) -> list[Any]:
    """The values of all parameters, each in its own format or all in one."""
    if len(values) != len(oids):
        raise WireError(
            f"it takes {len(oids)} parameters, and {len(values)} are given", "", "08P01"
        )
    if len(formats) not in (0, 1, len(values)) or any(form not in (0, 1) for form in formats):
        raise WireError("there is not one format for each parameter", "", "08P01")
    each = formats if len(formats) == len(values) else [*(formats or (0,))] * len(values)
    decoded = []
    for number, given in enumerate(zip(values, oids, each, strict=True), 1):
        with of_parameter(number):
            decoded.append(decode(*given))
    return decoded


def decode(data: bytes | None, oid: int, form: int) -> Any:
    """The value of a parameter of this type in text (0) or binary (1)."""
    if data is None:
        return None
    if form == 0:
        return parse_text(utf8(data), oid)
    try:
        return _binary(data, oid)
    except struct.error:
        raise _cut_short(oid) from None
    except OverflowError:
        wrong = f"the value is out of range for the type {name_of(oid)}"
        raise WireError(wrong, "", "22008") from None
    except ValueError:
        wrong = f"the value is not of the type {name_of(oid)} in its binary form"
        raise WireError(wrong, "", "22P03") from None


def _cut_short(oid: int) -> WireError:
    wrong = f"the value has too few bytes for the type {name_of(oid)}"
    return WireError(wrong, "", "08P01")


# Binary


def _binary(data: bytes, oid: int) -> Any:
    if oid in TEXTS:
        return utf8(data)
    if len(data) < size_of(oid):
        raise _cut_short(oid)
    if len(data) > size_of(oid) > 0:
        raise ValueError("too many bytes")
    if oid in INTEGERS or oid in OIDS:
        return int.from_bytes(data, "big", signed=oid in INTEGERS)
    if oid in ELEMENTS:
        return _binary_array(data, ELEMENTS[oid])
    decoder = _BINARY.get(oid)
    if decoder is None:
        raise WireError(f"the type {name_of(oid)} is taken as text only", "", "0A000")
    return decoder(data)


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
    types.DATE: lambda data: EPOCH + timedelta(days=struct.unpack("!i", data)[0]),
    types.TIMESTAMP: lambda data: _moment(data).replace(tzinfo=None),
    types.TIMESTAMPTZ: _moment,
    types.BYTEA: bytes,
    types.UUID: lambda data: str(Uuid(bytes=data)),
}
