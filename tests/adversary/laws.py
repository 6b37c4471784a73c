"""Exact laws of what is chosen or drawn: how much two tables can be told apart by an output.

Every function takes what was noted on two tables and returns the greatest log ratio of the two
laws, both ways. They are written from the definitions of the mechanisms, for small cases.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

INFINITE = math.inf
WIDE = 1_000_000
"""Points of a grid that are all looked at."""
REACH = 80
"""Noise past so many of its scales has a probability below e^-80, and is left out."""

PASSED = 45
"""The same of the noise that a scan draws once: its bar is three of its scales away, so that what
lies beyond is no part of any outcome."""


def worst(one: Sequence[float], other: Sequence[float]) -> float:
    """The greatest absolute log ratio of two laws over the same outcomes, given as logarithms."""
    if len(one) != len(other):
        return INFINITE
    found = 0.0
    for a, b in zip(one, other, strict=True):
        if a == b:
            continue
        if math.isinf(a) or math.isinf(b):
            return INFINITE
        found = max(found, abs(a - b))
    return found


def _log_sum(terms: Sequence[float]) -> float:
    top = max(terms)
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))


def exponential(
    one: tuple[list[int], list[int]], other: tuple[list[int], list[int]], rates: tuple[float, float]
) -> float:
    """Weights exp(-rate * penalty) on runs of points that lie side by side: (penalties, sizes)."""
    if sum(one[1]) != sum(other[1]):
        return INFINITE
    laws = []
    for (penalties, sizes), rate in zip((one, other), rates, strict=True):
        logs = [-rate * p for p in penalties]
        total = _log_sum([a + math.log(n) for a, n in zip(logs, sizes, strict=True) if n])
        ends = list(itertools.accumulate(sizes))
        laws.append((ends, [a - total for a in logs]))
    points = sorted({end - 1 for ends, _ in laws for end in ends})
    values = [[logs[bisect_right(ends, point)] for point in points] for ends, logs in laws]
    return worst(*values)


def flips(one: list[int], other: list[int], rates: tuple[float, float]) -> float:
    """Permute-and-flip: coins of odds exp(-rate * gap), one of the heads at random."""
    if len(one) != len(other):
        return INFINITE
    return worst(_flipped(one, rates[0]), _flipped(other, rates[1]))


def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on [0, 1], denser towards 0: 24 on each interval between powers of two."""
    points, weights = np.polynomial.legendre.leggauss(24)
    ends = [0.0, *(2.0**-k for k in range(30, -1, -1))]
    parts = [((b - a) * (points + 1) / 2 + a, (b - a) * weights / 2) for a, b in pairwise(ends)]
    return np.concatenate([p for p, _ in parts]), np.concatenate([w for _, w in parts])


POINTS, WEIGHTS = _nodes()


def _flipped(gaps: list[int], rate: float) -> list[float]:
    """log P(i) = log q_i + log of the integral of the product of 1 - q_j u over [0, 1], j not i."""
    counts = Counter(gaps)
    each = {g: np.log1p(-math.exp(-min(rate * g, 745.0)) * POINTS) for g in counts}
    total = sum(count * each[g] for g, count in counts.items())
    logs = {g: -rate * g + math.log(float(WEIGHTS @ np.exp(total - each[g]))) for g in counts}
    return [logs[gap] for gap in gaps]


def largest(one: list[int], other: list[int], scales: tuple[float, float]) -> float:
    """The place of the largest score plus geometric noise, a tie going to any of them."""
    if len(one) != len(other):
        return INFINITE
    return worst(_largest(one, scales[0]), _largest(other, scales[1]))


