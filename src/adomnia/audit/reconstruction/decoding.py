"""Dwork, McSherry and Talwar's attack: a share of the answers may be arbitrary, and it succeeds.

Questions are rows of standard normals or of ±1, answers are inner products with the secret column,
and a share rho of them is anything at all. The closest column in the sum of absolute differences
is still the secret one while rho is below a threshold near 0.239 (`decoding.md`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding
from adomnia.audit.reconstruction.least_absolute import least_absolute
from adomnia.audit.reconstruction.subset_sums import balanced_secret, majority, recovery
from adomnia.errors import QuestionError

__all__ = ["Channel", "LinearAnswers", "decode", "decoding", "decoding_curve", "threshold"]

Floats = NDArray[np.float64]
Bits = NDArray[np.int64]
Errors = Literal["adversarial", "random"]

PAPER = "Dwork, McSherry and Talwar, The price of privacy and the limits of LP decoding, STOC 2007"
REMEDY = "wrong answers to some questions protect nobody; noise on all and a budget do"
WILD = 10.0


@dataclass(frozen=True)
class Channel:
    """n secret bits, `ratio` questions for each of them, and who spoils a share of the answers.

    `adversarial`: the answers that tell the secret best from its complement become those of the
    complement. `random`: a random choice becomes large noise. The others are off by at most
    `noise`, uniformly.

    >>> Channel(32, errors="random").ratio
    10.0
    """

    n: int
    ratio: float = 10.0
    questions: Literal["gaussian", "signs"] = "gaussian"
    errors: Errors = "adversarial"
    noise: float = 0.0

    def __post_init__(self) -> None:
        if self.n < 1 or self.ratio <= 0:
            raise QuestionError("an attack needs people and questions", "give both above zero")

    @property
    def many(self) -> int:
        """How many questions are asked."""
        return max(1, round(self.ratio * self.n))

    def ask(self, chance: np.random.Generator) -> Floats:
        """Random questions, one in a row."""
        if self.questions == "gaussian":
            return chance.standard_normal((self.many, self.n))
        return chance.integers(0, 2, (self.many, self.n)).astype(np.float64) * 2 - 1

    def answer(
        self, asked: Floats, secret: Bits, rho: float, chance: np.random.Generator
    ) -> Floats:
        """The answers, the share rho of them spoilt."""
        answers: Floats = asked @ secret + chance.uniform(-self.noise, self.noise, self.many)
        spoilt = math.floor(rho * self.many)
        if self.errors == "random":
            where = chance.permutation(self.many)[:spoilt]
            answers[where] = chance.normal(0, WILD * math.sqrt(self.n), spoilt)
            return answers
        other = asked @ (1 - secret)
        where = np.argsort(np.abs(other - asked @ secret))[self.many - spoilt :]
        answers[where] = other[where]
        return answers


@dataclass(frozen=True, eq=False)
class LinearAnswers:
    """What was asked, a row of weights for each question, and what was answered.

    >>> import numpy as np
    >>> LinearAnswers(np.eye(2), np.array([1.0, 0.0])).asked.shape
    (2, 2)
    """

    asked: Floats
    answers: Floats


def threshold() -> float:
    """rho* = P(|g| > sqrt(2 ln 2)) for a standard normal g: about 0.239."""
    return math.erfc(math.sqrt(math.log(2)))


def decoding(channel: Channel, rho: float, seed: int = 0, time_limit: float = 60.0) -> Finding:
    """Guess a secret column from answers of which the share rho is arbitrary."""
    if not 0 <= rho <= 1:
        raise QuestionError("rho is a share of the answers", "give it between 0 and 1")
    chance = np.random.default_rng(seed)
    secret = balanced_secret(channel.n, chance)
    asked = channel.ask(chance)
    published = LinearAnswers(asked, channel.answer(asked, secret, rho, chance))
    found = decode(published, time_limit, secret)
    return replace(
        found,
        claim=f"With {rho:.0%} of {channel.many} answers arbitrary ({channel.errors}), "
        f"{found.success.value:.1%} of {channel.n} bits came back.",
        details={**vars(channel), "rho": rho, "threshold": threshold(), **found.details},
    )


def decode(
    published: LinearAnswers, time_limit: float = 60.0, truth: Sequence[int] | Bits | None = None
) -> Finding:
    """The column of bits that is closest to all answers; the truth, a bit a person, only scores.

    >>> published = LinearAnswers(np.eye(3), np.array([1.0, 0.0, 1.0]))
    >>> decode(published, truth=[1, 0, 1]).success.value
    1.0
    """
    closest = least_absolute(published.asked, published.answers, time_limit)
    guess = (closest.point > 0.5).astype(np.int64)
    success, many = recovery(guess, truth), len(published.answers)
    scored = (
        "not scored" if truth is None else f"{success.value:.1%} of {guess.size} bits came back"
    )
    details: dict[str, Any] = {
        "scored": truth is not None,
        "gap": closest.distance - closest.bound,
    }
    if truth is not None:
        details["whole"] = bool((guess == np.asarray(truth)).all())
    return Finding(
        attack="decoding",
        claim=f"From {many} answers, some of them arbitrary: {scored}.",
        affected=f"all {guess.size} people of the column",
        success=success,
        baseline=majority(truth),
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=closest.finished,
    )


def decoding_curve(
    channel: Channel,
    rhos: Sequence[float],
    trials: int = 10,
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """For each rho, and for adversarial and random errors, how often the whole column came back.

    `details["curve"]` holds a row for each; `breaks` the first rho at which under one half of the
    trials succeeded, None where none was. The finding is that of the last rho fully decoded.

    Raises a QuestionError where no share is given, or no time.

    >>> found = decoding_curve(Channel(16), [0.0, 0.5], trials=2)
    >>> [row["rho"] for row in found.details["curve"]]
    [0.0, 0.0, 0.5, 0.5]
    """
    end = time.monotonic() + time_limit
    curve: list[dict[str, Any]] = []
    found: list[Finding] = []
    for rho in sorted(rhos):
        for errors in ("adversarial", "random"):
            mode = Channel(**{**vars(channel), "errors": errors})
            tried = _trials(mode, rho, range(seed, seed + trials), end)
            if tried:
                found += tried
                curve.append(_row(rho, errors, tried))
    if not found:
        raise QuestionError("nothing to attack", "give shares, trials and a time above zero")
    whole = [one for one in found if one.details["whole"]]
    best = whole[-1] if whole else found[0]
    details = {
        **vars(channel),
        "threshold": threshold(),
        "trials": trials,
        "curve": curve,
        "breaks": {kind: _breaks(curve, kind) for kind in ("adversarial", "random")},
    }
    complete = len(found) == 2 * len(rhos) * trials and all(one.complete for one in found)
    return Finding(**{**vars(best), "details": details, "complete": complete})


def _trials(channel: Channel, rho: float, seeds: range, end: float) -> list[Finding]:
    found = []
    for seed in seeds:
        left = end - time.monotonic()
        if left <= 0:
            break
        found.append(decoding(channel, rho, seed, left))
    return found


def _row(rho: float, errors: str, tried: list[Finding]) -> dict[str, Any]:
    return {
        "rho": rho,
        "errors": errors,
        "trials": len(tried),
        "whole": sum(one.details["whole"] for one in tried) / len(tried),
        "recovered": sum(one.success.value for one in tried) / len(tried),
    }


def _breaks(curve: list[dict[str, Any]], errors: str) -> float | None:
    failed = [row["rho"] for row in curve if row["errors"] == errors and row["whole"] < 0.5]
    return min(failed, default=None)
