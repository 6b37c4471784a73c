"""Tables: the private one with its attributes and its unit, and public ones beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adomnia.schema.domain import Domain

__all__ = ["Attribute", "PublicTable", "Table"]


@dataclass(frozen=True)
class Attribute:
    """A column and its public domain; `nullable` makes NULL a visible group of its own.

    What is not `sensitive` is public by the curator's word, for the releases that use it. The
    `description` is for people, and nothing rests on it.
    """

    name: str
    domain: Domain
    nullable: bool = False
    sensitive: bool = True
    description: str = field(default="", compare=False)


@dataclass(frozen=True)
class PublicTable:
    """A table that everybody may read, joined to the private one on a unique key."""

    name: str
    key: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Table:
    """The private table: its attributes by name, and whose rows are protected together.

    Of one unit at most `max_rows` rows are used; in a question with GROUP BY in at most
    `max_groups` groups, at most `max_rows_per_group` in one of them.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     table = database.table
    >>> table.name, table.attributes["sex"].domain.values
    ('people', ('F', 'M'))
    """

    name: str
    attributes: Mapping[str, Attribute]
    unit: str | None = None
    max_rows: int = 1
    public: Mapping[str, PublicTable] = field(default_factory=dict)
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    description: str = field(default="", compare=False)
