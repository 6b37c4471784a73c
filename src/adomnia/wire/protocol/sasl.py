"""The messages of a log-in by SASL: what is offered, the challenge, and what proves what."""

from __future__ import annotations

import asyncio

from adomnia.wire.errors import malformed
from adomnia.wire.protocol.messages import (
    MAX_UNAUTHENTICATED,
    MessageBody,
    frame,
    read_message,
    text,
)
from adomnia.wire.protocol.scram import Exchange, ScramVerifier, mechanisms, parse_first

__all__ = ["SaslLogin"]

_OK, _SASL, _CONTINUE, _FINAL = 0, 10, 11, 12


class SaslLogin:
    """One log-in, step by step: `begin`, `challenge`, and `finish` where the proof holds."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        end_point: bytes | None,
    ) -> None:
        self._reader, self._writer, self._end_point = reader, writer, end_point

    async def begin(self) -> None:
        """Offer what there is, and take the client's first message."""
        offered = mechanisms(self._end_point)
        await self._send(_SASL, b"".join(map(text, offered)) + b"\0")
        body = await self._response()
        mechanism = body.text()
        if mechanism not in offered:
            raise malformed("this SASL mechanism was not offered")
        self._first = parse_first(mechanism, body.value() or b"", self._end_point)

    async def challenge(self, verifier: ScramVerifier) -> None:
        """Challenge the client to prove what the verifier checks, and take its answer."""
        self._exchange = Exchange(self._first, verifier, self._end_point)
        await self._send(_CONTINUE, self._exchange.challenge)
        self._answer = (await self._response()).rest()

    def proof(self) -> bytes | None:
        """The server's own proof if the client's holds, otherwise nothing."""
        return self._exchange.finish(self._answer)

    async def finish(self, proof: bytes) -> None:
        """Tell the client that it is logged in."""
        await self._send(_FINAL, proof)
        await self._send(_OK, b"")

    async def _send(self, code: int, data: bytes) -> None:
        self._writer.write(frame(b"R", code.to_bytes(4, "big"), data))
        await self._writer.drain()

    async def _response(self) -> MessageBody:
        kind, body = await read_message(self._reader, MAX_UNAUTHENTICATED)
        if kind != b"p":
            raise malformed("an answer to the log-in was expected")
        return body
