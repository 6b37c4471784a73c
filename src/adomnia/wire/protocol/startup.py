"""The first moments of a connection: TLS or not, who they say they are, or a cancel request."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field

from adomnia.wire.errors import WireError, malformed
from adomnia.wire.protocol.messages import MAX_UNAUTHENTICATED, MessageBody, frame, read_body, text

__all__ = ["CancelRequest", "StartupMessage", "greet"]

SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
MAJOR, MINOR = 3, 2
"""The newest protocol that is spoken; 3.2 has longer keys for cancelling."""

NEGOTIATIONS = 3
"""SSL, GSS, and then they must begin."""


@dataclass(frozen=True)
class CancelRequest:
    """Somebody wants a running question ended: which one, and the secret that proves it."""

    process: int
    secret: bytes


@dataclass(frozen=True)
class StartupMessage:
    """What a client says of itself before it logs in."""

    minor: int
    parameters: dict[str, str]
    unknown: tuple[str, ...] = field(default=())
    is_private: bool = False

    @property
    def user(self) -> str:
        """The name of the account."""
        return self.parameters.get("user", "")

    @property
    def database(self) -> str:
        """The database that they name; as in PostgreSQL, by default their own."""
        return self.parameters.get("database") or self.user

    @property
    def secret_bytes(self) -> int:
        """How long the secret is that cancels their questions."""
        return 32 if self.minor >= 2 else 4

    @property
    def negotiation(self) -> bytes:
        """What is to be said where the client wants more than is spoken here."""
        if self.minor <= MINOR and not self.unknown:
            return b""
        version = MAJOR << 16 | min(self.minor, MINOR)
        listed = [text(name) for name in self.unknown]
        counts = version.to_bytes(4, "big") + len(listed).to_bytes(4, "big")
        return frame(b"v", counts, *listed)


async def greet(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: ssl.SSLContext | None
) -> StartupMessage | CancelRequest:
    """What the connection is for; on the way it becomes a private one where that is asked.

    Where there is a certificate, a log-in in plain text is refused.
    """
    is_private = False
    for _ in range(NEGOTIATIONS):
        body = await read_body(reader, MAX_UNAUTHENTICATED)
        code = body.int32()
        if code == CANCEL_REQUEST:
            return CancelRequest(body.int32(), body.rest())
        if code == SSL_REQUEST and tls is not None and not is_private:
            await _start_tls(reader, writer, tls)
            is_private = True
        elif code in (SSL_REQUEST, GSS_REQUEST):
            writer.write(b"N")
            await writer.drain()
        else:
            return _begun(code, body, is_private, tls)
    raise malformed("a start-up message was expected")


async def _start_tls(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: ssl.SSLContext
) -> None:
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    if _early(reader):
        # What came before the handshake could have been put there by anybody in between.
        raise malformed("plain text came after the request for TLS")
    writer.write(b"S")
    await writer.start_tls(tls)


def _early(reader: asyncio.StreamReader) -> bytes:
    """What has come already and was not read. To wait, however short, would let more come in."""
    return bytes(reader._buffer)  # type: ignore[attr-defined]


def _begun(
    code: int, body: MessageBody, is_private: bool, tls: ssl.SSLContext | None
) -> StartupMessage:
    major, minor = code >> 16, code & 0xFFFF
    if major != MAJOR:
        raise WireError(
            f"protocol {major}.{minor} is not spoken here", "use version 3", "0A000", fatal=True
        )
    parameters: dict[str, str] = {}
    while name := body.text():
        parameters[name] = body.text()
    body.done()
    if tls is not None and not is_private:
        hint = "connect with sslmode=require, or better with sslmode=verify-full"
        raise WireError("this server speaks TLS only", hint, "28000", fatal=True)
    if not parameters.get("user"):
        raise WireError("the start-up message names no user", "", "28000", fatal=True)
    if parameters.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise WireError("there is no replication here", "", "0A000", fatal=True)
    unknown = tuple(name for name in parameters if name.startswith("_pq_."))
    return StartupMessage(minor, parameters, unknown, is_private)
