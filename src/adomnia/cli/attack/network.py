"""`adomnia attack network`: accounts planted in a network without names, and friends in it."""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.present import findings, terminal

__all__ = ["network"]


@click.command("network", short_help="Planted accounts, or friends, in a network without names.")
@click.argument("file")
@click.option("--accounts", type=click.IntRange(2, 40), default=7, show_default=True, metavar="K",
              help="How many are planted.")  # fmt: skip
@click.option("--targets", type=click.IntRange(1), default=50, show_default=True, metavar="N",
              help="People whose edges are read.")  # fmt: skip
@click.option("--friends", type=click.IntRange(2, 40), metavar="K",
              help="Plant nothing: a user and K - 1 friends look for themselves.")  # fmt: skip
@click.option("--counts", is_flag=True, help="The friends also compare whom they know together.")
@options.trials(100)
@options.seed
@options.names
@options.limit
@options.policy_unused
@options.form
def network(file: str, form: str, **told: Any) -> None:
    """Attack a network whose names were removed: a file of edges, two numbers a line.

    \b
    Examples:
      adomnia attack network friends.edges.gz
      adomnia attack network friends.edges.gz --friends 8
    """
    from adomnia.audit.networks.attacks import NetworkAttack  # noqa: PLC0415 (slow to import)

    published = NetworkAttack.read([file])
    with terminal.progress("attacking"):
        found = NetworkAttack(**told).run(published)
    findings.tell(found, form, told["names"])
