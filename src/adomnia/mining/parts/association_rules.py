"""Association rules from noisy counts of item sets, with their margins (`item_sets.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

__all__ = ["AssociationRule", "ItemSet", "NoisyCount", "rules_of", "sum_margin"]

GRID = 400


@dataclass(frozen=True)
class NoisyCount:
    """A noisy count, and how far off it may be at the confidence of the fit.

    >>> NoisyCount(120.0, 7.0).margin
    7.0
    """

    value: float
    margin: float


@dataclass(frozen=True)
class ItemSet:
    """A frequent set: its items, noisy count and support; `sure` where noise does not decide it.

    >>> ItemSet(("sex = F",), NoisyCount(120.0, 7.0), 0.6, 0.04, True).items
    ('sex = F',)
    """

    items: tuple[str, ...]
    count: NoisyCount
    support: float
    margin: float
    sure: bool


@dataclass(frozen=True)
class AssociationRule:
    """Rows with all of `given` have all of `then` in a share `confidence` of cases.

    `lift` is that share over the share of `then` among all rows. `margins` says how far off each
    number is at most, if the counts behind it are within their margins.

    >>> counts = {("bread",): 50, ("milk",): 80, ("bread", "milk"): 40}
    >>> noisy = {frozenset(items): NoisyCount(n, 2) for items, n in counts.items()}
    >>> rule = rules_of(noisy, NoisyCount(100, 2), 0.6)[0]
    >>> rule.given, rule.then, rule.confidence
    (('bread',), ('milk',), 0.8)
    """

    given: tuple[str, ...]
    then: tuple[str, ...]
    support: float
    confidence: float
    lift: float
    margins: Mapping[str, float]


def sum_margin(scale: float, terms: int, confidence: float) -> float:
    """How far a sum of independent Laplace draws strays, in whole numbers: Chernoff's bound.

    The least t with exp(-s t) / (1 - b² s²)^m <= (1 - confidence) / 2 for one of the s tried.
    """
    if scale <= 0:
        return 0.0
    doubt = math.log(2 / (1 - confidence))
    if terms == 1:
        return float(math.ceil(scale * math.log(1 / (1 - confidence))))
    tried = (i / GRID for i in range(1, GRID))
    return float(math.ceil(scale * min((doubt - terms * math.log(1 - s * s)) / s for s in tried)))


def rules_of(
    known: Mapping[frozenset[str], NoisyCount], rows: NoisyCount, min_confidence: float
) -> list[AssociationRule]:
    """All rules between parts of known sets that reach the confidence, surest first."""
    found = []
    for items, both in known.items():
        for size in range(1, len(items)):
            for part in combinations(sorted(items), size):
                given, then = frozenset(part), items - frozenset(part)
                if given in known and then in known:
                    counts = (both, known[given], known[then], rows)
                    found.append(_rule(given, then, counts))
    kept = [rule for rule in found if rule.confidence >= min_confidence]
    return sorted(kept, key=lambda rule: (-rule.confidence, rule.given, rule.then))


def _rule(
    given: frozenset[str],
    then: frozenset[str],
    counts: tuple[NoisyCount, NoisyCount, NoisyCount, NoisyCount],
) -> AssociationRule:
    both, first, second, rows = counts
    support = _ratio([both], [rows], 1.0)
    confidence = _ratio([both], [first], 1.0)
    lift = _ratio([both, rows], [first, second], math.inf)
    margins = {"support": support[1], "confidence": confidence[1], "lift": lift[1]}
    return AssociationRule(
        tuple(sorted(given)), tuple(sorted(then)), support[0], confidence[0], lift[0], margins
    )


def _ratio(above: list[NoisyCount], below: list[NoisyCount], most: float) -> tuple[float, float]:
    """A ratio of products of counts, at most so large, and how far off it may be."""
    value = min(most, math.prod(c.value for c in above) / math.prod(c.value for c in below))
    least = math.prod(max(0.0, c.value - c.margin) for c in above)
    least /= math.prod(c.value + c.margin for c in below)
    bottom = math.prod(max(0.0, c.value - c.margin) for c in below)
    top = math.prod(c.value + c.margin for c in above)
    largest = min(most, top / bottom) if bottom > 0 else most
    return value, max(value - least, largest - value)
