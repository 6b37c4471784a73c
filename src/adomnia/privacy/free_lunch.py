"""Free-lunch privacy: any two tables must look alike (paper 000, Definition 2.3; `free_lunch.md`).

It assumes nothing about how the data came about, and this is what it costs: nearly everything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from adomnia.errors import QuestionError
from adomnia.privacy.contribution import Clamped, Contribution, Tally
from adomnia.privacy.loss import Amount, exact
from adomnia.privacy.neighbors import Neighbors, Relation
from adomnia.privacy.sensitivity import Sensitivity, Setting, sensitivity

__all__ = [
    "FreeLunch",
    "Worth",
    "discriminant_bound",
    "free_lunch_sensitivity",
    "least_margin",
    "worth",
]


@dataclass(frozen=True)
class FreeLunch:
    """Any two tables with at least `fewest` and at most `most` rows, both public, are neighbours.

    `fewest` equal to `most` is the form in which the number of rows is no secret.
    """

    most: int
    fewest: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.fewest <= self.most or self.most < 1:
            raise QuestionError("free-lunch privacy needs 0 <= fewest <= most rows, and a most")


@dataclass(frozen=True)
class Worth:
    """How useless an answer is, in the unit of the answer.

    `blind` is the margin of an answer that looks at nothing, `least` what every free-lunch
    private answer errs by at the least, `laplace` the margin of Laplace noise, and `guess` the
    most that the probability of the exact value can be brought to.
    """

    blind: int
    least: int
    laplace: float
    guess: float

    @property
    def useless(self) -> bool:
        """Whether no private answer beats the one that looks at nothing."""
        return self.least >= self.blind


def free_lunch_sensitivity(
    contribution: Contribution, setting: Setting, neighbors: FreeLunch
) -> Sensitivity:
    """The sensitivity between any two tables of these sizes; proven in `free_lunch.md`."""
    most, kept = neighbors.most, neighbors.fewest
    replaced = _several(contribution, setting, "bounded", most)
    changed = _several(contribution, setting, "bounded", kept)
    added = _several(contribution, setting, "unbounded", most - kept)
    l1 = max(replaced.l1, changed.l1 + added.l1)
    product = _root(changed.l2_squared * added.l2_squared)
    l2 = max(replaced.l2_squared, changed.l2_squared + added.l2_squared + 2 * product)
    sure = isinstance(contribution, Tally | Clamped) and kept in (0, most)
    exact = sure and replaced.exact and added.exact
    return Sensitivity(l1, l2, exact, f"any two tables of {kept} to {most} rows")


def _several(
    contribution: Contribution, setting: Setting, relation: Relation, rows: int
) -> Sensitivity:
    """The sensitivity to so many rows at once."""
    if not rows:
        return Sensitivity(Fraction(0), Fraction(0), True, "")
    return sensitivity(contribution, setting, Neighbors(relation, group=rows))


def _root(number: Fraction) -> Fraction:
    """The square root, rounded up."""
    found = isqrt(number.numerator * number.denominator)
    return Fraction(found + (found**2 < number.numerator * number.denominator), number.denominator)


def discriminant_bound(outcomes: int, epsilon: Amount) -> float:
    """The paper's bound: nobody tells k outcomes apart better than e^epsilon / (k - 1 + e^epsilon).

    It does not move with the size of the data.
    """
    if outcomes < 1:
        raise QuestionError("a question has at least one outcome")
    return 1 / (1 + (outcomes - 1) * math.exp(-_capped(epsilon)))


def least_margin(width: int, epsilon: Amount, confidence: float) -> int:
    """Every free-lunch private answer to a question with values in 0..width errs by this much or
    more on some table, if it is to hold with this confidence (`free_lunch.md`, claim 3).
    """
    if width < 0 or not 0 < confidence < 1:
        raise QuestionError("a margin needs a width, and a confidence between 0 and 1")
    apart = math.floor(math.exp(_capped(epsilon)) * (1 - confidence) / confidence * (1 + 1e-9))
    return width // (apart + 1) // 2 + (width // (apart + 1)) % 2


def worth(width: int, epsilon: Amount, confidence: float = 0.95) -> Worth:
    """How much a question whose answers span `width` is worth; its sensitivity is that width."""
    scale = width / float(exact(epsilon))
    return Worth(
        blind=(width + 1) // 2,
        least=least_margin(width, epsilon, confidence),
        laplace=scale * -math.log(1 - confidence),
        guess=discriminant_bound(width + 1, epsilon),
    )


def _capped(epsilon: Amount) -> float:
    return float(min(exact(epsilon), Fraction(700)))
