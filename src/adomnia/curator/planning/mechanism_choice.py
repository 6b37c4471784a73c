"""Which mechanism a measurement gets for its share of the loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from adomnia.curator.access import Error
from adomnia.curator.planning.quantile_choice import NOMINAL, Candidates, aimed_at, asked_for
from adomnia.errors import QuestionError
from adomnia.mechanisms.interval_quantile import IntervalQuantile
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.measurement_mechanisms import (
    AddedNoise,
    ExponentialQuantile,
    Measuring,
    PermutedMode,
    Place,
    SmoothQuantile,
)
from adomnia.mechanisms.noise.admissible import SmoothLaplace
from adomnia.mechanisms.quantiles.quantile import Rank, Share
from adomnia.mechanisms.quantiles.value_margin import (
    Around,
    Beyond,
    extreme_rank,
    interval_rows,
)
from adomnia.policy.policy import Policy
from adomnia.priors.sensitivity import PUBLIC
from adomnia.privacy.contribution import Contribution, Ranked
from adomnia.privacy.events import (
    Exponential,
    Free,
    Gaussian,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    SmoothNoise,
    composed,
)
from adomnia.privacy.premises import Premise
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Counts, Measurement, Mode, Quantile
from adomnia.queries.question import Question

__all__ = ["LossRequest", "QuantileContext", "candidates_of", "mechanism_of"]


@dataclass(frozen=True)
class LossRequest:
    """What the analyst offers for an answer: an epsilon or a rho, and delta for open keys.

    `error` says what shall be small of a quantile: the error of its rank, or of its value; or that
    an interval of values is wanted, which holds it with this `confidence`.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    delta: Fraction | None = None
    error: Error = "rank"
    confidence: float = 0.95

    @property
    def told(self) -> list[str]:
        """All of it as text; what is not said stays out, so that old requests read the same."""
        amounts = [str(self.epsilon), str(self.rho), str(self.delta)]
        return amounts if self.error == "rank" else [*amounts, self.error]

    def share(self, parts: int) -> LossRequest:
        """An even part of each amount."""
        epsilon, rho, delta = (
            None if amount is None else amount / parts
            for amount in (self.epsilon, self.rho, self.delta)
        )
        return LossRequest(epsilon, rho, delta, self.error, self.confidence)

    @property
    def pure(self) -> Fraction:
        """The epsilon of it; a rho allows the pure epsilon with epsilon²/2 = rho."""
        if self.epsilon is not None:
            return self.epsilon
        return _root_below(2 * (self.rho or Fraction(0)))


