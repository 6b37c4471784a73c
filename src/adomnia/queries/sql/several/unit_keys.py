"""Which columns lead to a unit, and which can be compared: what ties rows to one unit."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from adomnia.queries.expression import Column, Expr
from adomnia.queries.rows import Joined, is_owner, point_to, unit_tables, units_of_row
from adomnia.queries.sql.binder import Relation
from adomnia.queries.sql.several.context import TablesContext, rows_of

__all__ = ["UnitKeys"]


@dataclass(frozen=True)
class UnitKeys:
    """The keys and references of the tables that a statement is about."""

    context: TablesContext

    def implies_unit(self, expr: Expr) -> bool:
        """Whether rows with the same value belong to the same unit: keys, what refers to them."""
        if not isinstance(expr, Column):
            return False
        if is_owner(expr.name):
            return True
        scan, _, column = expr.name.rpartition(".")
        table = self.context.tables.tables.get(scan.split(" #")[0])
        return table is not None and (column == table.key or column in table.references)

    def is_unit(self, pair: tuple[Expr, Expr], left: Relation, right: Relation) -> bool:
        """Whether rows that agree in these columns belong to the same unit."""
        a, b = pair
        if not isinstance(a, Column) or not isinstance(b, Column):
            return False
        if is_owner(a.name) and is_owner(b.name):
            return True
        joined = Joined(rows_of(left), rows_of(right), ((a, b),))
        if point_to((a, b), joined, self.context.tables) is not None:
            return True
        same = [self._origin(column) for column in (a, b)]
        both = self.implies_unit(a) and self.implies_unit(b)
        return both and same[0] is not None and same[0] == same[1]

    def alike(self, one: Column, other: Column, left: Relation, right: Relation) -> bool:
        """Whether columns can be compared as they are stored: units of one table, numbers on one
        lattice, other values of one kind; or a reference and what it refers to."""
        joined = Joined(rows_of(left), rows_of(right), ((one, other),))
        if point_to((one, other), joined, self.context.tables) is not None:
            return True
        units, kinds, steps = zip(
            *((is_owner(c.name), type(c.range), getattr(c.range, "step", 1)) for c in (one, other)),
            strict=True,
        )
        same = all(part[0] == part[1] for part in (units, kinds, steps))
        return same and not (all(units) and self._other_units(left, right))

    def _other_units(self, left: Relation, right: Relation) -> bool:
        """Whether both sides have one unit, of two tables: their keys are no names for each
        other."""
        tables = self.context.tables
        sides = [unit_tables(rows_of(part), tables) for part in (left, right)]
        return all(len(side) == 1 for side in sides) and sides[0] != sides[1]

    def check_one(self, node: exp.Expression, relation: Relation) -> None:
        """Refuse to compute for each unit what rows of two units say."""
        if units_of_row(rows_of(relation), self.context.tables) > 1:
            said = "rows of two units are counted and added up as they are, and nothing else"
            raise self.context.refuse(node, said, "join on a key that leads to the unit")

    def _origin(self, column: Column) -> tuple[str, str] | None:
        """The table and key that a column's values are of."""
        scan, _, name = column.name.rpartition(".")
        table = self.context.tables.tables.get(scan.split(" #")[0])
        if table is None:
            return None
        other = table.references.get(name)
        if other is not None:
            return other, str(self.context.tables.tables[other].key)
        return table.name, name
