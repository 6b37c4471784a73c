"""Emptiness: conditions that no row of the public domain meets, proven without any data.

A proof rests on the declared domains alone, so it tells nothing of the rows. Where none is found
within the allowed work, a condition counts as one that can be met.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from adomnia.queries.calendar import truncate
from adomnia.queries.expression import Call, Column, Constant, Expr, columns, conjuncts
from adomnia.queries.operations import evaluate
from adomnia.queries.patterns import is_rounded, names, stand_ins
from adomnia.queries.question import Literal, Statistic
from adomnia.queries.ranges import (
    Day,
    Moment,
    Number,
    Range,
    Text,
    Truth,
    count_cells,
    outside,
)

__all__ = ["Emptiness", "may_be"]

WORK = 200_000
"""So many operations are evaluated for one statement in all; what is not proven then is paid."""

MAX_LEAVES = 64
"""A choice of more branches is not looked into."""

_ORDERED = ("lt", "le", "gt", "ge")
_MIRRORED = {"lt": "gt", "le": "ge"}


@dataclass
class Emptiness:
    """A search for proofs, with the work that is left for it."""

    work: int = field(default=WORK)

    def may_hold(self, *tests: Expr | None) -> bool:
        """Whether a row may meet all the conditions, as far as can be told."""
        parts = [part for part in conjuncts(*tests) if not is_rounded(part)]
        if not all(may_be_true(part) for part in parts):
            return False
        for i, part in enumerate(parts):
            present = _present(part)
            others = (*parts[:i], *parts[i + 1 :])
            if present is not None and _is_nothing(self.leaves(present, *others)):
                return False
        return all(self._met(group) for group in _groups(parts))

    def leaves(self, expr: Expr, *given: Expr | None) -> tuple[Expr, ...]:
        """What the branches of a choice give, those left out that no row can come to."""
        found = tuple(self._leaves(expr, given))
        return found if len(found) <= MAX_LEAVES else (expr,)

    def known(self, statistic: Statistic, where: Expr | None) -> Literal | None:
        """The statistic, where no row can add anything to it: 0, or NULL as of no row."""
        argument, kind = statistic.argument, statistic.kind
        if kind == "count":
            return None if self.may_hold(where, argument) else Literal(0, statistic)
        assert argument is not None
        found = self.leaves(argument, where)
        if _is_nothing(found):
            return Literal(0 if kind == "distinct" else None, statistic)
        zeros = all(isinstance(leaf, Constant) and not leaf.value for leaf in found)
        return Literal(0, statistic) if zeros and kind == "sum" else None

    def _leaves(self, expr: Expr, given: tuple[Expr | None, ...]) -> Iterator[Expr]:
        if not (isinstance(expr, Call) and expr.op == "case") or len(expr.args) > 2 * MAX_LEAVES:
            yield expr
            return
        for test, value in zip(expr.args[0:-1:2], expr.args[1:-1:2], strict=True):
            if self.may_hold(*given, test):
                yield from self._leaves(value, (*given, test))
        yield from self._leaves(expr.args[-1], given)

    def _met(self, tests: Sequence[Expr]) -> bool:
        """Whether a row that stands for others meets all the tests; true where it is too much."""
        if len(tests) == 1 and _is_plain(tests[0]):
            return True  # its range has been looked at
        choices = []
        for column in dict.fromkeys(column for test in tests for column in columns(test)):
            listed = stand_ins(column.name, column.range, tests)
            if listed is None:
                return True
            beyond = outside(column.range)
            choices.append([(column.name, value) for value in (None, *listed, *beyond)])
        cost = prod(map(len, choices)) * sum(map(_weight, tests))
        if cost > self.work:
            return True
        self.work -= cost
        rows = (dict(row) for row in product(*choices))
        return any(all(evaluate(test, row) is True for test in tests) for row in rows)


def may_be_true(test: Expr) -> bool:
    """Whether a condition can be true by the ranges of what it compares, one by one."""
    if isinstance(test, Constant):
        return test.value is True
    if not isinstance(test, Call) or is_rounded(test):
        return True
    if test.op in ("and", "or"):
        found = [may_be_true(part) for part in test.args]
        return all(found) if test.op == "and" else any(found)
    if test.op == "in":
        return any(may_be(test.args[0], value) for value in test.params)
    if test.op == "like":
        return _may_be_like(test)
    return _may_compare(test) if len(test.args) == 2 else True


def may_be(expr: Expr, value: Any) -> bool:
    """Whether an expression can have this value, by its range and its lattice."""
    spread = expr.range
    if isinstance(expr, Call) and expr.op == "scale":
        factor = expr.params[0]
        return bool(value % factor == 0) and may_be(expr.args[0], value // factor)
    if isinstance(spread, Number):
        inside = bool(spread.low <= value <= spread.high)
        return inside and (spread.values is None or value in spread.values)
    if isinstance(spread, Day):
        return bool(spread.low <= value <= spread.high) and truncate(value, spread.unit) == value
    if isinstance(spread, Moment):
        inside = bool(spread.low <= value <= spread.high) and spread.holds(value)
        return inside and (not spread.unit or truncate(value, spread.unit) == value)
    return isinstance(spread, Truth) or spread.values is None or value in spread.values


def _may_be_like(test: Call) -> bool:
    spread = test.args[0].range
    if not isinstance(spread, Text) or spread.values is None:
        return True
    tried = Call("like", (Column("", spread),), test.range, test.params)
    return any(evaluate(tried, {"": value}) for value in spread.values)


def _may_compare(test: Call) -> bool:
    op, (left, right) = test.op, test.args
    if op in _MIRRORED:
        op, left, right = _MIRRORED[op], right, left
    if op in _ORDERED:
        return _may_exceed(left, right, equal=op == "ge")
    if isinstance(left, Constant):
        left, right = right, left
    if not isinstance(right, Constant):
        same = op != "eq" or (_may_exceed(left, right, True) and _may_exceed(right, left, True))
        return same
    if op == "eq":
        return may_be(left, right.value)
    one = count_cells(left.range) == 1 and not left.range.ragged
    return op != "ne" or not one or not may_be(left, right.value)


def _may_exceed(left: Expr, right: Expr, equal: bool) -> bool:
    """Whether the one can be above the other, or where `equal` is set as large."""
    high, low = _end(left.range, "high", max), _end(right.range, "low", min)
    if high is None or low is None:
        return True
    return bool(high >= low if equal else high > low)


def _end(spread: Range, name: str, pick: Any) -> Any:
    """An end of a range, with what lies outside of it."""
    end = getattr(spread, name, None)
    return None if end is None else pick([end, *outside(spread)])


def _present(test: Expr) -> Expr | None:
    """The choice that a condition tests not to be NULL."""
    inner = test.args[0] if isinstance(test, Call) and test.op == "not" else None
    if not (isinstance(inner, Call) and inner.op == "is_null"):
        return None
    chosen = inner.args[0]
    return chosen if isinstance(chosen, Call) and chosen.op == "case" else None


def _is_nothing(leaves: Sequence[Expr]) -> bool:
    return all(isinstance(leaf, Constant) and leaf.value is None for leaf in leaves)


def _is_plain(test: Expr) -> bool:
    """Whether it compares one column with constants, of which its range says all."""
    if not isinstance(test, Call) or test.op not in (*_ORDERED, "eq", "ne", "in"):
        return isinstance(test, Column)
    return all(isinstance(arg, Column | Constant) for arg in test.args) and len(columns(test)) == 1


def _weight(test: Expr) -> int:
    size = test.size if isinstance(test, Call) else 1
    return size + (len(test.params) // 8 if isinstance(test, Call) else 0)


def _groups(parts: Sequence[Expr]) -> Iterator[list[Expr]]:
    """Conditions that share columns, all together and those of each column alone.

    Columns that no condition ties to each other take their values independently: all conditions
    can hold at once just if those of each group can.
    """
    tied: list[tuple[frozenset[str], list[Expr]]] = []
    for part in parts:
        read, group = names(part), [part]
        for other in [other for other in tied if other[0] & read]:
            tied.remove(other)
            read, group = read | other[0], [*other[1], *group]
        tied.append((read, group))
    for read, group in tied:
        yield group
        for name in sorted(read) if len(read) > 1 else ():
            own = [part for part in group if names(part) == {name}]
            if own:
                yield own
