"""`adomnia load`: the source is read once, into an edition."""

from __future__ import annotations

import time

import click

from adomnia.cli import options
from adomnia.curator.database import confirmed_policy
from adomnia.curator.sources import telling
from adomnia.curator.table_backend import load_edition
from adomnia.present import terminal

__all__ = ["load"]


@click.command(short_help="Read the source once, into an edition.")
@options.policy
@options.form
def load(policy: str, form: str) -> None:
    """Read the source, clean it by the policy, and answer questions from that from now on.

    What is read is kept as an edition: of files in a folder beside the ledger that only its owner
    may enter, of PostgreSQL in a schema there that only its role may read, of Spark in Parquet
    files. A source that has changed is not read before this is run again. Where it cannot be read,
    the last edition stays in force.

    \b
    Examples:
      adomnia load
      adomnia load --policy adomnia.toml --format json
    """
    began = time.monotonic()
    made = load_edition(confirmed_policy(policy), telling())
    took = time.monotonic() - began
    if form == "json":
        found = {"edition": made.number, "at": made.at, "digest": made.digest, "seconds": took}
        terminal.json_text(found)
    else:
        click.echo(f"edition {made.number} of {made.at}, in {took:.1f} s")
        click.echo(f"its digest, for your eyes alone: {made.digest[:32]}")
