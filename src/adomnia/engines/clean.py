"""Cleaning: whatever stands in a column becomes a value of its declared domain, or NULL.

The meaning is fixed by the policy and the column's type: numbers are rounded to their step and
clamped, NaN is NULL, text that is no number is NULL, a value outside a list goes to `other` or
is NULL. No value can raise an error (`clean.md`).
"""

from __future__ import annotations

from fractions import Fraction

from adomnia.engines.literals import literal, quoted
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open

__all__ = ["clean", "family", "loaded"]

_FAMILIES = {
    "integer": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
                "UINTEGER", "UBIGINT"),
    "real": ("DOUBLE", "FLOAT", "REAL", "UHUGEINT"),  # 128 bits without sign compare with no other
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
    if name.endswith("]"):
        return "other"
    if name.startswith("DECIMAL"):
        return "real"
    return "moment" if name.startswith("TIMESTAMP") else "other"


def clean(name: str, domain: Domain, declared: str) -> str:
    """The SQL of a column's cleaned value; a number comes out as its index on the grid."""
    column, kind = quoted(name), family(declared)
    if kind == "other":
        column, kind = f"TRY_CAST({column} AS VARCHAR)", "text"
    if isinstance(domain, Grid):
        return _grid(column, domain, kind)
    if isinstance(domain, Dates):
        return _dates(column, domain, kind)
    if isinstance(domain, Open):
        return column if kind == "text" else f"CAST({column} AS VARCHAR)"
    return _categories(column, domain, kind)


def loaded(name: str, domain: Domain | None) -> str:
    """The SQL that gives a text column of a CSV file the type its domain wants.

    What `clean` makes of it later is what it would have made of the text.
    """
    column = quoted(name)
    if isinstance(domain, Dates):
        return f"{_text_date(column)} AS {column}"
    if isinstance(domain, Categories) and domain.other is None and _type(domain) != "VARCHAR":
        return f"TRY_CAST({column} AS {_type(domain)}) AS {column}"
    if not isinstance(domain, Grid):
        return column
    number = _text_number(column)
    if domain.step == 1:
        # A domain ends at 10^15, so what lies beyond is clamped there or here alike.
        inside = f"CAST(ROUND(LEAST(GREATEST({number}, -2e15), 2e15)) AS BIGINT)"
        number = f"CASE WHEN {_known(number)} THEN {inside} END"
    return f"{number} AS {column}"


def _known(number: str) -> str:
    """Whether it is a number; a comparison with NULL is not true, and NaN is above infinity."""
    return f"{number} <= CAST('infinity' AS DOUBLE)"


def _text_number(column: str) -> str:
    return f"TRY_CAST(TRIM({column}) AS DOUBLE)"


def _grid(column: str, grid: Grid, kind: str) -> str:
    low, high = int(grid.low / grid.step), int(grid.high / grid.step)
    if kind == "integer" and grid.step == 1:
        return f"CAST({_clamped(column, str(low), str(high))} AS BIGINT)"
    if kind not in ("integer", "real", "text", "boolean"):
        return "CAST(NULL AS BIGINT)"
    number = _text_number(column) if kind == "text" else f"CAST({column} AS DOUBLE)"
    inside = f"LEAST(GREATEST({number}, {_double(grid.low)}), {_double(grid.high)})"
    whole = (1 / grid.step).denominator == 1
    scaled = f"{inside} * {_double(1 / grid.step)}" if whole else f"{inside} / {_double(grid.step)}"
    index = f"LEAST(GREATEST(CAST(ROUND({scaled}) AS BIGINT), {low}), {high})"
    return f"CASE WHEN {_known(number)} THEN {index} END"


def _double(number: Fraction) -> str:
    return f"CAST({float(number)!r} AS DOUBLE)"


def _text_date(column: str) -> str:
    moment = f"TRY_CAST(TRY_CAST(TRIM({column}) AS TIMESTAMP) AS DATE)"
    return f"COALESCE(TRY_CAST(TRIM({column}) AS DATE), {moment})"


def _dates(column: str, dates: Dates, kind: str) -> str:
    forms = {"date": column, "text": _text_date(column), "moment": f"TRY_CAST({column} AS DATE)"}
    if kind not in forms:
        return "CAST(NULL AS DATE)"
    return _clamped(forms[kind], literal(dates.low), literal(dates.high))


def _clamped(value: str, low: str, high: str) -> str:
    # Most rows lie inside, and are done with the first test; NULL meets none.
    outside = f"WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high}"
    return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} {outside} END"


def _type(categories: Categories) -> str:
    first = categories.values[0]
    if isinstance(first, bool):
        return "BOOLEAN"
    return "BIGINT" if isinstance(first, int) else "VARCHAR"


def _categories(column: str, categories: Categories, kind: str) -> str:
    target = _type(categories)
    same = (kind, target) in (("text", "VARCHAR"), ("boolean", "BOOLEAN"))
    value = column if same else f"TRY_CAST({column} AS {target})"
    listed = ", ".join(literal(member) for member in categories.values)
    if categories.other is None:
        return f"CASE WHEN {value} IN ({listed}) THEN {value} END"
    other = f"CAST({literal(categories.other)} AS {target})"
    return (
        f"CASE WHEN {value} IN ({listed}) THEN {value} WHEN {column} IS NOT NULL THEN {other} END"
    )
