"""Trackers and differences: answers about large sets that tell about small ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from adomnia.audit.finding import Finding, Rate, wilson
from adomnia.errors import BudgetError, NotAllowedError, QuestionError

__all__ = ["differencing", "tracker"]

DENNING = "Denning, Denning and Schwartz, The Tracker, ACM TODS 4(1), 1979"
REMEDY = "noise for epsilon on every answer, charged to a budget; limits on set sizes do not help"
Ask = Callable[[str], float]


def tracker(
    ask: Ask,
    targets: Sequence[str],
    trackers: Sequence[str],
    slack: int = 0,
    truth: Sequence[int] | None = None,
) -> Finding:
    """Count each target, which may be refused because it is small, through general trackers.

    `trackers` are conditions that about half of all fulfil; each gives its own estimate, and all
    are combined. `slack` is how far an answer may be from the truth: 0 exact, 1 and 2 for numbers
    rounded to the nearest multiple of 3 and 5. `ask` refuses a question by a `NotAllowedError` or
    `QuestionError` and ends the attack by a `BudgetError`. With the truth success is the share of
    guesses that are right; without it, the share of targets that only one number fits.

    >>> people = {"Ann": True, "Bob": True, "Cid": False, "Dan": False}
    >>> def ask(condition):
    ...     rule = condition.replace("NOT", "not").replace("OR", "or").replace("AND", "and")
    ...     return sum(eval(rule, {"ann": name == "Ann", "a": a}) for name, a in people.items())
    >>> tracker(ask, ["ann"], ["a"], truth=[1]).success.value
    1.0
    """
    notebook = _Notebook(ask, slack)
    sides = [(f"({mark})", f"NOT ({mark})") for mark in trackers]
    everybody = notebook.meet(notebook.total(pair) for pair in sides)
    for target in targets:
        estimates = _tracked(notebook, target, sides, everybody)
        notebook.found.append(notebook.meet(estimates))
    return _finding("tracker", notebook, truth)


def differencing(
    ask: Ask,
    pairs: Sequence[tuple[str, str]],
    slack: int = 0,
    truth: Sequence[int] | None = None,
) -> Finding:
    """Count who fulfils the first condition of each pair but not the second, which implies it.

    The rest is as for `tracker`.

    >>> counts = {"all": 100.0, "all but Ann": 99.0}
    >>> differencing(counts.__getitem__, [("all", "all but Ann")], truth=[1]).success.value
    1.0
    """
    notebook = _Notebook(ask, slack)
    for whole, part in pairs:
        difference = _less(notebook.total([whole]), notebook.total([part]))
        notebook.found.append(notebook.meet([difference]))
    return _finding("differencing", notebook, truth)


@dataclass(frozen=True)
class _Count:
    """An estimate of a count, and what the count cannot be below or above."""

    value: float
    low: float
    high: float


@dataclass
class _Notebook:
    """What was asked, what came back, and what it says about each target."""

    ask: Ask
    slack: int
    known: dict[str, float | None] = field(default_factory=dict)
    ended: bool = False
    found: list[_Count | None] = field(default_factory=list)
    contradicted: int = 0

    @property
    def guesses(self) -> list[int | None]:
        return [None if count is None else round(count.value) for count in self.found]

    @property
    def intervals(self) -> list[list[int] | None]:
        """For each target the counts that fit; None where nothing is certain."""
        return [
            None if count is None or count.high == math.inf else [int(count.low), int(count.high)]
            for count in self.found
        ]

    @property
    def pinned(self) -> int:
        return sum(found is not None and found[0] == found[1] for found in self.intervals)

    def answer(self, condition: str) -> float | None:
        """The answer, asked once only; None where it was refused or the budget is at its end."""
        if condition not in self.known and not self.ended:
            try:
                self.known[condition] = float(self.ask(condition))
            except BudgetError:
                self.ended = True
            except (NotAllowedError, QuestionError):
                self.known[condition] = None
        return self.known.get(condition)

    def total(self, conditions: Iterable[str]) -> _Count | None:
        """The sum of the counts, or None as soon as one is missing."""
        total, wide = 0.0, 0
        for condition in conditions:
            answer = self.answer(condition)
            if answer is None:
                return None
            total, wide = total + answer, wide + self.slack
        return _Count(total, total - wide, total + wide)

    def meet(self, estimates: Iterable[_Count | None]) -> _Count | None:
        """One count from several estimates: where all of them meet, near their mean.

        Where they contradict each other the slack is not what was thought: nothing is certain.
        """
        there = [estimate for estimate in estimates if estimate is not None]
        if not there:
            return None
        mean = fmean(estimate.value for estimate in there)
        low = max(0.0, *(estimate.low for estimate in there))
        high = min(estimate.high for estimate in there)
        if math.inf > high >= low:
            low, high = math.ceil(low), math.floor(high)
        if low > high:
            self.contradicted += 1
            return _Count(max(0.0, mean), -math.inf, math.inf)
        return _Count(min(max(mean, low), high), low, high)


def _tracked(
    notebook: _Notebook, target: str, sides: list[tuple[str, str]], everybody: _Count | None
) -> Iterator[_Count | None]:
    """Estimates of a target: itself, and by each tracker as a small set and as a large one.

    Both unions of a set with a tracker and with its complement count everybody once, and the set
    once more.
    """
    yield notebook.total([target])
    for pair in sides:
        yield _less(notebook.total(f"({target}) OR {side}" for side in pair), everybody)
        rest = _less(notebook.total(f"NOT ({target}) OR {side}" for side in pair), everybody)
        yield _less(everybody, rest)


def _less(one: _Count | None, other: _Count | None) -> _Count | None:
    if one is None or other is None:
        return None
    return _Count(one.value - other.value, one.low - other.high, one.high - other.low)


def _finding(attack: str, notebook: _Notebook, truth: Sequence[int] | None) -> Finding:
    targets = len(notebook.found)
    if truth is not None and len(truth) != targets:
        raise ValueError("one true count for each target")
    share = _share(notebook, truth)
    details: dict[str, Any] = {
        "targets": targets,
        "asked": len(notebook.known),
        "refused": sum(answer is None for answer in notebook.known.values()),
        "pinned": notebook.pinned,
        "contradicted": notebook.contradicted,
        "guesses": notebook.guesses,
        "intervals": notebook.intervals,
        "ended_by_budget": notebook.ended,
    }
    said = "were guessed right" if truth is not None else "follow with certainty"
    return Finding(
        attack=attack,
        claim=f"{share.value:.0%} of {targets} counts that should not be had {said}, from"
        f" {len(notebook.known)} questions about other sets.",
        affected="the people of each target",
        success=share,
        baseline=max(Counter(truth or ()).values(), default=0) / max(1, targets),
        covered=True,
        source=DENNING,
        remedy=REMEDY,
        details=details,
        complete=not notebook.ended,
    )


def _share(notebook: _Notebook, truth: Sequence[int] | None) -> Rate:
    targets = len(notebook.found)
    if truth is None:
        return wilson(notebook.pinned / max(1, targets), targets)
    right = sum(guess == true for guess, true in zip(notebook.guesses, truth, strict=True))
    return wilson(right / max(1, targets), targets)
