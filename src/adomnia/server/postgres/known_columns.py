"""What is declared of a column that a statement names, whichever table it is of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from adomnia.curator.database import PrivateDatabase
from adomnia.schema.domain import Grid
from adomnia.schema.table import Attribute

__all__ = ["KnownColumns"]

COUNTED, AVERAGED = Grid(Fraction(0), Fraction(1)), Grid(Fraction(0), Fraction(1), Fraction(1, 100))
"""What stands for a number that a subquery counts or averages."""


class KnownColumns:
    """The declared attributes, looked up by the names in a statement."""

    def __init__(self, database: PrivateDatabase) -> None:
        self._database = database

    @cached_property
    def _attributes(self) -> Mapping[str, Mapping[str, Attribute]]:
        """The attributes of each table and view."""
        tables = {t.name.lower(): t.attributes for t in self._database.tables.values()}
        return tables | {v.name.lower(): v.attributes for v in self._database.views.values()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(dict.fromkeys(n for part in self._attributes.values() for n in part))

    def __call__(self, column: exp.Column) -> Attribute | None:
        """What is declared of a column: of the table that it is said to be of, of what a subquery
        computes under its name, or of any table here that has such a column."""
        tables = list(column.root().find_all(exp.Table))
        said = [t for t in tables if t.alias_or_name.lower() == column.table.lower()]
        return (
            self._declared(column.name, said)
            or (_computed(column, self) if column.table else None)
            or self._declared(column.name, tables)
            or _computed(column, self)
        )

    def _declared(self, name: str, tables: Sequence[exp.Table]) -> Attribute | None:
        listed = (self._attributes.get(table.name.lower(), {}) for table in tables)
        return next((part[name] for part in listed if name in part), None)


def _computed(column: exp.Column, known: KnownColumns) -> Attribute | None:
    """What a subquery computes under a column's name, as far as its values go."""
    for alias in column.root().find_all(exp.Alias):
        if alias.alias.lower() != column.name.lower():
            continue
        if isinstance(alias.this, exp.Count):
            return Attribute(column.name, COUNTED)
        if isinstance(alias.this, exp.Avg):
            return Attribute(column.name, AVERAGED)
        tables = list(column.root().find_all(exp.Table))
        read = (known._declared(c.name, tables) for c in alias.this.find_all(exp.Column))
        return next((found for found in read if found is not None), None)
    return None
