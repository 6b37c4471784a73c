"""`adomnia serve`: HTTP, psql and the console."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import options
from adomnia.curator.database import open_database

if TYPE_CHECKING:
    from adomnia.server.accounts import Accounts, Person
    from adomnia.server.serve import Addresses

__all__ = ["serve", "ways_in"]

_PORT = click.IntRange(0, 65535)


@click.command(short_help="Open the doors: HTTP, psql and a console in the browser.")
@click.option("--http", type=_PORT, default=8000, show_default=True, metavar="PORT",
              help="Where HTTP and the console listen; 0 takes a free port.")  # fmt: skip
@click.option("--pg", type=_PORT, default=5433, show_default=True, metavar="PORT",
              help="Where psql connects to; 0 takes a free port.")  # fmt: skip
@click.option("--no-http", is_flag=True, help="Leave HTTP and the console shut.")
@click.option("--no-pg", is_flag=True, help="Leave the door for psql shut.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="The address to listen on.")  # fmt: skip
@click.option("--certificate", metavar="FILE", help="TLS: the certificate, a PEM file.")
@click.option("--key", metavar="FILE", help="TLS: its private key, a PEM file.")
@click.option("--insecure", is_flag=True,
              help="Listen beyond this machine without TLS: something else encrypts.")  # fmt: skip
@options.policy
@options.form
def serve(no_http: bool, no_pg: bool, policy: str, form: str, **given: Any) -> None:
    """Serve the data of a policy until Ctrl-C, to those who have an account.

    Analysts ask with psql and whatever speaks PostgreSQL, over HTTP, or in the browser. All
    doors pay from the same ledger. With --format json it prints one line with the addresses
    as soon as it is ready.

    \b
    Examples:
      adomnia account add alice --role analyst
      adomnia serve
      adomnia serve --host 0.0.0.0 --certificate cert.pem --key key.pem
    """
    from adomnia.server.accounts import open_accounts  # noqa: PLC0415 (an extra, and slow)
    from adomnia.server.serve import Where, check, run  # noqa: PLC0415 (an extra, and slow)

    shut = {"http": no_http, "pg": no_pg}
    where = Where(**given | {name: None for name, is_shut in shut.items() if is_shut})
    check(where)  # before the data is opened
    with open_database(policy) as database, open_accounts(database.policy) as accounts:

        def ready(found: Addresses) -> None:
            if form == "json":
                click.echo(json.dumps(_document(found)))
                return
            for line in _told(found, accounts, next(iter(database.tables))):
                click.echo(line)

        run(database, where, accounts, ready)


def _document(found: Addresses) -> dict[str, str | int | None]:
    return {
        "host": found.host,
        "http": found.http,
        "pg": found.pg,
        "url": found.url,
        "tls": found.certificate is not None,
    }


def _told(found: Addresses, accounts: Accounts, table: str) -> Iterator[str]:
    people = accounts.people()
    if not people:
        yield "Nobody can come in yet. Make an account in another terminal; it works at once:"
        yield "  adomnia account add NAME --role analyst"
        yield ""
    analysts = [person for person in people if not person.is_curator]
    yield "The doors are open. Ctrl-C closes them. The ways in:"
    yield from ways_in(found, table, next(iter((*analysts, *people)), None))


def ways_in(
    found: Addresses, table: str, person: Person | None, secret: str | None = None
) -> Iterator[str]:
    """Lines to paste; without the secret, psql and curl ask for it."""
    name = "NAME" if person is None else person.name
    if found.pg is not None:
        mode = "" if found.certificate is None else " sslmode=require"
        before = "" if secret is None else f"PGPASSWORD={shlex.quote(secret)} "
        to = f"host={found.host} port={found.pg} dbname=adomnia user={name}{mode}"
        yield f"  {before}psql {shlex.quote(to)}"
    if found.url is not None:
        user = name if secret is None else f"{name}:{secret}"
        trust = "" if found.certificate is None else f" --cacert {shlex.quote(found.certificate)}"
        sql = f"SELECT COUNT(*) AS n FROM {table}"  # noqa: S608 (to be read, not run)
        body = json.dumps({"sql": sql, "epsilon": "0.1"})
        what = f"-H 'Content-Type: application/json' -d {shlex.quote(body)}"
        yield f"  curl{trust} --user {shlex.quote(user)} {what} {found.url}/v1/ask"
        yield f"  {found.url}/"
