"""Reconstruction through a door: ask until refused, guess the column, compare with knowing nothing.

The attacker is handed a function to ask with and nothing else (`reconstruct.md`). Against exact or
nearly exact answers without a limit the column comes back; against a ledger the door closes first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding
from adomnia.audit.reconstruction.least_absolute import Closest, least_absolute
from adomnia.audit.reconstruction.subset_sums import (
    Ask,
    majority,
    questioner,
    recovery,
    subset_sums,
)
from adomnia.errors import BudgetError, QuestionError

__all__ = ["ceiling", "demonstrate", "figures", "reconstruct"]

Floats = NDArray[np.float64]
Bits = NDArray[np.int64]

PAPER = (
    "Dinur and Nissim, PODS 2003; Dwork, An ad omnia approach to defining and achieving private "
    "data analysis, 2007, section 4"
)
MOST_PER_PERSON = 8
FOR_ASKING = 0.6


@dataclass(frozen=True, eq=False)
class _Heard:
    """What was asked (a row of 0 and 1 for each question) and answered, and how it ended."""

    asked: Floats
    answers: Floats
    refused: bool
    wanted: int

    @property
    def whole(self) -> bool:
        """Whether the attacker ended by himself or by a refusal, and not by the clock."""
        return self.refused or len(self.answers) == self.wanted


def reconstruct(
    ask: Ask,
    people: int,
    most: int | None = None,
    seed: int = 0,
    time_limit: float = 60.0,
    truth: Sequence[int] | None = None,
) -> Finding:
    """Ask random subset sums until refused, at most `most` (8 a person unless told), and guess.

    `ask` takes an array of 0 and 1, one for each person, and returns the noisy number of those
    chosen whose secret bit is 1; it raises BudgetError when the budget ends. `truth` only scores.
    `details["curve"]` holds the share recovered from the first 1, 2, 4, … answers.

    Returns the share of the bits that came back; without a truth it says that this is not known.
    Raises a QuestionError where nobody is to be asked about.

    >>> secret = [0, 1, 1, 0, 1, 0, 0, 1]
    >>> reconstruct(lambda chosen: float(chosen @ secret), 8, truth=secret).success.value
    1.0
    """
    if people < 1 or (most is not None and most < 0):
        raise QuestionError("an attack needs people", "give their number, and most from 0 on")
    end = time.monotonic() + time_limit
    wanted = MOST_PER_PERSON * people if most is None else most
    heard = _ask(ask, people, wanted, seed, time.monotonic() + FOR_ASKING * time_limit)
    closest = least_absolute(heard.asked, heard.answers, end - time.monotonic())
    curve, drawn = _curve(heard, closest, truth, end)
    return _finding(heard, closest, truth, curve, drawn)


def demonstrate(
    n: int, questions: int, noise: float, seed: int = 0, time_limit: float = 60.0
) -> dict[str, Any]:
    """The figures of the subset sums attack on a made-up column, noise uniform in ±`noise`."""
    return figures(subset_sums(n, questions, noise, seed, time_limit))


def figures(finding: Finding) -> dict[str, Any]:
    """`recovered` against `baseline`, and what belongs to them, as plain JSON values.

    >>> from adomnia.audit import reconstruct
    >>> secret = [0, 1, 1, 0]
    >>> figures(reconstruct(lambda chosen: float(chosen @ secret), 4, truth=secret))["recovered"]
    1.0
    """
    return {
        "recovered": finding.success.value,
        "baseline": finding.baseline,
        "interval": [finding.success.low, finding.success.high],
        "confidence": finding.success.confidence,
        "people": finding.details["n"],
        "questions": finding.details["questions"],
        "answered": finding.details["answered"],
        "complete": finding.complete,
    }


def ceiling(epsilon: float) -> float:
    """The share that anybody can expect to recover of independent fair bits, each protected by
    epsilon in all answers together: e^epsilon / (1 + e^epsilon).

    >>> round(ceiling(1.0), 3)
    0.731
    """
    return 1 / (1 + math.exp(-epsilon))


def _ask(ask: Ask, people: int, wanted: int, seed: int, end: float) -> _Heard:
    chance = questioner(seed)
    asked: list[NDArray[np.int64]] = []
    answers: list[float] = []
    refused = False
    while len(answers) < wanted and time.monotonic() < end:
        chosen = chance.integers(0, 2, people)
        try:
            answers.append(float(ask(chosen)))
        except BudgetError:
            refused = True
            break
        asked.append(chosen)
    rows = np.array(asked, np.float64).reshape(len(asked), people)
    return _Heard(rows, np.array(answers), refused, wanted)


def _guess(closest: Closest) -> Bits:
    return (closest.point > 0.5).astype(np.int64)


def _curve(
    heard: _Heard, last: Closest, truth: Sequence[int] | None, end: float
) -> tuple[list[dict[str, Any]], bool]:
    """The share recovered from the first answers, in doublings; whether all of it was drawn."""
    if truth is None:
        return [], True
    many = len(heard.answers)
    curve: list[dict[str, Any]] = []
    for first in (1 << power for power in range(many.bit_length())):
        if first == many:
            break
        left = end - time.monotonic()
        if left <= 0:
            return curve, False
        closest = least_absolute(heard.asked[:first], heard.answers[:first], left)
        share = recovery(_guess(closest), truth).value
        curve.append({"answers": first, "recovered": share})
    share = recovery(_guess(last), truth).value
    return [*curve, {"answers": many, "recovered": share}], True


def _finding(
    heard: _Heard,
    closest: Closest,
    truth: Sequence[int] | None,
    curve: list[dict[str, Any]],
    drawn: bool,
) -> Finding:
    guess = _guess(closest)
    many, n = heard.asked.shape
    success = recovery(guess, truth)
    base = majority(truth)
    how = "was then refused" if heard.refused else "was not refused"
    scored = "not scored" if truth is None else f"{success.value:.1%} of {n} bits came back"
    return Finding(
        attack="reconstruct",
        claim=f"The attacker got {many} answers and {how}: {scored}, a guess hits {base:.1%}.",
        affected=f"all {n} people of the column",
        success=success,
        baseline=base,
        covered=True,
        source=PAPER,
        remedy="a budget that ends before the answers are as many as the people",
        details={
            "n": n,
            "questions": many + heard.refused,
            "answered": many,
            "refused": heard.refused,
            "scored": truth is not None,
            "guess": guess.tolist(),
            "curve": curve,
            "mean_error": closest.distance / max(many, 1),
            "gap": closest.distance - closest.bound,
        },
        complete=heard.whole and closest.finished and drawn,
    )
