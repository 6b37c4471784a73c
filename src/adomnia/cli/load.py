"""`adomnia load`: the source is read once, into an edition."""

from __future__ import annotations

import time

import click

from adomnia.cli import options
from adomnia.curator.database import confirmed_policy
from adomnia.curator.sources import telling
from adomnia.curator.table_backend import load_edition
from adomnia.policy.policy import Policy
from adomnia.present import terminal

__all__ = ["load"]


@click.command(short_help="Read the source once, into an edition.")
@click.option("--check", is_flag=True, help="Only if the source passes no limit of [check].")
@options.policy
@options.form
def load(check: bool, policy: str, form: str) -> None:
    """Read the source, clean it by the policy, and answer questions from that from now on.

    What is read is kept as an edition, in a folder beside the ledger that only its owner may enter.
    A source that has changed is not read before this is run again. Where it cannot be read, the
    last edition stays in force; and so it does with --check, where a limit of [check] in the policy
    is passed (exit code 6).

    \b
    Examples:
      adomnia load
      adomnia load --check
      adomnia load --policy adomnia.toml --format json
    """
    began = time.monotonic()
    read = confirmed_policy(policy)
    checked = _checked(read) if check else None
    made = load_edition(read, telling(), checked)
    took = time.monotonic() - began
    if form == "json":
        found = {"edition": made.number, "at": made.at, "digest": made.digest, "seconds": took}
        terminal.json_text(found)
    else:
        click.echo(f"edition {made.number} of {made.at}, in {took:.1f} s")
        click.echo(f"its digest, for your eyes alone: {made.digest[:32]}")


def _checked(policy: Policy) -> str | None:
    """Which state of the source was checked, and passed no limit."""
    from adomnia.review.check.examination import (  # noqa: PLC0415 (rare)
        check_source,
        refuse_no_limits,
    )

    refuse_no_limits(policy)
    found = check_source(policy)
    found.enforce()
    return found.version
