"""Quantiles in an answer: the intervals of their columns, and what is said beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from adomnia.curator.answers.column_margins import span
from adomnia.curator.answers.estimate import Estimate, Interval
from adomnia.mechanisms.interval_quantile import INTERVAL
from adomnia.queries.measurement import Quantile
from adomnia.queries.post import statistics
from adomnia.queries.question import Given, Post, Question

__all__ = ["computed_notes", "has_interval", "interval_in", "quantile_notes"]

IN_ROWS = "the margin of a quantile is in rows: how far its rank may be from the asked one"
INSIDE = "MIN and MAX are private quantiles: values a few rows inside the extremes"
FAR_SIDE = "on the far side of MIN and MAX nothing but the declared bound is sure"
FOLLOWED = (
    "the noise of a quantile followed how much neighbours can move it here, which is "
    "private: so there is no margin"
)
PAID = (
    "the interval of a quantile is in values, and paid for: half of the loss went into the "
    "quantile, a quarter into each end"
)


def has_interval(post: Post, found: Sequence[Estimate]) -> bool:
    """Whether a column is a quantile with an interval, or computed of that alone: of several, their
    intervals do not hold at once with the asked confidence."""
    used = statistics(post)
    return len(used) == 1 and all(found[index].intervals is not None for index in used)


def interval_in(
    post: Post, cell: int, keys: tuple[Any, ...], found: Sequence[Estimate]
) -> Interval | None:
    """From which value to which a column lies in a cell; None where no rule is known."""
    boxes = [
        (-math.inf, math.inf) if estimate.intervals is None else estimate.intervals[cell]
        for estimate in found
    ]
    if isinstance(post, Given):
        return boxes[post.index]
    try:
        return span(post, keys, boxes)
    except (OverflowError, ValueError, TypeError):
        return None


def quantile_notes(listed: Iterable[tuple[Quantile, str]]) -> list[str]:
    """What is said of quantiles, each with the law of its noise."""
    pairs = list(listed)
    bounded = [quantile for quantile, law in pairs if law.startswith(INTERVAL)]
    plain = [quantile for quantile, law in pairs if not law]
    followed = len(pairs) > len(bounded) + len(plain)
    extremes = [quantile for quantile in (*plain, *bounded) if quantile.edge]
    told = {
        INSIDE: bool(extremes),
        IN_ROWS: bool(plain or bounded),
        PAID: any(quantile.edge is None for quantile in bounded),
        FAR_SIDE: any(quantile.edge for quantile in bounded),
        FOLLOWED: followed,
    }
    return [note for note, said in told.items() if said]


def computed_notes(question: Question) -> list[str]:
    """That columns have no margin which are computed of quantiles, and why."""
    ranked = ("quantile", "min", "max")
    names = [
        output.name
        for output in question.outputs
        if not isinstance(output.value, Given)
        and any(question.statistics[index].kind in ranked for index in statistics(output.value))
    ]
    return [
        f"{name} has no margin: it is computed of quantiles, whose margins are in rows and say "
        "nothing of the values around them"
        for name in names
    ]
