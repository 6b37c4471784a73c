"""A subquery with GROUP BY: a row for each unit, or for each group of a unit's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.operations import call, constant, nearest
from adomnia.queries.ranges import Day, Moment, Number, Text, Truth
from adomnia.queries.row_columns import total_range
from adomnia.queries.rows import OWNER, Filtered, PerUnit, Rows, Total, is_owner, most_rows
from adomnia.queries.sql.binder import Binder, Relation
from adomnia.queries.sql.relation import conjoin, row_binder
from adomnia.schema.tables import Tables

__all__ = ["GroupedSelect", "is_total"]

TOTALS: Mapping[type[exp.Expression], str] = {
    exp.Count: "count",
    exp.CountIf: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.First: "first",
    exp.Last: "last",
    exp.AnyValue: "first",
    exp.LogicalOr: "max",
    exp.LogicalAnd: "min",
    exp.ArgMin: "first",
    exp.ArgMax: "last",
}
"""What may be computed of a unit's rows."""


def is_total(node: exp.Expression) -> bool:
    """Whether the node computes something of several rows."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.AggFunc)


class GroupContext(Protocol):
    """What is needed of a statement's context."""

    @property
    def sql(self) -> str:
        """The statement."""
        ...

    @property
    def tables(self) -> Tables:
        """The private tables."""
        ...

    def fresh(self, name: str, node: exp.Expression) -> str:
        """A name that nothing else here has."""
        ...

    def refuse(self, node: exp.Expression | None, message: str, hint: str = "") -> QuestionError:
        """An error that points at the node."""
        ...


