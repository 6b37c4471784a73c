"""Connections of psql: who comes in, how many may be, who answers them, and how a running question
is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from adomnia.limits import MAX_PG_CONNECTIONS
from adomnia.server.accounts import Person
from adomnia.server.connection_limit import connection_limit
from adomnia.server.postgres.catalogue_content import budget_rows, shared_catalogue
from adomnia.server.postgres.connection_context import ConnectionContext, to_wire_error, wire_errors
from adomnia.server.postgres.explain import explain_command
from adomnia.server.postgres.privacy_settings import RULES
from adomnia.server.postgres.questions import query_command
from adomnia.server.service import Service
from adomnia.wire.catalogue.catalogue import Catalogue
from adomnia.wire.errors import WireError, error_fields
from adomnia.wire.protocol.channel_binding import end_point
from adomnia.wire.protocol.connection import Connection
from adomnia.wire.protocol.messages import fields, frame
from adomnia.wire.protocol.sasl import SaslLogin
from adomnia.wire.protocol.startup import CancelRequest, StartupMessage, greet
from adomnia.wire.statements.connection_state import ConnectionState, SharedSettings
from adomnia.wire.statements.lexer import ClientStatement, TokenStream
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.statements.settings import startup_settings

__all__ = ["Listener", "QuestionHandler", "log_in", "serve"]

SECONDS_TO_LOG_IN = 30.0
SECONDS_TO_LEAVE = 5.0
RESERVED, FEW = 100, 10
"""So many places are left to people who have fewer connections than that."""


async def serve(
    service: Service, host: str = "127.0.0.1", port: int = 5433, tls: ssl.SSLContext | None = None
) -> Listener:
    """Listen: psql and every driver of PostgreSQL can come in from now on."""
    listener = Listener(service, tls, connection_limit(MAX_PG_CONNECTIONS))
    await listener.open(host, port)
    return listener


@dataclass(frozen=True)
class _OpenConnection:
    """Somebody who is in, and the secret with which their questions can be cancelled."""

    context: ConnectionContext
    secret: bytes


class Listener:
    """A listening server; it closes as an `asyncio.Server` does, and ends its connections."""

    def __init__(self, service: Service, tls: ssl.SSLContext | None, most: int) -> None:
        self._service, self._tls, self._most = service, tls, most
        self._catalogue = shared_catalogue(service.database)
        self._end_point = None if tls is None else end_point(tls)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._unauthenticated: dict[asyncio.Task[None], None] = {}
        self._sessions: dict[int, _OpenConnection] = {}
        self._lookups: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def open(self, host: str, port: int) -> None:
        """Listen here; port 0 takes a free one."""
        self._server = await asyncio.start_server(self._accept, host, port, backlog=1024)

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

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._unauthenticated[task] = None
        try:
            self._make_room(task)
            await self._serve(reader, writer)
        except (OSError, EOFError):
            pass  # they have left, or took too long
        except asyncio.CancelledError:
            _send_last(writer, WireError("the connection is ended by the server", "", "57P01"))
        except Exception as error:
            _send_last(writer, error)
        finally:
            self._unauthenticated.pop(task, None)
            await _leave(writer)
            self._tasks.discard(task)

    def _make_room(self, newcomer: asyncio.Task[None]) -> None:
        """Where all are taken, who has waited longest without a log-in makes room."""
        if len(self._tasks) <= self._most:
            return
        oldest = next(iter(self._unauthenticated))
        if oldest is newcomer:
            raise _full()
        del self._unauthenticated[oldest]
        oldest.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = writer.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        async with asyncio.timeout(SECONDS_TO_LOG_IN):
            start = await greet(reader, writer, self._tls)
            if isinstance(start, CancelRequest):
                self._cancel(start)
                return
            writer.write(start.negotiation)
            binding = self._end_point if start.is_private else None
            person = await log_in(self._service, reader, writer, start.user, binding)
        self._unauthenticated.pop(asyncio.current_task(), None)  # type: ignore[arg-type]
        self._share(person)
        process, secret = self._free_number(), secrets.token_bytes(start.secret_bytes)
        context = self._context(person, start, process)
        self._sessions[process] = _OpenConnection(context, secret)
        try:
            writer.write(frame(b"K", process.to_bytes(4, "big"), secret))
            await Connection(reader, writer, QuestionHandler(context)).run()
        finally:
            del self._sessions[process]

    def _context(self, person: Person, start: StartupMessage, process: int) -> ConnectionContext:
        state = ConnectionState(person.name, startup_settings(start.parameters, RULES))
        catalogue = Catalogue(
            self._catalogue,
            person.name,
            database=start.database,
            pid=process,
            settings=SharedSettings(state),
            variables={"budget": partial(budget_rows, self._service.database, person)},
        )
        lookups = self._lookups.setdefault(person.name, asyncio.Semaphore())
        return ConnectionContext(self._service, person, state, catalogue, lookups)

    def _share(self, person: Person) -> None:
        """The last places are for people who have few connections: nobody takes them all."""
        if len(self._sessions) >= self._most - RESERVED:
            theirs = sum(each.context.person == person for each in self._sessions.values())
            if theirs >= FEW:
                raise _full()

    def _free_number(self) -> int:
        """A process number that nobody has; it says nothing about how many there are."""
        while True:
            number = secrets.randbelow((1 << 31) - 1) + 1
            if number not in self._sessions:
                return number

    def _cancel(self, request: CancelRequest) -> None:
        """End a running question; whether there was one is not told."""
        session = self._sessions.get(request.process)
        if session is not None and hmac.compare_digest(session.secret, request.secret):
            session.context.cancel()


def _full() -> WireError:
    return WireError("too many connections", "close those that are not needed", "53300")


def _send_last(writer: asyncio.StreamWriter, error: Exception) -> None:
    """The last words of a connection."""
    with contextlib.suppress(OSError, RuntimeError):
        writer.write(fields(b"E", error_fields(to_wire_error(error), "FATAL")))


async def _leave(writer: asyncio.StreamWriter) -> None:
    """Close; who does not take what was written is cut off."""
    writer.close()
    try:
        async with asyncio.timeout(SECONDS_TO_LEAVE):
            await writer.wait_closed()
    except (OSError, asyncio.CancelledError):
        writer.transport.abort()


# Who comes in: a name is checked against its account by SCRAM, and wrong ones are slowed down.

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


# Who answers a connection's queries: the catalogue, or the curator for what is private.

P = ParamSpec("P")
T = TypeVar("T")


class QuestionHandler:
    """The `QueryHandler` of one connection; what is refused beneath it becomes a WireError."""

    def __init__(self, context: ConnectionContext) -> None:
        self.context = context

    @property
    def state(self) -> ConnectionState:
        """What the connection has set, prepared, opened and begun."""
        return self.context.state

    async def query(self, statement: ClientStatement, declared: Sequence[int]) -> Command:
        """A SELECT that is understood: of the catalogue, or of the private table."""
        with wire_errors():
            return _guarded(await query_command(self.context, statement, declared))

    async def explain(self, words: TokenStream, declared: Sequence[int]) -> Command:
        """What an answer would cost and how far off it would be."""
        with wire_errors():
            return _guarded(await explain_command(self.context, words, declared))

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, in a thread."""
        with wire_errors():
            return await self.context.look(function, *args, **kwargs)


def _guarded(command: Command) -> Command:
    """The command with its errors as the protocol knows them, also when it runs."""

    async def run(values: Sequence[Any]) -> Outcome:
        with wire_errors():
            return await command.run(values)

    return replace(command, run=run)
