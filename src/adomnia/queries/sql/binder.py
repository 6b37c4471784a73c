"""The binder: looks columns up, dispatches on the syntax, and points at what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from sqlglot import exp

from adomnia.errors import QuestionError
from adomnia.queries.expression import Column, Constant, Expr, columns
from adomnia.queries.operations import LIMIT, call, constant, inside
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, Truth
from adomnia.queries.rows import Rows, is_owner
from adomnia.queries.sql.parse import place, refuse

__all__ = [
    "Binder",
    "Handler",
    "Relation",
    "as_truth",
    "describe",
    "is_null",
    "likely",
    "literal_number",
    "look_up",
    "match",
    "null",
    "truth",
    "unsupported",
    "whole",
]


@dataclass(frozen=True)
class Binder:
    """The statement's text, for pointing, and the rows its columns are looked up in."""

    sql: str
    relation: Relation
    handlers: Mapping[type[exp.Expression], Handler]
    seen: dict[int, tuple[exp.Expression, Expr]] = field(default_factory=dict, compare=False)

    def refuse(self, node: exp.Expression, message: str, hint: str = "") -> QuestionError:
        """An error that points at the node."""
        return refuse(self.sql, node, message, hint)

    def row(self, node: exp.Expression) -> Expr:
        """The bound expression of a node; refused, with a pointer, when its range is unknown.

        Each node is bound once: some syntax reads an operand twice, and nested it would double
        at every level. The node is kept beside the result, so that its id stays its own.
        """
        if node is None:  # the parser lets FLOOR() pass
            raise refuse(self.sql, None, "a function here lacks an argument")
        if id(node) not in self.seen:
            self.seen[id(node)] = (node, self._bind(node))
        return self.seen[id(node)][1]

    def _bind(self, node: exp.Expression) -> Expr:
        handler = self.handlers.get(type(node))
        if handler is None:
            raise unsupported(self, node)
        try:
            bound = handler(self, node)
            return call("not", bound) if node.args.get("negate") else bound
        except ValueError as error:
            raise self.refuse(node, str(error), "use smaller bounds or a coarser step") from None

    def number(self, node: exp.Expression) -> Expr:
        """The bound expression, which must be a number; a truth value counts as 0 or 1."""
        bound = self.value(node)
        if isinstance(bound.range, Truth):
            return call(
                "case", bound, constant(1), call("is_null", bound), null(Number(0, 1)), constant(0)
            )
        if isinstance(bound, Constant) and isinstance(bound.value, str):
            bound = literal_number(self, node, bound.value)
        if not isinstance(bound.range, Number) and not is_null(bound):
            raise self.refuse(node, "a number is needed here", "this is " + describe(bound.range))
        return bound if isinstance(bound.range, Number) else null(Number(0, 0))

    def value(self, node: exp.Expression) -> Expr:
        """The bound expression, to compute with: NULL where a column holds what lies outside."""
        return inside(self.row(node))

    def truth(self, node: exp.Expression) -> Expr:
        """The bound expression, which must be a condition."""
        return truth(self, node, self.row(node))


def truth(binder: Binder, node: exp.Expression, bound: Expr) -> Expr:
    """The expression itself where it is a condition, else an error that points at it."""
    if is_null(bound):
        return Constant(None, Truth())
    if not isinstance(bound.range, Truth):
        raise binder.refuse(node, "a condition is needed here", "for example age >= 18")
    return bound


Handler = Callable[[Binder, Any], Expr]
"""What binds one kind of syntax."""


def unsupported(binder: Binder, node: exp.Expression) -> QuestionError:
    """Why a node without a handler is refused, and what could be used instead."""
    if isinstance(node, exp.AggFunc):
        message = "an aggregate cannot stand inside another or in WHERE"
        return binder.refuse(node, message, "conditions on aggregates go into HAVING")
    if isinstance(node, exp.Window):
        return binder.refuse(node, "window functions over rows cannot be answered privately")
    if isinstance(node, exp.Select | exp.Subquery | exp.Exists):
        return binder.refuse(node, "a subquery is allowed in FROM only")
    if isinstance(node, exp.AtTimeZone):
        hint = "timestamps are local times of the zone that the policy declares"
        return binder.refuse(node, "a zone cannot be chosen here", hint)
    return _unknown_function(binder, node)


