"""Counts with exact integer noise, summed over the lattice: who can be told apart, how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adomnia.audit.claims.events import Floats
from adomnia.errors import QuestionError
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noise import gaussian, laplace

__all__ = ["Law", "intervals", "winning"]

LARGEST = 1 << 23
SURE = 45.0
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Law:
    """P(X = x) for |x| <= reach; what lies beyond has probability below 10^-18 and is left out."""

    masses: Floats

    @classmethod
    def of(cls, noise: Noise) -> Law:
        """The law of Laplace or Gaussian noise on the integers."""
        parameter = float(noise.parameter)
        wide = SURE * parameter if noise.kind == "laplace" else math.sqrt(2 * SURE * parameter)
        if not wide < LARGEST:
            raise QuestionError("this noise is too wide to be summed", "give a larger epsilon")
        reach = math.ceil(wide) + 1
        away = np.abs(np.arange(-reach, reach + 1)).astype(np.float64)
        room = laplace if noise.kind == "laplace" else gaussian
        middle = room.probability(noise.parameter, 0)
        if parameter <= 0:
            return cls((away == 0).astype(np.float64))
        powers = away / parameter if noise.kind == "laplace" else away**2 / (2 * parameter)
        return cls(middle * np.exp(-powers))

    @property
    def reach(self) -> int:
        """How far the noise goes."""
        return self.masses.size // 2


def winning(
    counts: Sequence[int],
    law: Law,
    secrets: Sequence[Any] | None = None,
    prior: Floats | None = None,
) -> float:
    """The probability of the best guess: the sum over all answers of the likeliest secret's."""
    hidden = list(range(len(counts))) if secrets is None else list(secrets)
    chances = np.full(len(counts), 1 / len(counts)) if prior is None else prior
    start, span = _span(counts, law)
    best = np.zeros(span)
    for one in dict.fromkeys(hidden):
        own = [place for place, secret in enumerate(hidden) if secret == one]
        low = min(counts[place] for place in own) - law.reach - start
        high = max(counts[place] for place in own) + law.reach - start + 1
        seen = np.zeros(high - low)
        for place in own:
            begin = counts[place] - law.reach - start - low
            seen[begin : begin + law.masses.size] += chances[place] * law.masses
        np.maximum(best[low:high], seen, out=best[low:high])
    return min(1.0, math.fsum(best.tolist()) if span < 1 << 16 else float(best.sum()))


def intervals(counts: Sequence[int], law: Law) -> tuple[float, float]:
    """The largest c so that disjoint intervals hold their counts with probability c each.

    First with whole points, then with points that may be split between two neighbours: no sets
    at all do better than that (`discriminant.md`). Counts ascend.
    """
    if len(set(counts)) < len(counts):
        return 0.0, 1 / max(counts.count(count) for count in counts)
    below = np.cumsum(law.masses)
    return _largest(counts, law, below, _whole), _largest(counts, law, below, _split)


def _largest(counts: Sequence[int], law: Law, below: Floats, fits: Any) -> float:
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(counts, law, below, middle) else (low, middle)
    return low


def _whole(counts: Sequence[int], law: Law, below: Floats, c: float) -> bool:
    """From the left each takes as few points as give it c; the last has what is left."""
    border = counts[0] - law.reach  # the first point that is free
    for count in counts:
        start = max(0, border - count + law.reach)
        taken = below[start - 1] if start else 0.0
        end = int(np.searchsorted(below, taken + c))
        if end >= below.size:
            return False
        border = count - law.reach + end + 1
    return True


def _split(counts: Sequence[int], law: Law, below: Floats, c: float) -> bool:
    """The same on the line on which every point is as long as one."""
    places = np.arange(below.size + 1, dtype=np.float64)
    heights = np.concatenate([[0.0], below])
    border = float(counts[0] - law.reach)
    for count in counts:
        offset = float(count - law.reach)
        taken = float(np.interp(border - offset, places, heights))
        if taken + c > heights[-1]:
            return False
        border = offset + float(np.interp(taken + c, heights, places))
    return True


def _span(counts: Sequence[int], law: Law) -> tuple[int, int]:
    start, end = min(counts) - law.reach, max(counts) + law.reach
    if end - start >= LARGEST:
        raise QuestionError("these counts lie too far apart to be summed", "give fewer, or closer")
    return start, end - start + 1