@dataclass(frozen=True)
class QuantileContext:
    """What is public around a measurement: where it is taken, about how many rows a cell has, and
    how many single rows come, go or change between neighbours (None where that is not known).

    With `selects`, the delta that selecting keys costs. `shown` are the cells that may leave,
    where others are not paid for.
    """

    place: Place = field(default_factory=Place)
    rows: int = NOMINAL
    steps: int | None = None
    selects: Fraction | None = None
    shown: tuple[int, ...] | None = None
    premises: tuple[Premise, ...] = ()
    group: int = 1

    @classmethod
    def of(cls, question: Question, policy: Policy, known: object) -> QuantileContext:
        """The context of a question, under the policy and what was released exactly."""
        neighbors = policy.neighbors
        cells = 1 if question.open else cell_count(question.keys)
        rows = policy.rows or neighbors.most or NOMINAL
        steps = neighbors.moves if question.keys else neighbors.touched
        place = Place(question.where, question.keys, neighbors.most)
        near = max(1, rows // cells)
        return cls(place, near, None if known else steps, group=neighbors.group)

    def candidates(
        self, measurement: Quantile, eta: Fraction, epsilon: Fraction, delta: Fraction | None
    ) -> Candidates:
        """The mechanisms for a quantile. Several rows at once multiply epsilon, and delta by
        more: it is offered for one row alone."""
        each = None if self.steps is None else epsilon / self.steps
        return Candidates(measurement, eta, self.rows, each, delta if self.steps == 1 else None)


Taken = tuple[Any, Contribution, Sensitivity]
"""A measurement, what a row may add to it, and how far neighbours are apart by that."""

Maker = Callable[[Taken, LossRequest, QuantileContext], Measuring]


def mechanism_of(
    measurement: Measurement,
    contribution: Contribution,
    bound: Sensitivity,
    share: LossRequest,
    context: QuantileContext | None = None,
) -> Measuring:
    """The mechanism that measures this at this share of the loss."""
    free = bound.l1 == 0 or (share.rho is not None and bound.l2_squared == 0)
    if free and bound.argument.startswith(PUBLIC):
        raise QuestionError(
            "this is already public: it follows from what was released exactly",
            "register the released numbers too, and it is answered from them: "
            "adomnia prior add SQL --values FILE",
        )
    make = _MAKERS.get(type(measurement), _added)
    return make((measurement, contribution, bound), share, context or QuantileContext())


def _added(taken: Taken, share: LossRequest, context: QuantileContext) -> Measuring:
    """Integer noise on every component; none where no neighbour has others."""
    measurement, _, bound = taken
    common = {"place": context.place, "premises": context.premises, "shown": context.shown}
    if bound.l1 == 0:
        return AddedNoise(*taken, Free(), **common)  # type: ignore[arg-type]
    selects = context.selects if isinstance(measurement, Counts) else None
    if share.rho is not None and selects is None:
        event = Gaussian(share.rho, _root(bound.l2_squared))
        noise = Noise("gaussian", bound.l2_squared / (2 * share.rho))
        return AddedNoise(*taken, event, noise=noise, **common)  # type: ignore[arg-type]
    epsilon = share.pure
    noise = Noise("laplace", bound.l1 / epsilon)
    pure = Laplace(epsilon, bound.l1)
    paid = pure if selects is None else PartitionSelection(epsilon, selects, bound.l1)
    return AddedNoise(*taken, paid, noise=noise, **common)  # type: ignore[arg-type]


def _mode(taken: Taken, share: LossRequest, context: QuantileContext) -> Measuring:
    epsilon, bound = share.pure, taken[2]
    event = PermuteAndFlip(epsilon, bound.l1)
    return PermutedMode(*taken, event, context.place, context.premises, epsilon / bound.l1)


def _quantile(taken: Taken, share: LossRequest, context: QuantileContext) -> Measuring:
    quantile, _, bound = taken
    if share.error == "interval":
        return _with_interval(taken, share, context)
    candidates, epsilon = candidates_of(quantile, bound, share, context), share.pure
    smooth, where = candidates.better(share.error), (context.place, context.premises)
    if smooth is None:
        event = Exponential(epsilon, bound.l1)
        aimed = aimed_at(quantile, candidates.eta)
        return ExponentialQuantile(*taken, event, *where, aimed, candidates.eta)
    delta = smooth.delta if isinstance(smooth, SmoothLaplace) else Fraction(0)
    paid = SmoothNoise(epsilon, delta, Fraction(context.steps or 1))
    return SmoothQuantile(*taken, paid, *where, asked_for(quantile), smooth)


POINT, END = 2, 4
"""A quantile with an interval gets half of the loss for itself, and a quarter for each end."""


def _with_interval(taken: Taken, share: LossRequest, context: QuantileContext) -> Measuring:
    """A quantile and the ends around it; of an extreme one choice is both (`value_margin.md`)."""
    quantile, ranked, bound = taken
    assert isinstance(ranked, Ranked)
    asked, twice = asked_for(quantile), 2 * bound.l1
    candidates, sure = ranked.high - ranked.low + 1, share.confidence
    paid = [share.pure] if isinstance(asked, Rank) else [
        share.share(part).pure for part in (POINT, END, END)
    ]  # fmt: skip
    event = composed(Exponential(epsilon, bound.l1) for epsilon in paid)
    eta, end_eta = paid[0] / twice, paid[-1] / twice
    if isinstance(asked, Share):
        around = Around(asked, eta, end_eta, interval_rows(candidates, end_eta, asked, sure))
        return IntervalQuantile(
            *taken, event, context.place, context.premises, asked, eta, around, sure
        )
    target = Rank(extreme_rank(candidates, eta, sure), asked.from_top)
    beyond = Beyond(target, eta)
    return IntervalQuantile(
        *taken, event, context.place, context.premises, target, eta, beyond, sure
    )


def candidates_of(
    quantile: Quantile, bound: Sensitivity, share: LossRequest, context: QuantileContext
) -> Candidates:
    """The mechanisms that a quantile's is chosen from."""
    halved = share.error == "interval" and quantile.edge is None
    epsilon = share.share(POINT).pure if halved else share.pure
    return context.candidates(quantile, epsilon / (2 * bound.l1), epsilon, share.delta)


_MAKERS: Mapping[type[Any], Maker] = {Quantile: _quantile, Mode: _mode}
"""Which measurements get something else than added noise."""


def _root_below(number: Fraction) -> Fraction:
    small = len(str(int(1 / number))) if number > 0 else 0  # keep 40 digits of small roots too
    scale = 10 ** (40 + small)
    return Fraction(math.isqrt(int(number * scale * scale)), scale)


def _root(number: Fraction) -> Fraction:
    """The square root, exactly where it is a fraction, else just above."""
    top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if top * top == number.numerator and bottom * bottom == number.denominator:
        return Fraction(top, bottom)
    return _root_below(number) + Fraction(1, 10**40)
