"""Attempts on the log-in: what is put in between, and proofs that prove nothing."""

from __future__ import annotations

import asyncio
import base64

import pytest

from adomnia.wire.errors import WireError
from adomnia.wire.protocol.scram import PLAIN, PLUS, Exchange, fake_verifier, parse_first
from adomnia.wire.protocol.startup import _early


def test_plain_text_beside_the_request_for_tls_is_seen() -> None:
    """What arrives in the turn of the loop in which `_early` looks is read after the handshake."""

    async def race() -> tuple[bytes, bytes]:
        reader = asyncio.StreamReader()
        asyncio.get_running_loop().call_soon(reader.feed_data, b"injected")
        return _early(reader), bytes(reader._buffer)

    found, kept = asyncio.run(race())
    assert found or not kept


FIRST = "n,,n=,r=abcdefghijklmnopqrst"


@pytest.mark.parametrize(
    ("mechanism", "first", "end_point"),
    [
        (PLAIN, "y,,n=,r=abcdefghijklmnopqrst", b"hash"),
        (PLAIN, "p=tls-server-end-point,,n=,r=abcdefghijklmnopqrst", b"hash"),
        (PLUS, FIRST, b"hash"),
        (PLUS, "p=tls-unique,,n=,r=abcdefghijklmnopqrst", b"hash"),
        (PLUS, "p=tls-server-end-point,,n=,r=abcdefghijklmnopqrst", None),
        (PLAIN, "n,,n=,r=", None),
        (PLAIN, "n,x,n=,r=abcdefghijklmnopqrst", None),
    ],
)
def test_a_binding_that_does_not_fit_is_refused(mechanism, first, end_point) -> None:
    with pytest.raises(WireError):
        parse_first(mechanism, first.encode(), end_point)


@pytest.mark.parametrize("last", [
    "c=biws,r={nonce},p=", "c=biws,r={nonce},p=" + base64.b64encode(b"\0" * 32).decode(),
    "c=biws,r=abcdefghijklmnopqrst,p=AAAA", "c=cD10bHM=,r={nonce},p=AAAA",
    "r={nonce},c=biws,p=AAAA",
])  # fmt: skip
def test_no_proof_is_no_proof(last: str) -> None:
    exchange = Exchange(parse_first(PLAIN, FIRST.encode(), None), fake_verifier("x", b"k"), None)
    nonce = exchange.challenge.decode().split(",")[0][2:]
    assert exchange.finish(last.format(nonce=nonce).encode()) is None
