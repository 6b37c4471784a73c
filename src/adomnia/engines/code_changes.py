"""How far the shares of columns have moved, from how many rows had each code and have it now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adomnia.engines.source_facts import ChangedColumn, CodeCounts
from adomnia.schema.domain import Categories, Domain, Value
from adomnia.schema.table import Table

__all__ = ["codes_of", "moved_columns"]

FREQUENT = 10
"""So many of the most frequent new values are named."""


def codes_of(domain: Categories) -> dict[Any, Value]:
    """The values of a list by their codes: a text has its place, numbers and truths themselves."""
    if isinstance(domain.values[0], str):
        return dict(enumerate(domain.members))
    return {member: member for member in domain.members}


def moved_columns(table: Table, before: CodeCounts, now: CodeCounts) -> list[ChangedColumn]:
    """How far the shares of each column have moved, and which listed values are new."""
    return [
        _moved(name, table.attributes[name].domain, before.columns[name], now.columns[name])
        for name in now.columns
        if name in before.columns
    ]


def _moved(
    name: str, domain: Domain, before: Mapping[int | None, int], now: Mapping[int | None, int]
) -> ChangedColumn:
    wholes = [max(1, sum(counts.values())) for counts in (before, now)]
    apart = sum(abs(now.get(code, 0) / wholes[1] - before.get(code, 0) / wholes[0])
                for code in before.keys() | now.keys())  # fmt: skip
    if not isinstance(domain, Categories):
        return ChangedColumn(name, apart / 2, 0, ())
    values = codes_of(domain)
    new = [(str(values[code]), many) for code, many in now.items()
           if code in values and not before.get(code)]  # fmt: skip
    frequent = sorted(new, key=lambda pair: (-pair[1], pair[0]))[:FREQUENT]
    return ChangedColumn(name, apart / 2, len(new), frequent)
