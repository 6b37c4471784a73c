"""Several private tables as statements see them: which there are, and what columns they have."""

from __future__ import annotations

from adomnia.engines.sql.tables_engine import TablesEngine
from adomnia.policy.policy import Policy
from adomnia.queries.sql.bind import Several

__all__ = ["several_of"]


def several_of(policy: Policy, engine: object) -> Several | None:
    """The tables that a statement may name, with their columns and the views over them; None where
    there is one."""
    if policy.several is None or not isinstance(engine, TablesEngine):
        return None
    tables = policy.several.tables
    columns = {name: tuple(engine.columns_of(name)) for name in tables.tables}
    return Several(tables, columns, policy.several.views)
