"""Records that move together: how far one noisy count moves the odds about one person.

Differential privacy bounds that by e^epsilon where records are independent. Here it is computed
for records that are not: exactly, from the distribution of the count (`correlation.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from adomnia.audit.claims.events import Floats
from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError

__all__ = ["Chain", "Correlation", "Groups", "correlation", "family_success", "odds_factor"]

KIFER = "Kifer and Machanavajjhala, No Free Lunch in Data Privacy, SIGMOD 2011, example 2.1"
MOST = 5_000
NEVER = -math.inf


class Correlation(Protocol):
    """How the records of n people, each 0 or 1, depend on each other, as the attacker knows it."""

    def chance(self, person: int) -> float:
        """The prior probability that the person's record is 1."""

    def count(self, person: int, value: int) -> Floats:
        """Logarithms of the probabilities of the counts 0..n, given the person's record."""


@dataclass(frozen=True)
class Groups:
    """Groups of people that move together, independent of each other; `person` counts through.

    With probability `together` all members of a group have one value, which is 1 with
    probability `probability`; otherwise each has an own one. 1: families; 0: independent people.

    Raises a QuestionError where a group is empty, all are too many, or a chance is none.

    >>> Groups((4, 1)).chance(person=0)
    0.5
    """

    sizes: tuple[int, ...]
    probability: float = 0.5
    together: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(self.sizes))
        if not self.sizes or min(self.sizes) < 1 or sum(self.sizes) > MOST:
            raise QuestionError(f"groups have one member or more, and {MOST} in all at most")
        if not 0 < self.probability < 1 or not 0 <= self.together <= 1:
            raise QuestionError("both values are possible, and `together` is a probability")

    def chance(self, person: int) -> float:
        """The prior probability that the person's record is 1."""
        self._group(person)
        return self.probability

    def count(self, person: int, value: int) -> Floats:
        """Logarithms of the probabilities of the counts 0..n, given the person's record."""
        own = self._group(person)
        total = self._known(self.sizes[own], value)
        for place, size in enumerate(self.sizes):
            if place != own:
                total = _convolve(total, self._unknown(size))
        return total

    def _group(self, person: int) -> int:
        if not 0 <= person < sum(self.sizes):
            raise QuestionError("there is no such person")
        return int(np.searchsorted(np.cumsum(self.sizes), person, side="right"))

    def _unknown(self, size: int) -> Floats:
        """The count of a group of which nothing is known."""
        both = [self._known(size, value) for value in (0, 1)]
        weights = [math.log1p(-self.probability), math.log(self.probability)]
        return np.logaddexp(both[0] + weights[0], both[1] + weights[1])

    def _known(self, size: int, value: int) -> Floats:
        """The count of a group, given one member's record."""
        apart = np.full(size + 1, NEVER)
        apart[value : value + size] = _binomial(size - 1, self.probability)
        same = np.full(size + 1, NEVER)
        same[size * value] = 0.0
        return np.logaddexp(_log(self.together) + same, _log(1 - self.together) + apart)


@dataclass(frozen=True)
class Chain:
    """A Markov chain of n records: `up` is P(1 after 0), `stay` is P(1 after 1).

    `first` is P(1) of the first record; by default the one that the chain keeps for ever.

    Raises a QuestionError where it is too long, or a chance is none.

    >>> Chain(5, up=0.5, stay=0.5).start
    0.5
    """

    n: int
    up: float
    stay: float
    first: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MOST:
            raise QuestionError(f"a chain has 1 to {MOST} records")
        if not all(0 <= part <= 1 for part in (self.up, self.stay, self.start)):
            raise QuestionError("the transitions are probabilities")

    @property
    def start(self) -> float:
        """P(1) of the first record."""
        if self.first is not None:
            return self.first
        away = self.up + 1 - self.stay
        return self.up / away if away > 0 else 0.5

    def chance(self, person: int) -> float:
        """The prior probability that the person's record is 1.

        Raises a QuestionError where there is no such person, or it is certain.
        """
        if not 0 <= person < self.n:
            raise QuestionError("there is no such person")
        chance = self.start
        for _ in range(person):
            chance = chance * self.stay + (1 - chance) * self.up
        if not 0 < chance < 1:
            raise QuestionError("the person's record is certain beforehand")
        return chance

    def count(self, person: int, value: int) -> Floats:
        """Logarithms of the probabilities of the counts 0..n, given the person's record."""
        known = math.log(self.chance(person) if value else 1 - self.chance(person))
        states = np.full((2, self.n + 1), NEVER)
        states[0, 0], states[1, 1] = _log(1 - self.start), _log(self.start)
        for place in range(self.n):
            if place:
                states = self._step(states)
            if place == person:
                states[1 - value] = NEVER
        total: Floats = np.logaddexp(states[0], states[1]) - known
        return total

    def _step(self, states: Floats) -> Floats:
        """The next record: a 1 raises the count."""
        zero = np.logaddexp(states[0] + _log(1 - self.up), states[1] + _log(1 - self.stay))
        one = np.logaddexp(states[0] + _log(self.up), states[1] + _log(self.stay))
        return np.stack([zero, np.concatenate([[NEVER], one[:-1]])])


