"""Margins of columns: of one statistic its own, of several by interval arithmetic."""

from __future__ import annotations

import math
from typing import Any

from adomnia.curator.answers.estimate import Estimate, estimates
from adomnia.curator.planning.plan import Plan
from adomnia.mechanisms.noisy_values import Measured
from adomnia.queries.post import interval, reckon, statistics
from adomnia.queries.question import Apply, Given, Post

__all__ = ["column_margin", "jointly", "span"]


def jointly(plan: Plan, readings: Measured, confidence: float) -> dict[int, list[Estimate]]:
    """Estimates with wider margins, for columns that combine several statistics: all of them
    hold at once with the asked confidence when the doubt is shared among them."""
    counts = {len(statistics(output.value)) for output in plan.question.outputs}
    return {
        count: estimates(plan, readings, 1 - (1 - confidence) / count)
        for count in counts
        if count > 1
    }


def column_margin(
    post: Post, keys: tuple[Any, ...], cell: int, found: list[Estimate]
) -> float | None:
    """How far a column may be off: its statistic's margin, or by interval arithmetic."""
    if isinstance(post, Given):
        return found[post.index].margins[cell]
    used = statistics(post)
    if not used:
        return 0.0  # it is known beforehand
    if any(found[index].unit != "value" for index in used):
        return None  # a rank's margin says nothing of the values around it
    boxes = [_box(estimate, cell) for estimate in found]
    value = reckon(post, keys, [estimate.values[cell] for estimate in found])
    try:
        ends = span(post, keys, boxes)
        known = ends is not None and isinstance(value, int | float) and not isinstance(value, bool)
        return max(ends[1] - value, value - ends[0]) if known and ends is not None else None
    except (OverflowError, ValueError, TypeError):
        return None


def _box(estimate: Estimate, cell: int) -> tuple[float, float]:
    value, margin = estimate.values[cell], estimate.margins[cell]
    if margin is None or estimate.unit != "value":  # of a mode the value may be a text
        return -math.inf, math.inf
    try:
        return value - margin, value + margin
    except OverflowError:  # an integer past the range of floats, beside a float
        return -math.inf, math.inf


def span(
    post: Post, keys: tuple[Any, ...], boxes: list[tuple[float, float]]
) -> tuple[float, float] | None:
    """Where a column may lie; a root's argument is never below zero."""
    if isinstance(post, Apply) and post.op == "sqrt":
        inner = interval(post.args[0], keys, boxes)
        return None if inner is None else (max(0, inner[0]) ** 0.5, max(0, inner[1]) ** 0.5)
    return interval(post, keys, boxes)
