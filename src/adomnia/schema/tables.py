"""Several private tables: their keys, what refers to what, and to which unit each row belongs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adomnia.schema.table import Attribute

__all__ = ["OwnerPath", "PrivateTable", "PrivateView", "Tables"]

OwnerPath = tuple[str, ...]
"""The columns by which a row's owner is found: each refers to the next table, the last to a unit.
Empty for the table of the units itself."""


@dataclass(frozen=True)
class PrivateTable:
    """One of several private tables.

    Its `key` names its rows, and a column of `references` holds the key of a row of another table.
    At most `max_rows` rows of one unit are used; where they are found `auto`matically, that is the
    end of the search.

    >>> visits = PrivateTable("visits", {}, "id", {"patient": "patients"}, max_rows=50)
    >>> visits.references, visits.auto
    ({'patient': 'patients'}, False)
    """

    name: str
    attributes: Mapping[str, Attribute]
    key: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    max_rows: int = 1
    auto: bool = False
    description: str = field(default="", compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that name rows: its key, and those that refer to others."""
        return (*(() if self.key is None else (self.key,)), *self.references)


@dataclass(frozen=True)
class PrivateView:
    """A view over several private tables: its statement, and its columns with what is known of
    their values.

    >>> PrivateView("stays", "SELECT ward FROM visits", {}).name
    'stays'
    """

    name: str
    sql: str
    attributes: Mapping[str, Attribute]
    description: str = field(default="", compare=False)


@dataclass(frozen=True)
class Tables:
    """The private tables by name, and those whose rows are units: what refers to one belongs to
    it.

    >>> people = PrivateTable("people", {}, key="id")
    >>> visits = PrivateTable("visits", {}, key="id", references={"person": "people"})
    >>> notes = PrivateTable("notes", {}, references={"visit": "visits"})
    >>> several = Tables({t.name: t for t in (people, visits, notes)}, ("people",))
    >>> several.owners("notes"), several.owners("people"), list(several.in_order())
    ((('visit', 'person'),), ((),), ['people', 'visits', 'notes'])
    """

    tables: Mapping[str, PrivateTable]
    units: tuple[str, ...]

    def owners(self, name: str) -> tuple[OwnerPath, ...]:
        """The ways from a table to the units; where there are two, a row belongs to two units."""
        if name in self.units:
            return ((),)
        table = self.tables[name]
        return tuple(
            (column, *path)
            for column, other in table.references.items()
            for path in self.owners(other)
        )

    def unit_of(self, name: str, path: OwnerPath) -> str:
        """The table of units at the end of a way."""
        for column in path:
            name = self.tables[name].references[column]
        return name

    @property
    def unit_name(self) -> str:
        """What the units are called: by their tables, or by the column that names them."""
        columns = (c for t in self.tables.values() for c, goal in t.references.items() if not goal)
        return " or ".join(filter(None, self.units)) or next(columns, "")

    def in_order(self) -> Iterator[str]:
        """The tables, each after those that it refers to."""
        done: dict[str, None] = {}
        while len(done) < len(self.tables):
            for name, table in self.tables.items():
                if name not in done and all(other in done for other in table.references.values()):
                    done[name] = None
        yield from done