def _unknown_function(binder: Binder, node: exp.Expression) -> QuestionError:
    """That there is no rule for a function or a sign, named as it was typed."""
    if isinstance(node, exp.Star):
        hint = "ask for aggregates such as COUNT(*)"
        return binder.refuse(node, "single rows are never shown", hint)
    named = _written(binder, node)
    if isinstance(node, exp.TimeToStr) or named in _FORMATS:
        hint = "group by DATE_TRUNC('month', day), or by EXTRACT(year FROM day)"
        return binder.refuse(node, f"{named} is not supported: it writes text", hint)
    return binder.refuse(
        node,
        f"{named} is not supported: its range cannot be derived",
        "what can be used: + - * / %, ABS, ROUND, FLOOR, CEIL, LEAST, GREATEST, SQRT, LN, EXP, "
        "CASE, COALESCE, EXTRACT, DATE_TRUNC, DATE_DIFF, INTERVAL, UPPER, LOWER, LENGTH, SUBSTRING",
    )


_SIGNS: Mapping[type[exp.Expression], str] = {
    exp.DPipe: "||",
    exp.RegexpLike: "~",
    exp.Collate: "COLLATE",
    exp.Escape: "ESCAPE",
    exp.Any: "ANY",
    exp.Order: "ORDER BY",
    exp.Interval: "INTERVAL",
}


_FORMATS = ("TO_CHAR", "STRFTIME", "DATE_FORMAT", "FORMAT_DATE", "FORMAT_TIMESTAMP")
"""Functions that write dates as text, of which the parser knows some."""
_CALLED = re.compile(r"(\w+)\s*\(\s*$")


