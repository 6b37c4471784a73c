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
    return epsilon(analyst(spend(options.limit(options.view(options.policy(options.form(verb)))))))


@contextmanager
def attacked(policy: str, spend: bool, view: str | None) -> Iterator[PrivateDatabase]:
    """The database that is asked, or a view over its tables: a rehearsal, or the real one where it
    may be spent."""
    if not spend:
        with rehearsal(read_policy(policy), view=view) as copy:
            yield copy
        return
    with open_database(policy) as database:
        yield database if view is None else database.view(view)
