"""Spark's dialect: out of ANSI mode what has no value is NULL, and nothing fails.

It is written for a session with the settings of `spark_sessions.py`. What text means is said by
the same regular expressions as for PostgreSQL; Java's compare code points, so both read alike.
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
    NUMBER,
    SPACES,
    USUAL,
    ZERO,
    truth_of,
)
from adomnia.queries.calendar import EPOCH
from adomnia.queries.operations import like_regex
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth

__all__ = ["SPARK", "SparkDialect"]

_KINDS = {
    r"tinyint|smallint|int|bigint|decimal\(\d+,0\)": "integer",
    r"decimal\(.*": "decimal",
    r"float|double": "real",
    r"boolean": "boolean",
    r"date": "date",
    r"timestamp(_ntz|_ltz)?": "moment",
    r"string( collate \w+)?|(var)?char\(\d+\)": "text",
}


class SparkDialect(Dialect):
    """SQL as Spark speaks it."""

    wide = "DECIMAL(38,0)"
    double = "DOUBLE"
    names = {Number: "BIGINT", Text: "STRING", Day: "DATE", Moment: "BIGINT", Truth: "BOOLEAN"}  # noqa: RUF012

    def family(self, declared: str) -> str:
        """The kind of a column that is declared so; structs, lists, maps and bytes are other."""
        found = (kind for form, kind in _KINDS.items() if re.fullmatch(form, declared))
        return next(found, "other")

    def read(self, name: str, declared: str) -> str:
        """A column as the kinds know it: text compared by bytes, and so is what is other."""
        column, kind = self.quoted(name), self.family(declared)
        if kind == "other":
            return f"CAST({column} AS STRING) AS {column}"
        if declared.startswith("char"):  # padded with spaces to its length, which mean nothing
            return f"RTRIM(CAST({column} AS STRING COLLATE UTF8_BINARY)) AS {column}"
        if kind == "text" and declared != "string":
            return f"CAST({column} AS STRING COLLATE UTF8_BINARY) AS {column}"
        return column

    # Safe casts

    def number(self, column: str, kind: str) -> str:
        """A column as floating point; infinities and NaN stay."""
        if kind == "text":
            return self._from_text(_trimmed(column))
        numeric = kind in ("integer", "real", "decimal", "boolean")
        return f"CAST({column if numeric else 'NULL'} AS DOUBLE)"

    def integer(self, column: str, kind: str) -> str:
        """A column as 64-bit whole numbers, rounded; NULL beyond them."""
        if kind in ("integer", "decimal"):
            return _whole(column)
        if kind == "real":
            inside = f"{column} BETWEEN -9e18 AND 9e18"
            return f"CASE WHEN {inside} THEN CAST(RINT({column}) AS BIGINT) END"
        if kind == "boolean":
            return f"CAST({column} AS BIGINT)"
        if kind == "text":
            text = _trimmed(column)
            near = f"^[+-]?{MANTISSA}([eE][+-]?0*[0-9]{{1,2}})?$"
            whole = f"WHEN {self.matches(text, near)} THEN {_whole(_digits(text))}"
            return f"CASE {whole} WHEN {self.matches(text, f'(?i){ZERO}')} THEN 0L END"
        return "CAST(NULL AS BIGINT)"

    def truth(self, column: str, kind: str) -> str:
        """A column as truth values."""
        return truth_of(column, kind)

    def day(self, column: str, kind: str) -> str:
        """A column as days; of a text with a time, the day that is written."""
        if kind == "text":
            return self._day(_trimmed(column))
        if kind == "moment":
            return f"CAST({column} AS DATE)"
        return column if kind == "date" else "CAST(NULL AS DATE)"

    def knows_zone(self, declared: str) -> bool:
        """Whether moments of a column that is declared so are moments of the world, in UTC."""
        return declared != "timestamp_ntz"

    def clock(self, column: str, declared: str) -> str:
        """A column of moments as whole seconds since the first of the year 1."""
        return f"((UNIX_MICROS(CAST({column} AS TIMESTAMP)) + {EPOCH * 10**6}L) DIV 1000000)"

    def usual_moment(self, column: str) -> str:
        """A text such as 2024-03-01 12:00:00 as seconds; NULL for every other text."""
        usual = f"LENGTH({column}) <= 19 AND {self.matches(column, USUAL)}"
        return f"CASE WHEN {usual} THEN {self.clock(column, 'timestamp')} END"

    def trimmed(self, column: str) -> str:
        """A text without spaces around it."""
        return _trimmed(column)

    def captured(self, text: str, pattern: str) -> str:
        """The digits in the first group of a regular expression as a number."""
        return f"CAST(REGEXP_EXTRACT({text}, {self.constant(pattern)}, 1) AS INT)"

    def let(self, name: str, value: str, body: Callable[[str], str]) -> str:
        """A value under a name."""
        variable = self.quoted(f"adomnia {name}")
        return f"TRANSFORM(ARRAY({value}), {variable} -> {body(variable)})[0]"

    def months_later(self, day: str, months: int) -> str:
        """The day so many months after another, at most the last of its month."""
        return f"ADD_MONTHS({day}, {months})"

    def words(self, column: str, kind: str) -> str:
        """A column as text, NULL where its bytes are none."""
        if kind in ("text", "other"):
            return f"TRY_VALIDATE_UTF8({column})"
        return f"TRY_CAST({column} AS STRING)"  # CAST writes a decimal zero as 0E-9

    def _from_text(self, text: str) -> str:
        return f"CASE WHEN {self.matches(text, NUMBER)} THEN CAST({_digits(text)} AS DOUBLE) END"

    def _day(self, text: str) -> str:
        """A text as a day; MAKE_DATE gives NULL for the 30th of February."""
        places = (self.constant(f"^{'[0-9]+[-/]' * place}([0-9]+)") for place in range(3))
        parts = ", ".join(f"CAST(REGEXP_EXTRACT({text}, {form}, 1) AS INT)" for form in places)
        real = self.matches(text, DAY)
        return (
            f"CASE WHEN {real} THEN MAKE_DATE({parts}) "
            f"WHEN LOWER({text}) IN ('inf', 'infinity') THEN DATE '9999-12-31' "
            f"WHEN LOWER({text}) IN ('-inf', '-infinity') THEN DATE '0001-01-01' END"
        )

    # Numbers

    def rounded(self, number: str) -> str:
        """Halves away from zero: doubling is exact; ROUND goes by a number's digits, slowly."""
        twice = f"CAST(2 * ({number}) AS BIGINT)"
        return f"(({twice} + CASE WHEN {twice} < 0 THEN -1 ELSE 1 END) DIV 2)"

    def quotient(self, numerator: str, denominator: str) -> str:
        """The quotient of whole numbers, cut towards zero; the denominator is not zero."""
        return f"({numerator} DIV {denominator})"

    def total(self, number: str) -> str:
        """The sum of whole numbers, in 38 digits; none passes 10^18, so 10^20 rows fit."""
        return f"SUM(CAST({number} AS DECIMAL(28,0)))"

    # Names, constants and tables of values

    def quoted(self, name: str) -> str:
        """An identifier."""
        return "`" + name.replace("`", "``") + "`"

    def constant(self, value: Any) -> str:
        """A constant; in a text a backslash escapes."""
        if isinstance(value, str):
            escaped = whole_text(value).replace("\\", "\\\\").replace("'", "\\'")
            return "'" + escaped.replace("\0", "\\u0000") + "'"
        return literal(value)

    def lookup(self, argument: str, pairs: Pairs, ranges: tuple[Range, Range]) -> str:
        """What the argument stands for: Spark makes a join of it, as keys are unique."""
        rows = ", ".join(
            f"({self.typed(key, ranges[0])}, {self.typed(value, ranges[1])})"
            for key, value in pairs
        )
        listed = f"VALUES {rows} AS `adomnia map`(`adomnia key`, `adomnia value`)"
        return f"(SELECT MAX(`adomnia value`) FROM {listed} WHERE `adomnia key` = {argument})"

    # Text, days, units

    def like(self, text: str, pattern: str, ignore_case: bool) -> str:
        """Whether a text matches a pattern, in steps that no text can make many.

        Spark's own LIKE tries every way to lay a pattern out (`like_regex`). All but the parts
        is the same in small letters.
        """
        found = self.constant(f"(?s)^{like_regex(pattern, _literally)}(?!.)")
        return f"(LOWER({text}) RLIKE LOWER({found}))" if ignore_case else f"({text} RLIKE {found})"

    def extract(self, part: str, day: str) -> str:
        """A part of a day as a whole number; Spark's own weeks begin with Sunday, the first day."""
        days = {"dow": f"DAYOFWEEK({day}) - 1", "isodow": f"WEEKDAY({day}) + 1"}
        return f"CAST({days.get(part, f'EXTRACT({part} FROM {day})')} AS BIGINT)"

    def days(self, later: str, earlier: str) -> str:
        """How many days lie between two."""
        return f"CAST(DATEDIFF({later}, {earlier}) AS BIGINT)"

    def order(self, columns: Sequence[str]) -> str:
        """A hash of 64 bits; it passes over NULL, so where one is must be hashed too."""
        return f"XXHASH64({', '.join(f'{column}, {column} IS NULL' for column in columns)})"

    # The survey

    def matches(self, text: str, pattern: str) -> str:
        """Whether a text has a part that matches a regular expression."""
        return f"{text} RLIKE {self.constant(pattern)}"


def _literally(sign: str) -> str:
    """A sign in a regular expression of Java's that stands for itself."""
    return sign if sign.isalnum() or ord(sign) > 127 else f"\\{sign}"


def _trimmed(column: str) -> str:
    """A text without spaces around it, NULL where it is long: no regular expression of Java's may
    see one, as it could need more stack than there is."""
    text = f"TRIM(BOTH {literal(SPACES)} FROM {column})"
    return f"CASE WHEN LENGTH({text}) <= {FAR} THEN {text} END"


def _digits(text: str) -> str:
    return f"REPLACE({text}, '_', '')"


def _whole(number: str) -> str:
    """A decimal, or its text, rounded half away from zero."""
    return f"TRY_CAST(TRY_CAST({number} AS DECIMAL(38,0)) AS BIGINT)"


SPARK = SparkDialect()
"""The dialect of a session with the settings of `spark_sessions.py`."""
