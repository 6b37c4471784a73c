"""Post-processing: values of the noisy answer are combined, filtered and ordered here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from adomnia.queries.question import Apply, Given, Group, Literal, Post
from adomnia.queries.ranges import Day, Moment

__all__ = ["FUNCTIONS", "at_step", "interval", "known_beforehand", "reckon", "statistics"]

MAX_DIGITS = 400
"""Rounding to more digits than this, before or after the point, changes nothing useful."""


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        if None in values:
            return None
        try:
            return function(*values)
        except (TypeError, ZeroDivisionError, OverflowError, ValueError):
            return None  # what has no value is NULL, as in the rows

    return apply


def _case(*values: Any) -> Any:
    for condition, value in zip(values[0:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


def _and(*values: Any) -> bool | None:
    return False if False in values else None if None in values else True


def _or(*values: Any) -> bool | None:
    return True if True in values else None if None in values else False


def _numeric(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of numbers only: a text times a large number would fill the memory."""

    def apply(*values: Any) -> Any:
        return function(*values) if all(isinstance(x, int | float) for x in values) else None

    return _strict(apply)


def _round(value: float, digits: float = 0) -> float:
    places = max(-MAX_DIGITS, min(MAX_DIGITS, int(digits)))
    return round(value, places) if places else round(value)


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    chosen = _strict(lambda *values: choose(values))
    return lambda *values: chosen(*(x for x in values if x is not None))


_at_least = _strict(lambda a, b: a >= b)

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": _numeric(lambda a, b: a + b),
    "sub": _numeric(lambda a, b: a - b),
    "mul": _numeric(lambda a, b: a * b),
    "div": _strict(lambda a, b: a / b),
    "mod": _strict(math.fmod),
    "neg": _strict(lambda a: -a),
    "abs": _strict(abs),
    "sqrt": _strict(math.sqrt),
    "floor": _strict(math.floor),
    "ceil": _strict(math.ceil),
    "round": _numeric(_round),
    "least": _extreme(min),
    "greatest": _extreme(max),
    "coalesce": lambda *a: next((x for x in a if x is not None), None),
    "nullif": lambda a, b: None if a == b else a,
    "case": _case,
    "eq": _strict(lambda a, b: a == b),
    "ne": _strict(lambda a, b: a != b),
    "lt": _strict(lambda a, b: a < b),
    "le": _strict(lambda a, b: a <= b),
    "gt": _strict(lambda a, b: a > b),
    "ge": _at_least,
    "in": _strict(lambda a, *values: a in values),
    "between": lambda a, low, high: _and(_at_least(a, low), _at_least(high, a)),
    "and": _and,
    "or": _or,
    "not": _strict(lambda a: not a),
    "is_null": lambda a: a is None,
}


def at_step(spread: Day | Moment, index: int) -> date:
    """The day or the moment that so many steps lead to from the lowest."""
    step = timedelta(days=1) if isinstance(spread, Day) else timedelta(seconds=spread.step)
    return spread.low + index * step


def reckon(post: Post, keys: Sequence[Any], values: Sequence[Any]) -> Any:
    """The value of a column in one row of the answer."""
    if isinstance(post, Group):
        return keys[post.index]
    if isinstance(post, Given):
        return values[post.index]
    if isinstance(post, Literal):
        return post.value
    return FUNCTIONS[post.op](*(reckon(arg, keys, values) for arg in post.args))


def statistics(post: Post) -> frozenset[int]:
    """Which statistics a column of the answer depends on."""
    if isinstance(post, Given):
        return frozenset({post.index})
    if isinstance(post, Apply):
        return frozenset().union(*(statistics(arg) for arg in post.args))
    return frozenset()


def known_beforehand(post: Post) -> bool:
    """Whether a statistic that is the same on all data is in a column of the answer."""
    if isinstance(post, Apply):
        return any(known_beforehand(arg) for arg in post.args)
    return isinstance(post, Literal) and post.of is not None


def interval(
    post: Post, keys: Sequence[Any], boxes: Sequence[tuple[float, float]]
) -> tuple[float, float] | None:
    """Where the column lies when each statistic lies in its box; None where no rule is known."""
    if isinstance(post, Given):
        return boxes[post.index]
    if not isinstance(post, Apply):
        value = reckon(post, keys, ())
        return (value, value) if isinstance(value, int | float) else None
    parts = [interval(arg, keys, boxes) for arg in post.args]
    rule = _INTERVALS.get(post.op)
    if rule is None or None in parts:
        return None
    return rule(*parts)


def _corners(function: Callable[[float, float], float]) -> Callable[..., tuple[float, float]]:
    def rule(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
        ends = [function(x, y) for x in a for y in b]
        return min(ends), max(ends)

    return rule


def _quotient(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float] | None:
    return None if b[0] <= 0 <= b[1] else _corners(lambda x, y: x / y)(a, b)


_INTERVALS: Mapping[str, Callable[..., tuple[float, float] | None]] = {
    "add": _corners(lambda x, y: x + y),
    "sub": _corners(lambda x, y: x - y),
    "mul": _corners(lambda x, y: x * y),
    "div": _quotient,
    "neg": lambda a: (-a[1], -a[0]),
    "sqrt": lambda a: None if a[0] < 0 else (math.sqrt(a[0]), math.sqrt(a[1])),
    "round": lambda a, digits=(0, 0): (_round(a[0], digits[0]), _round(a[1], digits[0])),
}
