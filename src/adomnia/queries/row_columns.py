"""Columns of derived rows: their names, and what is declared of their values or follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from adomnia.queries.expression import Call, Column, Expr
from adomnia.queries.operations import LIMIT
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth, union
from adomnia.queries.rows import (
    HERE,
    MEAN_STEPS,
    OWNER,
    ROW,
    Combined,
    Filtered,
    Numbered,
    PerUnit,
    Projected,
    Rows,
    Scan,
    Total,
    most_rows,
)
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open, Timestamps
from adomnia.schema.table import Attribute
from adomnia.schema.tables import Tables

__all__ = [
    "attributes_of",
    "column_names",
    "combined_range",
    "domain_of",
    "total_range",
]


def column_names(rows: Rows, listed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The names of all columns, where those of each table are these."""
    if isinstance(rows, Scan):
        return tuple(f"{rows.name}.{name}" for name in (*listed[rows.table], OWNER))
    if isinstance(rows, Filtered):
        return column_names(rows.rows, listed)
    if isinstance(rows, Projected):
        return tuple(name for name, _ in rows.columns)
    if isinstance(rows, Numbered):
        return (*column_names(rows.rows, listed), f"{rows.name}.{ROW}")
    if isinstance(rows, PerUnit | Combined):
        made = (*rows.keys, *rows.totals) if isinstance(rows, PerUnit) else rows.columns
        names = (*(name for name, *_ in made), OWNER)
        return tuple(f"{rows.name}.{name}" for name in names)
    here = () if rows.outer is None else (f"{rows.outer}.{HERE}",)
    return (*column_names(rows.left, listed), *column_names(rows.right, listed), *here)


def attributes_of(rows: Rows, tables: Tables) -> dict[str, Attribute]:
    """The columns whose values are declared, or follow from such."""
    if isinstance(rows, Scan):
        declared = tables.tables[rows.table].attributes
        return {
            f"{rows.name}.{name}": replace(attribute, name=f"{rows.name}.{name}")
            for name, attribute in declared.items()
        }
    if isinstance(rows, Filtered):
        return attributes_of(rows.rows, tables)
    if isinstance(rows, PerUnit | Projected):
        return _computed(rows, tables)
    if isinstance(rows, Numbered):
        name, most = f"{rows.name}.{ROW}", most_rows(rows.rows, tables)
        row = Attribute(name, Grid(Fraction(1), Fraction(most)))
        return {**attributes_of(rows.rows, tables), name: row}
    if isinstance(rows, Combined):
        return _of_both(rows, tables)
    found = attributes_of(rows.left, tables)
    for name, attribute in attributes_of(rows.right, tables).items():
        found[name] = replace(attribute, nullable=attribute.nullable or rows.outer is not None)
    if rows.outer is not None:
        name = f"{rows.outer}.{HERE}"
        found[name] = Attribute(name, Categories((False, True)))
    return found


def _of_both(rows: Combined, tables: Tables) -> dict[str, Attribute]:
    inner, found = [attributes_of(side, tables) for side in (rows.left, rows.right)], {}
    for short, *both in rows.columns:
        name, domain = f"{rows.name}.{short}", domain_of(combined_range(*both))
        shown = [_may_be_null(expr, inner[at]) for at, expr in enumerate(both)]
        if None not in shown and not isinstance(domain, Open):
            found[name] = Attribute(name, domain, any(shown))
    return found


def _may_be_null(expr: Expr, inner: Mapping[str, Attribute]) -> bool | None:
    """Whether NULL is a group of an expression; None where it is a column that is not declared."""
    plain = expr.args[0] if isinstance(expr, Call) and expr.op == "inside" else expr
    if not isinstance(plain, Column):
        return expr.range.nullable
    return inner[plain.name].nullable if plain.name in inner else None


def _computed(rows: PerUnit | Projected, tables: Tables) -> dict[str, Attribute]:
    inner, found = attributes_of(rows.rows, tables), {}
    made = (
        rows.columns
        if isinstance(rows, Projected)
        else [(f"{rows.name}.{name}", key) for name, key in rows.keys]
    )
    for full, key in made:
        if isinstance(key, Column):  # of a column that is not declared nothing is known
            if key.name in inner:
                found[full] = replace(inner[key.name], name=full)
        elif not isinstance(domain := domain_of(key.range), Open):
            found[full] = Attribute(full, domain, key.range.nullable)
    if isinstance(rows, Projected):
        return found
    most = most_rows(rows.rows, tables)
    for name, total in rows.totals:
        full, spread = f"{rows.name}.{name}", total_range(total, most)
        found[full] = Attribute(full, domain_of(spread), spread.nullable)
    return found


def combined_range(left: Expr, right: Expr) -> Range:
    """What a column of two sides holds; a ValueError where they are of two kinds."""
    both = union(left.range, right.range)
    if both is None:
        raise ValueError("the columns are of different types")
    return replace(both, nullable=True, ragged=False)


def total_range(total: Total, most: int) -> Range:
    """What a total of at most so many rows can be."""
    if total.kind in ("count", "distinct"):
        return Number(0, most, nullable=False)
    assert total.argument is not None
    spread = replace(total.argument.range, nullable=True, ragged=False)
    if total.kind == "sum" and isinstance(spread, Number):
        low, high = min(0, spread.low * most), max(0, spread.high * most)
        if max(-low, high) > LIMIT:
            raise ValueError("the sum of a unit's rows can be too large")
        return Number(low, high, spread.step)
    if total.kind == "avg" and isinstance(spread, Number):
        fine = Fraction(1, MEAN_STEPS)
        return Number(spread.low * MEAN_STEPS, spread.high * MEAN_STEPS, spread.step * fine)
    return spread


def domain_of(spread: Range) -> Domain:
    """The domain that a range is coded by."""
    if isinstance(spread, Number):
        return Grid(spread.low * spread.step, spread.high * spread.step, spread.step)
    if isinstance(spread, Text):
        return Open() if spread.values is None else Categories(spread.values)
    if isinstance(spread, Truth):
        return Categories((False, True))
    if isinstance(spread, Day):
        return Dates(spread.low, spread.high)
    assert isinstance(spread, Moment)
    return Timestamps(spread.low, spread.high, spread.step)
