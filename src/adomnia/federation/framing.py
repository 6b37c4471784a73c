"""Framing: one framed JSON message there and one back, capped in size and time, and signed.

A frame is four bytes of length and a JSON object. Both ends know each other's public key, so a
stranger who reaches the port can neither ask nor answer.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import time
from collections.abc import Mapping
from typing import Any

from adomnia.errors import MachineryError, NotAllowedError, PolicyError
from adomnia.federation.masks import Party, Peer, pair_key
from adomnia.limits import MAX_HOLDER_REPLY

__all__ = ["LostError", "call", "parse_address", "read_frame", "sign", "verify", "write_frame"]

SECONDS = 10.0
"""How long a whole frame may take on its way."""


class LostError(MachineryError):
    """The other end cannot be reached, went away, or takes too long.

    >>> LostError("holder 'north' does not answer").exit_code
    5
    """


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of `host:port`."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 <= int(port) < 1 << 16:
        raise PolicyError(f"{address[:80]!r} is not an address", "for example 127.0.0.1:7001")
    return host, int(port)


def call(me: Party, other: Peer, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The other's answer to a message; it may take this long."""
    request = sign(me, other, message)
    try:
        with socket.create_connection(parse_address(other.address), timeout=SECONDS) as line:
            write_frame(line, request)
            reply = read_frame(line, MAX_HOLDER_REPLY, seconds)
    except OSError as error:
        raise LostError(f"holder {other.name!r} does not answer ({type(error).__name__})") from None
    if "refused" in reply:
        raise NotAllowedError(f"holder {other.name!r} refused: {str(reply['refused'])[:200]}")
    answer = verify(me, other, reply, context=str(request["mac"]))
    if answer is None:
        raise NotAllowedError(
            f"what came from {other.address} was not signed by holder {other.name!r}",
            "compare the public keys at both ends",
        )
    return answer


def sign(
    me: Party, other: Peer, message: Mapping[str, Any], context: str = "request"
) -> dict[str, Any]:
    """A message with a code that only the two ends can make; a reply's context is its request."""
    body = json.dumps(message)
    return {"from": me.name, "body": body, "mac": _code(me, other, context, me.name + "\n" + body)}


def verify(
    me: Party, other: Peer, frame: Mapping[str, Any], context: str = "request"
) -> dict[str, Any] | None:
    """The signed message of the other, or None if it is not one."""
    body, mac = frame.get("body"), frame.get("mac")
    if not isinstance(body, str) or not isinstance(mac, str) or not mac.isascii():
        return None
    if not hmac.compare_digest(mac, _code(me, other, context, other.name + "\n" + body)):
        return None
    return _parsed(body.encode("utf-8", "replace"))


def _code(me: Party, other: Peer, context: str, text: str) -> str:
    key = pair_key(me, other, "wire")
    said = f"{context}\n{text}".encode("utf-8", "replace")
    return hmac.new(key, said, hashlib.sha256).hexdigest()


def write_frame(line: socket.socket, message: Mapping[str, Any]) -> None:
    """Send one frame."""
    data = json.dumps(message).encode()
    line.settimeout(SECONDS)
    line.sendall(len(data).to_bytes(4, "big") + data)


def read_frame(line: socket.socket, limit: int, seconds: float = SECONDS) -> dict[str, Any]:
    """One frame, whole, within the limit and the time; anything else is an `OSError`."""
    end = time.monotonic() + seconds
    length = int.from_bytes(_exactly(line, 4, end), "big")
    if length > limit:
        raise OSError("the message is too long")
    parsed = _parsed(_exactly(line, length, end))
    if parsed is None:
        raise OSError("the message is not a JSON object")
    return parsed


def _exactly(line: socket.socket, count: int, end: float) -> bytes:
    """That many bytes; the time is for all of them, so that a drip does not hold the line."""
    data = bytearray()
    while len(data) < count:
        line.settimeout(max(end - time.monotonic(), 0.001))
        got = line.recv(min(count - len(data), 1 << 16))
        if not got or time.monotonic() > end:
            raise ConnectionError("the line was closed or is too slow")
        data += got
    return bytes(data)


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
