"""Which mechanism a quantile gets, and what each would err by: public numbers decide
(`quantile_loss.md`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from adomnia.curator.access import Error
from adomnia.errors import QuestionError
from adomnia.mechanisms.noise.admissible import SmoothLaplace, SmoothWaring
from adomnia.mechanisms.quantiles.quantile import MAX_RANK, Rank, Share, Target
from adomnia.mechanisms.quantiles.quantile_loss import (
    Mechanism,
    QuantileLoss,
    Reference,
    exponential_error,
    smooth_error,
)
from adomnia.queries.measurement import Quantile, number

__all__ = ["NOMINAL", "Candidates", "Smooth", "aimed_at", "asked_for"]

Smooth = SmoothWaring | SmoothLaplace

NOMINAL = 10_000
"""Where the policy does not say about how many rows there are, so many are taken."""


def asked_for(measurement: Quantile) -> Target:
    """What is asked: a share, or an extreme itself."""
    if measurement.edge is None:
        return Share(measurement.share)
    return Rank(1, from_top=measurement.edge == "max")


def aimed_at(measurement: Quantile, eta: Fraction) -> Target:
    """What the exponential mechanism looks for. An extreme is the value at a rank a little
    inside, past which the empty part of the domain weighs less than one row; the rank depends
    on the domain alone."""
    if measurement.edge is None:
        return Share(measurement.share)
    candidates = number(measurement.argument).width + 1
    rank = 1 + math.ceil(Fraction(math.log(candidates)) / eta)
    return Rank(min(rank, MAX_RANK), from_top=measurement.edge == "max")


@dataclass(frozen=True)
class Candidates:
    """The mechanisms that could answer a quantile, in public numbers.

    `rows` is about how many there are in a cell. `epsilon` is what noise that follows the data
    may cost for one row; None where it is not known how many rows are between neighbours.
    `delta` is there if it is paid.
    """

    measurement: Quantile
    eta: Fraction
    rows: int
    epsilon: Fraction | None
    delta: Fraction | None = None

    @property
    def reference(self) -> Reference:
        """The table on which they are compared."""
        spread = number(self.measurement.argument)
        return Reference(spread.low, spread.high, self.rows, asked_for(self.measurement))

    def errors(self) -> QuantileLoss:
        """The mean absolute error of each, in steps of the domain."""
        return _errors(self)

    def better(self, error: Error) -> Smooth | None:
        """The noise that errs less than the exponential mechanism; None where that is better."""
        if error != "value":
            return None  # only the exponential mechanism bounds it: nothing need be compared
        used = self.errors().better(error)
        return None if used == "exponential" else self.noise(used)

    def noise(self, name: Mechanism) -> Smooth:
        """Noise that follows the data; refused where epsilon or delta is too small for it."""
        if self.epsilon is None or (name == "laplace" and self.delta is None):
            raise QuestionError("this noise is not paid for")
        if name == "waring" or self.delta is None:
            return SmoothWaring(self.epsilon)
        return SmoothLaplace(self.epsilon, self.delta)

    def to_json(self, error: Error) -> dict[str, Any]:
        """What a plan says: the errors in the unit of the column, and who answers, and why."""
        step, found = float(number(self.measurement.argument).step), self.errors()
        smooth = {"smooth": found.waring, "smooth_delta": found.laplace}
        sizes = {"exponential": found.exponential, **smooth}
        return {
            **{name: None if size is None else size * step for name, size in sizes.items()},
            "rows": self.rows,
            "error": error,
            "used": found.better(error),
            "why": _why(found, error),
        }


@lru_cache(maxsize=128)
def _errors(candidates: Candidates) -> QuantileLoss:
    aimed = aimed_at(candidates.measurement, candidates.eta)
    return QuantileLoss(
        exponential_error(candidates.reference, candidates.eta, aimed),
        _smooth_error(candidates, "waring"),
        _smooth_error(candidates, "laplace"),
    )


def _smooth_error(candidates: Candidates, name: Mechanism) -> float | None:
    try:
        return smooth_error(candidates.reference, candidates.noise(name))
    except QuestionError:
        return None  # it is not paid for, or too little


def _why(found: QuantileLoss, error: Error) -> str:
    if error != "value":
        said = "the rank is" if error == "rank" else "the ranks of an interval are"
        return f"{said} to be close, and only the exponential mechanism bounds it on any data"
    used = found.better(error)
    return f"the value is to be close, and {used} errs least on rows spread evenly"
