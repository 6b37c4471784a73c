"""Plans whose units are cut off at a bound that is found: where `max_rows` is `auto`, and where
rows belong to two units."""

from __future__ import annotations

from dataclasses import replace

from adomnia.curator.planning.mechanism_choice import LossRequest, Taken
from adomnia.errors import QuestionError
from adomnia.limits import MAX_UNIT_AMOUNT
from adomnia.mechanisms.joins.clamped_totals import ClampedPairs, ClampedTotals
from adomnia.mechanisms.joins.measured_at_bound import MeasuredAtBound, SummedRows
from adomnia.mechanisms.measurement_mechanisms import Place
from adomnia.policy.policy import Policy
from adomnia.privacy.contribution import (
    Bernstein,
    Clamped,
    Contribution,
    DistinctUnits,
    Tally,
)
from adomnia.privacy.contribution import width as width_of
from adomnia.privacy.unit_reads import PairSums, UnitSums
from adomnia.queries.expression import Call, Column, Expr, columns
from adomnia.queries.operations import call
from adomnia.queries.ranges import Number

__all__ = ["found_bound", "needs_bound"]


def needs_bound(policy: Policy, contribution: Contribution) -> bool:
    """Whether a bound must be found; how many units there are needs none."""
    if policy.owners > 1:
        return True
    if policy.automatic:
        return not isinstance(contribution, DistinctUnits)
    if not isinstance(contribution, Clamped | Bernstein):
        return False
    return _grows(contribution.argument, policy.searched)


def _grows(argument: Expr, searched: frozenset[str]) -> bool:
    """Whether what is added up is as large as a bound that is to be found."""
    if not any(column.name in searched for column in columns(argument)):
        return False
    whole, half = (_bounded(argument, searched, parts).range for parts in (1, 2))
    if not isinstance(whole, Number) or not isinstance(half, Number):
        return False
    return (half.low, half.high) != (whole.low, whole.high)


def _bounded(expr: Expr, searched: frozenset[str], parts: int) -> Expr:
    """The same expression, if such columns had a part of their range."""
    if isinstance(expr, Call):
        if expr.op in ("inside", "nearest"):
            return _bounded(expr.args[0], searched, parts)
        args = (_bounded(arg, searched, parts) for arg in expr.args)
        return call(expr.op, *args, params=expr.params)
    spread = expr.range
    if not isinstance(expr, Column) or not isinstance(spread, Number):
        return expr
    if expr.name not in searched:
        return expr
    return Column(expr.name, replace(spread, low=spread.low // parts, high=spread.high // parts))


def found_bound(taken: Taken, share: LossRequest, place: Place, policy: Policy) -> MeasuredAtBound:
    """The mechanism that finds a bound for a quarter of the loss, and measures at it."""
    measurement, contribution, bound = taken
    if not isinstance(contribution, Tally | Clamped | Bernstein):
        raise QuestionError(
            "a bound is found for counts, sums and averages alone",
            "say max_rows of each table in the policy; or ask over persons: "
            "SELECT MEDIAN(n) FROM (SELECT …, COUNT(*) AS n … GROUP BY …) t",
        )
    if isinstance(contribution, Bernstein) and not (policy.automatic or policy.owners > 1):
        raise QuestionError(
            'this averages what is added up of a table whose max_rows is "auto": how large that '
            "is for one unit is not known",
            "say how much counts, as in AVG(LEAST(n, 50)); or ask SUM(…) by itself, of which a "
            "bound is found, and COUNT(*) after it; or say max_rows of the table",
        )
    neighbors, rows = policy.neighbors, SummedRows(contribution, place.where, place.keys)
    loss = {"epsilon": share.epsilon} if share.epsilon is not None else {"rho": share.rho}
    common = {**loss, "units": neighbors.group, "replaced": neighbors.replaces}
    most = _most(contribution, policy.neighbors.rows or 1)
    found: ClampedTotals | ClampedPairs
    if policy.owners > 1:
        _check_pairs(contribution, place)
        found = ClampedPairs(PairSums(rows), most, **common)  # type: ignore[arg-type]
    else:
        cells = place.cells * width_of(contribution)
        signed = isinstance(contribution, Clamped) and contribution.low < 0
        found = ClampedTotals(UnitSums(rows, cells), most, **common, signed=signed)  # type: ignore[arg-type]
    return MeasuredAtBound(measurement, contribution, bound, found.event, place, (), found)


def _most(contribution: Contribution, rows: int) -> int:
    """What a unit of so many rows may add up to."""
    each = 1
    if isinstance(contribution, Tally):
        each = len(contribution.conditions)
    elif isinstance(contribution, Clamped):
        each = max(1, abs(contribution.low), abs(contribution.high))
    elif isinstance(contribution, Bernstein):
        each = contribution.unit
    return min(MAX_UNIT_AMOUNT, rows * each)


def _check_pairs(contribution: Contribution, place: Place) -> None:
    """Only one number that is not negative is stable where rows belong to two units."""
    if place.keys:
        raise QuestionError(
            "rows of two units are not counted by group: one unit more can move every group",
            "ask for each group by itself, with WHERE",
        )
    several = isinstance(contribution, Tally) and len(contribution.conditions) > 1
    if several or isinstance(contribution, Bernstein):
        raise QuestionError(
            "of rows of two units one number is asked at a time",
            "ask COUNT and SUM one after the other",
        )
    if isinstance(contribution, Clamped) and contribution.low < 0:
        raise QuestionError(
            "amounts of rows of two units may not be negative",
            "add up GREATEST(x, 0), or what is below 0 by itself",
        )
