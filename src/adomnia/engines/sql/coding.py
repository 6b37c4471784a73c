"""Coding: whatever stands in a column becomes a small whole number by its declared domain, or NULL.

The meaning is fixed by the policy and the column's type: a number is so many steps above `low`, a
day so many days, a listed text has its place in the list. What lies below or above all declared
values has a number of its own there, -1 or one past the last; what is no number, no day or NaN is
NULL. Undeclared text stays text. No value can raise an error (`coding.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.extent import WHOSE, Extent, Kind, beside, kind_of_domain, of_domain
from adomnia.engines.sql.moments import moment_code
from adomnia.errors import QuestionError
from adomnia.queries.calendar import moment_at, seconds_of
from adomnia.queries.derived_table import column_prefix
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.ranges import UNLISTED, Moment, Number, Text
from adomnia.queries.rows import is_owner
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open, Timestamps
from adomnia.schema.table import Table

__all__ = ["MAX_CASE", "Coded", "clamped", "coded", "codes", "coding", "known", "lost",
           "lost_columns"]  # fmt: skip

LONG = 200
"""A text of more signs is not repeated more often than it must be."""

_NUMBER = Number(0, 0)

MAX_CASE = 40
"""A longer table of values is looked up by a join, not tried one by one."""


def coding(
    table: Table, types: Mapping[str, str], dialect: Dialect, needed: Collection[str]
) -> Iterator[str]:
    """The needed columns of a source as the select list that codes them, with whether cleaning
    left something out (`lost`) where that is needed."""
    for name, text in codes(table, types, dialect, needed):
        yield f"{text} AS {dialect.quoted(name)}"


def codes(
    table: Table, types: Mapping[str, str], dialect: Dialect, needed: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The same by name, each column with the SQL of its code."""
    for name, declared in types.items():
        domain = _domain(table, name)
        text = coded(name, domain, declared, dialect)
        if name in needed:
            yield name, text
        if lost(name) in needed:
            test = partial(_left_out, dialect.quoted(name), domain=domain)
            long = isinstance(domain, Timestamps)
            yield lost(name), dialect.let("code", text, test) if long else test(text)


LOST = "adomnia lost "


def lost(name: str) -> str:
    """The name of the column that tells whether cleaning changed or left out a row's value."""
    return LOST + name


def lost_columns(table: Table, types: Collection[str]) -> tuple[str, ...]:
    """All such columns: those of the columns that the policy declares."""
    return tuple(lost(name) for name in types if not isinstance(_domain(table, name), Open))


def coded(name: str, domain: Domain, declared: str, dialect: Dialect) -> str:
    """The SQL of a column's code, from what the source holds."""
    column, kind = dialect.quoted(name), dialect.family(declared)
    if kind == "other":
        column, kind = dialect.words(column, kind), "text"
    if isinstance(domain, Grid):
        low, high = int(domain.low / domain.step), int(domain.high / domain.step)
        index = _grid(column, domain, kind, dialect)
        return _cast(index if low == 0 else f"({index} - ({low}))", (-1, high - low + 1), dialect)
    if isinstance(domain, Dates):
        day = _day(dialect.day(column, kind), domain, dialect)
        width = (domain.high - domain.low).days
        return _cast(dialect.days(day, dialect.constant(domain.low)), (-1, width + 1), dialect)
    if isinstance(domain, Timestamps):
        code = moment_code(dialect.quoted(name), domain, declared, dialect)
        return _cast(code, (-1, domain.count), dialect)
    if isinstance(domain, Open):
        return dialect.words(column, kind)
    return _categories(column, domain, kind, dialect)


def _cast(number: str, ends: tuple[int, int], dialect: Dialect) -> str:
    return f"CAST({number} AS {dialect.narrow(*ends)})"


def known(number: str, dialect: Dialect) -> str:
    """Whether it is a number; a comparison with NULL is not true, and NaN is above infinity."""
    return f"{number} <= CAST('infinity' AS {dialect.double})"


