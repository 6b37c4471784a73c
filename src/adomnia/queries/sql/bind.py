"""A SELECT becomes a question: its rows, its keys, its statistics, and what is shown of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Constant, Expr
from adomnia.queries.question import (
    Apply,
    Given,
    Group,
    Literal,
    Output,
    Post,
    Question,
    Sort,
    Statistic,
)
from adomnia.queries.ranges import Number, count_cells
from adomnia.queries.sql.aggregates import AGGREGATES, bind_aggregate, is_aggregate
from adomnia.queries.sql.parse import parse, refuse
from adomnia.queries.sql.relation import Source, bind_from
from adomnia.queries.sql.rows import Binder
from adomnia.schema.table import Table

__all__ = ["MAX_CELLS", "bind"]

MAX_CELLS = 1_000_000
"""An answer has at most this many cells."""


@dataclass
class _Select:
    """A SELECT in the making: what has been bound so far."""

    binder: Binder
    table: Table
    items: Mapping[str, exp.Expression]
    keys: list[Expr] = field(default_factory=list)
    statistics: list[Statistic] = field(default_factory=list)


def bind(sql: str, table: Table, columns: tuple[str, ...]) -> Question:
    """The question that the text asks of the table; refused, with a pointer, when it cannot be."""
    try:
        return _bind(sql, table, columns)
    except RecursionError:
        raise QuestionError("the statement is nested too deeply", sql=sql) from None


def _bind(sql: str, table: Table, columns: tuple[str, ...]) -> Question:
    select = parse(sql)
    _check(sql, select)
    _, relation = bind_from(Source(sql, table, columns, {}), select)
    items = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}
    made = _Select(Binder(sql, relation), table, items)
    _keys(made, select)
    outputs = _outputs(made, select)
    shown = {output.name: output.value for output in outputs}
    having = select.args.get("having")
    return Question(
        table=table.name,
        where=relation.where,
        keys=tuple(made.keys),
        having=_post(made, having.this, shown) if having else None,
        order=_order(made, select, outputs),
        statistics=tuple(made.statistics),
        outputs=outputs,
        limit=_count(made, select, "limit"),
        offset=_count(made, select, "offset") or 0,
    )


_REFUSED: Mapping[str, tuple[str, str]] = {
    "distinct": ("SELECT DISTINCT cannot be answered", "use GROUP BY, which shows every cell"),
    "windows": ("window functions over rows cannot be answered privately", ""),
    "qualify": ("QUALIFY cannot be answered privately", "use HAVING"),
    "into": ("the data cannot be changed from here", ""),
    "locks": ("the data cannot be locked from here", ""),
    "laterals": ("LATERAL cannot be answered privately", ""),
    "sample": ("TABLESAMPLE cannot be answered", "ask about all rows"),
    "pivots": ("PIVOT cannot be answered", "use GROUP BY"),
    "connect": ("CONNECT BY cannot be answered", ""),
    "match": ("MATCH_RECOGNIZE cannot be answered", ""),
    "kind": ("SELECT AS STRUCT cannot be answered", ""),
    "prewhere": ("PREWHERE cannot be answered", "use WHERE"),
    "cluster": ("CLUSTER BY cannot be answered", ""),
    "distribute": ("DISTRIBUTE BY cannot be answered", ""),
    "sort": ("SORT BY cannot be answered", "use ORDER BY"),
    "settings": ("settings cannot be given here", ""),
    "format": ("FORMAT cannot be given here", ""),
}


def _check(sql: str, select: exp.Select) -> None:
    """What no statement may contain, wherever it stands."""
    for name, (message, hint) in _REFUSED.items():
        if select.args.get(name):
            raise refuse(sql, select, message, hint)
    if not select.expressions:
        raise refuse(sql, select, "a SELECT needs at least one aggregate", "for example COUNT(*)")
    for node in select.walk():
        if isinstance(node, exp.Window):
            raise refuse(
                sql,
                node,
                "window functions over rows cannot be answered privately",
                "aggregate with GROUP BY instead",
            )
        if isinstance(node, exp.Placeholder | exp.Parameter | exp.SessionParameter):
            raise refuse(sql, node, "a parameter has no value here", "write the value out")


# GROUP BY


def _keys(made: _Select, select: exp.Select) -> None:
    group = select.args.get("group")
    if group is None:
        return
    extra = [part for name, part in group.args.items() if name != "expressions" and part]
    if extra:
        raise made.binder.refuse(
            group,
            "ROLLUP, CUBE and GROUPING SETS cannot be answered",
            "ask for each grouping by itself",
        )
    for node in group.expressions:
        bound = made.binder.row(_named(made, select, node))
        if isinstance(bound, Constant):
            raise made.binder.refuse(node, "a constant cannot be grouped by")
        if bound not in made.keys:
            made.keys.append(bound)
    _count_cells(made, group)


def _named(made: _Select, select: exp.Select, node: exp.Expression) -> exp.Expression:
    """What a GROUP BY item stands for: a position, an alias, or itself."""
    if isinstance(node, exp.Literal) and not node.is_string:
        position = int(node.this) if str(node.this).isdigit() else 0
        if not 1 <= position <= len(select.expressions):
            raise made.binder.refuse(node, f"there is no column {node.this} to group by")
        item = select.expressions[position - 1]
        return item.this if isinstance(item, exp.Alias) else item
    known = {name for part in made.binder.relation.columns.values() for name in part}
    if isinstance(node, exp.Column) and not node.table and node.name not in known:
        return made.items.get(node.name, node)
    return node


def _count_cells(made: _Select, group: exp.Expression) -> None:
    cells = 1
    for key, node in zip(made.keys, group.expressions, strict=False):
        cells *= (count_cells(key.range) or 1) + 1
        if cells > MAX_CELLS:
            raise made.binder.refuse(
                node,
                f"grouping by this makes more than {MAX_CELLS:,} cells",
                "every cell of the public domain is shown: group more coarsely, for example age/10",
            )


# What is shown


def _outputs(made: _Select, select: exp.Select) -> tuple[Output, ...]:
    names: dict[str, int] = {}
    outputs = []
    for item in select.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        value = _post(made, inner, {})
        name = item.alias or _name(inner)
        names[name] = names.get(name, 0) + 1
        suffix = f"_{names[name]}" if names[name] > 1 else ""
        outputs.append(Output(name + suffix, value))
    return tuple(outputs)


def _name(node: exp.Expression) -> str:
    while isinstance(node, exp.WithinGroup | exp.Filter | exp.Paren):
        node = node.this
    if isinstance(node, exp.Column):
        return node.name
    return AGGREGATES.get(type(node), "column")


_OPERATORS: Mapping[type[exp.Expression], str] = {
    exp.Add: "add",
    exp.Sub: "sub",
    exp.Mul: "mul",
    exp.Div: "div",
    exp.Mod: "mod",
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.And: "and",
    exp.Or: "or",
    exp.Neg: "neg",
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Sqrt: "sqrt",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Nullif: "nullif",
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
}


def _post(made: _Select, node: exp.Expression, shown: Mapping[str, Post]) -> Post:
    """The node as an expression over the answer: keys, statistics and what is derived of them."""
    if is_aggregate(node):
        return _statistic(made, node)
    if isinstance(node, exp.Column) and not node.table and node.name in shown:
        return shown[node.name]
    key = _key(made, node)
    if key is not None:
        return key
    if isinstance(node, exp.Paren):
        return _post(made, node.this, shown)
    if isinstance(node, exp.Column | exp.Star):
        raise _bare(made, node)
    compound = _compound(made, node, shown)
    if compound is not None:
        return compound
    constant = made.binder.row(node)
    if not isinstance(constant, Constant):
        raise made.binder.refuse(
            node,
            "this is neither an aggregate nor in GROUP BY",
            "group by it, or put it inside an aggregate",
        )
    spread = constant.range
    scaled = constant.value is not None and isinstance(spread, Number)
    return Literal(_plain(constant.value * spread.step) if scaled else constant.value)  # type: ignore[union-attr]


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _statistic(made: _Select, node: exp.Expression) -> Post:
    statistic, root = bind_aggregate(made.binder, made.table, node)
    if statistic not in made.statistics:
        made.statistics.append(statistic)
    given = Given(made.statistics.index(statistic))
    return Apply("sqrt", (given,)) if root else given


def _key(made: _Select, node: exp.Expression) -> Post | None:
    if not made.keys or any(is_aggregate(part) for part in node.walk()):
        return None
    try:
        bound = made.binder.row(node)
    except QuestionError:
        return None
    return Group(made.keys.index(bound)) if bound in made.keys else None


def _compound(made: _Select, node: exp.Expression, shown: Mapping[str, Post]) -> Post | None:
    make: Callable[[exp.Expression], Post] = lambda part: _post(made, part, shown)  # noqa: E731
    if isinstance(node, exp.Round):
        parts = [node.this, node.args.get("decimals")]
        return Apply("round", tuple(make(part) for part in parts if part is not None))
    if isinstance(node, exp.Between):
        low = Apply("ge", (make(node.this), make(node.args["low"])))
        return Apply("and", (low, Apply("le", (make(node.this), make(node.args["high"])))))
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        return Apply("is_null", (make(node.this),))
    if isinstance(node, exp.In) and not node.args.get("query"):
        return Apply("in", tuple(make(part) for part in (node.this, *node.expressions)))
    if isinstance(node, exp.Case) and node.this is None:
        parts = [part for branch in node.args["ifs"] for part in (branch.this, branch.args["true"])]
        return Apply(
            "case", tuple(make(part) for part in (*parts, node.args.get("default") or exp.Null()))
        )
    if isinstance(node, exp.Cast) and any(is_aggregate(part) for part in node.walk()):
        return make(node.this)
    op = _OPERATORS.get(type(node))
    if op is None:
        return None
    parts = [node.this, node.args.get("expression"), *node.expressions]
    return Apply(op, tuple(make(part) for part in parts if part is not None))


def _bare(made: _Select, node: exp.Expression) -> QuestionError:
    if isinstance(node, exp.Star) or isinstance(node.this, exp.Star):
        return made.binder.refuse(
            node, "single rows are never shown", "ask for aggregates, for example SELECT COUNT(*)"
        )
    bound = made.binder.row(node)  # an unknown column is said to be unknown
    name = bound.name if isinstance(bound, Column) else node.name
    return made.binder.refuse(
        node,
        f"{name!r} is neither aggregated nor in GROUP BY",
        f"add GROUP BY {name}, or use it inside an aggregate",
    )


# ORDER BY, LIMIT


def _order(made: _Select, select: exp.Select, outputs: tuple[Output, ...]) -> tuple[Sort, ...]:
    clause = select.args.get("order")
    if clause is None:
        return ()
    shown = {output.name: output.value for output in outputs}
    sorts = []
    for item in clause.expressions:
        node = item.this
        if isinstance(node, exp.Literal) and not node.is_string:
            position = int(node.this) if str(node.this).isdigit() else 0
            if not 1 <= position <= len(outputs):
                raise made.binder.refuse(node, f"there is no column {node.this} to order by")
            value = outputs[position - 1].value
        else:
            value = _post(made, node, shown)
        sorts.append(Sort(value, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(sorts)


def _count(made: _Select, select: exp.Select, name: str) -> int | None:
    clause = select.args.get(name)
    if clause is None:
        return None
    node: Any = clause.args.get("expression") or clause.args.get("count")
    if node is None or isinstance(node, exp.Null):
        return None
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        raise made.binder.refuse(clause, f"{name.upper()} takes a whole number")
    return int(node.this)
