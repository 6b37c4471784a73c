"""Joins of private tables: on a key that leads to the unit, or apart, of two units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.limits import MAX_ROW_UNITS
from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.operations import call
from adomnia.queries.ranges import Truth
from adomnia.queries.rows import HERE, Joined, is_owner, units_of_row
from adomnia.queries.sql.binder import Relation, match
from adomnia.queries.sql.relation import StatementContext, conjoin, join_public, row_binder
from adomnia.queries.sql.several.context import (
    TablesContext,
    bare,
    conjuncts,
    filtered_rows,
    nullable,
    resolved,
    rows_of,
)
from adomnia.queries.sql.several.unit_keys import UnitKeys

__all__ = ["Join", "joined_public"]

Pair = tuple[Expr, Expr]


def joined_public(context: TablesContext, left: Relation, join: exp.Join) -> Relation:
    """The rows with what a public table has for each of them; of no single unit."""
    on, using = join.args.get("on"), join.args.get("using") or ()
    named = [exp.column(name.name, quoted=True) for name in using]
    for column in on.find_all(exp.Column) if on is not None else named:
        bound = resolved(context.sql, column, left)
        if bound is not None and isinstance(bound, Column) and is_owner(bound.name):
            hint = "what everybody may know of a person is an attribute with sensitive = false"
            raise context.refuse(column, "a public table tells of no single unit", hint)
    return join_public(StatementContext(context.sql, context.shared, (), {}), left, join)


@dataclass(frozen=True)
class Join:
    """A join while it is bound: what stands before it, and what is joined."""

    context: TablesContext
    join: exp.Join
    left: Relation
    right: Relation

    @property
    def keys(self) -> UnitKeys:
        """Which columns lead to a unit."""
        return UnitKeys(self.context)

    def relation(self, tests: list[exp.Expression]) -> tuple[Relation, list[exp.Expression]]:
        """The joined rows, and the conditions of WHERE that the join has not taken."""
        side = self._side()
        self._check_names()
        on, names = self.join.args.get("on"), self._shared_names()
        asked = [] if on is None else [*conjuncts(on)]
        asked += [self._equality(name) for name in names]
        comma = on is None and not names
        pairs, rest = self._pairs(asked)
        taken, kept = self._pairs(tests) if comma else ([], tests)
        pairs += taken
        apart = not any(self.keys.is_unit(pair, self.left, self.right) for pair in pairs)
        if apart and (side or not pairs or not self._may_be_apart()):
            raise self._refused_apart(side)
        ends = self._ends(pairs, apart)
        found = self._outer(ends, rest, side) if side else self._inner(ends, rest, apart)
        return replace(found, merged=self._merged(names, side)), kept

    def _side(self) -> str:
        side, kind = (self.join.side or "").upper(), (self.join.kind or "").upper()
        plain = (self.join.method or "").upper() in ("", "NATURAL")
        if side in ("", "LEFT", "RIGHT") and kind in ("", "INNER", "OUTER", "CROSS") and plain:
            return side
        word = " ".join(filter(None, (self.join.method, side, kind))).upper()
        said = f"tables cannot be joined in this way: {word} JOIN of {self._name}"
        hint = "JOIN, LEFT JOIN or RIGHT JOIN on the unit's key"
        if kind in ("SEMI", "ANTI"):
            hint = "write WHERE EXISTS (SELECT 1 …), or NOT EXISTS"
        raise self.context.refuse(self.join, said, hint)

    @property
    def _name(self) -> str:
        return self.join.this.alias_or_name or "this"

    def _check_names(self) -> None:
        for alias in self.right.columns:
            if match(alias, self.left.columns):
                hint = f"give it another name: {self.join.this.name} AS other"
                said = f"there are two tables called {alias!r} here"
                raise self.context.refuse(self.join, said, hint)

    # USING and NATURAL

    def _shared_names(self) -> list[str]:
        """The columns of USING, or those that both sides of a NATURAL join have."""
        using = [name.name for name in self.join.args.get("using") or ()]
        if (self.join.method or "").upper() != "NATURAL":
            return using
        left, right = ({n for part in side.columns.values() for n in part}
                       for side in (self.left, self.right))  # fmt: skip
        if not left & right:
            said = f"NATURAL JOIN: {self._name!r} has no column that the tables before it have"
            raise self.context.refuse(self.join, said, "write ON left.column = right.column")
        return sorted(left & right)

    def _equality(self, name: str) -> exp.Expression:
        sides = [self._column(relation, name) for relation in (self.left, self.right)]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _column(self, relation: Relation, name: str) -> exp.Column:
        """A column of one side under the name of its table."""
        once = match(name, relation.merged)
        aliases = [a for a, part in relation.columns.items() if (n := match(name, part))
                   and (once is None or part[n] == relation.merged[once])]  # fmt: skip
        if not aliases or (len(aliases) > 1 and once is None):
            said = f"{name!r} is not in one table of each side"
            raise self.context.refuse(self.join, said, "write ON left.column = right.column")
        return exp.column(name, table=aliases[0], quoted=True)

    def _merged(self, names: Sequence[str], side: str) -> Mapping[str, Expr]:
        """What one name means from here on: the column of the side whose rows all stay."""
        kept = self.right if side == "RIGHT" else self.left
        found = {name: resolved(self.context.sql, self._column(kept, name), kept) for name in names}
        new = {name: expr for name, expr in found.items() if expr is not None}
        before = {**self.left.merged, **self.right.merged}
        if side:  # what USING named before may be on the side that is NULL where nothing is met
            before = {name: nullable(expr) for name, expr in before.items()}
        return {**before, **new}

    # What is compared

    def _pairs(self, tests: Sequence[exp.Expression]) -> tuple[list[Pair], list[exp.Expression]]:
        """Columns that conditions equate, and the other conditions."""
        pairs: list[Pair] = []
        rest: list[exp.Expression] = []
        for test in tests:
            pair = self._pair(test)
            if pair is None:
                rest.append(test)
            else:
                pairs.append(pair)
        return pairs, rest

    def _pair(self, test: exp.Expression) -> Pair | None:
        if not isinstance(test, exp.EQ):
            return None
        ends, sql = [bare(test.this), bare(test.expression)], self.context.sql
        for first, second in (ends, ends[::-1]):
            a, b = resolved(sql, first, self.left), resolved(sql, second, self.right)
            if not isinstance(a, Column) or not isinstance(b, Column):
                continue
            if self.keys.alike(a, b, self.left, self.right):
                return a, b
        return None

    def _ends(self, pairs: Sequence[Pair], apart: bool) -> list[tuple[Column, Column]]:
        """The pairs as columns; units of one table are compared by every join as it is."""
        sides = (rows_of(self.left), rows_of(self.right))
        one = all(units_of_row(part, self.context.tables) == 1 for part in sides)
        return [(a, b) for a, b in pairs if isinstance(a, Column) and isinstance(b, Column)
                and not (one and not apart and is_owner(a.name) and is_owner(b.name))]  # fmt: skip

    def _may_be_apart(self) -> bool:
        """Whether a joined row has two units at most: one on each side."""
        sides = (rows_of(self.left), rows_of(self.right))
        many = sum(units_of_row(part, self.context.tables) for part in sides)
        return many <= MAX_ROW_UNITS

    def _refused_apart(self, side: str) -> QuestionError:
        units = self.context.tables.unit_name
        said = (
            f"{self._name!r} is not joined on the unit: its rows may belong to another of {units}"
        )
        if side:
            said = f"{side} JOIN: {said}"
        hint = f"join it on a key that leads to {units}, as declared in references"
        return self.context.refuse(self.join, said, hint)

    # What comes out

    def _inner(
        self, ends: list[tuple[Column, Column]], rest: Sequence[exp.Expression], apart: bool
    ) -> Relation:
        rows = Joined(rows_of(self.left), rows_of(self.right), tuple(ends), apart=apart)
        where = conjoin(self.left.where, self.right.where)
        found = Relation({**self.left.columns, **self.right.columns}, where, rows)
        return self._filtered(found, rest)

    def _outer(
        self, ends: list[tuple[Column, Column]], rest: Sequence[exp.Expression], side: str
    ) -> Relation:
        """Rows of one side that meet none stay: what is asked of the others is asked before."""
        stays, other = (self.left, self.right) if side == "LEFT" else (self.right, self.left)
        ends = ends if side == "LEFT" else [(b, a) for a, b in ends]
        for test in rest:
            mine = [c for c in test.find_all(exp.Column) if self._is_of(c, stays, other)]
            if mine:
                said = f"{side} JOIN of {self._name!r}: beside keys its ON tests the joined table"
                hint = (
                    "ask with [NOT] EXISTS (SELECT 1 FROM … WHERE …), or JOIN without LEFT or RIGHT"
                )
                raise self.context.refuse(mine[0], said, hint)
        other = self._filtered(other, rest)
        for part in (stays, other):
            self.keys.check_one(self.join, part)
        name = self.context.fresh("joined", self.join)
        rows = Joined(rows_of(stays), filtered_rows(other), tuple(ends), name)
        shown = {alias: {n: _if_here(name, expr) for n, expr in part.items()}
                 for alias, part in other.columns.items()}  # fmt: skip
        order = (stays.columns, shown) if side == "LEFT" else (shown, stays.columns)
        return Relation({**order[0], **order[1]}, stays.where, rows)

    def _is_of(self, column: exp.Column, stays: Relation, other: Relation) -> bool:
        """Whether a column is one of the rows that all stay, and not of the others."""
        sql = self.context.sql
        return resolved(sql, column, other) is None and resolved(sql, column, stays) is not None

    def _filtered(self, relation: Relation, tests: Sequence[exp.Expression]) -> Relation:
        for test in tests:
            bound = row_binder(self.context.sql, relation).truth(test)
            relation = replace(relation, where=conjoin(relation.where, bound))
        return relation


def _if_here(name: str, expr: Expr) -> Expr:
    """What is joined from the left, or NULL."""
    if isinstance(expr, Column):
        return nullable(expr)
    here = Column(f"{name}.{HERE}", Truth(nullable=False))
    return call("case", here, expr, Constant(None, replace(expr.range, nullable=True)))