def _largest(scores: list[int], scale: float) -> list[float]:
    """Sum over the winning value; P(G = g) is (1 - q) q^g, q = exp(-1 / scale)."""
    rate, top, low = 1 / scale, max(scores), min(scores)
    values = np.arange(low, top + math.ceil(REACH / rate) + 2, dtype=float)
    mass = -math.expm1(-rate)
    at = [np.where(values >= s, mass * np.exp(-rate * (values - s)), 0.0) for s in scores]
    under = [np.where(values > s, -np.expm1(-rate * (values - s)), 0.0) for s in scores]
    nodes, weights = np.polynomial.legendre.leggauss(len(scores) // 2 + 1)
    times = (nodes + 1) / 2
    found = []
    for place in range(len(scores)):
        product = np.ones((values.size, times.size))
        for j in range(len(scores)):
            if j != place:
                product *= under[j][:, None] + at[j][:, None] * times[None, :]
        chance = float((at[place] * (product @ weights / 2)).sum())
        found.append(math.log(chance) if chance > 0 else -math.inf)
    return found


def sparse(
    one: list[int], other: list[int], bar: int, cutoff: int,
    scales: tuple[tuple[float, float], tuple[float, float]],
) -> float:  # fmt: skip
    """Which answers plus noise reach a noisy bar, until so many do: every sequence of verdicts."""
    if len(one) != len(other):
        return INFINITE
    patterns = list(_verdicts(len(one), cutoff))
    laws = [_sparse(a, bar, s, patterns) for a, s in zip((one, other), scales, strict=True)]
    return worst(*laws)


def _verdicts(length: int, cutoff: int) -> list[tuple[bool, ...]]:
    found = set()
    for told in itertools.product((False, True), repeat=length):
        end = next((i + 1 for i in range(length) if sum(told[: i + 1]) == cutoff), length)
        found.add(told[:end])
    return sorted(found)


def _sparse(
    answers: list[int], bar: int, scales: tuple[float, float], patterns: list[tuple[bool, ...]]
) -> list[float]:
    wide = math.ceil(REACH * scales[0])
    shift = np.arange(-wide, wide + 1, dtype=float)
    chance = _laplace(shift, scales[0])
    reached = [_at_least(bar + shift - answer, scales[1]) for answer in answers]
    missed = [_at_least(1 - (bar + shift - answer), scales[1]) for answer in answers]
    found = []
    for told in patterns:
        product = chance.copy()
        for place, verdict in enumerate(told):
            product *= reached[place] if verdict else missed[place]
        total = float(product.sum())
        found.append(math.log(total) if total > 0 else -math.inf)
    return found


def scan(
    one: list[int], other: list[int], bar: int,
    scales: tuple[tuple[float, float], tuple[float, float]],
) -> float:  # fmt: skip
    """Going on while scores pass a bar less one geometric noise plus another, and where it ends."""
    if len(one) != len(other):
        return INFINITE
    return worst(*[stops(a, bar, s) for a, s in zip((one, other), scales, strict=True)])


def stops(scores: Sequence[int], bar: int, scales: Sequence[float]) -> list[float]:
    """The logarithms of the chances that a scan stops in each place."""
    return _stops(tuple(scores), bar, tuple(scales))


@lru_cache(maxsize=16)
def _stops(scores: tuple[int, ...], bar: int, scales: tuple[float, ...]) -> list[float]:
    drawn = np.arange(math.ceil(PASSED * scales[0]) + 1, dtype=float)
    going = math.log(-math.expm1(-1 / scales[0])) - drawn / scales[0]
    found = []
    for place, score in enumerate(scores):
        short = np.maximum(0.0, score - (bar - drawn)) / scales[1]
        last = place == len(scores) - 1
        ends = going if last else going - short
        top = float(ends.max())
        total = math.log(float(np.exp(ends - top).sum())) if top > -math.inf else 0.0
        found.append(top + total)
        with np.errstate(divide="ignore"):
            going = going + np.log(-np.expm1(-short))
    return found


def found(one: list[float], other: list[float], rhos: list[float]) -> float:
    """The least rho, on a grid of orders, of a place by two laws, given as logarithms (where these
    are laws at all), and of what is drawn there, each for a rho of its own."""
    added = np.array(rhos)
    if not np.isfinite(added).all() or worst(one, other) == INFINITE:
        return INFINITE
    most = 0.0
    for p, q in ((one, other), (other, one)):
        if p == q:
            return float(added.max())
        a, b = np.array(p), np.array(q)
        for order in ORDERS:
            with np.errstate(invalid="ignore"):
                mixed = order * a + (1 - order) * b + order * (order - 1) * added
            total = _log_sum([term for term in mixed.tolist() if not math.isnan(term)])
            most = max(most, total / (order - 1) / order)
    return most


def _laplace(x: np.ndarray, scale: float) -> np.ndarray:
    return math.tanh(1 / scale / 2) * np.exp(-np.abs(x) / scale)


def _at_least(x: np.ndarray, scale: float) -> np.ndarray:
    """P(X >= x) of integer Laplace noise."""
    q = math.exp(-1 / scale)
    tail = np.exp(-np.abs(np.where(x > 0, x, 1 - x)) / scale) / (1 + q)
    return np.where(x > 0, tail, 1 - tail)


def tail(scale: Fraction, distance: int) -> float:
    """P(X >= distance) of integer Laplace noise."""
    return float(_at_least(np.array([float(distance)]), float(scale))[0])


def ladder(
    one: tuple[int, list[int]],
    other: tuple[int, list[int]],
    digits: int,
    rates: tuple[float, float],
) -> float:
    """Weights exp(-rate * rung) around the truth, rungs of the given widths: (truth, rungs)."""
    limit = 1 << digits
    laws = [_rungs(*sides, limit, rate) for sides, rate in zip((one, other), rates, strict=True)]
    points = sorted({p for starts, _ in laws for p in starts})
    return worst(*[[logs[bisect_right(starts, p) - 1] for p in points] for starts, logs in laws])


def _rungs(truth: int, rungs: list[int], limit: int, rate: float) -> tuple[list[int], list[float]]:
    """Starts of runs with one penalty, from -limit on, and the logarithm of a point's chance."""
    edges: dict[int, int] = {}
    ends = list(itertools.accumulate(rungs, initial=0))
    edges[-limit] = len(rungs) + 1
    for place in range(len(rungs), 0, -1):
        if truth - ends[place] <= limit:
            edges[max(-limit, truth - ends[place])] = place
    edges[max(-limit, truth)] = 0
    for place in range(1, len(rungs) + 2):
        start = truth + ends[place - 1] + 1
        if start <= limit:
            edges[max(-limit, start)] = place
    starts = sorted(edges)
    sizes = [b - a for a, b in itertools.pairwise([*starts, limit + 1])]
    logs = [-rate * edges[start] for start in starts]
    total = _log_sum([a + math.log(n) for a, n in zip(logs, sizes, strict=True)])
    return starts, [a - total for a in logs]


def weighted(one: list[int], other: list[int], rates: tuple[float, float]) -> float:
    """Weights exp(-rate * penalty) on the same outcomes."""
    sizes = [1] * len(one)
    if len(one) != len(other):
        return INFINITE
    return exponential((one, sizes), (other, sizes), rates)


ORDERS = (1.001, 1.1, 1.5, 2.0, 4.0, 16.0, 128.0)
"""Orders at which a divergence is looked at."""


def divergence(one: list[int], other: list[int], rates: tuple[float, float]) -> float:
    """The least rho for which exponential weights on the same outcomes are rho-zCDP, on a grid."""
    if len(one) != len(other):
        return INFINITE
    logs = []
    for gaps, rate in zip((one, other), rates, strict=True):
        weights = -rate * np.array(gaps, float)
        logs.append(weights - weights.max() - np.log(np.exp(weights - weights.max()).sum()))
    found = 0.0
    for p, q in (logs, logs[::-1]):
        for order in ORDERS:
            mixed = order * p + (1 - order) * q
            total = mixed.max() + np.log(np.exp(mixed - mixed.max()).sum())
            found = max(found, float(total) / (order - 1) / order)
    return found


def smooth(
    law: str, grid: tuple[int, int], one: tuple[int, Fraction], other: tuple[int, Fraction]
) -> list[tuple[float, float]]:
    """The logarithms of both laws of value plus noise, brought to the grid, point by point.

    Of a wide grid only points that matter: between the ends, both values and the places beside the
    ends, where what lies beyond is added, the log ratio of either law only rises or only falls.
    """
    low, high = grid
    marks = {low, low + 1, high - 1, high, *(min(max(v, low), high) for v, _ in (one, other))}
    wide = high - low > WIDE
    points = np.array(sorted(marks)) if wide else np.arange(low, high + 1)
    density = _waring if law == "waring" else _two_sided
    found = []
    for value, scale in (one, other):
        logs, below, above = density(float(scale), points - value)
        for end, beyond in ((0, below), (-1, above)):
            if beyond > 0:  # what is too rare for a float is left out
                logs[end] = np.logaddexp(logs[end], math.log(beyond))
        found.append(logs.tolist())
    return list(zip(*found, strict=True))


def _two_sided(scale: float, off: Any) -> tuple[Any, float, float]:
    mass = math.log(math.tanh(1 / scale / 2))
    first, last = int(off[0]), int(off[-1])
    logs = mass - np.abs(off) / scale
    return logs, tail(Fraction(scale), 1 - first), tail(Fraction(scale), last + 1)


def _waring(scale: float, off: Any) -> tuple[Any, float, float]:
    """1 / ((s + |z|)(s + |z| + 1)(s + |z| + 2)(s + |z| + 3)), and what lies beyond both ends."""

    def reach(k: int) -> float:  # sum of the weights from k on: they telescope
        return 1 / (3 * (scale + k) * (scale + k + 1) * (scale + k + 2))

    def log_weight(z: Any) -> Any:
        return -sum(np.log(scale + np.abs(z) + i) for i in range(4))

    total = 2 * reach(0) - math.exp(log_weight(0))
    first, last = int(off[0]), int(off[-1])
    logs = log_weight(off) - math.log(total)

    def beyond(k: int) -> float:  # P(Z >= k)
        return reach(k) / total if k > 0 else 1 - reach(1 - k) / total

    return logs, beyond(1 - first), beyond(last + 1)


def smooth_excess(
    grid: tuple[int, int],
    one: tuple[int, Fraction],
    other: tuple[int, Fraction],
    epsilon: float,
) -> float:
    """The delta that two-sided geometric noise needs beside epsilon, both ways."""
    if grid[1] - grid[0] <= WIDE:
        return excess(smooth("laplace", grid, one, other), epsilon)
    return max(_wide_excess(grid, one, other, epsilon), _wide_excess(grid, other, one, epsilon))


def _wide_excess(
    grid: tuple[int, int], one: tuple[int, Fraction], other: tuple[int, Fraction], epsilon: float
) -> float:
    """The same one way: log p - log q - epsilon is linear between the ends and the values, so that
    where it is above 0 is one stretch of each piece, and its sums are geometric."""
    low, high = grid
    ends = smooth("laplace", grid, one, other)
    total = sum(max(0.0, math.exp(ends[k][0]) - math.exp(epsilon + ends[k][1])) for k in (0, -1))
    cuts = sorted({low + 1, high, *(min(max(v, low + 1), high) for v, _ in (one, other))})
    for first, after in pairwise(cuts):
        edge = [_log_ratio(z, one, other) - epsilon for z in (first, after - 1)]
        if max(edge) <= 0:
            continue
        slope = (edge[1] - edge[0]) / max(after - 1 - first, 1)
        a, b = first, after - 1
        if edge[0] <= 0:
            a = max(a, math.floor(first - edge[0] / slope) + 1)
        if edge[1] <= 0:
            b = min(b, math.ceil(first - edge[0] / slope) - 1)
        p, q = (_stretch(a, b, *side) for side in (one, other))
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


def _log_ratio(z: int, one: tuple[int, Fraction], other: tuple[int, Fraction]) -> float:
    logs = [math.log(math.tanh(1 / float(s) / 2)) - abs(z - v) / float(s) for v, s in (one, other)]
    return logs[0] - logs[1]


def _stretch(a: int, b: int, value: int, scale: Fraction) -> float:
    """The probability of a to b, all on one side of the value."""
    if b < a:
        return 0.0
    near, far = sorted((abs(a - value), abs(b - value)))
    rate = 1 / float(scale)
    return (
        math.tanh(rate / 2)
        * math.exp(-rate * near)
        * math.expm1(-rate * (far - near + 1))
        / math.expm1(-rate)
    )


def excess(pairs: list[tuple[float, float]], epsilon: float) -> float:
    """The delta that is needed beside epsilon, both ways."""
    ways = [0.0, 0.0]
    for a, b in pairs:
        ways[0] += max(0.0, math.exp(a) - math.exp(epsilon + b))
        ways[1] += max(0.0, math.exp(b) - math.exp(epsilon + a))
    return max(ways)
