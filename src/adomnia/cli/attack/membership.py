"""`adomnia attack membership`: who is in the data, by releases with and without them."""

from __future__ import annotations

from typing import Any

import click

from adomnia.cli import options
from adomnia.policy.policy import read_policy
from adomnia.present import findings, terminal
from adomnia.review.microdata.microdata_steps import MicrodataCase, attack_members
from adomnia.review.rehearsal import rehearsal

__all__ = ["membership"]


@click.command("membership", short_help="Who is in the data, by releases with and without them.")
@click.argument("release")
@options.shadows
@options.seed
@options.limit
@options.view
@options.policy
@options.form
def membership(release: str, view: str | None, policy: str, form: str, **how: Any) -> None:
    """Make a release again with and without some people, and learn to tell who is in.

    RELEASE is the folder that `adomnia release --microdata` wrote. The releases are made in
    memory by the same code, for nothing, and are thrown away.

    \b
    Examples:
      adomnia attack membership tables --shadows 32
    """
    case = MicrodataCase(release, **how)
    with (
        rehearsal(read_policy(policy), view=view) as database,
        terminal.progress("making releases", total=1) as bar,
    ):
        found = attack_members(case, database, bar)
    findings.tell(found, form)
