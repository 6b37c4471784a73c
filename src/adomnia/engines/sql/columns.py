"""The private table's columns as a question reads them: cleaned, or raw where it is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adomnia.engines.sql.clean import clean
from adomnia.engines.sql.dialect import Dialect
from adomnia.engines.sql.extent import Extent, of_domain
from adomnia.engines.sql.kinds import Kind
from adomnia.engines.sql.kinds import of_domain as of_kind
from adomnia.errors import QuestionError
from adomnia.queries.expression import Call, Column, Constant
from adomnia.schema.domain import Categories, Domain, Grid, Open
from adomnia.schema.table import Table

__all__ = ["Cleaned"]

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
        return of_kind(self._domain(name))

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
