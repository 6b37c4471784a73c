"""Sources: which engine holds the data, and the public tables beside it."""

from __future__ import annotations

from adomnia.curator.policy import Policy
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.engine import Engine
from adomnia.engines.public import read_rows
from adomnia.errors import PolicyError
from adomnia.schema.table import PublicTable

__all__ = ["open_engine", "read_public"]

MAX_PUBLIC = 100_000


def open_engine(policy: Policy) -> Engine:
    """The engine for the policy's source."""
    if "://" in policy.source:
        kind = policy.source.split("://")[0]
        raise PolicyError(f"a source at {kind}:// is not supported yet",
                          "use a CSV, Parquet or DuckDB file", str(policy.file))  # fmt: skip
    domains = {name: attribute.domain for name, attribute in policy.attributes.items()}
    return DuckDB(policy.beside(policy.source), policy.table, domains)


def read_public(policy: Policy) -> dict[str, PublicTable]:
    """The public tables, read whole: everybody may know them."""
    found = {}
    for name, public in policy.public.items():
        columns, rows = read_rows(policy.beside(public.source), MAX_PUBLIC)
        if public.key not in columns:
            raise PolicyError(f"the public table {name!r} has no column {public.key!r}", "",
                              str(policy.file))  # fmt: skip
        keys = [row[columns.index(public.key)] for row in rows]
        if len(set(keys)) != len(keys):
            message = f"the key of the public table {name!r} is not unique"
            raise PolicyError(message, "a join must not make several rows of one", str(policy.file))
        found[name] = PublicTable(name, public.key, columns, rows)
    return found
