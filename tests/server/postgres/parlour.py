"""A town behind a door for psql, in a thread of its own, and a client that speaks bytes."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import socket
import ssl
import struct
import threading
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from adomnia.curator.database import open_database
from adomnia.server.accounts import open_accounts
from adomnia.server.postgres.listener import Listener, serve
from adomnia.server.service import Service
from adomnia.testing.worlds import World, analysts, dates, listed, number

SECRET = "correct horse battery"


def write_town(folder: Path, rows: int = 1000) -> Path:
    """A thousand made-up people, and a policy over them."""
    chance = np.random.default_rng(7)
    days = np.datetime64("1935-01-01") + chance.integers(0, 25000, rows)
    columns = {
        "sex": np.array(["F", "M"])[chance.integers(0, 2, rows)],
        "age": chance.integers(17, 91, rows),
        "income": chance.integers(0, 2001, rows),
        "born": days.astype("datetime64[D]"),
        "member": chance.integers(0, 2, rows) == 1,
    }
    attributes = {
        "sex": listed("F", "M"),
        "age": number(0, 120),
        "income": number(0, 2000),
        "born": dates("1930-01-01", "2010-12-31"),
        "member": listed(True, False),
    }
    more = analysts(alice=500, bob=1, carol=500)
    return World(columns, attributes, "epsilon = 1000\ndelta = 1e-3", more).write(folder)


@dataclass
class Parlour:
    """A service with its door open."""

    service: Service
    door: Listener
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    folder: Path

    @property
    def port(self) -> int:
        """Where to knock."""
        return int(self.door.sockets[0].getsockname()[1])

    def dsn(self, user: str = "alice", **more: str) -> str:
        """How libpq is told to come in."""
        said = {
            "host": "127.0.0.1", "port": str(self.port), "user": user, "dbname": "town",
            "password": f"'{SECRET}'", "connect_timeout": "10", **more,
        }  # fmt: skip
        return " ".join(f"{name}={value}" for name, value in said.items())

    def spent(self, analyst: str = "alice") -> Fraction:
        """What an analyst has spent so far."""
        found = self.service.database.budget()["analysts"][analyst]["spent"]
        return Fraction(found["epsilon"] if isinstance(found, dict) else found)

    def close(self) -> None:
        """Shut the door and the service."""

        async def shut() -> None:
            self.door.close()
            await self.door.wait_closed()
            await self.service.close()

        asyncio.run_coroutine_threadsafe(shut(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()


def open_parlour(folder: Path, tls: ssl.SSLContext | None = None, most: int | None = None,
                 rows: int = 1000, policy: Path | None = None) -> Parlour:  # fmt: skip
    """A town behind an open door, or what a policy says."""
    database = open_database(policy or write_town(folder, rows))
    accounts = open_accounts(database.policy)
    for name in ("alice", "bob", "carol"):
        accounts.add(name, "analyst", SECRET)
    accounts.add("dora", "curator", SECRET)
    accounts.add("eve", "analyst", SECRET)  # whom the policy does not name
    service = Service(database, accounts)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    door = asyncio.run_coroutine_threadsafe(_opened(service, tls, most), loop).result(30)
    return Parlour(service, door, loop, thread, folder)


async def _opened(service: Service, tls: ssl.SSLContext | None, most: int | None) -> Listener:
    door = await serve(service, "127.0.0.1", 0, tls)
    door._most = most or door._most
    return door


class Wire:
    """A client that sends what it is told, byte for byte."""

    def __init__(self, port: int, timeout: float = 60) -> None:
        self.line = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.data = b""

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """One message; the first has no kind."""
        self.line.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def receive(self) -> tuple[bytes, bytes]:
        """The next message; an empty kind at the end."""
        head = self.exactly(5)
        if len(head) < 5:
            return b"", b""
        return head[:1], self.exactly(struct.unpack("!i", head[1:])[0] - 4)

    def exactly(self, count: int) -> bytes:
        """That many bytes, or fewer where the line ends."""
        while len(self.data) < count:
            try:
                got = self.line.recv(1 << 16)
            except ConnectionResetError:
                got = b""
            if not got:
                break
            self.data += got
        found, self.data = self.data[:count], self.data[count:]
        return found

    def until(self, kinds: bytes = b"Z") -> list[tuple[bytes, bytes]]:
        """Every message up to one of these kinds, or to the end."""
        found = []
        while True:
            kind, body = self.receive()
            found.append((kind, body))
            if not kind or kind in kinds:
                return found

    def start(self, user: str = "alice", version: int = 3 << 16, **more: str) -> None:
        """The start-up message."""
        said = {"user": user, "database": "town", **more}
        pairs = b"".join(f"{n}\0{v}\0".encode() for n, v in said.items())
        self.send(b"", struct.pack("!i", version) + pairs + b"\0")

    def log_in(
        self, user: str = "alice", secret: str = SECRET, **more: Any
    ) -> list[tuple[bytes, bytes]]:
        """Come in by SCRAM, and wait until the server is ready."""
        self.start(user, **more)
        first = self.until(b"RE")[-1]
        assert first[0] == b"R", first
        self.send(
            b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", 28) + b"n,,n=,r=abcdefghijklmnopqrst"
        )
        challenge = self.until(b"RE")[-1][1][4:].decode()
        nonce, salt, count = (part[2:] for part in challenge.split(","))
        salted = _salted(secret, salt, int(count))
        key = hmac.digest(salted, b"Client Key", "sha256")
        bare = f"c=biws,r={nonce}"
        said = f"n=,r=abcdefghijklmnopqrst,{challenge},{bare}".encode()
        sign = hmac.digest(hashlib.sha256(key).digest(), said, "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, sign, strict=True))).decode()
        self.send(b"p", f"{bare},p={proof}".encode())
        return self.until(b"ZE")

    def query(self, sql: str) -> list[tuple[bytes, bytes]]:
        """A simple query and all that comes back."""
        self.send(b"Q", sql.encode() + b"\0")
        return self.until()

    def parse(self, sql: str, name: str = "", oids: tuple[int, ...] = ()) -> None:
        """A Parse message."""
        types = struct.pack(f"!H{len(oids)}I", len(oids), *oids)
        self.send(b"P", f"{name}\0{sql}\0".encode() + types)

    def bind(self, portal: str = "", name: str = "", values: tuple[bytes | None, ...] = ()) -> None:
        """A Bind message with values and results in text."""
        parts = [
            b"\xff\xff\xff\xff" if v is None else struct.pack("!i", len(v)) + v for v in values
        ]
        head = f"{portal}\0{name}\0".encode() + struct.pack("!hH", 0, len(values))
        self.send(b"B", head + b"".join(parts) + struct.pack("!h", 0))

    def execute(self, portal: str = "", most: int = 0) -> None:
        """An Execute message."""
        self.send(b"E", portal.encode() + b"\0" + struct.pack("!i", most))

    def close(self) -> None:
        """Hang up."""
        self.line.close()


@lru_cache
def _salted(secret: str, salt: str, count: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), base64.b64decode(salt), count)


def fields_of(body: bytes) -> dict[str, str]:
    """The fields of an error or a notice."""
    parts = [part.decode() for part in body.split(b"\0") if part]
    return {part[0]: part[1:] for part in parts}


def errors_in(messages: list[tuple[bytes, bytes]]) -> list[dict[str, str]]:
    """The errors among the messages."""
    return [fields_of(body) for kind, body in messages if kind == b"E"]


def rows_in(messages: list[tuple[bytes, bytes]]) -> list[list[str | None]]:
    """The rows among the messages, as text."""
    found = []
    for kind, body in messages:
        if kind != b"D":
            continue
        at, row = 2, []
        for _ in range(int.from_bytes(body[:2], "big")):
            length = struct.unpack_from("!i", body, at)[0]
            at += 4
            row.append(None if length < 0 else body[at : at + length].decode())
            at += max(length, 0)
        found.append(row)
    return found
