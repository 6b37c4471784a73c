"""Derived rows as the one table that a question is asked of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from adomnia.queries.row_columns import (
    attributes_of,
)
from adomnia.queries.rows import (
    OWNER,
    Rows,
    Scan,
    is_automatic,
    most_rows,
    unit_tables,
    units_of_row,
)
from adomnia.schema.table import Table
from adomnia.schema.tables import PrivateTable, Tables

__all__ = [
    "DerivedTable",
    "bounded_otherwise",
    "column_prefix",
    "derived_table",
    "owners_of",
    "single_table",
]


@dataclass(frozen=True)
class DerivedTable(Table):
    """Rows of several tables as the one table that a question is asked of; where there is but one,
    the rows are of that `base`."""

    rows: Rows | None = None
    base: Table | None = None
    owners: int = 1
    """To how many units a row belongs."""
    alike: bool = True
    """Whether two units of a row may be one."""
    automatic: bool = False
    """Whether the bound of a unit is found in the data."""


def column_prefix(table: Table) -> str:
    """What stands before the columns' names of one of several tables as it is; else nothing.

    >>> column_prefix(DerivedTable("", {}, rows=Scan("visits", "visits")))
    'visits.'
    """
    rows = table.rows if isinstance(table, DerivedTable) else None
    return f"{rows.name}." if isinstance(rows, Scan) else ""


def owners_of(table: Table) -> int:
    """To how many units a row of a table belongs."""
    return table.owners if isinstance(table, DerivedTable) else 1


def bounded_otherwise(table: Table, rows: int | None) -> bool:
    """Whether derived rows keep another number of a unit's rows than they are priced for."""
    return isinstance(table, DerivedTable) and rows != table.max_rows


def single_table(table: Table) -> Tables:
    """One table with a unit, as several are declared: the unit's column refers to nobody's table.

    >>> owned = single_table(Table("visits", {}, "person", 5))
    >>> owned.owners("visits"), owned.tables["visits"].max_rows
    ((('person',),), 5)
    """
    assert table.unit is not None
    private = PrivateTable(table.name, table.attributes, None, {table.unit: ""}, table.max_rows)
    return Tables({table.name: private}, ("",))


def derived_table(rows: Rows, tables: Tables, shared: Table) -> DerivedTable:
    """The table of these rows; public tables and bounds in groups are those of a `shared` one."""
    base = None if shared.name not in tables.tables else shared
    if isinstance(shared, DerivedTable):
        base = shared.base
    # That an attribute is not sensitive is said of stored rows: which rows are derived of them, and
    # what is missing there, may rest on others that are.
    attributes = {
        name: replace(attribute, sensitive=True)
        for name, attribute in attributes_of(rows, tables).items()
    }
    return DerivedTable(
        shared.name,
        attributes,
        OWNER,
        most_rows(rows, tables),
        shared.public,
        shared.max_groups,
        shared.max_rows_per_group,
        rows=rows,
        base=base,
        owners=units_of_row(rows, tables),
        alike=len({*unit_tables(rows, tables)}) == 1,
        automatic=is_automatic(rows, tables),
    )
