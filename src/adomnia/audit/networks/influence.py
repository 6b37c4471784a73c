"""One edge at the start: what the network at the end tells about it (`influence.md`)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding, Rate
from adomnia.audit.networks.growth.models import MODELS, GrowthModel, GrowthName, settle
from adomnia.audit.networks.growth.odds import MeanEstimate, Odds, odds
from adomnia.audit.networks.growth.run import Progress, run
from adomnia.errors import QuestionError

__all__ = ["PAPER_FIGURES", "InfluenceReport", "every_reading", "influence"]

SOURCE = "Kifer and Machanavajjhala, No free lunch in data privacy, SIGMOD 2011, section 3"
REMEDY = (
    "noise of scale Y/epsilon, which needs a growth model to know Y; or no claim that the noise "
    "hides an edge's participation, only its presence"
)
PAPER_FIGURES = {"without": 119, "with": 240}  # forest fire, the paper's only printed ones
MOST_RUNS, MOST_WORKERS = 100_000_000, 256
LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e6  # floats carry the odds within these
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class InfluenceReport:
    """The expected answer in both worlds, and what noise leaves of the difference.

    `naive` has the noise for one edge, Laplace(1/epsilon); `participation` the noise for all that
    follows from it in expectation, Laplace(Y/epsilon), never less than the naive one. `runs` of
    `asked` were done.

    >>> from adomnia.audit import influence
    >>> influence("copying", runs=20, seed=1, workers=1).runs
    20
    """

    growth: GrowthModel
    seed: int
    epsilon: float
    asked: int
    runs: int
    without: MeanEstimate
    with_edge: MeanEstimate
    difference: MeanEstimate
    naive: Odds
    participation: Odds

    @property
    def complete(self) -> bool:
        """Whether all runs were done that were asked for."""
        return self.runs == self.asked

    @property
    def paper(self) -> dict[str, int] | None:
        """What the paper prints for these parameters, or None where it prints nothing."""
        ours = settle("forest-fire", self.growth.reading, {}).parameters
        same = self.growth.model == "forest-fire" and self.growth.parameters == ours
        return dict(PAPER_FIGURES) if same else None

    def to_json(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return {
            "without": asdict(self.without),
            "with": asdict(self.with_edge),
            "difference": asdict(self.difference),
            "runs": self.runs,
            "asked": self.asked,
            "complete": self.complete,
            "model": self.growth.model,
            "reading": self.growth.reading,
            "parameters": dict(self.growth.parameters),
            "seed": self.seed,
            "epsilon": self.epsilon,
            "noise": {"naive": _noise(self.naive), "participation": _noise(self.participation)},
            "paper": self.paper,
        }

    def finding(self) -> Finding:
        """What an attacker has who knows the model and sees the naively noisy answer."""
        success = self.naive.success
        half = NORMAL_95 * success.se
        low, high = max(0.0, success.mean - half), min(1.0, success.mean + half)
        return Finding(
            attack="influence",
            claim=f"With one more edge at the start {self.with_edge.mean:.1f} edges cross between"
            f" the communities at the end, without it {self.without.mean:.1f}: noise for epsilon"
            f" {self.epsilon:g} hides one edge, and who knows the model still tells from the noisy"
            f" count whether it was there in {success.mean:.1%} of cases.",
            affected="both ends of the edge, and everybody whose links followed from it",
            success=Rate(success.mean, low, high),
            baseline=0.5,
            covered=False,
            source=SOURCE,
            remedy=REMEDY,
            details=self.to_json(),
            complete=self.complete,
        )


def influence(  # noqa: PLR0913
    model: GrowthName,
    *,
    runs: int,
    seed: int,
    epsilon: float = 1.0,
    workers: int = 2,
    time_limit: float | None = None,
    progress: Progress | None = None,
    reading: str = "literal",
    **parameters: float,
) -> InfluenceReport:
    """Grow a network with and without Bob's edge to the other community, `runs` times each.

    Models: "forest-fire", "copying", "mvs"; `growth.models.MODELS` lists the parameters and the
    readings of each. The same seed gives the same figures for any number of workers. When the time
    limit (seconds) or Ctrl-C comes first, the report rests on the runs done so far and says so.

    Returns the expected answer in both worlds, and what noise leaves of the difference. Raises a
    QuestionError where the model, a parameter or the reading is not known.

    >>> report = influence("forest-fire", runs=20, seed=1, workers=1, nodes=40)
    >>> report.runs, report.epsilon
    (20, 1.0)
    """
    growth = settle(model, reading, parameters)
    _check(runs, seed, epsilon, workers, time_limit)
    crossing = run(
        lambda first, many: growth.pairs(seed, first, many), runs, workers, time_limit, progress
    )
    difference = _mean(crossing[1] - crossing[0])
    naive = 1 / epsilon
    needed = naive * max(1.0, abs(difference.mean))
    return InfluenceReport(
        growth,
        seed,
        epsilon,
        asked=runs,
        runs=crossing.shape[1],
        without=_mean(crossing[0]),
        with_edge=_mean(crossing[1]),
        difference=difference,
        naive=odds(crossing[0], crossing[1], naive, epsilon),
        participation=odds(crossing[0], crossing[1], needed, epsilon),
    )


def every_reading(
    model: GrowthName, *, runs: int, seed: int, **more: Any
) -> dict[str, InfluenceReport]:
    """The same question under each reading of the model's text; `more` as in `influence`."""
    if model not in MODELS:
        settle(model, "literal", {})
    return {
        reading: influence(model, runs=runs, seed=seed, reading=reading, **more)
        for reading in MODELS[model].readings
    }


def _check(runs: int, seed: int, epsilon: float, workers: int, limit: float | None) -> None:
    if not all(isinstance(number, int) for number in (runs, seed, workers)):
        raise QuestionError("runs, seed and workers are counts", "give whole numbers")
    if not 2 <= runs <= MOST_RUNS:
        raise QuestionError(f"{runs} runs", f"from 2, for a standard error, to {MOST_RUNS}")
    if not 0 <= seed < 1 << 64:
        raise QuestionError(f"seed is {seed}", "a whole number of at most 64 bits")
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise QuestionError(f"epsilon is {epsilon}", f"from {LEAST_EPSILON:g} to {MOST_EPSILON:g}")
    if not 1 <= workers <= MOST_WORKERS:
        raise QuestionError(f"{workers} workers", f"from 1 to {MOST_WORKERS}")
    if limit is not None and not limit >= 0:
        raise QuestionError(f"a time limit of {limit} seconds", "0 or more, or none")


def _mean(values: NDArray[np.int32]) -> MeanEstimate:
    return MeanEstimate(float(values.mean()), float(values.std(ddof=1) / math.sqrt(values.size)))


def _noise(odds: Odds) -> dict[str, Any]:
    """The law of the noise, with the variance of the paper, and what it leaves to an attacker."""
    return {**asdict(odds), "variance": 2 * odds.scale**2}
