"""Loading: a source is read once into an edition, or looked at by its curator as it is now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from adomnia.curator.data.editions import Edition, Editions, Tell
from adomnia.curator.ledger_view import open_journal
from adomnia.curator.policy_lines import located
from adomnia.curator.table_backend import check_columns, in_place, table_of
from adomnia.engines.engine import Engine
from adomnia.errors import MachineryError, PolicyError
from adomnia.policy.policy import Policy, line_of
from adomnia.schema.table import Table

__all__ = ["load_edition", "opened_source"]


@contextmanager
def opened_source(policy: Policy, source: Any = None) -> Iterator[tuple[Engine, Table]]:
    """The source as it is now, and the table that it holds, for a curator who looks at it."""
    table = table_of(policy)
    with closing(in_place(policy, table, source)) as engine:
        yield engine, table


def load_edition(policy: Policy, tell: Tell | None = None, checked: str | None = None) -> Edition:
    """Read the source of a policy: a new edition, in force from now on wherever it is asked.

    Where the source was `checked`, as its version tells, another one is not put in force.
    """
    if policy.in_place:
        raise PolicyError(
            "data that is read in place has no editions: each question reads the source as it is",
            "leave out in_place in [data] (docs/sources.md says what each promises)",
            str(policy.file),
            line_of(policy, ("data", "in_place")),
        )
    table = table_of(policy) if policy.several is None else policy.several.tables
    said = ("data", "source") if policy.several is None else ("tables",)
    with located(policy, said), (editions := Editions(policy)).alone() as writer:
        draft = editions.write(writer, table, partial(check_columns, policy), tell)
        if checked is not None and writer.source_version() not in (checked, None):
            raise MachineryError("the source changed after it was checked", "load it again")
        with closing(open_journal(policy)) as journal:
            return editions.publish(draft, journal)
