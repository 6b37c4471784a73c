"""Cleaning: whatever stands in a column becomes a value of its declared domain, or NULL.

The meaning is fixed by the policy and the column's type: numbers are rounded to their step and
clamped, NaN is NULL, text that is no number is NULL, a value outside a list goes to `other` or
is NULL. No value can raise an error (`clean.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.extent import Extent, Kind, kind_of_domain, of_domain
from adomnia.errors import QuestionError
from adomnia.queries.expression import Call, Column, Constant
from adomnia.queries.ranges import from_domain
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open
from adomnia.schema.table import Table

__all__ = ["Cleaned", "clamped", "clean", "known"]

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


# The private table's columns as a question reads them: cleaned, or raw where it is the same.

_SIGNS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass(frozen=True)
class Cleaned:
    """The table's columns with the types that its source gives them."""

    table: Table
    types: Mapping[str, str]
    dialect: Dialect

    def value(self, name: str) -> str:
        """The SQL of a column's cleaned value."""
        return clean(name, self._domain(name), self._declared(name), self.dialect)

    def extent(self, name: str) -> Extent:
        """Between which bounds it lies, as the policy's domain has it."""
        return of_domain(self._domain(name))

    def kind(self, name: str) -> Kind:
        """Of which kind it is, as the policy's domain has it."""
        return kind_of_domain(self._domain(name))

    def compared(self, call: Call) -> str | None:
        """A comparison of a clamped whole number that clamping does not change.

        Between its bounds a number is its own clamped value, and beyond them both lie on the
        same side of any constant that the clamped value could pass.
        """
        found = _against(call)
        if found is None or not self._plain(found[0].name):
            return None
        column, constant = found
        grid = self._domain(column.name)
        assert isinstance(grid, Grid)
        if not _inside(call.op, constant.value, int(grid.low), int(grid.high)):
            return None
        name = self.dialect.quoted(column.name)
        return f"({name} {_SIGNS[call.op]} {self.dialect.constant(constant.value)})"

    def selected(self, call: Call) -> str | None:
        """A test for listed texts: a text that is none of them is not selected either way."""
        found = _chosen(call)
        if found is None:
            return None
        column, values = found
        domain = self._domain(column.name)
        if not isinstance(domain, Categories) or self._kind(column.name) != "text":
            return None
        if not values or not {*values} <= {*domain.values} - {domain.other}:
            return None
        if not all(isinstance(value, str) for value in values):
            return None  # compared with a number, every text would be cast, and some cannot be
        listed = ", ".join(self.dialect.constant(value) for value in values)
        return f"({self.dialect.quoted(column.name)} IN ({listed}))"

    def _domain(self, name: str) -> Domain:
        attribute = self.table.attributes.get(name)
        return attribute.domain if attribute else Open()

    def _kind(self, name: str) -> str:
        return self.dialect.family(self._declared(name))

    def _declared(self, name: str) -> str:
        if name not in self.types:
            raise QuestionError("this reads a column that the table does not have")
        return self.types[name]

    def _plain(self, name: str) -> bool:
        domain = self._domain(name)
        whole = isinstance(domain, Grid) and domain.step == 1
        return whole and self._kind(name) == "integer"


def _against(call: Call) -> tuple[Column, Constant] | None:
    """The column and the constant of a comparison that has them in this order."""
    if call.op not in _SIGNS:
        return None
    left, right = call.args
    if isinstance(left, Column) and isinstance(right, Constant) and right.value is not None:
        return left, right
    return None


def _inside(op: str, value: int, low: int, high: int) -> bool:
    if op in ("lt", "ge"):
        return low < value <= high
    if op in ("le", "gt"):
        return low <= value < high
    return low < value < high


def _chosen(call: Call) -> tuple[Column, tuple[object, ...]] | None:
    """The column and the values of an equality or an IN."""
    if call.op == "in" and isinstance(call.args[0], Column):
        return call.args[0], call.params
    found = _against(call) if call.op == "eq" else None
    return None if found is None else (found[0], (found[1].value,))
