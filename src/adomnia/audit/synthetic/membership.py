"""Membership inference: was this person in the data? Shadow releases tell (`membership.md`).

Releases are made of the same rows with and without the targets, at the toss of a coin. Half of
them train a classifier; on the other half it guesses, and the guesses that are right bound the
epsilon of the generator from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.claims.classifier import fit_classifier
from adomnia.audit.claims.events import Pair
from adomnia.audit.clopper_pearson import clopper_pearson
from adomnia.audit.finding import Finding, Rate
from adomnia.audit.synthetic.coded_files import LEAST_ROWS
from adomnia.audit.synthetic.risk import CONFIDENCE
from adomnia.audit.synthetic.shadows import (
    Others,
    RecordGenerator,
    Shadows,
    choose_targets,
    deadline,
    make_shadows,
)
from adomnia.errors import QuestionError

__all__ = ["epsilon_bound", "membership"]

Floats = NDArray[np.float64]

PAPER = (
    "Shokri et al., Membership inference attacks, S&P 2017; Houssiau et al., TAPAS, 2022; Steinke, "
    "Nasr and Jagielski, Privacy auditing with one (1) training run, NeurIPS 2023"
)
LARGEST = 700.0
SURE = (1.0, 0.5, 0.25, 0.1)
"""Of the cases with the highest scores, these shares are guessed; for the first, all both ways."""


def membership(  # noqa: PLR0913, PLR0917
    generator: RecordGenerator,
    shadows: int = 64,
    targets: int = 20,
    others: Others = "known",
    seed: int = 0,
    time_limit: float = 60.0,
    progress: Callable[[], None] | None = None,
) -> Finding:
    """How often somebody who sees a release can tell whether a person was in the data.

    Half of the `targets` are the rows with the rarest values, half are drawn. The success is the
    advantage, twice the share of right guesses less one: 0 is a coin, 1 is certainty.
    `details["epsilon_at_least"]` bounds the generator's epsilon with the confidence of the
    interval, whatever it does; `verdict` holds that against what it promises. `progress` is called
    after each release. Raises a QuestionError where there are too few rows, or too few releases.

    >>> import numpy as np
    >>> from adomnia.marginals.core.microdata import SyntheticRecords
    >>> def copy(rows): return SyntheticRecords(rows, np.ones(len(rows), np.int64))
    >>> people = np.arange(40)[:, None] * [1, 1] % 13
    >>> careless = RecordGenerator(copy, people, (13, 13), epsilon=1.0)
    >>> membership(careless, shadows=40, targets=4).details["verdict"]
    'violated'
    """
    many = len(generator.rows)
    if many < LEAST_ROWS:
        raise QuestionError(
            f"the data has {many} rows", f"at least {LEAST_ROWS} are needed to tell chance"
        )
    chance = np.random.default_rng(seed)
    odd, usual = choose_targets(generator.rows, generator.sizes, min(targets, many // 4), chance)
    chosen = np.concatenate([odd, usual])
    watch = deadline(time_limit, progress)
    made = make_shadows(generator, chosen, shadows, others, chance, watch)
    judged = _judge(made, len(odd))
    return _finding(generator, judged, (shadows, len(made.inside)), others)


def epsilon_bound(
    hits: int,
    tries: int,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
    coins: int | None = None,
) -> float:
    """The epsilon that so many right guesses about fair coins show at least.

    There were as many `coins` as tries, or more: about some nothing was guessed.

    >>> epsilon_bound(50, 100), round(epsilon_bound(1000, 1000), 1)
    (0.0, 5.6)
    """
    doubt = (1 - confidence) / 2 - 2 * (coins or tries) * delta
    if doubt <= 0 or not tries:
        return 0.0
    low = clopper_pearson(hits, tries, 1 - 2 * doubt).low
    return 0.0 if low <= 0.5 else min(LARGEST, math.log(low) - math.log1p(-low))


@dataclass(frozen=True, eq=False)
class _Judged:
    """Scores of each target in the releases that were not learned from, and whether it was in."""

    scores: Floats
    inside: NDArray[np.bool_]
    odd: int

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether a guess by the sign of each score is right."""
        return np.asarray((self.scores > 0) == self.inside)

    def epsilon(self, delta: float) -> float:
        """The best bound: of all guesses, and of those that say who is in most surely."""
        sure = 1 - (1 - CONFIDENCE) / len(SURE)  # all that are tried share the doubt
        order = np.argsort(-self.scores.reshape(-1), kind="stable")
        inside = self.inside.reshape(-1)[order]
        tried = [(int(self.right.sum()), self.right.size)]
        for share in SURE[1:]:
            many = int(share * len(inside))
            tried.append((int(inside[:many].sum()), many))
        cases = len(inside)
        return max(epsilon_bound(*one, delta, sure, cases) for one in tried)

    def most(self, delta: float) -> float:
        """The bound if every guess were right."""
        many = self.right.size
        return epsilon_bound(many, many, delta, 1 - (1 - CONFIDENCE) / len(SURE))


