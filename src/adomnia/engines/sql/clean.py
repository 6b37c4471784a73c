"""Cleaning: whatever stands in a column becomes a value of its declared domain, or NULL.

The meaning is fixed by the policy and the column's type: numbers are rounded to their step and
clamped, NaN is NULL, text that is no number is NULL, a value outside a list goes to `other` or
is NULL. No value can raise an error (`clean.md`).
"""

from __future__ import annotations

from fractions import Fraction

from adomnia.engines.sql.dialect import Dialect
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open

__all__ = ["clamped", "clean", "known"]

LONG = 200
"""A text of more signs is not repeated more often than it must be."""


def clean(name: str, domain: Domain, declared: str, dialect: Dialect) -> str:
    """The SQL of a column's cleaned value; a number comes out as its index on the grid."""
    column, kind = dialect.quoted(name), dialect.family(declared)
    if kind == "other":
        column, kind = dialect.words(column, kind), "text"
    if isinstance(domain, Grid):
        return _grid(column, domain, kind, dialect)
    if isinstance(domain, Dates):
        return _dates(dialect.day(column, kind), domain, dialect)
    if isinstance(domain, Open):
        return dialect.words(column, kind)
    return _categories(column, domain, kind, dialect)


def known(number: str, dialect: Dialect) -> str:
    """Whether it is a number; a comparison with NULL is not true, and NaN is above infinity."""
    return f"{number} <= CAST('infinity' AS {dialect.double})"


def _grid(column: str, grid: Grid, kind: str, dialect: Dialect) -> str:
    low, high = int(grid.low / grid.step), int(grid.high / grid.step)
    if kind == "integer" and grid.step == 1:
        return f"CAST({clamped(column, str(low), str(high))} AS BIGINT)"
    if kind in ("date", "moment"):
        return "CAST(NULL AS BIGINT)"
    number = dialect.number(column, kind)
    near = dialect.near(number, float(grid.step))
    inside = f"LEAST(GREATEST({near}, {_double(grid.low, dialect)}), {_double(grid.high, dialect)})"
    if (1 / grid.step).denominator == 1:
        scaled = f"{inside} * {_double(1 / grid.step, dialect)}"
    else:
        scaled = f"{inside} / {_double(grid.step, dialect)}"
    index = f"LEAST(GREATEST({dialect.rounded(scaled)}, {low}), {high})"
    return f"CASE WHEN {known(number, dialect)} THEN {index} END"


def _double(number: Fraction, dialect: Dialect) -> str:
    return f"CAST({float(number)!r} AS {dialect.double})"


def _dates(day: str, dates: Dates, dialect: Dialect) -> str:
    low, high = dialect.constant(dates.low), dialect.constant(dates.high)
    if len(day) <= LONG:
        return clamped(day, low, high)
    return f"CASE WHEN {day} IS NOT NULL THEN LEAST(GREATEST({day}, {low}), {high}) END"


def clamped(value: str, low: str, high: str) -> str:
    """The SQL of a value between two bounds; NULL stays NULL."""
    # NULL meets no test and stays; without a branch for it an engine sees that the result is
    # between the bounds, and adds up and multiplies such numbers about twice as fast.
    return (
        f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"
    )


def _categories(column: str, categories: Categories, kind: str, dialect: Dialect) -> str:
    read = {bool: dialect.truth, int: dialect.integer, str: dialect.words}
    value = read[type(categories.values[0])](column, kind)
    listed = ", ".join(dialect.constant(member) for member in categories.values)
    if categories.other is None:
        return f"CASE WHEN {value} IN ({listed}) THEN {value} END"
    target = dialect.names[type(from_domain(categories))]
    other = f"CAST({dialect.constant(categories.other)} AS {target})"
    return (
        f"CASE WHEN {value} IN ({listed}) THEN {value} WHEN {column} IS NOT NULL THEN {other} END"
    )
