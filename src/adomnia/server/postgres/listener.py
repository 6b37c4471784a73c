"""The door for psql: who is in, how many may be, and how a running question is cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from adomnia.server.accounts import Person
from adomnia.server.connection_limit import connection_limit
from adomnia.server.postgres.authentication import log_in
from adomnia.server.service import Service
from adomnia.wire.errors import WireError, as_error, shown
from adomnia.wire.protocol.channel_binding import end_point
from adomnia.wire.protocol.connection import Connection
from adomnia.wire.protocol.messages import fields, frame
from adomnia.wire.protocol.startup import Cancel, greet
from adomnia.wire.statements.connection_state import Visit
from adomnia.wire.statements.settings import startup_settings

__all__ = ["Listener", "serve"]

SECONDS_TO_LOG_IN = 30.0
SECONDS_TO_LEAVE = 5.0
MOST_CONNECTIONS = 1200
RESERVED, FEW = 100, 10
"""So many places are left to people who have fewer connections than that."""


async def serve(
    service: Service, host: str = "127.0.0.1", port: int = 5433, tls: ssl.SSLContext | None = None
) -> Listener:
    """Open the door: psql and every driver of PostgreSQL can come in from now on."""
    door = Listener(service, tls, connection_limit(MOST_CONNECTIONS))
    await door.open(host, port)
    return door


@dataclass(frozen=True)
class _Guest:
    """Somebody who is in, and the secret with which their questions can be cancelled."""

    visit: Visit
    secret: bytes


class Listener:
    """A listening server; it closes as an `asyncio.Server` does, and ends its connections."""

    def __init__(self, service: Service, tls: ssl.SSLContext | None, most: int) -> None:
        self._service, self._tls, self._most = service, tls, most
        self._end_point = None if tls is None else end_point(tls)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], None] = {}
        self._guests: dict[int, _Guest] = {}
        self._lookups: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def open(self, host: str, port: int) -> None:
        """Listen here; port 0 takes a free one."""
        self._server = await asyncio.start_server(self._welcome, host, port, backlog=1024)

    @property
    def sockets(self) -> Sequence[socket.socket]:
        """What is listened on."""
        return () if self._server is None else self._server.sockets

    def close(self) -> None:
        """Let nobody in any more, and end every connection; running questions are cancelled."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until everybody has left."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # A connection's life

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._strangers[task] = None
        try:
            self._make_room(task)
            await self._meet(reader, writer)
        except (OSError, EOFError):
            pass  # they have left, or took too long
        except asyncio.CancelledError:
            _say(writer, WireError("the connection is ended by the server", "", "57P01"))
        except Exception as error:
            _say(writer, error)
        finally:
            self._strangers.pop(task, None)
            await _leave(writer)
            self._tasks.discard(task)

    def _make_room(self, newcomer: asyncio.Task[None]) -> None:
        """Where all places are taken, the stranger who has waited longest makes room."""
        if len(self._tasks) <= self._most:
            return
        oldest = next(iter(self._strangers))
        if oldest is newcomer:
            raise _full()
        del self._strangers[oldest]
        oldest.cancel()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = writer.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        async with asyncio.timeout(SECONDS_TO_LOG_IN):
            met = await greet(reader, writer, self._tls)
            if isinstance(met, Cancel):
                self._cancel(met)
                return
            writer.write(met.negotiation)
            binding = self._end_point if met.is_private else None
            person = await log_in(self._service, reader, writer, met.user, binding)
        self._strangers.pop(asyncio.current_task(), None)  # type: ignore[arg-type]
        self._share(person)
        process, secret = self._free_number(), secrets.token_bytes(met.secret_bytes)
        settings = startup_settings(met.parameters)
        lookups = self._lookups.setdefault(person.name, asyncio.Semaphore())
        visit = Visit(self._service, person, settings, lookups, met.database, process)
        self._guests[process] = _Guest(visit, secret)
        try:
            writer.write(frame(b"K", process.to_bytes(4, "big"), secret))
            await Connection(reader, writer, visit).run()
        finally:
            del self._guests[process]

    def _share(self, person: Person) -> None:
        """The last places are for people who have few connections: nobody takes them all."""
        if len(self._guests) >= self._most - RESERVED:
            theirs = sum(guest.visit.person == person for guest in self._guests.values())
            if theirs >= FEW:
                raise _full()

    def _free_number(self) -> int:
        """A process number that nobody has; it says nothing about how many there are."""
        while True:
            number = secrets.randbelow((1 << 31) - 1) + 1
            if number not in self._guests:
                return number

    def _cancel(self, asked: Cancel) -> None:
        """End a running question; whether there was one is not told."""
        guest = self._guests.get(asked.process)
        if guest is not None and hmac.compare_digest(guest.secret, asked.secret):
            guest.visit.cancel()


def _full() -> WireError:
    return WireError("too many connections", "close those that are not needed", "53300")


def _say(writer: asyncio.StreamWriter, error: Exception) -> None:
    """The last words of a connection."""
    with contextlib.suppress(OSError, RuntimeError):
        writer.write(fields(b"E", shown(as_error(error), "FATAL")))


async def _leave(writer: asyncio.StreamWriter) -> None:
    """Close; who does not take what was written is cut off."""
    writer.close()
    try:
        async with asyncio.timeout(SECONDS_TO_LEAVE):
            await writer.wait_closed()
    except (OSError, asyncio.CancelledError):
        writer.transport.abort()
