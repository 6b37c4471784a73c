"""Rows of several tables: what a question may join and compute for each unit before it is asked.

Every node gives rows that belong to one unit each, and those of a unit rest on its own rows alone:
a join has the same unit on both sides, and a group is of one unit, whatever else is written. How
many rows a unit has at most, and the number (`rank`) that each of them has, follows from the
tables' own bounds (`rows.md`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adomnia.limits import MOST_ROWS
from adomnia.queries.expression import Column, Expr, columns
from adomnia.schema.tables import Tables

__all__ = [
    "HERE",
    "KEY",
    "OWNER",
    "ROW",
    "Combined",
    "Filtered",
    "Joined",
    "Numbered",
    "PerUnit",
    "Projected",
    "Rows",
    "Scan",
    "Total",
    "all_scans",
    "is_automatic",
    "is_met_once",
    "is_one_group",
    "is_owner",
    "meets_one",
    "most_of_sides",
    "most_rows",
    "point_to",
    "pointer",
    "scans",
    "unit_tables",
    "units_of_row",
]

OWNER = "adomnia unit"
"""The column that names the unit of a row; each table has one of its own, too."""


def is_owner(name: str) -> bool:
    """Whether a column names a unit.

    >>> is_owner("visits.adomnia unit"), is_owner("visits.cost")
    (True, False)
    """
    return name == OWNER or name.endswith(f".{OWNER}")


ROW = "adomnia row"
"""The column that tells the rows of a unit apart: their ranks."""

HERE = "adomnia here"
"""Of what is joined from the left: whether there was something to join."""

MEAN_STEPS = 100
"""An average per unit is rounded down to such a part of the step of what is averaged."""


@dataclass(frozen=True)
class Scan:
    """The kept rows of a table; its columns are called by the name that it has here."""

    table: str
    name: str


@dataclass(frozen=True)
class Filtered:
    """Those of the rows for which a condition is true."""

    rows: Rows
    where: Expr


@dataclass(frozen=True)
class Joined:
    """Rows of both sides that have the same unit and agree in pairs of columns.

    With `outer`, the name of the right side, rows of the left that meet none stay, with NULLs and a
    `HERE` that is false. With `apart` the sides may be of two units: each row then belongs to both,
    and to the same twice where they are one.
    """

    left: Rows
    right: Rows
    pairs: tuple[tuple[Column, Column], ...] = ()
    outer: str | None = None
    apart: bool = False


@dataclass(frozen=True)
class Total:
    """What is computed of the rows of a group: their number (`count`, of those where the argument
    is not NULL), how many different values (`distinct`), `sum`, `avg`, `min`, `max`; or the value
    of the `first` or `last` of them by another one, of equal ones by their ranks; with `known`, of
    those that have one."""

    kind: str
    argument: Expr | None = None
    by: Expr | None = None
    known: bool = False


@dataclass(frozen=True)
class PerUnit:
    """A row for each unit, or for each group of a unit's rows by the keys, with totals."""

    rows: Rows
    name: str
    keys: tuple[tuple[str, Expr], ...] = ()
    totals: tuple[tuple[str, Total], ...] = ()


@dataclass(frozen=True)
class Projected:
    """The same rows with columns of their own, under plain names: a view."""

    rows: Rows
    columns: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True)
class Combined:
    """Rows of two sides under each other, or (`union`, `intersect`, `except`) of each unit the
    different values of all columns that either side, both, or the left one alone has of it.

    A column has an expression for each side; `all` keeps every row.
    """

    left: Rows
    right: Rows
    name: str
    columns: tuple[tuple[str, Expr, Expr], ...]
    kind: str = "all"


@dataclass(frozen=True)
class Numbered:
    """The same rows with a column `ROW` that no two rows of a unit share."""

    rows: Rows
    name: str


Rows = Scan | Filtered | Joined | PerUnit | Projected | Combined | Numbered


# How many units a row has, and how many rows a unit


