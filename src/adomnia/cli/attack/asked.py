"""Whom an attack asks: the options of verbs that ask, and the database that they say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from adomnia.cli import options
from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.policy.policy import read_policy
from adomnia.review.rehearsal import rehearsal

__all__ = ["asking", "attacked"]


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
