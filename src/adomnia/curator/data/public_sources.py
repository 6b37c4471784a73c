"""Public tables beside the data, read whole; none of them is private, however it is written."""

from __future__ import annotations

from pathlib import Path

from adomnia.engines.public_tables import read_rows
from adomnia.engines.source_files import holds
from adomnia.errors import PolicyError
from adomnia.limits import MAX_PUBLIC_ROWS
from adomnia.policy.policy import Policy, line_of
from adomnia.schema.table import PublicTable

__all__ = ["read_public"]


def _refuse_private(policy: Policy, name: str, file: Path) -> None:
    """Refuse a public table that is one of the private ones, however it is written."""
    private = {policy.table: policy.source} if policy.source else {}
    if policy.several is not None:
        private = {table: part.source for table, part in policy.several.sources.items()}
    for table, source in private.items():
        if "://" not in source and holds(policy.beside(source), file):
            raise PolicyError(
                f"the public table {name!r} is the private table {table!r}",
                f"leave out [public.{name}]",
                str(policy.file),
                line_of(policy, ("public", name, "source")),
            )


def read_public(policy: Policy) -> dict[str, PublicTable]:
    """The public tables, read whole: everybody may know them."""
    found = {}
    for name, public in policy.public.items():
        _refuse_private(policy, name, Path(policy.beside(public.source)))
        columns, rows = read_rows(policy.beside(public.source), MAX_PUBLIC_ROWS)
        if public.key not in columns:
            raise PolicyError(f"the public table {name!r} has no column {public.key!r}", "",
                              str(policy.file))  # fmt: skip
        keys = [row[columns.index(public.key)] for row in rows]
        if len(set(keys)) != len(keys):
            message = f"the key of the public table {name!r} is not unique"
            raise PolicyError(message, "a join must not make several rows of one", str(policy.file))
        found[name] = PublicTable(name, public.key, columns, rows)
    return found
