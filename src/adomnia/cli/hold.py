"""`adomnia hold`: answer together with other holders, none of whom sees another's numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from adomnia.cli import options
from adomnia.cli.ask import read_sql
from adomnia.curator.database import open_database
from adomnia.present import terminal

__all__ = ["hold"]

Verb = TypeVar("Verb", bound=Callable[..., Any])


@click.group(short_help="Answer together with other holders of data.")
def hold() -> None:
    """Answer together with other holders: the sum is private, and nobody sees a holder's number.

    Everybody has the same file of holders, with public keys that people compared beforehand:

    \b
      [holders.north]
      key = "64 hexadecimal signs"
      address = "127.0.0.1:7001"
      [holders.south]
      …
      [askers.alice]
      key = "64 hexadecimal signs"

    \b
    Examples:
      adomnia hold key --out north.key
      adomnia hold serve --as north --secret north.key --holders holders.toml
      adomnia hold ask "SELECT COUNT(*) FROM people" --epsilon 0.5 \\
          --as alice --secret alice.key --holders holders.toml
    """


def _oneself(verb: Verb) -> Verb:
    """`--as`, `--secret` and `--holders`: who one is, and among whom."""
    for option in (
        click.option("--holders", default="holders.toml", show_default=True, metavar="FILE",
                     help="Who holds data together, and who may ask."),
        click.option("--secret", required=True, metavar="FILE", help="One's own secret key."),
        click.option("--as", "name", required=True, metavar="NAME", help="One's name there."),
    ):  # fmt: skip
        verb = option(verb)
    return verb


@hold.command(short_help="Make a key pair.")
@click.option("--out", default="adomnia.key", show_default=True, metavar="FILE",
              help="Where the secret key is put; it never leaves this place.")  # fmt: skip
@options.policy_unused
@options.form
def key(out: str, form: str) -> None:
    """Make a secret key in a file, and print the public key that is told to the others.

    \b
    Example:
      adomnia hold key --out north.key
    """
    from adomnia.federation.holders_file import write_secret  # noqa: PLC0415 (an extra)

    public = write_secret(out)
    if form == "json":
        terminal.json_text({"file": out, "key": public})
    else:
        click.echo(public)


@hold.command(short_help="Answer together with the others, until Ctrl-C.")
@_oneself
@click.option("--least", default=2, show_default=True, type=click.IntRange(2), metavar="N",
              help="Answer only among so many holders.")  # fmt: skip
@click.option("--colluding", default=1, show_default=True, type=click.IntRange(0), metavar="N",
              help="How many holders may put together what they know.")  # fmt: skip
@options.policy
@options.form
def serve(name: str, secret: str, holders: str, policy: str, form: str, **rules: int) -> None:
    """Answer for this policy's data at one's address in the file of holders.

    Each question is planned by this policy and paid from this ledger before any row is read. An
    asker is an analyst of the policy.

    \b
    Example:
      adomnia hold serve --as north --secret north.key --holders holders.toml
    """
    from adomnia.federation import holder, holders_file  # noqa: PLC0415 (an extra)

    known, me = holders_file.read_holders(holders), holders_file.read_party(name, secret)
    others = known.others(name)
    address = next(peer.address for peer in known.holders if peer.name == name)
    with open_database(policy) as database:
        mine = holder.Holder(database, me, others, known.askers, holder.HolderRules(**rules))
        with holder.serve(mine, address) as server:
            if form == "json":
                click.echo(json.dumps({"holder": name, "address": address, "port": server.port}))
            else:
                click.echo(f"{name} answers at {address} among {len(others) + 1} holders")
            server.serve_forever()


@hold.command(short_help="Ask all holders at once.")
@click.argument("sql")
@click.option("--epsilon", required=True, metavar="E", help="What each holder pays, such as 0.1.")
@options.confidence
@_oneself
@click.option("--least", default=2, show_default=True, type=click.IntRange(2), metavar="N",
              help="Go on without lost holders while so many remain.")  # fmt: skip
@click.option("--colluding", default=1, show_default=True, type=click.IntRange(0), metavar="N",
              help="How many holders may put together what they know.")  # fmt: skip
@options.policy
@options.form
def ask(sql: str, policy: str, form: str, least: int, **said: Any) -> None:
    """Ask about the rows of all holders; the policy is read for its domains only.

    \b
    Example:
      adomnia hold ask "SELECT sex, COUNT(*) FROM people GROUP BY sex" --epsilon 0.5 \\
          --as alice --secret alice.key
    """
    from adomnia.federation import holders_file, joint_session  # noqa: PLC0415 (an extra)

    me = holders_file.read_party(said.pop("name"), said.pop("secret"))
    known = holders_file.read_holders(said.pop("holders"))
    group = joint_session.open_holders(known.holders, me, policy, least=least)
    found = group.ask(read_sql(sql), **said)
    if form == "json":
        terminal.json_text(found.to_json())
    else:
        terminal.answer(found, terminal.console())
