"""The dialect: where the SQL of engines differs, and only there.

`statement`, `translate`, `clean` and `units` write what all engines read alike, and ask the dialect
for the rest. Every text that a dialect gives is total: no row can make it fail (`coding.md`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from adomnia.queries.calendar import seconds_of
from adomnia.queries.ranges import Moment, Number, Range

__all__ = ["Dialect", "Pairs", "literal", "quoted", "whole_text"]

# Names and constants as SQL, whatever signs are in them.


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A constant: NULL, a truth value, a whole number, a date or a text; a moment is a number of
    seconds."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return str(seconds_of(value))
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    return _text(str(value))


def whole_text(value: str) -> str:
    """A text that can be encoded: half a surrogate pair is no character, so no text has it, and it
    becomes one that is never used."""
    return "".join("\ufdd0" if "\ud800" <= sign <= "\udfff" else sign for sign in value)


def _text(value: str) -> str:
    parts = ["'" + part.replace("'", "''") + "'" for part in whole_text(value).split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"


Pairs = Sequence[tuple[Any, Any]]
"""Keys and the values they stand for."""


class Dialect(ABC):
    """How one engine says it; what is not abstract is said as the SQL standard says it.

    A column has a *kind*: integer, real, decimal, text, boolean, date, moment or other.
    """

    wide: str
    """The type of whole numbers beyond 64 bits."""
    double: str
    """The type of floating point numbers."""
    names: Mapping[type, str]
    """The type of values of each range."""
    integers: Sequence[tuple[str, int]] = (("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64))
    """The types of whole numbers, from the smallest, and their bits."""
    barrier: str = ""
    """What ends a subquery whose columns shall be computed once, not where they are used."""

    @abstractmethod
    def family(self, declared: str) -> str:
        """The kind of a column that is declared so."""

    # Safe casts: the value, or NULL where it has none.

    @abstractmethod
    def number(self, column: str, kind: str) -> str:
        """A column as floating point; infinities and NaN stay."""

    @abstractmethod
    def integer(self, column: str, kind: str) -> str:
        """A column as 64-bit whole numbers, rounded; NULL beyond them."""

    @abstractmethod
    def truth(self, column: str, kind: str) -> str:
        """A column as truth values."""

    @abstractmethod
    def day(self, column: str, kind: str) -> str:
        """A column as days."""

    @abstractmethod
    def knows_zone(self, declared: str) -> bool:
        """Whether moments of a column that is declared so are moments of the world, in UTC."""

    @abstractmethod
    def clock(self, column: str, declared: str) -> str:
        """A column of moments as whole seconds since the first of the year 1, before which none
        lies that it is asked for."""

    @abstractmethod
    def usual_moment(self, column: str) -> str:
        """A text of the usual form (`USUAL`), without a zone, as such seconds: it is told more
        quickly than by the rules for all forms. NULL for every other text."""

    @abstractmethod
    def trimmed(self, column: str) -> str:
        """A text without spaces around it."""

    @abstractmethod
    def captured(self, text: str, pattern: str) -> str:
        """The digits in the first group of a regular expression as a number, NULL where there are
        none."""

    @abstractmethod
    def let(self, name: str, value: str, body: Callable[[str], str]) -> str:
        """A text in which a value stands under a name, so that it is worked out once."""

    @abstractmethod
    def words(self, column: str, kind: str) -> str:
        """A column as text that is compared byte by byte."""

    # Numbers

    @abstractmethod
    def rounded(self, number: str) -> str:
        """A floating point number below 10^18 as a whole one, halves away from zero."""

    @abstractmethod
    def quotient(self, numerator: str, denominator: str) -> str:
        """The quotient of whole numbers, cut towards zero; the denominator is not zero."""

    def near(self, number: str, step: float) -> str:
        """A number, which may become zero where it is far below the step."""
        return number

    def total(self, number: str) -> str:
        """The sum of whole numbers, in more than 64 bits."""
        return f"SUM({number})"

    # Names, constants and tables of values

    def quoted(self, name: str) -> str:
        """An identifier."""
        return quoted(name)

    def constant(self, value: Any) -> str:
        """A constant: NULL, a truth value, a whole number, a date or a text."""
        return literal(value)

    def typed(self, value: Any, spread: Range) -> str:
        """A constant with the type of its range."""
        if value is None or isinstance(spread, Number | Moment):
            return f"CAST({self.constant(value)} AS {self.names[type(spread)]})"
        return self.constant(value)

    @abstractmethod
    def lookup(self, argument: str, pairs: Pairs, ranges: tuple[Range, Range]) -> str:
        """What the argument stands for in a long table of pairs, NULL where it is not in it.

        `ranges` are those of the keys and of the values.
        """

    # Text and days

    @abstractmethod
    def like(self, text: str, pattern: str, ignore_case: bool) -> str:
        """Whether a text matches a pattern of LIKE, in which a backslash escapes."""

    def extract(self, part: str, day: str) -> str:
        """A part of a day as a whole number; weeks and their days are those of ISO."""
        return f"CAST(EXTRACT({part} FROM {day}) AS BIGINT)"

    def truncated(self, unit: str, day: str) -> str:
        """The first day of the week, month, quarter or year."""
        return f"CAST(DATE_TRUNC('{unit}', {day}) AS DATE)"

    def days(self, later: str, earlier: str) -> str:
        """How many days lie between two."""
        return f"CAST({later} - {earlier} AS BIGINT)"

    def later(self, day: str, days: str) -> str:
        """The day so many days after another; a code fits 32 bits."""
        return f"({day} + CAST({days} AS INTEGER))"

    def months_later(self, day: str, months: int) -> str:
        """The day so many months after another, at most the last of its month."""
        return f"CAST({day} + INTERVAL '{months}' MONTH AS DATE)"

    def narrow(self, low: int, high: int) -> str:
        """The smallest type of whole numbers that holds both."""
        size = max(-low, high + 1)
        return next(name for name, bits in self.integers if size <= 2 ** (bits - 1))

    # Units

    @abstractmethod
    def order(self, columns: Sequence[str]) -> str:
        """A number or text that depends on what is in the columns alone, as if by chance."""

    # The survey for a first draft

    def distinct(self, column: str) -> str:
        """About how many values a column has."""
        return f"APPROX_COUNT_DISTINCT({column})"

    def places(self, number: str) -> str:
        """How many decimal places a finite number has; beyond four any number will do."""
        whens = " ".join(f"WHEN ROUND({number}, {p}) = {number} THEN {p}" for p in range(5))
        return f"CASE {whens} WHEN {number} IS NOT NULL THEN 5 END"

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether a text has a part that matches a regular expression."""
