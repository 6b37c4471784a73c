"""What may be asked about: tables and columns with their public domains, and first questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from adomnia.curator.database import PrivateDatabase
from adomnia.formatting import amount, one_line
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps, step_text
from adomnia.schema.table import Attribute, PublicTable, Table

__all__ = ["ColumnListing", "TableListing", "examples", "listings"]

MOST_VALUES = 12


@dataclass(frozen=True)
class ColumnListing:
    """A column: its name as SQL writes it, what kind it is, and which values it may take; and what
    it is in the curator's words."""

    name: str
    kind: str
    values: str
    description: str = ""


@dataclass(frozen=True)
class TableListing:
    """A table with its columns, and what it is."""

    name: str
    about: str
    columns: tuple[ColumnListing, ...]
    description: str = ""


def listings(database: PrivateDatabase) -> list[TableListing]:
    """The private table and the public ones beside it; none of it comes from the data."""
    table = database.table
    private = [_column(attribute) for attribute in table.attributes.values()]
    if table.unit is not None and table.unit not in table.attributes:
        private.append(
            ColumnListing(quoted(table.unit), "unit", "whose rows are protected together")
        )
    public = [
        TableListing(quoted(one.name), f"public; joined by {one.key}", tuple(_public_columns(one)))
        for one in table.public.values()
    ]
    listing = TableListing(quoted(table.name), "private", tuple(private), table.description)
    return [listing, *public]


def _public_columns(table: PublicTable) -> Iterator[ColumnListing]:
    for name in table.columns:
        yield ColumnListing(quoted(name), "public", "key" if name == table.key else "")


def examples(database: PrivateDatabase) -> list[str]:
    """A few questions that this table can answer, to begin with."""
    return list(_examples(database.table))


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    plain = name.isidentifier() and name.isascii() and name == name.lower()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _examples(table: Table) -> Iterator[str]:
    where = quoted(table.name)
    listed = [n for n, a in table.attributes.items() if isinstance(a.domain, Categories)]
    numbers = [n for n, a in table.attributes.items() if isinstance(a.domain, Grid)]
    yield f"SELECT COUNT(*) AS n\nFROM {where}"
    if listed:
        by = quoted(listed[0])
        yield f"SELECT {by}, COUNT(*) AS n\nFROM {where}\nGROUP BY {by}"
    if listed and numbers:
        by, mean = quoted(listed[-1]), quoted(numbers[-1])
        yield (
            f"SELECT {by}, AVG({mean}) AS average, COUNT(*) AS n\n"
            f"FROM {where}\nGROUP BY {by}\nORDER BY average DESC"
        )


def _column(attribute: Attribute) -> ColumnListing:
    kind, values = _domain(attribute.domain)
    values = f"{values}, or NULL" if attribute.nullable else values
    return ColumnListing(quoted(attribute.name), kind, values, attribute.description)


def _bound(end: Fraction) -> str:
    return f"{int(end):,}" if end.denominator == 1 else amount(end)


def _domain(domain: Domain) -> tuple[str, str]:
    if isinstance(domain, Categories):
        shown = ", ".join(one_line(str(value), 24) for value in domain.members[:MOST_VALUES])
        more = len(domain.members) - MOST_VALUES
        return "category", f"{shown} and {more} more" if more > 0 else shown
    if isinstance(domain, Grid):
        steps = "" if domain.step == 1 else f" in steps of {amount(domain.step)}"
        return "number", f"{_bound(domain.low)} to {_bound(domain.high)}{steps}"
    if isinstance(domain, Dates):
        return "date", f"{domain.low} to {domain.high}"
    if isinstance(domain, Timestamps):
        steps = f"in steps of {step_text(domain.step)}, {domain.zone}"
        return "timestamp", f"{domain.low} to {domain.high} {steps}"
    return "text", "values are not public"