def unit_tables(rows: Rows, tables: Tables) -> tuple[str, ...]:
    """The table of each unit that a row belongs to."""
    if isinstance(rows, Scan):
        return tuple(tables.unit_of(rows.table, path) for path in tables.owners(rows.table))
    if isinstance(rows, Filtered | PerUnit | Projected | Numbered):
        return unit_tables(rows.rows, tables)
    if isinstance(rows, Combined):
        return max((unit_tables(side, tables) for side in (rows.left, rows.right)), key=len)
    left, right = unit_tables(rows.left, tables), unit_tables(rows.right, tables)
    return left + right if rows.apart else max(left, right, key=len)


def units_of_row(rows: Rows, tables: Tables) -> int:
    """To how many units a row belongs; more than two, where nothing can be promised."""
    return len(unit_tables(rows, tables))


def most_rows(rows: Rows, tables: Tables) -> int:
    """How many rows of one unit there are at most; their ranks are no larger."""
    if isinstance(rows, Scan):
        return tables.tables[rows.table].max_rows
    if isinstance(rows, Filtered | Projected | Numbered):
        return most_rows(rows.rows, tables)
    if isinstance(rows, Combined):
        return most_combined(rows, tables)
    if isinstance(rows, PerUnit):
        return 1 if is_one_group(rows, tables) else most_rows(rows.rows, tables)
    return _most_joined(rows, tables)


def _most_joined(rows: Joined, tables: Tables) -> int:
    left, right = most_rows(rows.left, tables), most_rows(rows.right, tables)
    if rows.apart:  # one unit's row may meet rows of everybody: this is where a search ends
        return max(left * right, MOST_ROWS)
    if meets_one(rows, tables):
        return left
    if is_met_once(rows, tables):
        return right if rows.outer is None else right + left * (left > 1)
    return left * right


def most_combined(rows: Combined, tables: Tables) -> int:
    """How many rows of one unit two sides have together."""
    if rows.kind != "all" and not rows.columns:
        return 1
    left, right = most_of_sides(rows, tables)
    return {"except": left, "intersect": min(left, right)}.get(rows.kind, left + right)


def most_of_sides(rows: Combined, tables: Tables) -> tuple[int, int]:
    """How many different rows of one unit each side has at most."""
    bounds = []
    for place, side in enumerate((rows.left, rows.right)):
        read = {column.name for _, *both in rows.columns for column in columns(both[place])}
        single = rows.kind != "all" and read <= set(_constant(side, tables))
        bounds.append(1 if single else most_rows(side, tables))
    return bounds[0], bounds[1]


def is_one_group(rows: PerUnit, tables: Tables) -> bool:
    """Whether a unit has one group at most: its keys are the same in all rows of a unit."""
    read = {column.name for _, key in rows.keys for column in columns(key)}
    return not read or read <= set(_constant(rows.rows, tables))


def _constant(rows: Rows, tables: Tables) -> Iterator[str]:
    """Columns of which a unit has one value at most, as far as it has rows."""
    if isinstance(rows, Scan) and tables.tables[rows.table].max_rows == 1:
        names = tables.tables[rows.table].attributes
        yield from (f"{rows.name}.{name}" for name in names)
    elif isinstance(rows, Filtered | Numbered):
        yield from _constant(rows.rows, tables)
    elif isinstance(rows, Combined) and most_combined(rows, tables) == 1:
        yield from (f"{rows.name}.{name}" for name, *_ in rows.columns)
    elif isinstance(rows, Joined):
        yield from _constant(rows.left, tables)
        if rows.outer is None:
            yield from _constant(rows.right, tables)
    elif isinstance(rows, PerUnit) and is_one_group(rows, tables):
        yield from (f"{rows.name}.{name}" for name, _ in (*rows.keys, *rows.totals))


def multiplies(joined: Joined, tables: Tables) -> bool:
    """Whether rows of both sides may meet several of the other."""
    return not meets_one(joined, tables) and not is_met_once(joined, tables)


def meets_one(joined: Joined, tables: Tables) -> bool:
    """Whether each row of the left side meets one of the right at most."""
    return _is_single(joined.right, [right for _, right in joined.pairs], joined, tables)


