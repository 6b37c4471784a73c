"""What the verbs of attacks share: whom they ask, and how a finding is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.policy.policy import read_policy
from adomnia.present import terminal
from adomnia.present.findings import success_text
from adomnia.review.rehearsal import rehearsal

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["LATE", "asking", "attacked", "tell"]

LATE = "it was ended before it was done: this is what there was by then"


def asking(verb: options.Verb) -> options.Verb:
    """The options of attacks that ask the policy's own database."""
    analyst = click.option("--analyst", metavar="NAME", help="Who asks; the curator if not given.")
    spend = click.option("--spend", is_flag=True, help="Spend the real budget, not a copy's.")
    epsilon = click.option(
        "--epsilon", default="0.1", show_default=True, metavar="E", help="Of each question."
    )
    return epsilon(analyst(spend(options.limit(options.policy(options.form(verb))))))


@contextmanager
def attacked(policy: str, spend: bool) -> Iterator[PrivateDatabase]:
    """The database that is asked: a rehearsal, or the real one where it may be spent."""
    opened = open_database(policy) if spend else rehearsal(read_policy(policy))
    with opened as database:
        yield database


def tell(found: Finding, form: str, named: bool = False) -> None:
    """Print a finding; who and what exactly only where names were asked for."""
    facts = found.to_json() if named else found.without_names()
    if form == "json":
        terminal.json_text(facts)
        return
    screen = terminal.console()
    screen.print(formatting.one_line(found.claim), style="bold")
    rows = [
        ("success", success_text(found)),
        ("affected", found.affected),
        ("promise", "covers this" if found.covered else "does not cover this"),
        ("remedy", found.remedy),
        ("source", found.source),
    ]
    for name, text in rows:
        screen.print(f"  {name:<9}{formatting.one_line(text)}")
    if not found.complete:
        screen.print(LATE, style="yellow")
    for key in sorted(set(facts["details"]) - set(found.without_names()["details"])):
        screen.print(
            f"  {key}: {formatting.one_line(str(facts['details'][key]), 2000)}", style="red"
        )
