"""Serving: one process, one event loop, and up to three listeners on one ledger."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import uvicorn

from adomnia.curator.database import PrivateDatabase
from adomnia.errors import MachineryError, PolicyError, QuestionError
from adomnia.server.accounts import Accounts, open_accounts
from adomnia.server.console.routes import routes
from adomnia.server.http.app import app
from adomnia.server.http.timeouts import TimedProtocol
from adomnia.server.service import Service

__all__ = ["Addresses", "Where", "check", "opened", "run"]

GRACE = 5
"""Seconds that running questions have to finish before they are cancelled."""

KEPT = 60
"""Seconds that a connection over HTTP waits for its next request: with a pause between them, a
client would otherwise send a question just as its connection is closed."""


@dataclass(frozen=True)
class Where:
    """Where to listen: a port for each listener (0 takes a free one, None opens none)."""

    host: str = "127.0.0.1"
    http: int | None = 8000
    pg: int | None = 5433
    certificate: str | None = None
    key: str | None = None
    insecure: bool = False


@dataclass(frozen=True)
class Addresses:
    """The ports that are really listened on."""

    host: str
    http: int | None
    pg: int | None
    certificate: str | None = None

    @property
    def url(self) -> str | None:
        """The web address, without a slash at its end."""
        scheme = "http" if self.certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return None if self.http is None else f"{scheme}://{host}:{self.http}"


def run(
    database: PrivateDatabase,
    where: Where | None = None,
    accounts: Accounts | None = None,
    ready: Callable[[Addresses], None] | None = None,
) -> None:
    """Serve a database until Ctrl-C or SIGTERM; `ready` is told the addresses.

    The accounts are the policy's where none are given. The database stays open.
    """
    where = where or Where()
    check(where)
    with ExitStack() as stack:
        known = accounts or stack.enter_context(open_accounts(database.policy))
        asyncio.run(_serve(Service(database, known), where, ready))


async def _serve(service: Service, where: Where, ready: Callable[[Addresses], None] | None) -> None:
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # its text could quote data
    async with opened(service, where) as addresses:
        with _told_to_stop() as stop:
            if ready is not None:
                ready(addresses)
            await stop.wait()


@asynccontextmanager
async def opened(service: Service, where: Where) -> AsyncIterator[Addresses]:
    """The listeners of a service, open while the block runs; then running questions are ended."""
    async with AsyncExitStack() as listeners:
        listeners.push_async_callback(service.close)
        http = pg = None
        if where.http is not None:
            http = await listeners.enter_async_context(_http(service, where, where.http))
        if where.pg is not None:
            pg = await listeners.enter_async_context(_pg(service, where, where.pg))
        yield Addresses(where.host, http, pg, where.certificate)


@asynccontextmanager
async def _http(service: Service, where: Where, port: int) -> AsyncIterator[int]:
    """HTTP and the console, and the port they are on."""
    config = uvicorn.Config(
        app(service, routes(service)),
        ssl_certfile=where.certificate,
        ssl_keyfile=where.key,
        http=TimedProtocol,
        log_config=None,
        log_level="critical",  # statements and tracebacks are nobody's business
        access_log=False,
        server_header=False,
        proxy_headers=False,  # anybody could say where they come from
        lifespan="off",
        ws="none",
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=GRACE,
    )
    line = _bound(where.host, port)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[line]))
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    try:
        yield int(line.getsockname()[1])
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    """uvicorn, with the signals left to those who have other listeners to close too."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


@asynccontextmanager
async def _pg(service: Service, where: Where, port: int) -> AsyncIterator[int]:
    """PostgreSQL's protocol, and the port it is on."""
    from adomnia.server.postgres.listener import serve  # noqa: PLC0415 (slow to import)

    try:
        server = await serve(service, where.host, port, _tls(where))
    except OSError as error:
        raise _taken(where.host, port, error) from None
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(server.wait_closed(), GRACE)


def _tls(where: Where) -> ssl.SSLContext | None:
    if where.certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(where.certificate, where.key)
    except (OSError, ssl.SSLError):
        hint = "both are PEM files; the key may be in the certificate's"
        raise PolicyError("the certificate or its key cannot be read", hint) from None
    return context


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        line = socket.socket(family, kind, protocol)  # asyncio knows TCP by it: no delayed writes
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind(address)
    except OSError as error:
        raise _taken(host, port, error) from None
    return line


def _taken(host: str, port: int, error: OSError) -> MachineryError:
    return MachineryError(
        f"cannot listen on {host} port {port}: {error.strerror or type(error).__name__}",
        "choose another port with --http or --pg; 0 takes a free one",
    )


def check(where: Where) -> None:
    """Refuse what would send secrets over a network in the open."""
    if where.http is None and where.pg is None:
        raise QuestionError("all doors are shut", "leave out --no-http or --no-pg")
    if where.key is not None and where.certificate is None:
        raise QuestionError("a key needs its certificate", "--certificate FILE --key FILE")
    _tls(where)
    if where.certificate is None and not where.insecure and not _is_loopback(where.host):
        raise QuestionError(
            f"without TLS the secrets of everybody could be read on the way to {where.host}",
            "give --certificate and --key, or say --insecure where something else encrypts",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _told_to_stop() -> Iterator[asyncio.Event]:
    """An event that is set by Ctrl-C or SIGTERM."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    both = (signal.SIGINT, signal.SIGTERM)
    for number in both:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in both:
            loop.remove_signal_handler(number)
