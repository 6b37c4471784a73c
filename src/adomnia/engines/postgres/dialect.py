"""PostgreSQL's dialect: it has no cast that gives NULL, so what would fail is tested before.

A column is read as one of few types (`read`), text always in the collation "C", which compares
bytes. `coding.md` says what each value means and why nothing here can fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from adomnia.engines.sql.dialect import Dialect, Pairs, literal, whole_text
from adomnia.engines.sql.text_formats import (
    DAY,
    FAR,
    MANTISSA,
    PLAIN,
    SPACES,
    USUAL,
    ZERO,
    truth_of,
)
from adomnia.queries.calendar import EPOCH
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth

__all__ = ["PostgresDialect"]

_KINDS = {
    r"smallint|integer|bigint": "integer",
    r"numeric\([12]?[0-9]{1,2},0\)": "integer",
    r"numeric.*": "decimal",
    r"real|double precision": "real",
    r"boolean": "boolean",
    r"date": "date",
    r"timestamp.*": "moment",
    r".*": "text",
}


class PostgresDialect(Dialect):
    """SQL as PostgreSQL speaks it; `folding` is the collation whose letters ILIKE knows."""

    wide = "NUMERIC"
    double = "DOUBLE PRECISION"
    names = {Number: "BIGINT", Text: "TEXT", Day: "DATE", Moment: "BIGINT", Truth: "BOOLEAN"}  # noqa: RUF012
    barrier = " OFFSET 0"

    def __init__(self, folding: str = "C") -> None:
        self._folding = folding

    def family(self, declared: str) -> str:
        """The kind of a column that is declared so; what is nothing else is read as text."""
        array = declared.endswith("]")
        found = (kind for form, kind in _KINDS.items() if re.fullmatch(form, declared, re.DOTALL))
        return "text" if array else next(found)

    def read(self, name: str, declared: str) -> str:
        """A column as the types above know it: text compared by bytes, moments in UTC."""
        column, kind = self.quoted(name), self.family(declared)
        text = {
            "text": f'CAST({column} AS TEXT) COLLATE "C"',
            "moment": f"CAST({column} AS TIMESTAMP)",
            "real": f"CAST({column} AS DOUBLE PRECISION)",
        }.get(kind, column)
        if kind == "integer" and declared.startswith("numeric"):
            text = f"NULLIF({column}, 'NaN')"
        return f"{text} AS {column}"

    # Safe casts

    def number(self, column: str, kind: str) -> str:
        """A column as floating point; infinities and NaN stay."""
        return {
            "integer": f"CAST({column} AS DOUBLE PRECISION)",
            "real": column,
            "decimal": _from_decimal(column),
            "boolean": f"CAST(CAST({column} AS INTEGER) AS DOUBLE PRECISION)",
            "text": _from_text(column, self._trimmed(column)),
        }.get(kind, "CAST(NULL AS DOUBLE PRECISION)")

    def integer(self, column: str, kind: str) -> str:
        """A column as 64-bit whole numbers, rounded; NULL beyond them."""
        if kind in ("integer", "decimal"):
            return _whole(f"CAST({column} AS NUMERIC)")
        if kind == "real":
            return f"CASE WHEN {column} BETWEEN -9e18 AND 9e18 THEN CAST({column} AS BIGINT) END"
        if kind == "boolean":
            return f"CAST(CAST({column} AS INTEGER) AS BIGINT)"
        if kind == "text":
            text = self._trimmed(column)
            whole = f"WHEN {_is_number(text)} THEN {_whole(_digits(text, 'NUMERIC'))}"
            return f"CASE {whole} WHEN {_short(text)} AND {text} ~* {literal(ZERO)} THEN 0 END"
        return "CAST(NULL AS BIGINT)"

    def truth(self, column: str, kind: str) -> str:
        """A column as truth values."""
        return truth_of(column, kind)

    def day(self, column: str, kind: str) -> str:
        """A column as days; of a text with a time, the day that is written."""
        if kind == "text":
            return _day(self._trimmed(column))
        if kind == "moment":
            return f"CAST({column} AS DATE)"
        return column if kind == "date" else "CAST(NULL AS DATE)"

    def knows_zone(self, declared: str) -> bool:
        """Whether moments of a column that is declared so are moments of the world, in UTC."""
        return declared.endswith("with time zone")

    def clock(self, column: str, declared: str) -> str:
        """A column of moments as whole seconds since the first of the year 1."""
        return f"CAST(FLOOR(EXTRACT(EPOCH FROM {column})) + {EPOCH} AS BIGINT)"

    def usual_moment(self, column: str) -> str:
        """A text such as 2024-03-01 12:00:00 as seconds; NULL for every other text."""
        seconds = self.clock(f"CAST({column} AS TIMESTAMP)", "timestamp")
        return f"CASE WHEN {column} ~ {literal(USUAL)} THEN {seconds} END"

    def trimmed(self, column: str) -> str:
        """A text without spaces around it."""
        return self._trimmed(column)

    def captured(self, text: str, pattern: str) -> str:
        """The digits in the first group of a regular expression as a number."""
        return f"CAST(SUBSTRING({text} FROM {self.constant(pattern)}) AS INTEGER)"

    def let(self, name: str, value: str, body: Callable[[str], str]) -> str:
        """A value under a name, in a subquery of one row."""
        variable, row = self.quoted(f"adomnia {name}"), self.quoted(f"adomnia row {name}")
        return f"(SELECT {body(variable)} FROM (SELECT {value} AS {variable} OFFSET 0) AS {row})"

    def words(self, column: str, kind: str) -> str:
        """A column as text that is compared byte by byte."""
        return column if kind == "text" else f'(CAST({column} AS TEXT) COLLATE "C")'

    def _trimmed(self, column: str) -> str:
        return f"BTRIM({column}, {literal(SPACES)})"

    # Numbers

    def rounded(self, number: str) -> str:
        """Halves away from zero: doubling is exact, and so are decimals; ROUND of a double is not
        this rounding."""
        return f"CAST(ROUND(CAST(TRUNC(2 * ({number})) AS BIGINT) * 0.5) AS BIGINT)"

    def quotient(self, numerator: str, denominator: str) -> str:
        """The quotient of whole numbers, cut towards zero; the denominator is not zero."""
        return f"({numerator} / {denominator})"

    def near(self, number: str, step: float) -> str:
        """A number, zero where it rounds to no step: a quotient that underflows is an error."""
        if step <= 1:
            return number  # it is multiplied by no less than one
        return f"CASE WHEN ABS({number}) < {step / 4!r} THEN 0 ELSE {number} END"

    # Constants and tables of values

    def constant(self, value: Any) -> str:
        """A constant; no text has a NUL here, so in one it becomes a sign that is never used."""
        if isinstance(value, str):
            return literal(whole_text(value).replace("\0", "\ufdd0"))
        return literal(value)

    def typed(self, value: Any, spread: Range) -> str:
        """A constant with the type of its range; text with its collation."""
        if value is not None and isinstance(spread, Text):
            return f'(CAST({self.constant(value)} AS TEXT) COLLATE "C")'
        return super().typed(value, spread)

    def lookup(self, argument: str, pairs: Pairs, ranges: tuple[Range, Range]) -> str:
        """What the argument stands for, by its place in an array."""
        keys, values = (
            ", ".join(self.typed(pair[side], ranges[side]) for pair in pairs) for side in (0, 1)
        )
        return f"(ARRAY[{values}])[ARRAY_POSITION(ARRAY[{keys}], {argument})]"

    # Text, days, units

    def like(self, text: str, pattern: str, ignore_case: bool) -> str:
        """Whether a text matches a pattern of LIKE, in which a backslash escapes."""
        if ignore_case:
            text = f"({text} COLLATE {self.quoted(self._folding)})"
        word = "ILIKE" if ignore_case else "LIKE"
        return f"({text} {word} {self.constant(pattern)} ESCAPE '\\')"

    def truncated(self, unit: str, day: str) -> str:
        """The first day of the week, month, quarter or year."""
        return f"CAST(DATE_TRUNC('{unit}', CAST({day} AS TIMESTAMP)) AS DATE)"

    def order(self, columns: Sequence[str]) -> str:
        """A hash of the row's text."""
        return f'(MD5(CAST(ROW({", ".join(columns)}) AS TEXT)) COLLATE "C")'

    # The survey

    def distinct(self, column: str) -> str:
        """How many values a column has."""
        return f"COUNT(DISTINCT {column})"

    def places(self, number: str) -> str:
        """How many decimal places a finite number has."""
        return f"SCALE(TRIM_SCALE(CAST(CAST({number} AS TEXT) AS NUMERIC)))"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a text has a part that matches a regular expression."""
        return f"{text} ~ {self.constant(pattern)}"


def _whole(number: str) -> str:
    ends = "-9223372036854775808 AND 9223372036854775807"
    return f"CASE WHEN ROUND({number}) BETWEEN {ends} THEN CAST(ROUND({number}) AS BIGINT) END"


def _from_decimal(column: str) -> str:
    """A decimal as a double: what is too large or too small for one is brought inside first."""
    inside = f"LEAST(GREATEST({column}, -1e308), 1e308)"
    return (
        f"CASE WHEN {column} = 'NaN' THEN CAST('NaN' AS DOUBLE PRECISION) "
        f"WHEN {column} BETWEEN -1e-300 AND 1e-300 THEN 0 "
        f"WHEN {column} IS NOT NULL THEN CAST({inside} AS DOUBLE PRECISION) END"
    )


def _is_number(text: str) -> str:
    """Whether a text is a number with an exponent of at most two digits, and short."""
    form = f"^[+-]?{MANTISSA}([eE][+-]?0*[0-9]{{1,2}})?$"
    return f"{_short(text)} AND {text} ~ {literal(form)}"


def _short(text: str) -> str:
    return f"LENGTH({text}) <= {FAR}"


def _digits(text: str, target: str) -> str:
    return f"CAST(REPLACE({text}, '_', '') AS {target})"


def _from_text(column: str, text: str) -> str:
    """A text as a double; an exponent of three digits stands for infinity, or for zero."""
    far = {
        ZERO: "0",
        f"^[+]?({MANTISSA}e[+]?[0-9]+|inf(inity)?)$": "'infinity'",
        f"^-({MANTISSA}e[+]?[0-9]+|inf(inity)?)$": "'-infinity'",
        "^[+-]?nan$": "'NaN'",
    }
    whens = " ".join(f"WHEN {text} ~* {literal(form)} THEN {value}" for form, value in far.items())
    return (
        f"CASE WHEN {column} ~ {literal(PLAIN)} THEN CAST({column} AS DOUBLE PRECISION) "
        f"WHEN {_is_number(text)} THEN {_digits(text, 'DOUBLE PRECISION')} "
        f"WHEN NOT {_short(text)} THEN NULL {whens} END"
    )


def _day(text: str) -> str:
    """A text as a day. The year 0 and those before it are as far away as can be."""
    year, month, day = (
        f"CAST(SUBSTRING({text} FROM '^{'[0-9]+[-/]' * place}([0-9]+)') AS INTEGER)"
        for place in range(3)
    )
    found = f"(MAKE_DATE(GREATEST({year}, 1), {month}, 1) + {day} - 1)"
    # The 30th of February would be a day of March.
    real = f"CASE WHEN EXTRACT(MONTH FROM {found}) = {month} THEN {found} END"
    before = f"CASE WHEN {year} = 0 THEN DATE '-infinity' ELSE {real} END"
    return (
        f"CASE WHEN NOT {_short(text)} THEN NULL WHEN {text} ~ {literal(DAY)} THEN {before} "
        f"WHEN {text} ~* '^inf(inity)?$' THEN DATE 'infinity' "
        f"WHEN {text} ~* '^-inf(inity)?$' THEN DATE '-infinity' END"
    )
