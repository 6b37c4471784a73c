"""DuckDB's dialect: `TRY_CAST` is total, `//` cuts, 128 bits are a type."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adomnia.engines.duckdb.values import total
from adomnia.engines.sql.dialect import Dialect, Pairs, literal
from adomnia.engines.sql.text_formats import DAY, ENDLESS, FAR, NUMBER, SPACES, USUAL
from adomnia.errors import PolicyError
from adomnia.queries.calendar import EPOCH
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth

__all__ = ["DUCKDB", "DuckDBDialect"]

_FAMILIES = {
    "integer": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT",
                "UINTEGER", "UBIGINT"),
    "real": ("DOUBLE", "FLOAT", "REAL", "UHUGEINT"),  # 128 bits without sign compare with no other
    "text": ("VARCHAR",),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
}  # fmt: skip


class DuckDBDialect(Dialect):
    """SQL as DuckDB speaks it."""

    wide = "HUGEINT"
    double = "DOUBLE"
    integers = (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64))
    names = {Number: "BIGINT", Text: "VARCHAR", Day: "DATE", Moment: "BIGINT", Truth: "BOOLEAN"}  # noqa: RUF012

    def family(self, declared: str) -> str:
        """The kind of a column that is declared so."""
        name = declared.upper()
        for found, names in _FAMILIES.items():
            if name in names:
                return found
        if name.endswith("]"):
            return "other"
        if name.startswith("DECIMAL"):
            return "decimal"
        return "moment" if name.startswith("TIMESTAMP") else "other"

    def read(self, name: str, declared: str) -> str:
        """A column of a database, NULL where it holds what is no value of its type.

        Text is without its collation, and so is what may hold some.
        """
        column = self.quoted(name)
        value = total(column, declared)
        if value is None:
            raise PolicyError(
                f"the column {name!r} is a {declared}, which may hold what has no text",
                "leave it out in a table of its own, or store it as text",
            )
        if declared == "VARCHAR":
            return f"{column} COLLATE C AS {column}"
        if declared.endswith((")", "]")) and self.family(declared) == "other":
            return f"TRY_CAST({value} AS VARCHAR) COLLATE C AS {column}"
        return f"{value} AS {column}"

    # Safe casts

    def number(self, column: str, kind: str) -> str:
        """A column as floating point; infinities and NaN stay."""
        if kind == "text":
            return f"TRY_CAST({_written(column, NUMBER)} AS DOUBLE)"
        numeric = kind in ("integer", "real", "decimal", "boolean")
        return f"CAST({column if numeric else 'NULL'} AS DOUBLE)"

    def integer(self, column: str, kind: str) -> str:
        """A column as 64-bit whole numbers, rounded; NULL beyond them."""
        return f"TRY_CAST({_written(column, NUMBER) if kind == 'text' else column} AS BIGINT)"

    def truth(self, column: str, kind: str) -> str:
        """A column as truth values."""
        return column if kind == "boolean" else f"TRY_CAST({column} AS BOOLEAN)"

    def day(self, column: str, kind: str) -> str:
        """A column as days."""
        if kind == "text":
            text = _written(column, f"{DAY}|{ENDLESS}")
            moment = f"TRY_CAST(TRY_CAST({text} AS TIMESTAMP) AS DATE)"
            return f"COALESCE(TRY_CAST({text} AS DATE), {moment})"
        if kind == "moment":
            return f"TRY_CAST({column} AS DATE)"
        return column if kind == "date" else "CAST(NULL AS DATE)"

    def knows_zone(self, declared: str) -> bool:
        """Whether moments of a column that is declared so are moments of the world, in UTC."""
        return "TIME ZONE" in declared.upper() or declared.upper() == "TIMESTAMPTZ"

    def clock(self, column: str, declared: str) -> str:
        """A column of moments as whole seconds since the first of the year 1; a cast from
        nanoseconds would round them."""
        if declared.upper() == "TIMESTAMP_NS":
            nanos = f"EPOCH_NS({column})"
            below = f"CASE WHEN {nanos} % 1000000000 < 0 THEN 1 ELSE 0 END"
            return f"({nanos} // 1000000000 - {below} + {EPOCH})"
        return f"((EPOCH_US(CAST({column} AS TIMESTAMP)) + {EPOCH * 10**6}) // 1000000)"

    def usual_moment(self, column: str) -> str:
        """A text such as 2024-03-01 12:00:00 as seconds; NULL for every other text."""
        seconds = self.clock(f"TRY_CAST({column} AS TIMESTAMP)", "TIMESTAMP")
        return f"CASE WHEN REGEXP_MATCHES({column}, {literal(USUAL)}) THEN {seconds} END"

    def trimmed(self, column: str) -> str:
        """A text without spaces around it."""
        return f"TRIM({column}, {literal(SPACES)})"

    def captured(self, text: str, pattern: str) -> str:
        """The digits in the first group of a regular expression as a number."""
        return f"TRY_CAST(REGEXP_EXTRACT({text}, {self.constant(pattern)}, 1) AS INTEGER)"

    def let(self, name: str, value: str, body: Callable[[str], str]) -> str:
        """A value under a name."""
        variable = self.quoted(f"adomnia {name}")
        return f"LIST_TRANSFORM([{value}], LAMBDA {variable}: {body(variable)})[1]"

    def words(self, column: str, kind: str) -> str:
        """A column as text that is compared byte by byte."""
        return column if kind == "text" else f"TRY_CAST({column} AS VARCHAR)"

    def rounded(self, number: str) -> str:
        """A floating point number below 10^18 as a whole one, halves away from zero."""
        return f"CAST(ROUND({number}) AS BIGINT)"

    def quotient(self, numerator: str, denominator: str) -> str:
        """The quotient of whole numbers, cut towards zero; the denominator is not zero."""
        return f"({numerator} // {denominator})"

    def lookup(self, argument: str, pairs: Pairs, ranges: tuple[Range, Range]) -> str:
        """What the argument stands for: DuckDB makes a join of it."""
        rows = ", ".join(
            f"({self.constant(key)}, {self.typed(value, ranges[1])})" for key, value in pairs
        )
        listed = f'(VALUES {rows}) AS "adomnia map"("adomnia key", "adomnia value")'
        return f'(SELECT "adomnia value" FROM {listed} WHERE "adomnia key" = {argument})'

    def like(self, text: str, pattern: str, ignore_case: bool) -> str:
        """Whether a text matches a pattern of LIKE, in which a backslash escapes."""
        word = "ILIKE" if ignore_case else "LIKE"
        return f"({text} {word} {self.constant(pattern)} ESCAPE '\\')"

    def order(self, columns: Sequence[str]) -> str:
        """A hash of 64 bits."""
        return f"HASH({', '.join(columns)})"

    def matches(self, text: str, pattern: str) -> str:
        """Whether a text has a part that matches a regular expression."""
        return f"REGEXP_MATCHES({text}, {self.constant(pattern)})"


def _written(column: str, form: str) -> str:
    """A text without spaces around it, NULL where it is long or not of this form."""
    text = f"TRIM({column}, {literal(SPACES)})"
    real = f"LENGTH({text}) <= {FAR} AND REGEXP_MATCHES({text}, {literal(form)})"
    return f"CASE WHEN {real} THEN {text} END"


DUCKDB = DuckDBDialect()
"""The dialect of the embedded engine."""
