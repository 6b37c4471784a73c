"""Decoding: Arrow arrays in which every value is one that an engine can hold (`coding.md`).

A file can say of its bytes that they are text, a time or a decimal, and they need be none. What
is none is NULL here, by a rule that sees the value and its type alone.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adomnia.engines.duckdb.values import FAR

__all__ = ["INTERVAL", "UUID", "decoded"]


DAY = 86_400
PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
LONGEST = 9_200_000_000_000_000_000

INTERVAL, UUID = "INTERVAL", "UUID"
"""What twelve or sixteen bytes can mean."""


def decoded(array: Any, meaning: str = "") -> Any:
    """The array as one of a plain type, NULL where a value is none of its own type.

    `meaning` says what bytes of a fixed length stand for, where the file says so.
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        said = UUID if kind.extension_name == "arrow.uuid" else meaning
        return decoded(array.storage, said)
    if pa.types.is_fixed_size_binary(kind):
        known = {(12, INTERVAL): _interval, (16, UUID): _uuid}
        return known.get((kind.byte_width, meaning), _same)(array)
    return next((way(array) for test, way in _WAYS if test(kind)), array)


def _same(array: Any) -> Any:
    return array


def _where(keep: Any, array: Any) -> Any:
    """The values that are kept, and NULL for the others."""
    return pc.if_else(keep, array, pa.scalar(None, array.type))


def _between(array: Any, low: int, high: int) -> Any:
    return _where(pc.and_(pc.greater_equal(array, low), pc.less_equal(array, high)), array)


def _text(array: Any) -> Any:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.cast(pa.large_binary()).to_pylist()
        return _where(pa.array([value is not None and _is_text(value) for value in raw]), array)
    return array


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _day(array: Any) -> Any:
    return _between(array.view(pa.int32()), -FAR, FAR).view(pa.date32())


def _time(array: Any) -> Any:
    """A time of the day, in microseconds."""
    unit = PER_SECOND[array.type.unit]
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    inside = _between(array.view(width).cast(pa.int64()), 0, DAY * unit - 1)
    return _scaled(inside, unit).view(pa.time64("us"))


def _moment(array: Any) -> Any:
    """A moment: in UTC where the file says that it is one of the world's, whatever its zone."""
    unit, zone = array.type.unit, None if array.type.tz is None else "UTC"
    far = min(FAR * DAY * PER_SECOND[unit], LONGEST)
    inside = _between(array.view(pa.int64()), -far, far)
    if unit == "ns" and zone is None:
        return inside.view(pa.timestamp("ns"))
    return _scaled(inside, PER_SECOND[unit]).view(pa.timestamp("us", zone))


def _scaled(array: Any, unit: int) -> Any:
    """Whole numbers of so many a second, as microseconds."""
    if unit > 10**6:
        return _floor(array, unit // 10**6)
    return pc.multiply(array, 10**6 // unit)


def _floor(array: Any, divisor: int) -> Any:
    below = pc.if_else(pc.less(array, 0), pc.subtract(array, divisor - 1), array)
    return pc.divide(below, divisor)


def _decimal(array: Any) -> Any:
    """A decimal of its precision; one of more than 38 digits as floating point."""
    kind = array.type
    if kind.precision > 38:
        return array.cast(pa.float64())
    array = array.cast(pa.decimal128(kind.precision, kind.scale), safe=False)
    most = [Decimal((sign, (9,) * kind.precision, -kind.scale)) for sign in (1, 0)]
    low, high = (pa.scalar(value, array.type) for value in most)
    return _between(array, low, high)


def _uuid(array: Any) -> Any:
    """Sixteen bytes as text in the usual form."""
    raw = _bytes(array)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    pairs = np.stack([digits[raw >> 4], digits[raw & 15]], axis=2).reshape(-1, 32)
    dashes = np.insert(pairs, [8, 12, 16, 20], ord("-"), axis=1)
    ends = np.arange(0, 36 * len(array) + 1, 36, dtype=np.int32)
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(dashes.tobytes())]
    return _where(array.is_valid(), pa.Array.from_buffers(pa.string(), len(array), buffers))


def _interval(array: Any) -> Any:
    """Months, days and milliseconds, where both numbers before the last fit 31 bits."""
    parts = _bytes(array).reshape(-1).view("<u4").reshape(-1, 3).astype(np.int64)
    out = np.zeros(len(array), [("months", "<i4"), ("days", "<i4"), ("nanos", "<i8")])
    out["months"], out["days"] = (parts[:, :2] & 0x7FFFFFFF).T
    out["nanos"] = parts[:, 2] * 10**6
    fits = pa.array((parts[:, :2] < 2**31).all(axis=1))
    found = pa.Array.from_buffers(
        pa.month_day_nano_interval(), len(array), [None, pa.py_buffer(out.tobytes())]
    )
    return _where(pc.and_(array.is_valid(), fits), found)


def _bytes(array: Any) -> Any:
    """Bytes of a fixed length as a matrix; zero where a value is NULL."""
    width = array.type.byte_width
    filled = pc.fill_null(array, pa.scalar(bytes(width), array.type))
    raw = np.frombuffer(filled.buffers()[1], np.uint8)
    return raw[filled.offset * width :][: len(array) * width].reshape(-1, width)


def _list(array: Any) -> Any:
    return _listed(array, decoded(array.values))


def _map(array: Any) -> Any:
    """The entries of a map: a key that is no text is NULL, and one may come twice."""
    entries = [decoded(array.keys), decoded(array.items)]
    return _listed(array, pa.StructArray.from_arrays(entries, ["key", "value"]))


def _listed(array: Any, values: Any) -> Any:
    """A list of other values, NULL where it was."""
    offsets = pa.array(array.offsets.to_numpy())  # from_arrays takes no slice of any
    return pa.ListArray.from_arrays(offsets, values, mask=array.is_null())


def _struct(array: Any) -> Any:
    names = [field.name for field in array.type]
    fields = [decoded(array.field(place)) for place in range(len(names))]
    return pa.StructArray.from_arrays(fields, names, mask=array.is_null())


_WAYS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (pa.types.is_string, _text),
    (pa.types.is_large_string, _text),
    (pa.types.is_date32, _day),
    (pa.types.is_time, _time),
    (pa.types.is_timestamp, _moment),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_float16, lambda array: array.cast(pa.float32())),
    (pa.types.is_map, _map),
    (pa.types.is_list, _list),
    (pa.types.is_struct, _struct),
)
"""What is done with an array of each type that Parquet has; the others are numbers or bytes."""
