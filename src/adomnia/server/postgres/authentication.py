"""Who comes in: a name is checked against its account by SCRAM, and wrong ones are slowed down."""

from __future__ import annotations

import asyncio

from adomnia.server.accounts import Person
from adomnia.server.service import Service
from adomnia.wire.errors import WireError
from adomnia.wire.protocol.sasl import SaslLogin

__all__ = ["log_in"]

_WRONG = "28P01"


async def log_in(
    service: Service,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    user: str,
    end_point: bytes | None,
) -> Person:
    """Who this is; an unknown name, and one that has failed too often, is refused."""
    address = str((writer.get_extra_info("peername") or ("",))[0])
    await service.admit(user, address)
    login = SaslLogin(reader, writer, end_point)
    await login.begin()
    person = await service.run(service.accounts.person, user)  # first: of an older account, if any
    await login.challenge(await service.run(service.accounts.scram, user))
    service.refuse_many(user, address)  # again: many may have begun at the same time
    proof = login.proof()
    if proof is None:
        service.limits.failed(user, address)
    if proof is None or person is None:
        hint = "the curator makes accounts: adomnia account add NAME"
        raise WireError("the name or the secret is wrong", hint, _WRONG, fatal=True)
    service.limits.passed(user, address)
    await login.finish(proof)
    return person
