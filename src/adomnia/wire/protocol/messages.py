"""The frames of PostgreSQL's protocol, version 3: how they are read, capped, and written.

A message is one byte that says its kind, four bytes of length (which count themselves) and a
body. The first message of a connection has no kind.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Mapping, Sequence

from adomnia.wire.errors import WireError, malformed
from adomnia.wire.values.parse_text import utf8

__all__ = [
    "MessageBody",
    "command_complete",
    "copy_out",
    "data_row",
    "fields",
    "frame",
    "parameter_description",
    "parameter_status",
    "read_body",
    "read_message",
    "ready",
    "row_description",
]

MAX_UNAUTHENTICATED = 4 << 10
"""A message of somebody who has not logged in yet."""

MAX_MESSAGE = 64 << 20
"""A message of somebody who has; a longer one ends the connection."""

MAX_KEPT = 1 << 20
"""What is kept of a message: a longer one is passed over as it comes, and refused."""

_CHUNK = 1 << 16


# Reading


async def read_message(stream: asyncio.StreamReader, most: int) -> tuple[bytes, MessageBody]:
    """The next message: its kind and its body, which is refused unread where it is too long."""
    kind = await stream.readexactly(1)
    return kind, await read_body(stream, most)


async def read_body(stream: asyncio.StreamReader, most: int) -> MessageBody:
    """The body of a message; of a long one only that it was too long."""
    length = int.from_bytes(await stream.readexactly(4), "big", signed=True) - 4
    if length < 0:
        raise malformed("the length of a message is impossible")
    if length > most:
        raise WireError(f"a message is longer than {most} bytes", "", "54000", fatal=True)
    if length <= MAX_KEPT:
        return MessageBody(await stream.readexactly(length))
    while length > 0:
        length -= len(await stream.readexactly(min(_CHUNK, length)))
    return MessageBody(b"", is_cut=True)


class MessageBody:
    """A message's body, read from front to back; what does not fit is a protocol violation."""

    def __init__(self, data: bytes, is_cut: bool = False) -> None:
        self.data, self.is_cut = data, is_cut
        self.at = 0

    def check(self) -> None:
        """Refuses a message that was too long to be kept."""
        if self.is_cut:
            raise WireError(f"a message is longer than {MAX_KEPT} bytes", "", "54000")

    def take(self, count: int) -> bytes:
        """That many bytes."""
        if count < 0 or self.at + count > len(self.data):
            raise malformed("a message ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def rest(self) -> bytes:
        """Everything that is left."""
        return self.take(len(self.data) - self.at)

    def int16(self) -> int:
        """A signed number of two bytes."""
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        """A signed number of four bytes."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def oid(self) -> int:
        """An object's identifier."""
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        """A text that ends with a zero byte."""
        end = self.data.find(0, self.at)
        if end < 0:
            raise malformed("a text does not end")
        data = self.take(end - self.at)
        self.at = end + 1
        return utf8(data)

    def value(self) -> bytes | None:
        """A value with its length before it; NULL is the length -1."""
        length = self.int32()
        return None if length == -1 else self.take(length)

    def count(self, size: int) -> int:
        """How many things follow, each of at least this size; more than can be is refused."""
        number = int.from_bytes(self.take(2), "big")
        if number * size > len(self.data) - self.at:
            raise malformed("a message ends too early")
        return number

    def done(self) -> None:
        """Refuses a message that goes on after its end."""
        if self.at != len(self.data):
            raise malformed("a message is longer than its content")


# Writing


def frame(kind: bytes, *parts: bytes) -> bytes:
    """A message of this kind."""
    body = b"".join(parts)
    return kind + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """A text with the zero byte that ends it."""
    return value.replace("\0", "").encode("utf-8", "replace") + b"\0"


def ready(status: bytes) -> bytes:
    """ReadyForQuery, with where the transaction stands: I, T or E."""
    return frame(b"Z", status)


def parameter_status(name: str, value: str) -> bytes:
    """What a setting is now."""
    return frame(b"S", text(name), text(value))


def command_complete(tag: str) -> bytes:
    """A statement is done."""
    return frame(b"C", text(tag))


def fields(kind: bytes, values: Mapping[str, str]) -> bytes:
    """An error (E) or a notice (N): fields by their letters."""
    parts = (code.encode() + text(value) for code, value in values.items() if value)
    return frame(kind, *parts, b"\0")


def parameter_description(oids: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return frame(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def row_description(columns: Iterable[tuple[str, int, int, int]], formats: Sequence[int]) -> bytes:
    """Names, types (oid, size, modifier) and formats of a result's columns."""
    parts = [
        text(name) + struct.pack("!IhIhih", 0, 0, oid, size, typmod, form)
        for (name, oid, size, typmod), form in zip(columns, formats, strict=True)
    ]
    return frame(b"T", struct.pack("!H", len(parts)), *parts)


def data_row(values: Sequence[bytes | None]) -> bytes:
    """One row, its values encoded."""
    parts = [
        b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value
        for value in values
    ]
    return frame(b"D", struct.pack("!H", len(parts)), *parts)


def copy_out(form: int, columns: int) -> bytes:
    """The rows of a COPY follow, as text (0) or binary (1)."""
    return frame(b"H", struct.pack(f"!bH{columns}h", form, columns, *[form] * columns))
