"""Strategy: which measurements answer the statistics of a question, and which takes which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from adomnia.queries.expression import Expr
from adomnia.queries.measurement import (
    Counts,
    Distinct,
    Measurement,
    Mode,
    Moments,
    Quantile,
    Sum,
    number,
)
from adomnia.queries.operations import call, constant
from adomnia.queries.question import Question, Statistic

__all__ = ["Strategy", "plan_measurements"]


@dataclass(frozen=True)
class Strategy:
    """The measurements, and for each statistic which of them answers it."""

    measurements: tuple[Measurement, ...]
    source: Mapping[Statistic, int]


def plan_measurements(question: Question) -> Strategy:
    """The fewest measurements that answer all statistics: moments serve sums, counts and averages.

    The choice rests on the question alone, never on the data.
    """
    needs = _needs(question)
    found: list[Measurement] = []
    source: dict[Statistic, int] = {}
    home = _home(question, needs)
    for argument, kinds in needs.items():
        measurement = _of_numbers(argument, kinds, argument == home)
        found.append(measurement)
        for statistic in question.statistics:
            if _answers(measurement, statistic):
                source.setdefault(statistic, len(found) - 1)
    counts = _counts(question, source)
    if counts is not None:
        found.append(counts)
        rows = [s for s in question.statistics if s not in source and _condition(s) is not False]
        source |= dict.fromkeys(rows, len(found) - 1)
    for statistic in question.statistics:
        if statistic not in source:
            found.append(_single(statistic))
            source[statistic] = len(found) - 1
    return Strategy(tuple(found), source)


def _needs(question: Question) -> dict[Expr, set[str]]:
    """For each expression that is summed: all that is asked of it."""
    needs: dict[Expr, set[str]] = {}
    for statistic in question.statistics:
        if statistic.kind in ("sum", "avg", "var") and _condition(statistic) is False:
            assert statistic.argument is not None
            needs.setdefault(statistic.argument, set()).add(statistic.kind)
    for argument, kinds in needs.items():
        if Statistic("count", _present(argument)) in question.statistics:
            kinds.add("count")
    return needs


def _home(question: Question, needs: Mapping[Expr, set[str]]) -> Expr | None:
    """The expression whose moments also count all rows: one that needs moments anyhow, if any."""
    if Statistic("count") not in question.statistics or question.open:
        return None
    moments = [argument for argument, kinds in needs.items() if kinds != {"sum"}]
    return next(iter([*moments, *needs]), None)


def _of_numbers(argument: Expr, kinds: set[str], rest: bool) -> Measurement:
    if "var" in kinds:
        return Moments(argument, 2, rest)
    return Moments(argument, 1, rest) if rest or kinds != {"sum"} else Sum(argument)


def _answers(measurement: Measurement, statistic: Statistic) -> bool:
    if isinstance(measurement, Sum):
        return statistic == Statistic("sum", measurement.argument)
    if not isinstance(measurement, Moments):
        return False
    if statistic.kind == "count":
        whole = measurement.rest and statistic.argument is None
        return whole or statistic.argument == _present(measurement.argument)
    kinds = ("sum", "avg", "var")[: measurement.degree + 1]
    return statistic.argument == measurement.argument and statistic.kind in kinds


def _present(argument: Expr) -> Expr:
    return call("not", call("is_null", argument))


def _condition(statistic: Statistic) -> Expr | bool | None:
    """The condition that a statistic counts; False where it is no count."""
    if statistic.kind == "count":
        return statistic.argument
    if statistic.kind != "sum" or statistic.argument is None:
        return False
    spread = number(statistic.argument)
    if spread.low >= 0 and spread.high <= 1 and spread.step == 1:
        return call("eq", statistic.argument, constant(1))
    return False


def condition_of(statistic: Statistic) -> Expr | None:
    """The condition under which a row counts for a statistic answered by `Counts`."""
    condition = _condition(statistic)
    return None if isinstance(condition, bool) else condition


def _counts(question: Question, source: Mapping[Statistic, int]) -> Counts | None:
    conditions = [
        condition_of(statistic)
        for statistic in question.statistics
        if statistic not in source and _condition(statistic) is not False
    ]
    if question.open and None not in conditions:
        conditions.insert(0, None)
    return Counts(tuple(dict.fromkeys(conditions))) if conditions else None


def _single(statistic: Statistic) -> Measurement:
    assert statistic.argument is not None
    if statistic.kind == "distinct":
        return Distinct(statistic.argument)
    if statistic.kind == "mode":
        return Mode(statistic.argument)
    if statistic.kind in ("min", "max"):
        return Quantile(statistic.argument, edge=statistic.kind)
    return Quantile(
        statistic.argument, statistic.share if statistic.share is not None else Fraction(1, 2)
    )
