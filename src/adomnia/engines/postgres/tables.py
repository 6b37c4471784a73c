"""The tables that a role may read on a server, for whoever drafts a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adomnia.engines.engine import quietly
from adomnia.engines.postgres.connections import reading_pool
from adomnia.errors import PolicyError
from adomnia.storage.address import shown_address

__all__ = ["tables"]

_TABLES = """
SELECT n.nspname || '.' || c.relname,
       (SELECT COUNT(*) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          AND has_column_privilege(c.oid, a.attnum, 'SELECT'))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY 1
"""


def tables(url: str) -> Mapping[str, int]:
    """The tables by their names with a schema, and how many of their columns may be read."""
    place = shown_address(url)

    def unreadable(kind: str) -> PolicyError:
        hint = "is the server up, and are host, database, role and password right?"
        return PolicyError(f"the tables at {place} cannot be listed ({kind})", hint)

    pool = reading_pool(url)
    try:
        return quietly(lambda: _listed(pool), unreadable)
    finally:
        pool.close()


def _listed(pool: Any) -> dict[str, int]:
    with pool.connection() as connection:
        return {str(name): int(many) for name, many in connection.execute(_TABLES).fetchall()}
