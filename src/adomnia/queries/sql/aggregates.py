"""Aggregates: COUNT, SUM, AVG, VAR, quantiles, MIN, MAX and MODE become statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from adomnia.limits import MAX_MODE_VALUES
from adomnia.queries.expression import Call, Column, Constant, Expr
from adomnia.queries.measurement import number
from adomnia.queries.operations import LIMIT, call, inside, nearest
from adomnia.queries.question import Statistic
from adomnia.queries.ranges import Day, Moment, Number, Text, count_cells
from adomnia.queries.rows import OWNER, is_owner
from adomnia.queries.sql.binder import Binder, describe
from adomnia.queries.sql.dates import steps_from_low
from adomnia.queries.sql.relation import conjoin
from adomnia.schema.table import Table

__all__ = ["AGGREGATES", "bind_aggregate", "is_aggregate"]


AGGREGATES: Mapping[type[exp.Expression], str] = {
    exp.Count: "count",
    exp.CountIf: "count_if",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Median: "median",
    exp.Quantile: "quantile",
    exp.ApproxQuantile: "quantile",
    exp.PercentileCont: "percentile_cont",
    exp.PercentileDisc: "percentile_disc",
    exp.Min: "min",
    exp.Max: "max",
    exp.Mode: "mode",
}
"""What may be asked, and the name of the column where the statement gives none."""

_SIMPLE: Mapping[type[exp.Expression], tuple[str, bool, bool]] = {
    exp.Sum: ("sum", False, False),
    exp.Avg: ("avg", False, False),
    exp.Variance: ("var", False, False),
    exp.VariancePop: ("var", True, False),
    exp.Stddev: ("var", False, True),
    exp.StddevSamp: ("var", False, True),
    exp.StddevPop: ("var", True, True),
    exp.Min: ("min", False, False),
    exp.Max: ("max", False, False),
}


def is_aggregate(node: exp.Expr) -> bool:
    """Whether the node is an aggregate call, its FILTER and WITHIN GROUP included."""
    inner = node.this if isinstance(node, exp.Filter | exp.WithinGroup) else node
    if isinstance(inner, exp.WithinGroup):
        inner = inner.this
    return isinstance(inner, exp.AggFunc) or _quantile_name(inner) is not None


def _quantile_name(node: exp.Expr) -> str | None:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    return name if name in ("quantile_cont", "quantile_disc") else None


def bind_aggregate(binder: Binder, table: Table, node: exp.Expression) -> tuple[Statistic, bool]:
    """The statistic an aggregate asks for, and whether its square root is shown."""
    test: Expr | None = None
    if isinstance(node, exp.Filter):
        test = binder.truth(node.expression.this)
        node = node.this
    if isinstance(node, exp.Count | exp.CountIf):
        return _count(binder, table, node, test), False
    if type(node) in _SIMPLE:
        kind, population, root = _SIMPLE[type(node)]
        if isinstance(node.this, exp.Distinct):
            raise binder.refuse(node, "DISTINCT is allowed in COUNT only")
        if kind in ("min", "max"):
            return _ordered_statistic(binder, Statistic(kind), node.this, test), False
        argument = _argument(binder, node.this, test)
        if kind == "var" and number(argument).width ** 2 > LIMIT:
            raise binder.refuse(
                node, "the bounds are too wide for a variance", "use a coarser step"
            )
        return Statistic(kind, argument, population=population), root
    if _is_mode(node):
        return Statistic("mode", _mode(binder, node, test)), False
    argument_node, share = _quantile(binder, node)
    quantile = Statistic("quantile", share=share)
    return _ordered_statistic(binder, quantile, argument_node, test), False


def _ordered_statistic(
    binder: Binder, statistic: Statistic, node: exp.Expression, test: Expr | None
) -> Statistic:
    """A quantile or an extreme: of a number, or of days and moments as places among theirs."""
    bound = binder.value(node)
    if not isinstance(bound.range, Day | Moment) or isinstance(bound, Constant):
        return replace(statistic, argument=_argument(binder, node, test))
    place = _filtered(nearest(steps_from_low(binder, node, bound)), test)
    return replace(statistic, argument=place, calendar=bound.range)


def _is_mode(node: exp.Expression) -> bool:
    inner = node.this if isinstance(node, exp.WithinGroup) else node
    return isinstance(inner, exp.Mode)


def _mode(binder: Binder, node: exp.Expression, test: Expr | None) -> Expr:
    """What the most frequent value is asked of: an expression whose values are all public."""
    inner = _ordered(binder, node).this if isinstance(node, exp.WithinGroup) else node.this
    twice = isinstance(node, exp.WithinGroup) and node.this.this is not None
    if inner is None or twice or isinstance(inner, exp.Distinct):
        raise binder.refuse(node, "MODE takes one expression", "for example MODE(region)")
    bound = binder.value(inner)
    if isinstance(bound, Constant):
        raise binder.refuse(inner, "a constant cannot be aggregated", "use COUNT(*)")
    values = count_cells(bound.range)
    if values is None or values > MAX_MODE_VALUES:
        raise binder.refuse(
            inner,
            f"MODE needs a column whose values are declared, {MAX_MODE_VALUES:,} at most",
            "declare its values in the policy, or ask more coarsely, for example MODE(age / 10)",
        )
    return _filtered(bound, test)


def _argument(binder: Binder, node: exp.Expression, test: Expr | None) -> Expr:
    """What is added up or ordered: a value outside of its column's domain counts as the nearest
    end of it. A column by itself is clamped in the aggregate (`components.py`)."""
    found = binder.value(node)
    if isinstance(found.range, Day | Moment):
        hint = f"days can be: DATE_DIFF('day', DATE '{found.range.low:%Y-%m-%d}', …)"
        raise binder.refuse(node, f"{describe(found.range)} cannot be added up", hint)
    bound = nearest(binder.number(node))
    if isinstance(bound, Call) and bound.op == "nearest" and test is None:
        bound = bound.args[0]
    if isinstance(bound, Constant) and test is None:
        raise binder.refuse(node, "a constant cannot be aggregated", "use COUNT(*)")
    return _filtered(bound, test)


def _filtered(bound: Expr, test: Expr | None) -> Expr:
    """What is aggregated where it passes the FILTER, else NULL."""
    return bound if test is None else call("case", test, bound, _nothing(bound))


def _nothing(bound: Expr) -> Constant:
    """NULL, in the place of what does not pass a FILTER: its range has NULL whatever it stands
    for."""
    return Constant(None, replace(bound.range, nullable=True))


def _count(binder: Binder, table: Table, node: exp.Expression, test: Expr | None) -> Statistic:
    inner = node.this
    if isinstance(node, exp.CountIf):
        return Statistic("count", conjoin(test, binder.truth(inner)))
    if node.expressions:
        raise binder.refuse(node, "COUNT takes one expression")
    if isinstance(inner, exp.Distinct):
        return _distinct(binder, table, inner, test)
    if inner is None or isinstance(inner, exp.Star):
        return Statistic("count", test)
    bound = binder.row(inner)
    if isinstance(bound, Constant) and bound.value is not None:
        return Statistic("count", test)
    return Statistic("count", conjoin(test, call("not", call("is_null", bound))))


def _distinct(binder: Binder, table: Table, node: exp.Distinct, test: Expr | None) -> Statistic:
    if len(node.expressions) != 1:
        raise binder.refuse(node, "COUNT(DISTINCT …) takes one expression")
    bound = binder.row(node.expressions[0])
    if isinstance(bound, Constant):
        raise binder.refuse(node, "a constant cannot be counted distinctly")
    if isinstance(bound, Column) and is_owner(bound.name):
        there = call("not", call("is_null", bound)) if bound.range.nullable else None
        test, bound = conjoin(test, there), Column(OWNER, Text(None))
    if isinstance(bound, Column) and bound.name == table.unit:
        bound = Column(bound.name, Text(None))
    bound = inside(bound)
    if test is not None:
        bound = call("case", test, bound, _nothing(bound))
    return Statistic("distinct", bound)


def _quantile(binder: Binder, node: exp.Expression) -> tuple[exp.Expression, Fraction]:
    if isinstance(node, exp.Median):
        return node.this, Fraction(1, 2)
    if isinstance(node, exp.Quantile | exp.ApproxQuantile):
        return node.this, _share(binder, node.args.get("quantile"), node)
    if _quantile_name(node) is not None and len(node.expressions) == 2:
        return node.expressions[0], _share(binder, node.expressions[1], node)
    if isinstance(node, exp.WithinGroup) and isinstance(
        node.this, exp.PercentileCont | exp.PercentileDisc
    ):
        return _within(binder, node)
    inner = node.this if isinstance(node, exp.WithinGroup) else node
    name = inner.sql_name() if isinstance(inner, exp.Func) else inner.key
    raise binder.refuse(
        node,
        f"{name.upper()} cannot be answered privately",
        "what can be asked: COUNT, SUM, AVG, VAR_SAMP, STDDEV_SAMP, MEDIAN, QUANTILE(x, share), "
        "PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY x), MIN, MAX, MODE",
    )


def _ordered(binder: Binder, node: exp.WithinGroup) -> exp.Expression:
    ordered = node.expression.expressions if node.expression else []
    if len(ordered) != 1:
        raise binder.refuse(node, "WITHIN GROUP takes ORDER BY one expression")
    found: exp.Expression = ordered[0]
    return found


def _within(binder: Binder, node: exp.WithinGroup) -> tuple[exp.Expression, Fraction]:
    ordered, share = _ordered(binder, node), _share(binder, node.this.this, node)
    return ordered.this, 1 - share if ordered.args.get("desc") else share


def _share(binder: Binder, node: exp.Expression | None, whole: exp.Expression) -> Fraction:
    bound = binder.row(node) if node is not None else None
    if isinstance(bound, Constant) and isinstance(bound.range, Number) and bound.value is not None:
        share = Fraction(bound.value) * bound.range.step
        if 0 <= share <= 1 and share.denominator <= 10**6:
            return share
    raise binder.refuse(
        node if node is not None else whole,
        "a share from 0 to 1 is needed here",
        "for example QUANTILE(age, 0.25)",
    )
