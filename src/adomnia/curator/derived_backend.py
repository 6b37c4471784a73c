"""Derived rows as the one table that is asked: the same data and ledger, another bound."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from adomnia.curator.data.several_tables import several_of
from adomnia.curator.policy_lines import located
from adomnia.errors import PolicyError, QuestionError
from adomnia.queries.canonical import digest
from adomnia.queries.derived_table import derived_table, single_table
from adomnia.queries.rows import OWNER, Rows
from adomnia.queries.rows_record import rows_json
from adomnia.queries.searched_columns import searched_columns
from adomnia.queries.sql.bind import view_rows
from adomnia.schema.tables import Tables

if TYPE_CHECKING:
    from adomnia.curator.table_backend import TableBackend

__all__ = ["backend_over", "tables_of", "view_of"]


def backend_over(backend: TableBackend, rows: Rows) -> TableBackend:
    """The same data as the one table of these rows, bounded as they are; answers about other rows
    are not about these."""
    base, tables = backend.base, tables_of(backend)
    assert tables is not None
    if base.public()[1]:
        raise QuestionError(
            "something was released exactly: rows are not joined or computed for units then",
            "ask of the rows as they are; what is public ties those of several people",
        )
    base.take_last()
    made, table = copy(base), derived_table(rows, tables, base.table)
    made.table = table
    made.policy = replace(
        base.policy,
        neighbors=replace(base.policy.neighbors, rows=table.max_rows),
        attributes=table.attributes,
        unit=OWNER,
        owners=table.owners,
        automatic=table.automatic,
        searched=searched_columns(rows, tables),
        rows_stay=False,  # whatever the source is: rows are derived by what others hold
    )
    made.salt = digest([base.salt, rows_json(rows)])
    return made


def view_of(backend: TableBackend, name: str) -> TableBackend:
    """The same data as the one table that a view is."""
    several = several_of(backend.policy, backend.engine)
    if several is None or name not in several.views:
        views = [] if several is None else [*several.views]
        known = "the views are " + ", ".join(views) if views else "add [views.NAME] sql = …"
        raise PolicyError(f"there is no view {name!r}", known, str(backend.policy.file))
    with located(backend.policy, ("views", name, "sql")):
        rows = view_rows(name, backend.table, several)
    made = backend_over(backend, rows)
    if made.policy.automatic or made.policy.owners > 1:
        raise PolicyError(
            f"the rows of the view {name!r} have no declared bound",
            "say max_rows of each of its tables, and join on the unit's key",
            str(backend.policy.file),
        )
    made.table = replace(made.table, name=name)
    made.policy = replace(
        made.policy, several=None, table=name, relation=name, below=several.tables
    )
    made.view, made.shown = name, tuple(name for name, _ in rows.columns)
    made._binders = lru_cache(maxsize=64)(lambda _: lru_cache(maxsize=512)(made._bound))
    return made


def tables_of(backend: TableBackend) -> Tables | None:
    """The tables that rows are derived of; one, where that is all; None without a unit."""
    if backend.policy.several is not None:
        return backend.policy.several.tables
    shared = backend.base.table
    return None if shared.unit is None else single_table(shared)
