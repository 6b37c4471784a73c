"""`adomnia account`: who may come in over the network."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy, read_policy
from adomnia.present import terminal

if TYPE_CHECKING:
    from adomnia.server.accounts import Accounts

__all__ = ["account"]

HEADINGS = ("name", "role", "keys")


@click.group(short_help="Who may come in over the network: add, list, remove, key.")
def account() -> None:
    """Accounts for the doors that adomnia serve opens.

    An analyst sees their own questions and budget; a curator sees those of everybody. Nobody
    sees an exact answer. There is no default account and no default password. Secrets and keys
    are shown once, when they are made; only hashes of them are kept.

    \b
    Examples:
      adomnia account add alice --role analyst
      adomnia account key alice --label notebook
      adomnia account list
    """


@account.command(short_help="Add somebody; shows their secret once.")
@click.argument("name")
@click.option("--role", type=click.Choice(["analyst", "curator"]), required=True,
              help="An analyst asks; a curator also sees what everybody asked.")  # fmt: skip
@click.option("--secret-stdin", is_flag=True, help="Take the secret from standard input.")
@options.policy
@options.form
def add(name: str, role: str, secret_stdin: bool, policy: str, form: str) -> None:
    """Add NAME; their secret is made, shown now and never again.

    The same secret opens psql, HTTP (Basic) and the console. An analyst asks within the budget
    that the policy gives them: [analysts.NAME].

    \b
    Examples:
      adomnia account add alice --role analyst
      pass show adomnia/alice | adomnia account add alice --role analyst --secret-stdin
    """
    given = sys.stdin.readline().rstrip("\r\n") if secret_stdin else None
    with _opened(policy) as (read, accounts):
        secret = accounts.add(name, role, given)
        note = _note(read, name, role)
    if form == "json":
        shown = {} if secret_stdin else {"secret": secret}
        terminal.json_text({"name": name, "role": role, **shown, "note": note})
        return
    if secret_stdin:
        click.echo(f"{name} can come in, as {role}")
    else:
        click.echo(f"{name} can come in, as {role}, with this secret (it is not shown again):")
        click.echo(f"  {secret}")
    if note:
        click.echo(f"note: {note}")


def _note(policy: Policy, name: str, role: str) -> str:
    if role != "analyst" or not policy.analysts or name in policy.analysts:
        return ""
    return f"the policy does not name {name} yet, so they cannot ask: add [analysts.{name}]"


@account.command("list", short_help="Everybody, with their roles and keys.")
@options.policy
@options.form
def people(policy: str, form: str) -> None:
    """List who may come in, and which API keys they have (never the keys themselves).

    \b
    Examples:
      adomnia account list
      adomnia account list --format json
    """
    with _opened(policy) as (_, accounts):
        found = [(person, accounts.keys(person.name)) for person in accounts.people()]
    if form == "json":
        listed = [
            {"name": person.name, "role": person.role, "keys": [vars(key) for key in keys]}
            for person, keys in found
        ]
        terminal.json_text({"accounts": listed})
        return
    if not found:
        click.echo("nobody can come in yet: adomnia account add NAME --role analyst")
        return
    rows = [
        (person.name, person.role, ", ".join(f"{key.identity} {key.label}".strip() for key in keys))
        for person, keys in found
    ]
    terminal.console().print(terminal.table(HEADINGS, rows, []))


@account.command(short_help="Remove somebody, with their keys.")
@click.argument("name")
@options.policy
@options.form
def remove(name: str, policy: str, form: str) -> None:
    """Remove NAME at once, with all their keys. What they have spent stays in the ledger.

    \b
    Example:
      adomnia account remove alice
    """
    with _opened(policy) as (_, accounts):
        accounts.remove(name)
    if form == "json":
        terminal.json_text({"removed": name})
    else:
        click.echo(f"{name} cannot come in any more")


@account.command(short_help="Make an API key, shown once; or revoke one.")
@click.argument("name", required=False)
@click.option("--label", default="", metavar="TEXT", help="What the key is for.")
@click.option("--revoke", metavar="ID", help="Revoke the key with this identity instead.")
@options.policy
@options.form
def key(name: str | None, label: str, revoke: str | None, policy: str, form: str) -> None:
    """Make an API key for NAME: programs send it as Authorization: Bearer KEY.

    It is shown now and never again; adomnia account list shows its identity.

    \b
    Examples:
      adomnia account key alice --label notebook
      adomnia account key --revoke 3f09c1d2a4b5
    """
    if (name is None) == (revoke is None):
        hint = "adomnia account key NAME, or adomnia account key --revoke ID"
        raise QuestionError("whose key is to be made, or which one revoked?", hint)
    with _opened(policy) as (_, accounts):
        if revoke is not None:
            _revoke(accounts, revoke, form)
        elif name is not None:
            _make(accounts, name, label, form)


def _make(accounts: Accounts, name: str, label: str, form: str) -> None:
    made = accounts.make_key(name, label)
    if form == "json":
        terminal.json_text({"name": name, "label": label, "key": made})
        return
    click.echo(f"a key for {name} (it is not shown again):")
    click.echo(f"  {made}")


def _revoke(accounts: Accounts, identity: str, form: str) -> None:
    names = (person.name for person in accounts.people())
    owner = next((n for n in names if identity in {k.identity for k in accounts.keys(n)}), None)
    if owner is None:
        raise QuestionError(f"there is no key {identity[:40]!r}", "adomnia account list shows them")
    accounts.revoke_key(owner, identity)
    if form == "json":
        terminal.json_text({"name": owner, "revoked": identity})
    else:
        click.echo(f"the key {identity} of {owner} opens nothing any more")


@contextmanager
def _opened(policy: str) -> Iterator[tuple[Policy, Accounts]]:
    from adomnia.server.accounts import open_accounts  # noqa: PLC0415 (slow)

    read = read_policy(policy)
    with open_accounts(read) as accounts:
        yield read, accounts
