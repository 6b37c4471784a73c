"""What an answer is worth under free-lunch privacy, in numbers (`free_lunch.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adomnia.curator.planning.plan import Plan
from adomnia.privacy.events import loss
from adomnia.privacy.free_lunch import discriminant_bound, worth
from adomnia.queries.measurement import number
from adomnia.queries.question import Given, Statistic
from adomnia.queries.ranges import count_cells

__all__ = ["worth_of"]

_IN_ROWS = ("quantile", "min", "max", "mode")
_SUMS = ("count", "distinct", "sum")


def worth_of(
    plan: Plan, margins: Mapping[str, float | None], confidence: float
) -> dict[str, dict[str, Any]]:
    """For each column that is one statistic: how far it may be off, against all it could be.

    Nothing where the promise is another one.
    """
    if plan.most is None:
        return {}
    return {
        output.name: _worth(plan, statistic, margins[output.name], confidence)
        for output in plan.question.outputs
        if isinstance(output.value, Given)
        for statistic in [plan.question.statistics[output.value.index]]
    }


def _worth(
    plan: Plan, statistic: Statistic, margin: float | None, confidence: float
) -> dict[str, Any]:
    assert plan.most is not None
    width, step = _span(statistic, plan.most)
    span = plan.most if statistic.kind in _IN_ROWS else width * step
    times = None if margin is None or not span else margin / span
    found: dict[str, Any] = {"range": span, "times": times, "says": _says(times)}
    epsilon = loss(plan.event).epsilon
    if not epsilon:
        return found  # the paper's bounds are about pure epsilon
    found |= {"outcomes": width + 1, "discriminant": discriminant_bound(width + 1, epsilon)}
    if statistic.kind in _SUMS:
        bounds = worth(width, epsilon, confidence)
        found |= {"blind": bounds.blind * step, "least": bounds.least * step}
    return found


def _span(statistic: Statistic, most: int) -> tuple[int, float]:
    """How many steps the answer can span, and how large a step is."""
    argument = statistic.argument
    if statistic.kind == "count" or argument is None:
        return most, 1
    values = count_cells(argument.range)
    if statistic.kind in ("distinct", "mode"):
        listed = most if values is None else values
        return (min(most, listed), 1) if statistic.kind == "distinct" else (listed - 1, 1)
    spread = number(argument)
    size = int(spread.step) if spread.whole else float(spread.step)
    if statistic.kind == "sum":
        return most * (max(spread.high, 0) - min(spread.low, 0)), size
    if statistic.kind == "var":
        return spread.width**2 // 2, size**2
    return spread.width, size


def _says(times: float | None) -> str:
    """The comparison with an answer that looks at nothing: the middle of the range."""
    if times is None:
        return "its margin comes with the answer, and will be about the whole range"
    if times >= 0.5:
        return f"the margin is {times:,.1f} times the whole range; a guess without data is as good"
    return f"the margin is {times:.0%} of the whole range"