def _grid(column: str, grid: Grid, kind: str, dialect: Dialect) -> str:
    """The number of steps, at most one past each end of the grid."""
    low, high = int(grid.low / grid.step) - 1, int(grid.high / grid.step) + 1
    if kind == "integer" and grid.step == 1:
        return f"CAST({clamped(column, str(low), str(high))} AS BIGINT)"
    if kind in ("date", "moment"):
        return "CAST(NULL AS BIGINT)"
    number = dialect.number(column, kind)
    near = dialect.near(number, float(grid.step))
    ends = (_double(end * grid.step, dialect) for end in (low, high))
    inside = "LEAST(GREATEST({}, {}), {})".format(near, *ends)
    if (1 / grid.step).denominator == 1:
        scaled = f"{inside} * {_double(1 / grid.step, dialect)}"
    else:
        scaled = f"{inside} / {_double(grid.step, dialect)}"
    index = f"LEAST(GREATEST({dialect.rounded(scaled)}, {low}), {high})"
    return f"CASE WHEN {known(number, dialect)} THEN {index} END"


def _double(number: Fraction, dialect: Dialect) -> str:
    return f"CAST({float(number)!r} AS {dialect.double})"


def _day(day: str, dates: Dates, dialect: Dialect) -> str:
    low, high = (dialect.constant(end) for end in beside(dates))
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
    first = categories.values[0]
    if isinstance(first, str):
        value = dialect.words(column, kind)
        return _cast(_listed(value, categories, dialect), (-1, len(categories.members)), dialect)
    read = dialect.truth if isinstance(first, bool) else dialect.integer
    value = read(column, kind)
    listed = ", ".join(dialect.constant(member) for member in categories.values)
    if categories.other is not None:
        rest = f"WHEN {column} IS NOT NULL THEN {dialect.constant(categories.other)}"
    elif isinstance(first, bool):
        rest = ""
    else:
        low, high = _ends(categories)  # what lies in a gap of the list counts as above
        rest = f"WHEN {value} <= {low} THEN {low} WHEN {value} IS NOT NULL THEN {high}"
    text = f"CASE WHEN {value} IN ({listed}) THEN {value} {rest} END"
    return text if isinstance(first, bool) else _cast(text, _ends(categories), dialect)


def _ends(categories: Categories) -> tuple[int, int]:
    """The whole numbers just below and just above all that are listed."""
    members = [int(member) for member in categories.members if member is not None]
    return min(members) - 1, max(members) + 1


def _listed(value: str, categories: Categories, dialect: Dialect) -> str:
    """The place of a text in its list, that of `other`, or -1."""
    places = {member: place for place, member in enumerate(categories.members)}
    rest = places[categories.other] if categories.other is not None else -1
    pairs = [(member, places[member]) for member in categories.values]
    if len(pairs) > MAX_CASE:
        found = dialect.lookup(value, pairs, (Text(None), _NUMBER))
    else:
        whens = (f"WHEN {dialect.constant(text)} THEN {place}" for text, place in pairs)
        found = f"CASE {value} {' '.join(whens)} END"
    return f"CASE WHEN {value} IS NOT NULL THEN COALESCE({found}, {rest}) END"


def _left_out(column: str, code: str, domain: Domain) -> str:
    """Whether cleaning changes what a row holds: it is clamped, not listed or not read at all."""
    if isinstance(domain, Open):
        return "FALSE"
    unread = f"({column} IS NOT NULL AND {code} IS NULL)"
    if isinstance(domain, Categories):
        if isinstance(domain.values[0], bool) or domain.other is not None:
            return unread
        low, high = _ends(domain) if isinstance(domain.values[0], int) else (-1, None)
    else:
        width = _width(domain)
        low, high = -1, width + 1
    ends = f"{low}" if high is None else f"{low}, {high}"
    return f"({unread} OR COALESCE({code} IN ({ends}), FALSE))"


def _width(domain: Grid | Dates | Timestamps) -> int:
    if isinstance(domain, Dates):
        return (domain.high - domain.low).days
    if isinstance(domain, Timestamps):
        return domain.count - 1
    return int((domain.high - domain.low) / domain.step)


def _domain(table: Table, name: str) -> Domain:
    if name.startswith(column_prefix(table) + LOST):
        return Categories((False, True))
    attribute = table.attributes.get(name)
    return attribute.domain if attribute else Open()


# The private table's columns as a question reads them: by their codes.

_SIGNS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
Decode = Callable[[Any], Any]
"""What a code stands for; NULL stays NULL."""