def family_success(c: int, epsilon: float) -> float:
    """How often one count with real-valued Laplace noise tells whether a family of c is ill.

    All are ill or none is, both as likely, and everything else is known.
    """
    return 1 - math.exp(-c * epsilon / 2) / 2


def odds_factor(known: Correlation, person: int, epsilon: float, answer: int) -> float:
    """By what factor this noisy count multiplies the odds that the person's record is 1.

    Returns the factor. Raises a QuestionError where there is no such person.

    >>> odds_factor(Groups((10,)), 0, 1.0, 10) > odds_factor(Groups((1,) * 10), 0, 1.0, 10)
    True
    """
    ones, zeros = _answers(known, person, epsilon)
    place = min(max(answer, 0), ones.size - 1)  # beyond the ends the ratio stays as it is there
    return _exp(float(ones[place] - zeros[place]))


def correlation(known: Correlation, person: int, epsilon: float) -> Finding:
    """What one count, with the integer Laplace noise of epsilon for one row, tells of a person.

    `success` is the probability of the best guess of the person's record. `details`: the largest
    `factor` by which an answer multiplies the odds, its logarithm `loss`, the `promised` factor,
    `group`, the size of a family with the same loss, and `beyond`, how probable an answer is that
    moves the odds by more than was promised.
    """
    if not 0 < epsilon < math.inf:
        raise QuestionError("epsilon is a positive number")
    prior = known.chance(person)
    ones, zeros = _answers(known, person, epsilon)
    loss = float(np.abs(ones - zeros).max())
    success = _success(ones + math.log(prior), zeros + math.log1p(-prior), epsilon)
    return Finding(
        attack="correlation",
        claim=f"One count for epsilon {epsilon:g} multiplies the odds about one person by up to "
        f"{_exp(loss):.3g}; {_exp(epsilon):.3g} was promised for independent records.",
        affected="everybody whose record moves together with those of others",
        success=Rate(success, success, success, 1.0),
        baseline=max(prior, 1 - prior),
        covered=loss <= epsilon * (1 + 1e-9),
        source=KIFER,
        remedy=_remedy(loss / epsilon, epsilon),
        details={
            "people": ones.size - 1,
            "person": person,
            "epsilon": epsilon,
            "prior": prior,
            "factor": _exp(loss),
            "promised": _exp(epsilon),
            "loss": loss,
            "group": loss / epsilon,
            "beyond": _beyond((ones, zeros), prior, epsilon),
        },
    )


def _remedy(group: float, epsilon: float) -> str:
    if group <= 1 + 1e-9:
        return "none needed: the records do not move together"
    return (
        f"protect groups of {math.ceil(group - 1e-9)} (`group` in the policy); with one row as "
        f"neighbour the same protection needs epsilon {epsilon / group:.3g}"
    )


def _answers(known: Correlation, person: int, epsilon: float) -> tuple[Floats, Floats]:
    """Logarithms of the probabilities of the answers 0..n if the person's record is 1, and 0."""
    ones, zeros = (_noisy(known.count(person, value), epsilon) for value in (1, 0))
    return ones, zeros


def _noisy(count: Floats, epsilon: float) -> Floats:
    """The law of the count plus integer Laplace noise at 0..n: two sweeps over the lattice."""
    up, down = count.copy(), count.copy()
    for place in range(1, count.size):
        up[place] = np.logaddexp(up[place], up[place - 1] - epsilon)
        down[-1 - place] = np.logaddexp(down[-1 - place], down[-place] - epsilon)
    beside = np.concatenate([down[1:] - epsilon, [NEVER]])  # each count once
    law: Floats = np.logaddexp(up, beside) + math.log(math.tanh(epsilon / 2))
    return law


def _success(ones: Floats, zeros: Floats, epsilon: float) -> float:
    """The sum of the likelier case over all answers; beyond 0 and n both fall by e^-epsilon."""
    best = np.exp(np.maximum(ones, zeros))
    return min(1.0, float(best.sum() + (best[0] + best[-1]) / math.expm1(epsilon)))


def _beyond(answers: tuple[Floats, Floats], prior: float, epsilon: float) -> float:
    """The probability of the answers whose ratio is farther from 1 than e^epsilon."""
    ones, zeros = answers
    masses = prior * np.exp(ones) + (1 - prior) * np.exp(zeros)
    masses[[0, -1]] *= 1 + 1 / math.expm1(epsilon)  # an end stands for all beyond it
    return min(1.0, float(masses[np.abs(ones - zeros) > epsilon * (1 + 1e-9)].sum()))


def _convolve(one: Floats, other: Floats) -> Floats:
    """The law of a sum of two independent counts."""
    total = np.full(one.size + other.size - 1, NEVER)
    long, short = (one, other) if one.size >= other.size else (other, one)
    for place in np.flatnonzero(short > NEVER):
        part = total[place : place + long.size]
        np.logaddexp(part, long + short[place], out=part)
    return total


def _binomial(n: int, probability: float) -> Floats:
    from scipy.special import gammaln  # noqa: PLC0415 (slow to import)

    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(ways + k * math.log(probability) + (n - k) * math.log1p(-probability))


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else NEVER


def _exp(power: float) -> float:
    """exp, or the greatest float where it would pass it: findings hold plain JSON numbers."""
    return math.exp(min(power, 700.0))
