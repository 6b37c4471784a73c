"""Events that tell two inputs of a mechanism apart: proposed, and ranked, on samples of both.

A view turns every output into one number; an event is a side of a threshold, or a set of values,
of one view. Any function of the output is allowed: it only decides how much is seen (`claim.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Event", "Pair", "View", "best_events"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

CUTS = 128
SINGLES = 64
DEVIATIONS = 3.0


@dataclass(frozen=True, eq=False)
class Pair:
    """One number for every output: those of the first input, and those of the second."""

    one: Floats
    other: Floats

    def part(self, place: slice) -> Pair:
        """The samples at this place, of both."""
        return Pair(self.one[place], self.other[place])

    def swap(self) -> Pair:
        """The other input first."""
        return Pair(self.other, self.one)


@dataclass(frozen=True, eq=False)
class View:
    """A name, the numbers, and whether their order means anything (else they only name)."""

    name: str
    pair: Pair
    ordered: bool = True


@dataclass(frozen=True, eq=False)
class Event:
    """A set of outputs: of `view`, what lies on one side of `limit`, or what is in `values`.

    `swapped`: it is more likely under the second input. `score` is how well it did where it was
    ranked: about a lower bound of the logarithm of the ratio of probabilities.
    """

    view: View
    kind: str
    swapped: bool
    score: float
    limit: float = 0.0
    values: Floats | None = None

    def hits(self, place: slice) -> tuple[int, int]:
        """How many samples lie in it: of the input that favours it, and of the other."""
        pair = self.view.pair.part(place)
        both = (self._inside(pair.one), self._inside(pair.other))
        likely, rare = both[::-1] if self.swapped else both
        return likely, rare

    def _inside(self, numbers: Floats) -> int:
        if self.values is not None:
            return int(_count(numbers, self.values).sum())
        chosen = numbers >= self.limit if self.kind == "at least" else numbers <= self.limit
        return int(chosen.sum())

    def __str__(self) -> str:
        if self.values is None:
            return f"{self.view.name} {self.kind} {self.limit:.6g}"
        if self.values.size == 1 and self.view.ordered:
            return f"{self.view.name} equal to {self.values[0]:.6g}"
        return f"{self.view.name} in a set of {self.values.size}"


def best_events(view: View, propose: slice, rank: slice, delta: float) -> list[Event]:
    """For each kind and each order of the two inputs, the best event of this view.

    What is proposed on some samples is ranked on others, so that sets that merely list what was
    seen fall behind.
    """
    first, second = view.pair.part(propose), view.pair.part(rank)
    found = []
    for swapped in (False, True):
        proposal, ranked = (first.swap(), second.swap()) if swapped else (first, second)
        for kind, limits, hits in _proposals(view, proposal, ranked):
            scores = _scores(*hits, (ranked.one.size, ranked.other.size), delta)
            if scores.size and scores.max() > -math.inf:
                best = int(scores.argmax())
                score, limit = float(scores[best]), limits[best]
                if isinstance(limit, float):
                    found.append(Event(view, kind, swapped, score, limit=limit))
                else:
                    found.append(Event(view, kind, swapped, score, values=limit))
    return found


_Proposal = tuple[str, "list[float] | _Sets", tuple[Counts, Counts]]


def _proposals(view: View, proposal: Pair, ranked: Pair) -> Iterator[_Proposal]:
    if view.ordered:
        yield from _thresholds(proposal, ranked)
    yield from _values(proposal, ranked)


def _thresholds(proposal: Pair, ranked: Pair) -> Iterator[_Proposal]:
    """Quantiles of what was seen, from both sides."""
    seen = np.concatenate([proposal.one, proposal.other])
    seen = np.sort(seen[~np.isnan(seen)])
    if seen.size == 0:
        return
    places = np.linspace(0, seen.size - 1, CUTS).astype(np.int64)
    cuts = np.unique(seen[places])
    sides = [np.sort(part[~np.isnan(part)]) for part in (ranked.one, ranked.other)]
    above = [side.size - np.searchsorted(side, cuts, "left") for side in sides]
    below = [np.searchsorted(side, cuts, "right") for side in sides]
    yield "at least", cuts.tolist(), (above[0], above[1])
    yield "at most", cuts.tolist(), (below[0], below[1])


@dataclass(frozen=True, eq=False)
class _Sets:
    """Values in an order; the set number i is the first `ends[i]` of them, or only the last."""

    values: Floats
    ends: Counts
    single: bool = False

    def __getitem__(self, place: int) -> Floats:
        end = int(self.ends[place])
        return self.values[end - 1 : end] if self.single else self.values[:end]


def _values(proposal: Pair, ranked: Pair) -> Iterator[_Proposal]:
    """The values seen, by how much likelier the first input makes them: the first few of these.

    And each of the commonest values alone.
    """
    values = np.unique(np.concatenate([proposal.one, proposal.other]))
    often = [_count(part, values) for part in (proposal.one, proposal.other)]
    order = np.argsort(-np.log((often[0] + 0.5) / (often[1] + 0.5)), kind="stable")
    sorted_values = values[order]
    again = [_count(part, values)[order] for part in (ranked.one, ranked.other)]
    ends = np.unique(np.linspace(1, values.size, CUTS).astype(np.int64))
    sums = [np.cumsum(part)[ends - 1] for part in again]
    yield "one of", _Sets(sorted_values, ends), (sums[0], sums[1])
    common = np.argsort(-(often[0] + often[1])[order], kind="stable")[:SINGLES]
    alone = _Sets(sorted_values, common + 1, single=True)
    yield "equal", alone, (again[0][common], again[1][common])


def _count(numbers: Floats, values: Floats) -> Counts:
    """How often each of the values occurs; NaN is a value like any other (it means: nothing)."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    places = np.minimum(np.searchsorted(ranked, numbers), values.size - 1)
    found = ranked[places]
    same = (found == numbers) | (np.isnan(found) & np.isnan(numbers))
    counts = np.zeros(values.size, np.int64)
    counts[order] = np.bincount(places[same], minlength=values.size)
    return counts


def _scores(likely: Counts, rare: Counts, sizes: tuple[int, int], delta: float) -> Floats:
    """About the lower bound that the event would give: Wilson's ends in the place of exact ones."""
    low = _wilson(likely / sizes[0], sizes[0], -1.0) - delta
    high = _wilson(rare / sizes[1], sizes[1], 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores: Floats = np.where(low > 0, np.log(low / high), -math.inf)
    return scores


def _wilson(share: Floats, trials: int, sign: float) -> Floats:
    z2 = DEVIATIONS**2
    spread = np.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2)))
    ends: Floats = (share + z2 / (2 * trials) + sign * spread) / (1 + z2 / trials)
    return ends
