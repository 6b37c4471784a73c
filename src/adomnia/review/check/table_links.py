"""Keys of several tables as their sources have them: which repeat, and what refers to no row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from adomnia.curator.data.sources import engine_of
from adomnia.curator.policy_lines import located
from adomnia.engines.exact import LinkedTables, can_link, linked_tables, unit_rows
from adomnia.engines.key_facts import MatchedRows
from adomnia.policy.policy import Policy
from adomnia.policy.tables_section import DeclaredTables

__all__ = ["TableLinks", "count_links"]


@dataclass(frozen=True)
class TableLinks:
    """The key of a table and how many rows have one that an earlier row has; and for each column
    that refers to another table, which that is and how many rows find a row there.

    >>> links = TableLinks("id", 2, {"patient": ("patients", MatchedRows(10, 9))})
    >>> links.to_json()["references"][0]["refers_to_nobody"]
    1
    """

    key: str | None
    repeated: int = 0
    references: Mapping[str, tuple[str, MatchedRows]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """They as plain JSON values."""
        key = None if self.key is None else {"column": self.key, "repeated": self.repeated}
        listed = [
            {"column": column, "refers_to": other, "rows": found.rows,
             "refers_to_nobody": found.rows - found.matched}
            for column, (other, found) in self.references.items()
        ]  # fmt: skip
        return {"key": key, "references": listed}


def count_links(policy: Policy, several: DeclaredTables) -> dict[str, TableLinks]:
    """The keys and references of all tables, counted; references where an engine can match them."""
    repeated: dict[str, int] = {}
    links: LinkedTables | None = None
    try:
        for name, place in several.sources.items():
            source, table = policy.beside(place.source), several.tables.tables[name]
            with (
                located(policy, ("tables", name, "source")),
                closing(engine_of(source, place.relation, {}, policy.memory)) as engine,
            ):
                key = {} if table.key is None else unit_rows(engine, table.key)
                repeated[name] = sum((rows - 1) * values for rows, values in key.items())
                if links is None and can_link(engine):
                    links = linked_tables(engine, str(source))
                if links is not None:
                    links.add(name, engine, tuple(dict.fromkeys(table.names)))
        return {name: _found(several, name, repeated[name], links) for name in several.sources}
    finally:
        if links is not None:
            links.close()


def _found(
    several: DeclaredTables, name: str, repeated: int, links: LinkedTables | None
) -> TableLinks:
    tables = several.tables.tables
    table, found = tables[name], {}
    for column, other in table.references.items() if links is not None else ():
        assert links is not None
        key = tables[other].key
        assert key is not None
        found[column] = (other, links.match(name, column, other, key))
    return TableLinks(table.key, repeated, found)
