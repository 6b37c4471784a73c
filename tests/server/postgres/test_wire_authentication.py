"""Attempts over psql to come in."""

from __future__ import annotations

import os
import socket
import struct

import pytest
from parlour import Parlour, Wire, rows_in

FIRST = "n,,n=,r=abcdefghijklmnopqrst"


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
