"""Cleaning: whatever stands in a column becomes a value of its declared domain, or NULL.

The meaning is fixed by the policy and the column's type: numbers are rounded to their step and
clamped, NaN is NULL, text that is no number is NULL, a value outside a list goes to `other` or
is NULL. No value can raise an error.
"""

from __future__ import annotations

from fractions import Fraction

from adomnia.engines.translate import literal, quoted
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open

__all__ = ["clean", "family", "loaded"]

_FAMILIES = {
    "integer": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
                "UINTEGER", "UBIGINT", "UHUGEINT"),
    "real": ("DOUBLE", "FLOAT", "REAL"),
    "text": ("VARCHAR",),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
}  # fmt: skip


def family(declared: str) -> str:
    """The family of a column's type: integer, real, text, boolean, date, moment or other."""
    name = declared.upper()
    for found, names in _FAMILIES.items():
        if name in names:
            return found
    if name.startswith("DECIMAL"):
        return "real"
    return "moment" if name.startswith("TIMESTAMP") else "other"


def clean(name: str, domain: Domain, declared: str) -> str:
    """The SQL of a column's cleaned value; a number comes out as its index on the grid."""
    column, kind = quoted(name), family(declared)
    if isinstance(domain, Grid):
        return _grid(column, domain, kind)
    if isinstance(domain, Dates):
        return _dates(column, domain, kind)
    if isinstance(domain, Open):
        return column if kind == "text" else f"TRY_CAST({column} AS VARCHAR)"
    return _categories(column, domain, kind)


def loaded(name: str, domain: Domain | None) -> str:
    """The SQL that gives a text column of a CSV file the type its domain wants."""
    column = quoted(name)
    if isinstance(domain, Dates):
        return f"{_text_date(column)} AS {column}"
    if isinstance(domain, Grid):
        number = f"TRY_CAST(TRIM({column}) AS DOUBLE)"
        if domain.step.denominator == 1:
            bounded = f"LEAST(GREATEST({number}, -1e15), 1e15)"
            number = (
                f"CASE WHEN {_missing(number)} THEN NULL ELSE CAST(ROUND({bounded}) AS BIGINT) END"
            )
        return f"{number} AS {column}"
    return column


def _missing(number: str) -> str:
    return f"{number} IS NULL OR ISNAN({number})"


def _grid(column: str, grid: Grid, kind: str) -> str:
    low, high = int(grid.low / grid.step), int(grid.high / grid.step)
    if kind == "integer" and grid.step == 1:
        bounded = f"CASE WHEN {column} < {low} THEN {low} WHEN {column} > {high} THEN {high} ELSE {column} END"
        return f"CAST({bounded} AS BIGINT)"
    if kind not in ("integer", "real", "text", "boolean"):
        return "CAST(NULL AS BIGINT)"
    number = f"CAST({column} AS DOUBLE)"
    if kind == "text":
        number = f"TRY_CAST(TRIM({column}) AS DOUBLE)"
    inside = f"LEAST(GREATEST({number}, {_double(grid.low)}), {_double(grid.high)})"
    scaled = (
        f"{inside} * {_double(1 / grid.step)}"
        if (1 / grid.step).denominator == 1
        else f"{inside} / {_double(grid.step)}"
    )
    index = f"LEAST(GREATEST(CAST(ROUND({scaled}) AS BIGINT), {low}), {high})"
    return f"CASE WHEN {_missing(number)} THEN NULL ELSE {index} END"


def _double(number: Fraction) -> str:
    return f"CAST({float(number)!r} AS DOUBLE)"


def _text_date(column: str) -> str:
    moment = f"TRY_CAST(TRY_CAST(TRIM({column}) AS TIMESTAMP) AS DATE)"
    return f"COALESCE(TRY_CAST(TRIM({column}) AS DATE), {moment})"


def _dates(column: str, dates: Dates, kind: str) -> str:
    forms = {"date": column, "text": _text_date(column), "moment": f"TRY_CAST({column} AS DATE)"}
    if kind not in forms:
        return "CAST(NULL AS DATE)"
    day, low, high = forms[kind], literal(dates.low), literal(dates.high)
    return f"CASE WHEN {day} < {low} THEN {low} WHEN {day} > {high} THEN {high} ELSE {day} END"


def _categories(column: str, categories: Categories, kind: str) -> str:
    first = categories.values[0]
    target = (
        "BOOLEAN" if isinstance(first, bool) else "BIGINT" if isinstance(first, int) else "VARCHAR"
    )
    same = (kind == "text" and target == "VARCHAR") or (kind == "boolean" and target == "BOOLEAN")
    value = column if same else f"TRY_CAST({column} AS {target})"
    listed = ", ".join(literal(member) for member in categories.values)
    other = literal(categories.other) if categories.other is not None else f"CAST(NULL AS {target})"
    missing = "" if categories.other is None else f" WHEN {value} IS NULL THEN NULL"
    return f"CASE WHEN {value} IN ({listed}) THEN {value}{missing} ELSE {other} END"