@dataclass
class GroupedSelect:
    """A SELECT with groups over rows that are bound already."""

    context: GroupContext
    select: exp.Select
    inner: Relation
    totals: dict[Total, str] = field(default_factory=dict)

    @property
    def _rows(self) -> Rows:
        assert self.inner.rows is not None
        where = self.inner.where
        return self.inner.rows if where is None else Filtered(self.inner.rows, where)

    def relation(self, implies_unit: Callable[[Expr], bool]) -> Relation:
        """A row for each unit and value of the keys; the conditions of HAVING filter them."""
        name, binder = self.context.fresh("grouped", self.select), self._binder
        nodes = self._key_nodes()
        keys = [binder.row(node) for node in nodes]
        if not any(implies_unit(key) for key in keys):
            units = self.context.tables.unit_name
            raise self.context.refuse(
                self.select.args.get("group") or self.select,
                "this groups rows of several units, before noise is added",
                f"group a subquery by a key that leads to {units}; group by others outside of it",
            )
        listed = {key: f"k{i}" for i, key in enumerate(keys)}
        # of each key that is no unit there is a column; the unit is one already
        kept = {key: short for key, short in listed.items()
                if not (isinstance(key, Column) and is_owner(key.name))}  # fmt: skip
        outer = {short: Column(f"{name}.{short}", key.range) for key, short in kept.items()}
        whose = Column(f"{name}.{OWNER}", Text(None, nullable=False))
        by_node = [(node, outer[kept[key]] if key in kept else whose)
                   for node, key in zip(nodes, keys, strict=True)]  # fmt: skip
        columns = {item.alias_or_name: self._over(_unaliased(item), name, by_node)
                   for item in self._items()}  # fmt: skip
        having, where = self.select.args.get("having"), None
        if having is not None:
            where = conjoin(None, self._over(having.this, name, by_node, truth=True))
        rows = PerUnit(
            self._rows,
            name,
            tuple((short, key) for key, short in kept.items()),
            tuple((short, total) for total, short in self.totals.items()),
        )
        return Relation({"": columns}, where, rows)

    @property
    def _binder(self) -> Binder:
        return row_binder(self.context.sql, self.inner)

    def _items(self) -> list[exp.Expression]:
        for item in self.select.expressions:
            if isinstance(item, exp.Star) or not item.alias_or_name:
                hint = "write … AS name"
                raise self.context.refuse(item, "a column of a subquery needs a name", hint)
        return list(self.select.expressions)

    def _key_nodes(self) -> list[exp.Expression]:
        """What is grouped by: the columns of GROUP BY, by position too, or of DISTINCT."""
        group, items = self.select.args.get("group"), self.select.expressions
        if group is None:
            return [_unaliased(item) for item in items if not is_total(_unaliased(item))]
        extra = [part for name, part in group.args.items() if name != "expressions" and part]
        if extra:
            raise self.context.refuse(group, "ROLLUP, CUBE and GROUPING SETS cannot be answered")
        found = []
        for node in group.expressions:
            place = int(node.this) if isinstance(node, exp.Literal) and not node.is_string else 0
            named = [i for i in items if isinstance(i, exp.Alias) and isinstance(node, exp.Column)
                     and not node.table and i.alias == node.name]  # fmt: skip
            if 1 <= place <= len(items):
                found.append(_unaliased(items[place - 1]))
            elif named and not any(node.name in part for part in self.inner.columns.values()):
                found.append(_unaliased(named[0]))
            else:
                found.append(node)
        return found

    def _over(
        self,
        node: exp.Expression,
        name: str,
        keys: Sequence[tuple[exp.Expression, Expr]],
        truth: bool = False,
    ) -> Expr:
        """An expression over keys and totals: these stand in it as columns of the groups."""
        made: dict[str, Expr] = {}

        def column(expr: Expr) -> exp.Expression:
            made[f"c{len(made)}"] = expr
            return exp.column(f"c{len(made) - 1}", table="adomnia groups", quoted=True)

        def swap(part: exp.Expression) -> exp.Expression:
            if is_total(part):
                return column(self._total_column(part, name))
            same = [expr for key, expr in keys if key == part or self._means(part, key)]
            return column(same[0]) if same else part

        changed = _rewritten(node.copy(), swap)
        if not isinstance(changed, exp.Column) or changed.table != "adomnia groups":
            for left in changed.find_all(exp.Column):
                if left.table != "adomnia groups":
                    hint = f"add it to GROUP BY, or aggregate it: MAX({left.name})"
                    said = f"{left.name!r} is neither aggregated nor in GROUP BY"
                    raise self.context.refuse(node, said, hint)
        binder = row_binder(self.context.sql, Relation({"adomnia groups": made}))
        return binder.truth(changed) if truth else binder.row(changed)

    def _means(self, part: exp.Expression, key: exp.Expression) -> bool:
        """Whether two columns are the same, written in two ways."""
        if not isinstance(part, exp.Column) or not isinstance(key, exp.Column):
            return False
        try:
            return self._binder.row(part) == self._binder.row(key)
        except QuestionError:
            return False

    def _total_column(self, node: exp.Expression, name: str) -> Expr:
        total, expr = self.total(node, "")
        short = self.totals.setdefault(total, f"t{len(self.totals)}")
        if isinstance(expr, Column):
            return Column(f"{name}.{short}", expr.range)
        assert isinstance(expr, Call)
        inner = expr.args[0]
        return call(expr.op, Column(f"{name}.{short}", inner.range), *expr.args[1:],
                    params=expr.params)  # fmt: skip

    def total(self, node: exp.Expression, column: str) -> tuple[Total, Expr]:
        """What an aggregate computes of a unit's rows, and the column that has it."""
        binder, test = self._binder, None
        if isinstance(node, exp.Filter):
            test, node = binder.truth(node.expression.this), node.this
        kind = TOTALS.get(type(node))
        if kind is None:
            said = f"{node.key.upper()} cannot be computed for each unit"
            hint = (
                "what can be: COUNT, SUM, AVG, MIN, MAX, FIRST, LAST, ARG_MIN, ARG_MAX, ANY_VALUE"
            )
            raise self.context.refuse(node, said, hint)
        total = self._total(binder, node, kind, test)
        try:
            spread = total_range(total, most_rows(self._rows, self.context.tables))
        except ValueError as error:
            raise self.context.refuse(
                node, str(error), "use a coarser step, or smaller bounds"
            ) from None
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd):
            return total, call("eq", Column(column, spread), _one())
        return total, Column(column, spread)

    def _total(self, binder: Binder, node: exp.Expression, kind: str, test: Expr | None) -> Total:
        inner = node.this
        if isinstance(node, exp.CountIf):
            return Total("count", _only(conjoin(test, binder.truth(inner)), _one()))
        if isinstance(node, exp.Count):
            if isinstance(inner, exp.Distinct):
                argument = binder.value(inner.expressions[0])
                return Total("distinct", _only(test, argument))
            if inner is None or isinstance(inner, exp.Star):
                return Total("count", None if test is None else _only(test, _one()))
            return Total("count", _only(test, binder.row(inner)))
        by = None
        if isinstance(node, exp.ArgMin | exp.ArgMax):
            by = binder.value(node.expression)
        if isinstance(inner, exp.Order):  # FIRST(x ORDER BY t)
            by, inner = binder.value(inner.expressions[0].this), inner.this
        argument = binder.row(inner) if kind in ("first", "last") else nearest(binder.value(inner))
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd) or isinstance(argument.range, Truth):
            argument = call("case", argument, _one(), call("not", argument), _zero(), _no_number())
        if kind in ("sum", "avg") and not isinstance(argument.range, Number):
            raise self.context.refuse(node, "a number is needed here")
        if kind in ("min", "max") and not isinstance(argument.range, Number | Day | Moment):
            said = "MIN and MAX are of numbers, dates and timestamps"
            raise self.context.refuse(node, said)
        known = isinstance(node, exp.ArgMin | exp.ArgMax | exp.AnyValue)
        return Total(kind, _only(test, argument), by, known)


def _rewritten(
    node: exp.Expression, swap: Callable[[exp.Expression], exp.Expression]
) -> exp.Expression:
    changed = swap(node)
    if changed is not node:
        return changed
    for name, part in [*node.args.items()]:
        if isinstance(part, exp.Expression):
            node.set(name, _rewritten(part, swap))
        elif isinstance(part, list):
            node.set(name, [_rewritten(p, swap) if isinstance(p, exp.Expression) else p
                            for p in part])  # fmt: skip
    return node


def _unaliased(item: exp.Expression) -> exp.Expression:
    return item.this if isinstance(item, exp.Alias) else item


def _only(test: Expr | None, argument: Expr) -> Expr:
    if test is None:
        return argument
    return call("case", test, argument, Constant(None, replace(argument.range, nullable=True)))


def _one() -> Expr:
    return constant(1)


def _zero() -> Expr:
    return constant(0)


def _no_number() -> Expr:
    return Constant(None, Number(0, 1))
