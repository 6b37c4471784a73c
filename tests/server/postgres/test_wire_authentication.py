"""Attempts over psql to come in."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import struct

import pytest
from parlour import Parlour, Wire, rows_in

from adomnia.wire.errors import WireError
from adomnia.wire.protocol.scram import PLAIN, PLUS, Exchange, parse_first
from adomnia.wire.protocol.scram_verifier import fake_verifier
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


def test_an_unknown_name_meets_the_same_challenge(parlour: Parlour) -> None:
    shapes = []
    for name in ("alice", "nobody-at-all", "Alice", "x" * 200, "ä", "alice'--"):
        line = Wire(parlour.port)
        line.start(name)
        line.until(b"R")
        line.send(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(FIRST)) + FIRST.encode())
        nonce, salt, count = line.until(b"RE")[-1][1][4:].decode().split(",")
        shapes.append((len(nonce), len(salt), count))
        line.close()
    assert len({*shapes}) == 1


def test_a_cancel_with_another_secret_ends_nothing(parlour: Parlour) -> None:
    made = Wire(parlour.port)
    process, secret = next((body[:4], body[4:]) for kind, body in made.log_in() if kind == b"K")
    for wrong in (b"\0" * 4, b"", secret[:3], secret + b"\0", os.urandom(32)):
        if wrong != secret:
            with socket.create_connection(("127.0.0.1", parlour.port), timeout=10) as line:
                said = struct.pack("!i", 80877102) + process + wrong
                line.sendall(struct.pack("!i", len(said) + 4) + said)
                assert line.recv(100) == b""
    assert rows_in(made.query("SELECT 1")) == [["1"]]
    made.close()


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!i", 0),
        struct.pack("!i", -1),
        struct.pack("!i", 4),
        struct.pack("!i", 2**31 - 1) + b"x",
        struct.pack("!ii", 8, 3 << 16),
        struct.pack("!ii", 9, 3 << 16) + b"\0",
        struct.pack("!ii", 14, 3 << 16) + b"user\0\xff",
        struct.pack("!ii", 23, 3 << 16) + b"user\0\xff\xfe\0\0abcdefg",
        struct.pack("!ii", 8, 80877103) * 4,
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_a_strange_start_costs_its_connection(parlour: Parlour, data: bytes) -> None:
    with socket.create_connection(("127.0.0.1", parlour.port), timeout=10) as line:
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: line.recv(1 << 16), b""))
    assert b"Error" not in said
    assert b"Traceback" not in said
    made = Wire(parlour.port)
    assert made.log_in()[-1][0] == b"Z"
    made.close()
