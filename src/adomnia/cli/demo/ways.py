"""The ways into the demo: an account, ports that are free, and lines to paste."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from adomnia.cli.serve import ways_in
from adomnia.curator.database import PrivateDatabase

if TYPE_CHECKING:
    from adomnia.server.serve import Addresses

__all__ = ["MISSING", "Ways", "prepare_ways", "serve_ways"]

NAME, ROLE = "demo", "curator"
PORTS = (8000, 5433)

MISSING = "To ask with psql, curl or a browser, install the extra: pip install 'adomnia[server]'"


@dataclass(frozen=True)
class Ways:
    """Where the demo's doors are, or will be, and the secret that opens them."""

    at: Addresses
    table: str
    secret: str

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for psql, one for curl, and a web address."""
        from adomnia.server.accounts import Person  # noqa: PLC0415 (an extra, and slow)

        found = ways_in(self.at, self.table, Person(NAME, ROLE), self.secret)
        return tuple(line.strip() for line in found)

    def command(self, program: str, beside: str) -> str:
        """What opens the doors there, in the folder of the policy."""
        return f"{program} serve --http {self.at.http} --pg {self.at.pg}{beside}"

    def told(self) -> Iterator[str]:
        """The lines for a person, who pastes them into another terminal or a browser."""
        psql, curl, web = self.lines
        yield f"  {psql}"
        yield f"  {curl}"
        yield f"  {web}   name: {NAME}   secret: {self.secret}"
        yield "Every answer is paid for. In psql, say how much first: SET adomnia.epsilon = 0.1;"

    def document(self, command: str) -> dict[str, str]:
        """The same for a program."""
        psql, curl, web = self.lines
        login = {"name": NAME, "secret": self.secret}
        return {"command": command, "psql": psql, "curl": curl, "web": web, **login}


def prepare_ways(database: PrivateDatabase) -> Ways | None:
    """Make an account for the demo; None where what serving needs is not installed."""
    try:
        from adomnia.server.accounts import open_accounts  # noqa: PLC0415 (an extra, and slow)
        from adomnia.server.serve import Addresses, Where  # noqa: PLC0415 (an extra, and slow)
    except ImportError:
        return None
    with open_accounts(database.policy) as accounts:
        secret = accounts.add(NAME, ROLE)
    host = Where().host
    http, pg = _free(host)
    return Ways(Addresses(host, http, pg), database.policy.table, secret)


def serve_ways(database: PrivateDatabase, ways: Ways) -> None:
    """Open the doors until Ctrl-C, and say so once they are."""
    from adomnia.server.serve import Where, run  # noqa: PLC0415 (an extra, and slow)

    def ready(_: Addresses) -> None:
        click.echo("The doors are open; Ctrl-C closes them. From another terminal or a browser:")
        for line in ways.told():
            click.echo(line)  # whole: a line that is broken cannot be pasted

    run(database, Where(ways.at.host, ways.at.http, ways.at.pg), ready=ready)


def _free(host: str) -> list[int]:
    """The usual ports, or others in the place of those that are taken."""
    with ExitStack() as probes:
        lines = [probes.enter_context(_bound(host, port)) for port in PORTS]
        return [int(line.getsockname()[1]) for line in lines]


def _bound(host: str, port: int) -> socket.socket:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        line.bind((host, port))
    except OSError:
        line.bind((host, 0))
    return line
