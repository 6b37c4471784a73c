"""What a database declares: its private tables and the views over them, for all who list them."""

from __future__ import annotations

from collections.abc import Mapping

from adomnia.curator.derived_backend import view_of
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import PolicyError, QuestionError
from adomnia.schema.domain import Open
from adomnia.schema.table import Attribute
from adomnia.schema.tables import PrivateTable, PrivateView

__all__ = ["private_tables", "private_views"]


def private_tables(backend: TableBackend) -> Mapping[str, PrivateTable]:
    """The private tables by name; one table has no key, and its unit is a column."""
    if backend.policy.several is not None:
        return backend.policy.several.tables.tables
    table = backend.table
    alone = PrivateTable(
        table.name, table.attributes, max_rows=table.max_rows, description=table.description
    )
    return {table.name: alone}


def private_views(backend: TableBackend) -> Mapping[str, PrivateView]:
    """The views that can be asked, by name; a column without a declared domain is open."""
    several = backend.policy.several
    if several is None:
        return {}
    found = {}
    for name, sql in several.views.items():
        try:
            view = view_of(backend, name)
        except (PolicyError, QuestionError):
            continue
        known = view.table.attributes
        columns = {c: known.get(c) or Attribute(c, Open()) for c in view.columns}
        found[name] = PrivateView(name, sql, columns, several.descriptions.get(name, ""))
    return found
