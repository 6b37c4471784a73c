"""A finding: what one attack learned, how surely, against the baseline of knowing nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

__all__ = ["NAMING", "Finding", "Rate", "wilson"]

NAMING = frozenset(
    {
        "claims",
        "forced",
        "found",
        "given_away",
        "guess",
        "guesses",
        "intervals",
        "learned",
        "links",
        "ranges",
        "unique_rows",
    }
)
"""Details that say who, or what exactly: `without_names` leaves them out."""


@dataclass(frozen=True)
class Rate:
    """A share between 0 and 1 (or another number), with its confidence interval.

    >>> Rate(0.5, 0.4, 0.6).confidence
    0.95
    """

    value: float
    low: float
    high: float
    confidence: float = 0.95


@dataclass(frozen=True)
class Finding:
    """The result of every attack.

    `claim`: one sentence for a data protection officer. `affected`: who it concerns.
    `success` against `baseline`, the same figure for somebody who saw nothing. `covered`: whether
    the promise speaks about it at all. `source`: the papers and inputs it was derived from.
    `remedy`: what would reduce it. `details`: figures for tables and plots, plain JSON values.
    `complete` is False where a limit ended the attack before it was done.

    >>> sure = Rate(1.0, 0.9, 1.0)
    >>> Finding("tracker", "All came out.", "all", sure, 0.5, False, "", "add noise").complete
    True
    """

    attack: str
    claim: str
    affected: str
    success: Rate
    baseline: float
    covered: bool
    source: str
    remedy: str
    details: dict[str, Any] = field(default_factory=dict)
    complete: bool = True

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {**vars(self), "success": vars(self.success)}

    def without_names(self) -> dict[str, Any]:
        """The same, less what names people, groups or exact cells."""
        kept = {key: part for key, part in self.details.items() if key not in NAMING}
        return {**self.to_json(), "details": kept}


def wilson(mean: float, trials: int, confidence: float = 0.95) -> Rate:
    """The mean of trials that lie between 0 and 1, with Wilson's interval.

    For shares between 0 and 1 it is too wide rather than too narrow: their variance is at most
    that of a coin with the same mean. Without trials nothing is known: the interval is [0, 1].

    >>> rate = wilson(0.5, 100)
    >>> f"{rate.low:.2f} to {rate.high:.2f}"
    '0.40 to 0.60'
    """
    if trials == 0:
        return Rate(0.0, 0.0, 1.0, confidence)
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    centre = (mean + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (mean * (1 - mean) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    return Rate(
        mean, min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half)), confidence
    )
