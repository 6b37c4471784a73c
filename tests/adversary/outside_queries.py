"""Faults outside the kernel, in ranges and in the binding of statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from importlib import import_module
from typing import Any

from tests.adversary.planting import Fault, Patch, always, argument, result
from tests.adversary.probes import (
    COUNTS,
    DISTINCT,
    FILTERS,
    GROUPS,
    MODES,
    MOMENTS,
    OPEN,
    RANKS,
    SUMS,
)


def _room(name: str) -> Any:
    return import_module(f"adomnia.{name}")


# Ranges


def _number(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Ranges of numbers changed, others left as they are."""

    def changed(spread: Any) -> Any:
        is_number = hasattr(spread, "low") and isinstance(spread.low, int)
        return change(spread) if is_number else spread

    return changed


@_number
def _narrow(spread: Any) -> Any:
    return replace(spread, high=(spread.low + spread.high) // 2)


@_number
def _wide(spread: Any) -> Any:
    return replace(spread, low=spread.low * 2 - 7, high=spread.high * 3 + 11)


@_number
def _shifted(spread: Any) -> Any:
    return replace(spread, low=spread.high + 5, high=spread.high + 9)


@_number
def _point(spread: Any) -> Any:
    return replace(spread, low=spread.high, values=None)


@_number
def _flipped(spread: Any) -> Any:
    return replace(spread, low=-spread.high, high=-spread.low, values=None)


def _never_null(spread: Any) -> Any:
    return replace(spread, nullable=False)


def _fewer(spread: Any) -> Any:
    values = getattr(spread, "values", None)
    return replace(spread, values=values[:1]) if values else spread


def _closed(spread: Any) -> Any:
    is_open = getattr(spread, "values", ()) is None and not hasattr(spread, "low")
    return replace(spread, values=("Linz", "a")) if is_open else spread


def _derived(change: Callable[[Any], Any]) -> Patch:
    """The rule for ranges of an operation, changed."""
    return lambda operation: replace(
        operation, derive=lambda *ranges: change(operation.derive(*ranges))
    )


def _computed(change: Callable[[Any], Any]) -> Patch:
    """The function on values of an operation, changed."""
    return lambda operation: replace(
        operation, compute=lambda *values: change(operation.compute(*values))
    )


def _rule(op: str) -> str:
    return f"queries.operations:OPERATIONS[{op}]"


RANGES = (
    Fault("a column's range too narrow", "outside", "queries.ranges:from_domain",
          result(_narrow), SUMS),
    Fault("a column's range too wide", "outside", "queries.ranges:from_domain", result(_wide),
          (*SUMS, *RANKS)),
    Fault("a column's range beside its values", "outside", "queries.ranges:from_domain",
          result(_shifted), (*SUMS, *MOMENTS)),
    Fault("a column's range a point", "outside", "queries.ranges:from_domain", result(_point),
          (*SUMS, *RANKS)),
    Fault("a column's range of the other sign", "outside", "queries.ranges:from_domain",
          result(_flipped), SUMS),
    Fault("NULL in a column forgotten", "outside", "queries.ranges:from_domain",
          result(_never_null), (*GROUPS, "SELECT SUM(age), COUNT(age) FROM people"), "bounded"),
    Fault("listed values forgotten", "outside", "queries.ranges:from_domain", result(_fewer),
          (*GROUPS, *MODES)),
    Fault("an open column taken as listed", "outside", "queries.ranges:from_domain",
          result(_closed), OPEN, currency="epsilon"),
    Fault("a product's range too narrow", "outside", _rule("mul"), _derived(_narrow),
          ("SELECT SUM(age * income) FROM people", "SELECT AVG(age * 3) FROM people")),
    Fault("a sum's range too narrow", "outside", _rule("add"), _derived(_narrow),
          ("SELECT SUM(age + income) FROM people WHERE smoker", "SELECT MAX(age + 7) FROM people")),
    Fault("a difference's range a point", "outside", _rule("sub"), _derived(_point),
          ("SELECT SUM(age - income) FROM people", "SELECT MEDIAN(age - zip) FROM people")),
    Fault("a sign forgotten", "outside", _rule("neg"), _derived(_flipped),
          ("SELECT SUM(-age) FROM people", "SELECT AVG(-income) FROM people")),
    Fault("an absolute value's range too narrow", "outside", _rule("abs"), _derived(_narrow),
          ("SELECT SUM(ABS(income - 20)) FROM people",)),
    Fault("a quotient's range too narrow", "outside", _rule("div"), _derived(_narrow),
          ("SELECT SUM(income / 2) FROM people",
           "SELECT age / 10, COUNT(*) FROM people GROUP BY 1")),
    Fault("a remainder's range too narrow", "outside", _rule("mod"), _derived(_narrow),
          ("SELECT SUM(income % 7) FROM people",
           "SELECT age % 3, COUNT(*) FROM people GROUP BY 1")),
    Fault("a least value's range too wide", "outside", _rule("least"), _derived(_wide),
          ("SELECT SUM(LEAST(age, 9)) FROM people",)),
    Fault("a greatest value's range a point", "outside", _rule("greatest"), _derived(_point),
          ("SELECT SUM(GREATEST(age, income)) FROM people",)),
    Fault("a root's range too narrow", "outside", _rule("real"), _derived(_narrow),
          ("SELECT SUM(SQRT(income)) FROM people", "SELECT SUM(LN(age)) FROM people")),
    Fault("a part of a day with a range too narrow", "outside", _rule("extract"),
          _derived(_narrow), ("SELECT SUM(EXTRACT(day FROM seen)) FROM people",
                              "SELECT EXTRACT(month FROM seen), COUNT(*) FROM people GROUP BY 1")),
    Fault("days between days with a range too narrow", "outside", _rule("days"),
          _derived(_point), ("SELECT SUM(seen - DATE '2019-12-31') FROM people",)),
    Fault("a NULL of a CASE forgotten", "outside", _rule("case"), _derived(_never_null),
          ("SELECT SUM(CASE WHEN smoker THEN 100 + zip END) FROM people",
           "SELECT SUM(income) FILTER (WHERE smoker) FROM people"), "bounded"),
    Fault("a CASE's range too narrow", "outside", _rule("case"), _derived(_point),
          ("SELECT SUM(CASE WHEN smoker THEN age ELSE income END) FROM people",)),
    Fault("a table's values forgotten", "outside", _rule("map"), _derived(_fewer),
          ("SELECT zone, COUNT(*) FROM people JOIN regions USING (zip) GROUP BY 1",
           "SELECT SUM(zone) FROM people LEFT JOIN regions USING (zip)")),
    Fault("two ranges joined as the first", "outside", "queries.ranges:union",
          lambda _: lambda first, second: first,
          ("SELECT SUM(CASE WHEN smoker THEN age ELSE income END) FROM people",
           "SELECT SUM(COALESCE(age, 1000)) FROM people")),
    Fault("a cell too few", "outside", "queries.ranges:cells", result(lambda found: found[:-1]),
          (*GROUPS, *MODES)),
    Fault("cells in a circle", "outside", "queries.ranges:cells",
          result(lambda found: (*found, *found)), GROUPS),
    Fault("a number of cells too small", "outside", "queries.ranges:count_cells",
          result(lambda count: count and 1), (*GROUPS, *MODES, *DISTINCT)),
    Fault("division that gives nothing", "outside", "queries.operations:divide", always(0),
          ("SELECT SUM(income / 2) FROM people", "SELECT MAX(income / 3) FROM people")),
    Fault("days cut to the wrong day", "outside", "queries.ranges:truncate",
          always(date(2031, 5, 1)),
          ("SELECT SUM(DATE_TRUNC('month', seen) - DATE '2019-12-31') FROM people",
           "SELECT DATE_TRUNC('month', seen), COUNT(*) FROM people GROUP BY 1")),
    Fault("equality the wrong way round", "outside", _rule("eq"),
          _computed(lambda found: not found), FILTERS),
    Fault("comparison that is never true", "outside", _rule("lt"), _computed(lambda _: False),
          ("SELECT COUNT(*) FILTER (WHERE zip < 3), COUNT(*) FILTER (WHERE zip < 4) FROM people",)),
    Fault("a pattern of LIKE that matches nothing", "outside", _rule("like"),
          _computed(lambda _: False), ("SELECT COUNT(*) FROM people WHERE sex LIKE 'F%'",
                                       "SELECT SUM(age) FROM people WHERE ill NOT LIKE '%y%'")),
)  # fmt: skip


# Binding


def _swapped(first: str, second: str) -> Patch:
    """Two columns take each other's range."""

    def patch(original: Callable[..., Any]) -> Callable[..., Any]:
        other = {first: second, second: first}

        def call(table: Any, name: str) -> Any:
            return replace(
                original(table, name), range=original(table, other.get(name, name)).range
            )

        return call

    return patch


def _renamed(first: str, second: str) -> Patch:
    """A column that is read in the place of another."""

    def rename(column: Any) -> Any:
        return replace(column, name=second) if column.name == first else column

    return result(rename)


def _smuggled(op: str, change: Callable[[Any], Any]) -> Patch:
    """Calls of an operation changed when they are bound, by the binder or by whoever else."""

    def patch(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(name: str, *args: Any, params: tuple[Any, ...] = ()) -> Any:
            made = original(name, *args, params=params)
            return change(made) if getattr(made, "op", None) == op else made

        return call

    return patch


def _params(place: int, text: str) -> Callable[[Any], Any]:
    return lambda made: replace(
        made, params=(*made.params[:place], text, *made.params[place + 1 :])
    )


def _last(value: Any) -> Callable[[Any], Any]:
    """The last argument another constant."""
    return lambda made: replace(made, args=(*made.args[:-1], replace(made.args[-1], value=value)))


WHOLE = "(SELECT COUNT(*) FROM adomnia_data)"
ADDED = ("SELECT SUM(age + 1) FROM people", "SELECT MAX(income + 1) FROM people")
BINDING = (
    Fault("a FILTER dropped", "outside", "queries.sql.aggregates:_argument",
          argument(2, "test", lambda _: None),
          ("SELECT SUM(age) FILTER (WHERE smoker) FROM people",
           "SELECT AVG(income) FILTER (WHERE sex = 'F') FROM people")),
    Fault("a WHERE dropped", "outside", "queries.sql.relation:conjoin", lambda _: lambda a, b: a,
          (*COUNTS, "SELECT SUM(age) FROM people WHERE smoker AND zip = 1")),
    Fault("domains of two numbers swapped", "outside", "queries.sql.relation:_column",
          _swapped("age", "income"), (*SUMS, *RANKS)),
    Fault("domains of a number and a text swapped", "outside", "queries.sql.relation:_column",
          _swapped("age", "sex"),
          ("SELECT COUNT(*) FROM people WHERE sex > 5", "SELECT SUM(sex) FROM people",
           "SELECT COUNT(*) FROM people WHERE age = 'F'",
           "SELECT age, COUNT(*) FROM people GROUP BY age",
           "SELECT COUNT(*) FROM people WHERE sex < zip")),
    Fault("domains of a truth and a text swapped", "outside", "queries.sql.relation:_column",
          _swapped("smoker", "sex"),
          ("SELECT COUNT(*) FROM people WHERE sex", "SELECT COUNT(*) FROM people WHERE NOT sex",
           "SELECT COUNT(*) FROM people WHERE smoker = 'F'",
           "SELECT COUNT(*) FROM people WHERE smoker < ill",
           "SELECT SUM(CASE WHEN sex THEN 1 ELSE 2 END) FROM people")),
    Fault("domains of a day and a number swapped", "outside", "queries.sql.relation:_column",
          _swapped("seen", "age"),
          ("SELECT COUNT(*) FROM people WHERE age > DATE '2020-01-03'",
           "SELECT SUM(seen) FROM people", "SELECT COUNT(*) FROM people WHERE seen > 3",
           "SELECT EXTRACT(day FROM age), COUNT(*) FROM people GROUP BY 1")),
    Fault("another column read", "outside", "queries.sql.relation:_column",
          _renamed("age", "income"), (*SUMS, *RANKS)),
    Fault("a column that is none", "outside", "queries.sql.relation:_column",
          _renamed("age", 'age" + 1 + "age'), (*SUMS, *MOMENTS)),
    Fault("an operation on all rows", "outside", "queries.operations:call",
          _smuggled("add", lambda made: replace(made, op="random")), ADDED),
    Fault("a function named by a statement", "outside", "queries.operations:call",
          _smuggled("real", _params(0, f"{WHOLE} + sqrt")),
          ("SELECT SUM(SQRT(age)) FROM people", "SELECT SUM(LN(income)) FROM people")),
    Fault("a part of a day named by a statement", "outside", "queries.operations:call",
          _smuggled("extract", _params(0, f"day FROM seen) + {WHOLE} + EXTRACT(day")),
          ("SELECT SUM(EXTRACT(day FROM seen)) FROM people",
           "SELECT EXTRACT(day FROM seen), COUNT(*) FROM people GROUP BY 1",
           "SELECT COUNT(*) FROM people WHERE EXTRACT(day FROM seen) = 3")),
    Fault("a unit of days named by a statement", "outside", "queries.operations:call",
          _smuggled("trunc", _params(0, f"month', seen) + {WHOLE} + DATE_TRUNC('month")),
          ("SELECT DATE_TRUNC('month', seen), COUNT(*) FROM people GROUP BY 1",
           "SELECT COUNT(*) FROM people WHERE DATE_TRUNC('month', seen) = DATE '2020-01-01'")),
    Fault("a factor named by a statement", "outside", "queries.operations:call",
          _smuggled("scale", _params(0, WHOLE)), ("SELECT SUM(age + 0.5) FROM people",)),
    Fault("a divisor named by a statement", "outside", "queries.operations:call",
          _smuggled("div", _params(2, WHOLE)), ("SELECT SUM(income / 2) FROM people",)),
    Fault("a constant that is a statement", "outside", "queries.operations:call",
          _smuggled("add", _last(WHOLE)), ADDED),
    Fault("a constant that is a fraction", "outside", "queries.operations:call",
          _smuggled("add", _last(0.3)), ADDED),
    Fault("a constant beyond all bounds", "outside", "queries.operations:call",
          _smuggled("add", _last(10**30)), ADDED),
    Fault("numbers compared with text", "outside", "queries.operations:call",
          _smuggled("gt", _last("F")), ("SELECT COUNT(*) FROM people WHERE age > 5",
                                        "SELECT SUM(zip) FROM people WHERE income > 70")),
    Fault("texts compared with a number", "outside", "queries.operations:call",
          _smuggled("eq", _last(5)), ("SELECT COUNT(*) FROM people WHERE sex = 'F'",
                                      "SELECT SUM(zip) FROM people WHERE ill = 'yes'")),
    Fault("texts listed as numbers", "outside", "queries.operations:call",
          _smuggled("in", lambda made: replace(made, params=(1, 2))),
          ("SELECT COUNT(*) FROM people WHERE sex IN ('F', 'zz')",
           "SELECT SUM(age) FROM people WHERE ill NOT IN ('yes', 'no')")),
    Fault("a table of other keys", "outside", "queries.operations:call",
          _smuggled("map", lambda made: replace(
              made, params=(tuple((str(k), v) for k, v in made.params[0]), *made.params[1:]))),
          ("SELECT SUM(zone) FROM people JOIN regions USING (zip)",
           "SELECT UPPER(sex), COUNT(*) FROM people GROUP BY 1")),
    Fault("branches of two kinds", "outside", "queries.operations:call",
          _smuggled("case", lambda made: replace(made, args=(*made.args[:-1], made.args[0]))),
          ("SELECT SUM(CASE WHEN smoker THEN age ELSE income END) FROM people",
           "SELECT CASE WHEN smoker THEN sex ELSE ill END, COUNT(*) FROM people GROUP BY 1")),
    Fault("a test that is a text", "outside", "queries.operations:call",
          _smuggled("not", lambda made: replace(made, args=(_room("queries.expression").Column(
              "sex", made.args[0].range),))),
          ("SELECT COUNT(*) FROM people WHERE NOT smoker",
           "SELECT SUM(age) FILTER (WHERE NOT (zip = 1)) FROM people")),
    Fault("a question taken as answered", "outside", "queries.emptiness:Emptiness.may_hold",
          always(False), (*COUNTS, *SUMS)),
    Fault("a statistic taken as known", "outside", "queries.emptiness:may_be_true",
          always(False), (*COUNTS, "SELECT SUM(age) FROM people WHERE zip = 1")),
    Fault("nothing taken as empty", "outside", "queries.emptiness:Emptiness.may_hold",
          always(True), ("SELECT COUNT(*) FROM people WHERE sex = 'F' AND sex = 'M'",
                         "SELECT SUM(age) FROM people WHERE zip = 1 AND zip = 2")),
)  # fmt: skip