@dataclass(frozen=True)
class Coded:
    """The columns of a table whose rows are coded."""

    table: Table
    names: Collection[str]
    dialect: Dialect

    def value(self, name: str) -> str:
        """The SQL of what a column's code stands for; for what lies outside, what stands for it."""
        column, domain = self.code(name), self.domain(name)
        if isinstance(domain, Grid):
            low = int(domain.low / domain.step)
            number = f"CAST({column} AS BIGINT)"
            return number if low == 0 else f"({number} + CAST({low} AS BIGINT))"
        if isinstance(domain, Dates):
            return self.dialect.later(self.dialect.constant(domain.low), column)
        if isinstance(domain, Timestamps):
            steps = f"CAST({column} AS BIGINT) * {domain.step}"
            return f"({steps} + CAST({seconds_of(domain.low)} AS BIGINT))"
        if not isinstance(domain, Categories) or isinstance(domain.values[0], bool):
            # the number of a unit is compared with nothing
            return self.dialect.words(column, "integer") if is_owner(name) else column
        if isinstance(domain.values[0], int):
            return f"CAST({column} AS BIGINT)"
        return self._text(column, domain)

    def _text(self, column: str, domain: Categories) -> str:
        pairs = [*enumerate(domain.members), (-1, UNLISTED)]
        if len(pairs) > MAX_CASE:
            return self.dialect.lookup(column, pairs, (_NUMBER, Text(None)))
        whens = (f"WHEN {place} THEN {self.dialect.typed(text, Text(None))}"
                 for place, text in pairs)  # fmt: skip
        return f"(CASE {column} {' '.join(whens)} END)"

    def code(self, name: str) -> str:
        """The column itself."""
        if name not in self.names:
            raise QuestionError("this reads a column that the table does not have")
        return self.dialect.quoted(name)

    def decode(self, key: Expr) -> Decode | None:
        """How a key is read from its code, or a moment from its seconds; None where it is read as
        it is."""
        domain = self.domain(key.name) if isinstance(key, Column) else None
        if isinstance(domain, Grid):
            low = int(domain.low / domain.step)
            return lambda code: None if code is None else int(code) + low
        if isinstance(domain, Dates):
            first = domain.low
            return lambda code: None if code is None else first + timedelta(days=int(code))
        if isinstance(domain, Timestamps):
            start, step = seconds_of(domain.low), domain.step
            return lambda code: None if code is None else moment_at(start + int(code) * step)
        if not isinstance(key, Column) and isinstance(key.range, Moment):
            return lambda code: None if code is None else moment_at(int(code))
        if isinstance(domain, Categories) and isinstance(domain.values[0], str):
            texts = dict(enumerate(domain.members))
            return lambda code: None if code is None else texts.get(int(code), UNLISTED)
        return None

    def extent(self, name: str) -> Extent:
        """Between which bounds a column lies, with what stands for all that lies outside."""
        return of_domain(self.domain(name))

    def kind(self, name: str) -> Kind:
        """Of which kind it is, as the policy's domain has it; units are a kind of their own."""
        return WHOSE if is_owner(name) else kind_of_domain(self.domain(name))

    def compared(self, call: Call) -> str | None:
        """A comparison of a column with constants by its code, where there is such a one."""
        column = call.args[0] if call.args else None
        if not isinstance(column, Column):
            return None
        if call.op == "is_null":
            return f"({self.code(column.name)} IS NULL)"
        values = call.params if call.op == "in" else self._constant(call)
        codes = [self.encoded(column.name, value) for value in values]
        if not codes or None in codes:
            return None
        text = self.code(column.name)
        if call.op == "in":
            return f"({text} IN ({', '.join(map(str, codes))}))"
        return f"({text} {_SIGNS[call.op]} {codes[0]})"

    def _constant(self, call: Call) -> tuple[Any, ...]:
        other = call.args[1] if len(call.args) == 2 else None
        if call.op not in _SIGNS or not isinstance(other, Constant) or other.value is None:
            return ()
        ordered = call.op in ("eq", "ne") or not isinstance(other.value, str)
        return (other.value,) if ordered else ()

    def encoded(self, name: str, value: Any) -> int | None:
        """The code of a declared value; None where it is compared otherwise."""
        domain = self.domain(name)
        if isinstance(domain, Grid) and type(value) is int:
            return value - int(domain.low / domain.step)
        if isinstance(domain, Dates) and isinstance(value, date):
            return (value - domain.low).days
        if isinstance(domain, Timestamps) and isinstance(value, datetime):
            steps, rest = divmod(value - domain.low, timedelta(seconds=domain.step))
            return None if rest else steps
        if isinstance(domain, Categories) and isinstance(value, str) and value in domain.members:
            return domain.members.index(value)
        return None

    def domain(self, name: str) -> Domain:
        """The domain that the policy declares, or text."""
        return _domain(self.table, name)