def _written(binder: Binder, node: exp.Expression) -> str:
    """What a node is in SQL, as it was typed where that can be seen; the parser's own name for it
    says nothing to whoever asks."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    named = node.sql_name().upper() if isinstance(node, exp.Func) else "this"
    if isinstance(node, exp.Func) and isinstance(node.this, exp.Column | exp.Literal):
        typed = _CALLED.search(binder.sql[: place(node.this)])
        named = named if typed is None else typed[1].upper()
    return _SIGNS.get(type(node), named)


def literal_number(binder: Binder, node: exp.Expression, text: str) -> Constant:
    """The constant that a text of digits stands for, on the lattice of its decimals."""
    try:
        value = Decimal(text.strip())
        digits = value.as_tuple().exponent
        if not isinstance(digits, int) or abs(digits) > 30:
            raise InvalidOperation
    except InvalidOperation:
        raise binder.refuse(node, "this is not a number that can be used") from None
    step = Fraction(1, 10 ** max(0, -digits))
    index = int(Fraction(value) / step)
    if abs(index) > LIMIT:
        raise binder.refuse(node, "this number is too large")
    return constant(index, step)


def null(spread: Range) -> Constant:
    """NULL of a type."""
    return Constant(None, replace(spread, nullable=True))


def is_null(bound: Expr) -> bool:
    """Whether the expression is NULL written out."""
    return isinstance(bound, Constant) and bound.value is None


def as_truth(bound: Expr) -> Expr:
    """A text constant as the truth value it spells; anything else as it is."""
    words = {"true": True, "t": True, "false": False, "f": False}
    if isinstance(bound, Constant) and str(bound.value).lower() in words:
        return constant(words[str(bound.value).lower()])
    return bound


def describe(spread: Range) -> str:
    """What kind of value this is, for an error."""
    names: Mapping[type, str] = {
        Number: "a number",
        Text: "text",
        Day: "a date",
        Moment: "a timestamp",
        Truth: "a condition",
    }
    return names[type(spread)]


def whole(binder: Binder, node: exp.Expression) -> int:
    """The whole number that is written out here."""
    bound = binder.row(node)
    if not (isinstance(bound, Constant) and isinstance(bound.value, int)):
        raise binder.refuse(node, "a whole number written out is needed here")
    if isinstance(bound.range, Number) and bound.range.step != 1:
        raise binder.refuse(node, "a whole number written out is needed here")
    return bound.value


# Names: what a column of the statement stands for, as an expression over the private table.


@dataclass(frozen=True)
class Relation:
    """Rows of the private table as a FROM clause sees them: columns by alias, and a filter."""

    columns: Mapping[str, Mapping[str, Expr]]
    where: Expr | None = None
    rows: Rows | None = None
    """Of which tables the rows are, where there are several."""
    merged: Mapping[str, Expr] = field(default_factory=dict)
    """What USING made one column of two, by its name."""

    def named(self, alias: str) -> Relation:
        """The same rows, all columns under one alias."""
        merged = {name: expr for part in self.columns.values() for name, expr in part.items()}
        return Relation({alias: merged}, self.where, self.rows)

    def called(self, column: Column) -> str:
        """What the statement calls a column; of several tables each use has a name of its own."""
        if self.rows is None:
            return column.name
        for alias in self.aliases:
            for name, expr in self.columns[alias].items():
                if expr == column:
                    return name if len(self.aliases) == 1 else f"{alias}.{name}"
        table, _, name = column.name.rpartition(".")
        return f"{table.split(' #')[0]}.{name}"

    @property
    def aliases(self) -> tuple[str, ...]:
        """The names that FROM has; what stands for a subquery in a condition has none."""
        return tuple(alias for alias in self.columns if not alias.startswith("adomnia "))


def look_up(sql: str, node: exp.Column, relation: Relation) -> Expr:
    """The expression a column name stands for, or an error that says what names there are."""
    parts = relation.columns
    if node.table:
        alias = match(node.table, parts)
        if alias is None:
            hint = likely(node.table, relation.aliases, "in FROM there is ")
            raise refuse(sql, node, f"there is no table {node.table!r} here", hint)
        parts = {alias: parts[alias]}
    elif once := match(node.name, relation.merged):
        parts = {"": {once: relation.merged[once]}}
    found = [part[name] for part in parts.values() if (name := match(node.name, part))]
    if not found:
        listed = [alias for alias in relation.aliases if alias in parts]
        raise _unknown(sql, node, sorted({name for alias in listed for name in parts[alias]}))
    if len(set(found)) > 1:
        raise refuse(sql, node, f"{node.name!r} is in several tables", "write table.column")
    if any(is_owner(column.name) for column in columns(found[0])) and not _names_only(node):
        hint = "it can be joined on, grouped by in a subquery, counted, and tested for NULL"
        raise refuse(sql, node, f"{node.name!r} names a person, and is compared with nothing", hint)
    return found[0]


_NAMED = (exp.Select, exp.Alias, exp.Group, exp.Count, exp.Distinct, exp.Is)


def _names_only(node: exp.Expression) -> bool:
    """Whether a unit's key stands where nothing is computed of it."""
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return above is None or isinstance(above, _NAMED)


def match(name: str, names: Mapping[str, object]) -> str | None:
    """The listed name that is meant: the same, or the one that differs only in case."""
    if name in names:
        return name
    folded = [other for other in names if other.lower() == name.lower()]
    return folded[0] if len(folded) == 1 else None


def _unknown(sql: str, node: exp.Column, names: list[str]) -> QuestionError:
    hint = likely(node.name, names, "the columns are: ")
    if getattr(node.this, "quoted", False) and not hint.startswith("did you mean"):
        hint = f"text goes in single quotes: {node.name!r}; {hint}"
    return refuse(sql, node, f"there is no column {node.name!r}", hint)


def likely(name: str, names: Sequence[str], intro: str) -> str:
    """A hint after a name that is not known: the nearest of those that are, or all of them.

    >>> likely("wrad", ["ward", "cost"], "the columns are: ")
    "did you mean 'ward'? the columns are: ward, cost"
    """
    shown = intro + ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
    folded = {other.lower(): other for other in names}
    close = get_close_matches(name.lower(), [*folded][:1000], 1)
    return f"did you mean {folded[close[0]]!r}? {shown}" if close else shown
