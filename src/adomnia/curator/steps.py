"""Steps: one measurement, the noise it gets, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from adomnia.curator.derived import Derived
from adomnia.curator.policy import Policy
from adomnia.curator.quantiles import NOMINAL, Error, Rivals, Smooth, aimed_at, asked_for
from adomnia.errors import QuestionError
from adomnia.mechanisms.admissible import SmoothLaplace
from adomnia.mechanisms.margin import Noise
from adomnia.mechanisms.quantile import Target
from adomnia.priors.sensitivity import PUBLIC
from adomnia.privacy.contribution import Contribution
from adomnia.privacy.events import (
    Event,
    Exponential,
    Free,
    Gaussian,
    Laplace,
    PartitionSelection,
    PermuteAndFlip,
    SmoothNoise,
)
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Counts, Measurement, Mode, Quantile
from adomnia.queries.question import Question

__all__ = ["Asked", "Scene", "Step", "step_of"]


@dataclass(frozen=True)
class Asked:
    """What the analyst offers for an answer: an epsilon or a rho, and delta for open keys.

    `error` says what shall be small of a quantile: the error of its rank, or of its value.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    delta: Fraction | None = None
    error: Error = "rank"

    @property
    def told(self) -> list[str]:
        """All of it as text; what is not said stays out, so that old requests read the same."""
        amounts = [str(self.epsilon), str(self.rho), str(self.delta)]
        return amounts if self.error == "rank" else [*amounts, self.error]

    def share(self, parts: int) -> Asked:
        """An even part of each amount."""
        epsilon, rho, delta = (
            None if amount is None else amount / parts
            for amount in (self.epsilon, self.rho, self.delta)
        )
        return Asked(epsilon, rho, delta, self.error)


@dataclass(frozen=True)
class Step:
    """One measurement and its noise; a quantile has a target and the rate of its penalties.

    With `smooth`, a quantile gets noise that follows the data instead, and `eta` is what that
    costs for one row. `rivals` are the mechanisms it was chosen from.
    """

    measurement: Measurement
    sensitivity: Sensitivity
    event: Event
    noise: Noise | None = None
    target: Target | None = None
    eta: Fraction = Fraction(0)
    derived: Derived | None = None
    smooth: Smooth | None = None
    rivals: Rivals | None = None
    contribution: Contribution | None = None
    """What a row may add: the bound rests on it, and the statement enforces it."""

    @property
    def law(self) -> str:
        """Which noise follows the data; empty where none does."""
        if self.smooth is None:
            return ""
        light = isinstance(self.smooth, SmoothLaplace)
        return f"laplace {self.smooth.delta}" if light else "waring"  # type: ignore[union-attr]


@dataclass(frozen=True)
class Scene:
    """What is public around a quantile: about how many rows a cell has, and how many single rows
    come, go or change between neighbours (None where that is not known)."""

    rows: int = NOMINAL
    steps: int | None = None

    @classmethod
    def of(cls, question: Question, policy: Policy, known: object) -> Scene:
        """The scene of a question, under the policy and what was released exactly."""
        neighbors = policy.neighbors
        cells = 1 if question.open else cell_count(question.keys)
        rows = policy.rows or neighbors.most or NOMINAL
        steps = neighbors.moves if question.keys else neighbors.touched
        return cls(max(1, rows // cells), None if known else steps)

    def rivals(
        self, measurement: Quantile, eta: Fraction, epsilon: Fraction, delta: Fraction | None
    ) -> Rivals:
        """The mechanisms for a quantile. Several rows at once multiply epsilon, and delta by
        more: it is offered for one row alone."""
        each = None if self.steps is None else epsilon / self.steps
        return Rivals(measurement, eta, self.rows, each, delta if self.steps == 1 else None)


def step_of(
    measurement: Measurement,
    bound: Sensitivity,
    share: Asked,
    delta: Fraction | None = None,
    scene: Scene | None = None,
) -> Step:
    """The step that measures this at this share of the loss; with `delta`, keys are selected."""
    selects = delta is not None and isinstance(measurement, Counts)
    free = bound.l1 == 0 or (share.rho is not None and bound.l2_squared == 0)
    if free and bound.argument.startswith(PUBLIC):
        raise QuestionError(
            "this is already public: it follows from what was released exactly",
            "register the released numbers too, and it is answered from them: "
            "adomnia prior add SQL --values FILE",
        )
    if isinstance(measurement, Quantile):
        return _quantile_step(measurement, bound, share, scene or Scene())
    if isinstance(measurement, Mode):
        epsilon = _pure(share)
        event: Event = PermuteAndFlip(epsilon, bound.l1)
        return Step(measurement, bound, event, eta=epsilon / bound.l1)
    if bound.l1 == 0:
        return Step(measurement, bound, Free(), Noise("laplace", Fraction(0)))
    if share.rho is not None and not selects:
        variance = bound.l2_squared / (2 * share.rho)
        event = Gaussian(share.rho, _root(bound.l2_squared))
        return Step(measurement, bound, event, Noise("gaussian", variance))
    epsilon = _pure(share)
    noise = Noise("laplace", bound.l1 / epsilon)
    if selects and delta is not None:
        return Step(measurement, bound, PartitionSelection(epsilon, delta, bound.l1), noise)
    return Step(measurement, bound, Laplace(epsilon, bound.l1), noise)


def _quantile_step(measurement: Quantile, bound: Sensitivity, share: Asked, scene: Scene) -> Step:
    epsilon = _pure(share)
    eta = epsilon / (2 * bound.l1)
    rivals = scene.rivals(measurement, eta, epsilon, share.delta)
    smooth = rivals.better(share.error)
    if smooth is None:
        event: Event = Exponential(epsilon, bound.l1)
        aimed = aimed_at(measurement, eta)
        return Step(measurement, bound, event, target=aimed, eta=eta, rivals=rivals)
    delta = smooth.delta if isinstance(smooth, SmoothLaplace) else Fraction(0)
    event = SmoothNoise(epsilon, delta, Fraction(scene.steps or 1))
    asked = asked_for(measurement)
    return Step(
        measurement, bound, event, target=asked, eta=smooth.epsilon, smooth=smooth, rivals=rivals
    )


def _pure(share: Asked) -> Fraction:
    """The epsilon of a share; a rho allows the pure epsilon with epsilon²/2 = rho."""
    if share.epsilon is not None:
        return share.epsilon
    return _root_below(2 * (share.rho or Fraction(0)))


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