def _judge(made: Shadows, odd: int) -> _Judged:
    """The first half of the releases is learned from; the second is guessed about.

    People with rare values and others are learned about apart: they show in other ways.
    """
    half = len(made.inside) // 2
    first = made.seen[:half]
    middle, spread = first.mean(axis=0), first.std(axis=0)
    scaled = (made.seen - middle) / np.where(spread > 0, spread, 1.0)
    groups = [part for part in (slice(0, odd), slice(odd, None)) if made.inside[0, part].size]
    scores = [_scores(scaled[:, part], made.inside[:half, part]) for part in groups]
    return _Judged(np.hstack(scores), made.inside[half:], odd)


def _scores(seen: Floats, inside: NDArray[np.bool_]) -> Floats:
    """What a classifier of the first releases says of the others."""
    if inside.all() or not inside.any():
        raise QuestionError("too few releases to learn from", "make more: --shadows 64")
    half = len(inside)
    score = fit_classifier(Pair(seen[:half][~inside], seen[:half][inside]))
    judged = seen[half:]
    return score(judged.reshape(-1, judged.shape[-1])).reshape(judged.shape[:2])


def _auc(inside: Floats, outside: Floats) -> float:
    """How often somebody inside has the higher score; of equal ones, half."""
    if not inside.size or not outside.size:
        return 0.5
    ranked = np.sort(outside)
    below = np.searchsorted(ranked, inside, "left") + np.searchsorted(ranked, inside, "right")
    return float(below.mean() / 2 / outside.size)


def _advantage(right: NDArray[np.bool_], confidence: float = CONFIDENCE) -> Rate:
    rate = clopper_pearson(int(right.sum()), right.size, confidence)
    value, low, high = (max(0.0, 2 * part - 1) for part in (rate.value, rate.low, rate.high))
    return Rate(value, low, high, confidence)


def _finding(
    generator: RecordGenerator, judged: _Judged, counts: tuple[int, int], others: Others
) -> Finding:
    (wanted, made), right, odd = counts, judged.right, judged.odd
    hits, tries = int(right.sum()), right.size
    shown, reach = judged.epsilon(generator.delta), judged.most(generator.delta)
    details: dict[str, Any] = {
        "right": hits,
        "tries": tries,
        "auc": _auc(judged.scores[judged.inside], judged.scores[~judged.inside]),
        "odd": vars(_advantage(right[:, :odd])),
        "usual": vars(_advantage(right[:, odd:])),
        "epsilon_at_least": shown,
        "reach": reach,
        "claimed": {"epsilon": generator.epsilon, "delta": generator.delta},
        "shadows": made,
        "targets": right.shape[1],
        "others": others,
        "against": "the toss of a coin",
    }
    held = ""
    if generator.epsilon is not None:
        details["verdict"] = _verdict(shown, reach, generator.epsilon)
        held = f", {generator.epsilon:.3g} is promised: {details['verdict']}"
    advantage = _advantage(right)
    return Finding(
        attack="membership",
        claim=f"Whether a person was in the data was guessed rightly in {hits:,} of {tries:,} "
        f"cases ({hits / tries:.0%}; a coin has 50%), of {made} releases made for this. That shows "
        f"epsilon {shown:.3g} or more{held}.",
        affected="everybody in the data, first those with rare values",
        success=advantage,
        baseline=0.0,
        covered=generator.epsilon is not None,
        source=PAPER,
        remedy="a smaller epsilon; it bounds what any attacker can get, also a better one than this"
        if advantage.low > 0
        else "none needed for this attack",
        details=details,
        complete=made == wanted,
    )


def _verdict(shown: float, reach: float, promised: float) -> str:
    if shown > promised:
        return "violated"
    return "not refuted" if reach > promised else "out of reach"
