"""`adomnia load`: the source is read once, into an edition."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import click

from adomnia.cli import options
from adomnia.curator.answers.omissions import Omission, sentences
from adomnia.curator.data.editions import Edition
from adomnia.curator.data.sources import telling
from adomnia.curator.database import confirmed_policy, open_database
from adomnia.curator.loading import load_edition
from adomnia.policy.policy import Policy
from adomnia.present import terminal
from adomnia.privacy.loss import exact

__all__ = ["load"]


@click.command(short_help="Read the source once, into an edition.")
@click.option("--check", is_flag=True, help="Only if the source exceeds no limit of [check].")
@click.option("--quality", metavar="E", help="Spend so much on counting what is left out.")
@options.policy
@options.form
def load(check: bool, quality: str | None, policy: str, form: str) -> None:
    """Read the source, clean it by the policy, and answer questions from that from now on.

    What is read is kept as an edition: of files in a folder beside the ledger that only its owner
    may enter, of PostgreSQL in a schema there that only its role may read, of Spark in Parquet
    files. A source that has changed is not read before this is run again. Where it cannot be read,
    the last edition stays in force; and so it does with --check, where a limit of [check] in the
    policy is exceeded (exit code 6).

    Of several tables all are read into one edition. For your eyes alone it is told how many rows
    each has, and how many refer to nobody and are left out.

    With --quality (or [quality] in the policy) a little of the budget is spent, once for each
    edition, on private counts of what cleaning and unit bounds leave out, of all tables together.
    From then on every answer says it beside its noise.

    \b
    Examples:
      adomnia load
      adomnia load --check
      adomnia load --quality 0.5
      adomnia load --policy adomnia.toml --format json
    """
    began, read = time.monotonic(), confirmed_policy(policy)
    epsilon = read.quality if quality is None else exact(quality)
    made = load_edition(read, telling(), _checked(read) if check else None)
    took = time.monotonic() - began
    if form != "json":
        click.echo(f"edition {made.number} of {made.at}, in {took:.1f} s")
        click.echo(f"its digest, for your eyes alone: {made.digest[:32]}")
        for name, (rows, nobody) in made.rows.items():
            click.echo(f"{name}: {rows:,} rows, and {nobody:,} that are nobody's")
    left_out = _counted(policy, epsilon)
    if form == "json":
        found = {"edition": made.number, "at": made.at, "digest": made.digest, "seconds": took}
        parts = None if left_out is None else [part.to_json() for part in left_out]
        terminal.json_text({**found, "left_out": parts, **_tables(made)})
    for said in sentences(left_out or ()) if form != "json" else ():
        click.echo(said)


def _tables(made: Edition) -> dict[str, Any]:
    """Of several tables how many rows each has, and how many were nobody's."""
    rows = {name: {"rows": rows, "nobody": nobody} for name, (rows, nobody) in made.rows.items()}
    return {"tables": rows} if rows else {}


def _checked(policy: Policy) -> str | None:
    """Which state of the source was checked, and passed no limit."""
    from adomnia.review.check.examination import (  # noqa: PLC0415 (rare)
        check_source,
        refuse_no_limits,
    )
    from adomnia.review.check.tables_check import check_tables  # noqa: PLC0415 (rare)

    refuse_no_limits(policy)
    found = check_source(policy) if policy.several is None else check_tables(policy)
    found.enforce()
    return found.version


def _counted(policy: str, epsilon: Fraction | None) -> tuple[Omission, ...] | None:
    """What the edition leaves out, counted for this loss; None where nothing is paid for it."""
    if epsilon is None:
        return None
    with open_database(policy) as database:
        return database.measure_quality(epsilon)
