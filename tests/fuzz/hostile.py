"""Arrays of Parquet's types in which one value is none of its type, or as far out as can be."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

LEAST, MOST = -(2**63), 2**63 - 1


def raw(kind, numbers, width=np.int64):
    """An array of a type whose values are these numbers, whatever they mean."""
    data = np.array(numbers, width).tobytes()
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(data)])


def decimals(kind, numbers):
    data = b"".join(number.to_bytes(16, "little", signed=True) for number in numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(data)])


SCALARS = {
    # a type: how to make an array of four values, and hostile ones for the third
    "text": (lambda v: pa.array([b"xa", b"b", v, b"c"], pa.binary()).view(pa.string()),
             [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\0", b"\xf4\x90\x80\x80"]),
    "bytes": (lambda v: pa.array([b"xa", b"b", v, b"c"], pa.binary()), [b"\xff\0"]),
    "fixed bytes": (lambda v: pa.array([b"xa", b"bb", v, b"cc"], pa.binary(2)), [b"\xff\0"]),
    "dictionary": (lambda v: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 0]), pa.array([b"xa", b"b", v], pa.binary()).view(pa.string())),
        [b"\xff"]),
    "date": (lambda v: raw(pa.date32(), [0, 18000, v, 1], np.int32),
             [-(2**31), 2**31 - 1, 1 - 2**31, 10**9]),
    "time in ms": (lambda v: raw(pa.time32("ms"), [0, 5, v, 9], np.int32),
                   [-1, 86_400_000, 2**31 - 1, -(2**31)]),
    "time in us": (lambda v: raw(pa.time64("us"), [0, 5, v, 9]), [-1, 86_400_000_000, LEAST, MOST]),
    "time in ns": (lambda v: raw(pa.time64("ns"), [0, 5, v, 9]),
                   [-1, 86_400_000_000_000, LEAST, MOST]),
    "moment in ms": (lambda v: raw(pa.timestamp("ms"), [0, 5, v, 9]), [LEAST, MOST, MOST // 1000]),
    "moment in us": (lambda v: raw(pa.timestamp("us"), [0, 5, v, 9]), [LEAST, MOST, MOST - 5]),
    "moment in ns": (lambda v: raw(pa.timestamp("ns"), [0, 5, v, 9]), [LEAST, MOST, -MOST]),
    "moment in UTC": (lambda v: raw(pa.timestamp("ms", "UTC"), [0, 5, v, 9]), [LEAST, MOST]),
    "wide decimal": (lambda v: decimals(pa.decimal128(38, 2), [0, 5, v, 900]),
                     [10**38, -(2**127), 2**127 - 1]),
    "decimal": (lambda v: decimals(pa.decimal128(9, 2), [0, 5, v, 900]), [10**9, 2**31 - 1]),
    "half": (lambda v: pa.array([np.float16(1), np.float16(2), v, np.float16(0)], pa.float16()),
             [np.float16("inf"), np.float16("nan")]),
    "double": (lambda v: pa.array([1.0, 2.0, v, 3.0]), [float("nan"), float("inf"), 5e-324]),
    "duration": (lambda v: raw(pa.duration("us"), [0, 5, v, 9]), [LEAST, MOST]),
    "unsigned": (lambda v: pa.array([1, 2, v, 3], pa.uint64()), [2**64 - 1]),
}  # fmt: skip
"""Ways to write four values of a type, and hostile values for the third of them."""

NESTED = {
    "list of": lambda inner: pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4]), inner),
    "struct of": lambda inner: pa.StructArray.from_arrays([inner], ["a"]),
    "map to": lambda inner: pa.MapArray.from_arrays([0, 1, 2, 3, 4], pa.array(["k"] * 4), inner),
}


def _cases():
    for name, (make, values) in SCALARS.items():
        for place, value in enumerate(values):
            yield f"{name} {place}", make(value)
        for how, nest in NESTED.items():
            if name not in ("half", "dictionary"):
                yield f"{how} {name}", nest(make(values[0]))


HOSTILE = dict(_cases())
"""Columns of four values of which the third is hostile, by what they are."""


def array(case, rows):
    """A column of so many rows, the last of which has the hostile value."""
    order = [place % 2 for place in range(rows - 1)] + [2]
    return HOSTILE[case].take(pa.array(order))


def harmless(case, rows):
    """The same column without it: the last row has a plain value."""
    return HOSTILE[case].take(pa.array([place % 2 for place in range(rows)]))
