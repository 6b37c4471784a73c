"""The entrance: a name is checked against its account by SCRAM, and wrong ones are slowed down."""

from __future__ import annotations

import asyncio

from adomnia.server.accounts import Person
from adomnia.server.service import Service
from adomnia.wire.errors import WireError, malformed
from adomnia.wire.protocol.messages import MAX_STRANGER, Body, frame, read_message, text
from adomnia.wire.protocol.scram import Exchange, mechanisms, parse_first

__all__ = ["log_in"]

_OK, _SASL, _CONTINUE, _FINAL = 0, 10, 11, 12
_WRONG = "28P01"


async def log_in(
    service: Service,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    user: str,
    end_point: bytes | None,
) -> Person:
    """Who this is; a stranger, and somebody who has failed too often, is refused."""
    address = str((writer.get_extra_info("peername") or ("",))[0])
    await service.admit(user, address)
    offered = mechanisms(end_point)
    await _send(writer, _SASL, b"".join(map(text, offered)) + b"\0")
    body = await _response(reader)
    mechanism = body.text()
    if mechanism not in offered:
        raise malformed("this SASL mechanism was not offered")
    first = parse_first(mechanism, body.value() or b"", end_point)
    person = await service.run(service.accounts.person, user)  # first: of an older account, if any
    exchange = Exchange(first, await service.run(service.accounts.scram, user), end_point)
    await _send(writer, _CONTINUE, exchange.challenge)
    answer = (await _response(reader)).rest()
    service.refuse_many(user, address)  # again: many may have begun at the same time
    proof = exchange.finish(answer)
    if proof is None:
        service.limits.failed(user, address)
    if proof is None or person is None:
        hint = "the curator makes accounts: adomnia account add NAME"
        raise WireError("the name or the secret is wrong", hint, _WRONG, fatal=True)
    service.limits.passed(user, address)
    await _send(writer, _FINAL, proof)
    await _send(writer, _OK, b"")
    return person


async def _send(writer: asyncio.StreamWriter, code: int, data: bytes) -> None:
    writer.write(frame(b"R", code.to_bytes(4, "big"), data))
    await writer.drain()


async def _response(reader: asyncio.StreamReader) -> Body:
    kind, body = await read_message(reader, MAX_STRANGER)
    if kind != b"p":
        raise malformed("an answer to the log-in was expected")
    return body
