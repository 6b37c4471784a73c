"""What may be asked about: tables and columns with their public domains, and first questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from adomnia.curator.database import PrivateDatabase
from adomnia.formatting import amount, one_line
from adomnia.present.drawing.key_graph import KeyedTable, key_graph
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps, step_text
from adomnia.schema.table import Attribute, PublicTable, Table
from adomnia.schema.tables import PrivateTable, PrivateView, Tables

__all__ = ["ColumnListing", "TableListing", "examples", "keys_picture", "listings"]

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
    """The private tables and the public ones beside them; none of it comes from the data."""
    several = database.policy.several
    public = [
        TableListing(quoted(one.name), f"public; joined by {one.key}", tuple(_public_columns(one)))
        for one in database.table.public.values()
    ]
    if several is None:
        return [_alone(database.table), *public]
    private = [_keyed(table, several.tables) for table in database.tables.values()]
    return [*private, *map(_view, database.views.values()), *public]


def _alone(table: Table) -> TableListing:
    private = [_column(attribute) for attribute in table.attributes.values()]
    if table.unit is not None and table.unit not in table.attributes:
        private.append(
            ColumnListing(quoted(table.unit), "unit", "whose rows are protected together")
        )
    return TableListing(quoted(table.name), "private", tuple(private), table.description)


def _keyed(table: PrivateTable, tables: Tables) -> TableListing:
    """One of several private tables: the columns that name rows, then those that are declared."""
    names = [ColumnListing(quoted(table.key), "key", "names a row")] if table.key else []
    names += [
        ColumnListing(quoted(column), "key", f"names a row of {other}")
        for column, other in table.references.items()
    ]
    about, units = "private", " or ".join(tables.units)
    if table.name in tables.units:
        about += "; protected with all that refers to it"
    elif table.auto:
        about += f"; of one of {units} as many rows are used as a private search finds"
    else:
        about += f"; of one of {units} {_rows(table.max_rows)} used at most"
    columns = [_column(attribute) for attribute in table.attributes.values()]
    return TableListing(quoted(table.name), about, (*names, *columns), table.description)


def keys_picture(database: PrivateDatabase) -> str:
    """The picture of several private tables and their keys; of one there is none."""
    several = database.policy.several
    if several is None:
        return ""
    tables = several.tables
    drawn = {name: KeyedTable(_in_short(table, tables), table.references)
             for name, table in tables.tables.items()}  # fmt: skip
    return key_graph(drawn, "the private tables, and by which columns they refer to each other")


def _in_short(table: PrivateTable, tables: Tables) -> str:
    key = f"key {table.key}; " if table.key else ""
    if table.name in tables.units:
        return f"{key}the unit"
    return key + ("bound is found" if table.auto else f"{_rows(table.max_rows)} used")


def _rows(most: int) -> str:
    return "1 row is" if most == 1 else f"{most:,} rows are"


def _view(view: PrivateView) -> TableListing:
    columns = tuple(_column(attribute) for attribute in view.attributes.values())
    return TableListing(quoted(view.name), "private view", columns, view.description)


def _public_columns(table: PublicTable) -> Iterator[ColumnListing]:
    for name in table.columns:
        yield ColumnListing(quoted(name), "public", "key" if name == table.key else "")


def examples(database: PrivateDatabase) -> list[str]:
    """A few questions that this table can answer, to begin with."""
    several = database.policy.several
    if several is None:
        return list(_examples(database.table))
    return list(_joined_examples(several.tables))


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


def _joined_examples(tables: Tables) -> Iterator[str]:
    """A table alone, one joined with what it refers to, and a number for each unit."""
    alone = next(iter(tables.tables.values()))
    yield f"SELECT COUNT(*) AS n\nFROM {quoted(alone.name)}"
    for table in tables.tables.values():
        for column, other in table.references.items():
            goal = tables.tables[other]
            assert goal.key is not None
            here, there = quoted(table.name), quoted(other)
            listed = [n for n, a in goal.attributes.items() if isinstance(a.domain, Categories)]
            on = f"{here}.{quoted(column)} = {there}.{quoted(goal.key)}"
            if listed:
                by = f"{there}.{quoted(listed[0])}"
                start = f"SELECT {by}, COUNT(*) AS n\nFROM {here}\nJOIN {there} ON {on}"
                yield f"{start}\nGROUP BY {by}"
            if other in tables.units:
                inner = f"SELECT {quoted(column)}, COUNT(*) AS n FROM {here} GROUP BY 1"  # noqa: S608 (shown, not run)
                yield f"SELECT AVG(n) AS average\nFROM ({inner}) AS each"
            if listed:
                return


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