def is_met_once(joined: Joined, tables: Tables) -> bool:
    """Whether each row of the right side meets one of the left at most."""
    return _is_single(joined.left, [left for left, _ in joined.pairs], joined, tables)


def _is_single(side: Rows, by: list[Column], joined: Joined, tables: Tables) -> bool:
    """Whether a unit has one row at most with these values of these columns.

    So it is where groups are told apart by them; and where one is the key of a table that the
    other side points to: the pointers, not the values, are compared then.
    """
    if isinstance(side, Filtered | Numbered):
        return _is_single(side.rows, by, joined, tables)
    if isinstance(side, Combined):
        names = {f"{side.name}.{name}" for name, *_ in side.columns}
        return side.kind != "all" and names <= {column.name for column in by}
    if isinstance(side, PerUnit):
        return {f"{side.name}.{key}" for key, _ in side.keys} <= {column.name for column in by}
    pointed = (point_to(pair, joined, tables) for pair in joined.pairs)
    keys = {found[1] for found in pointed if found is not None}
    return any(
        f"{scan.name}.{KEY}" in keys and _is_once(side, scan, tables) for scan in scans(side)
    )


def _is_once(rows: Rows, scan: Scan, tables: Tables) -> bool:
    """Whether each row of a table is in one of these rows at most."""
    if isinstance(rows, Filtered | Numbered):
        return _is_once(rows.rows, scan, tables)
    if not isinstance(rows, Joined):
        return rows == scan
    if scan in scans(rows.left):
        single = most_rows(rows.right, tables) == 1 or meets_one(rows, tables)
        return single and _is_once(rows.left, scan, tables)
    single = most_rows(rows.left, tables) == 1 or is_met_once(rows, tables)
    return single and _is_once(rows.right, scan, tables)


KEY = "adomnia key"
"""The column with the number of a keyed row, which rows that refer to it have."""


def pointer(column: str) -> str:
    """The column with the number of the row that another one refers to."""
    return f"adomnia to {column}"


def point_to(pair: tuple[Column, Column], joined: Joined, tables: Tables) -> tuple[str, str] | None:
    """The columns with the pointer and the key, where a pair is a declared reference."""
    for column, other in (pair, pair[::-1]):
        for child in scans(joined):
            named = column.name.removeprefix(f"{child.name}.")
            goal = tables.tables[child.table].references.get(named)
            if goal is None or column.name != f"{child.name}.{named}":
                continue
            for parent in scans(joined):
                key = OWNER if goal in tables.units else tables.tables[parent.table].key
                if parent.table == goal and other.name == f"{parent.name}.{key}":
                    return f"{child.name}.{pointer(named)}", f"{parent.name}.{KEY}"
    return None


def scans(rows: Rows) -> Iterator[Scan]:
    """The tables whose columns are there."""
    if isinstance(rows, Scan):
        yield rows
    elif isinstance(rows, Filtered | Numbered):
        yield from scans(rows.rows)
    elif isinstance(rows, Joined):
        yield from scans(rows.left)
        yield from scans(rows.right)


def all_scans(rows: Rows) -> Iterator[Scan]:
    """All tables that are read, also where groups are made of their rows."""
    if isinstance(rows, Scan):
        yield rows
    elif isinstance(rows, Filtered | PerUnit | Projected | Numbered):
        yield from all_scans(rows.rows)
    else:
        yield from all_scans(rows.left)
        yield from all_scans(rows.right)


def is_automatic(rows: Rows, tables: Tables) -> bool:
    """Whether the number of a unit's rows is bounded by what is found in the data."""
    if isinstance(rows, Scan):
        return tables.tables[rows.table].auto
    if isinstance(rows, Filtered | Projected | Numbered):
        return is_automatic(rows.rows, tables)
    if isinstance(rows, PerUnit):
        return not is_one_group(rows, tables) and is_automatic(rows.rows, tables)
    if isinstance(rows, Combined) and most_combined(rows, tables) == 1:
        return False
    return is_automatic(rows.left, tables) or is_automatic(rows.right, tables)
