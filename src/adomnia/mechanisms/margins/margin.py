"""How far noise may carry an answer: the margin of a weighted sum of noises (`margin.md`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.noise.exponential import enclose, first
from adomnia.mechanisms.noise.gaussian import mass

__all__ = ["WORK", "MarginUnit", "Noise", "margin"]

MarginUnit = Literal["value", "rows", "share"]
"""In what a margin is: in units of the value, in rows (of a rank or a count), or as a share."""

Floats = NDArray[np.float64]
POINTS = 1 << 17
DISTINCT = 32
FINEST = 1e-7
WORK = 1 << 22
"""Values of characteristic functions that one margin may take: a tenth of a second."""
COARSEST = 1 << 10
"""With fewer terms of a series than this, Chernoff's bound is as good."""
SILENT = 100
"""Half a rate of Laplace noise from which on it is none: it is not 0 once in 10^86 draws."""
NORMAL = 0.5
"""The excess kurtosis up to which the small terms of a sum are taken for one Gaussian."""
WIDEST = 480
"""Bits of the widest noise that is computed with in floats; wider noise is scaled down to it."""
SHARP = 20.0
"""The bump's parameter: its transform ends there, but for e^-20."""


@dataclass(frozen=True)
class Noise:
    """Integer noise: `parameter` is the scale of a laplace, the variance of a gaussian."""

    kind: Literal["laplace", "gaussian"]
    parameter: Fraction


@dataclass(frozen=True)
class _Group:
    """`many` independent noises of one law, each times `weight`; a float view of them."""

    weight: float
    noise: Noise
    many: int

    def spread(self) -> float:
        """The standard deviation of one, unweighted; 0 where it cannot matter."""
        if self.noise.kind == "gaussian":
            return math.sqrt(self.noise.parameter) if 2000 * self.noise.parameter > 1 else 0.0
        rate = 1 / (2 * self.noise.parameter)
        return math.sqrt(0.5) / math.sinh(float(rate)) if rate < SILENT else 0.0

    def excess(self) -> float:
        """An upper bound of the excess kurtosis of them all."""
        continuous = 3 if self.noise.kind == "laplace" else 0
        return (continuous + self.spread() ** -2) / self.many

    def deviation(self) -> float:
        """The standard deviation of them all."""
        return self.weight * self.spread() * math.sqrt(self.many)

    def wave(self, t: Floats) -> Floats:
        """The logarithm of the characteristic function of them all at t."""
        angle = self.weight * t
        if self.noise.kind == "gaussian":
            theta = _theta(angle, float(self.noise.parameter))
            return self.many * np.log(np.maximum(theta, 1e-300))
        ratio = np.sin(angle / 2) * (math.sqrt(2) * self.spread())
        return -self.many * np.log1p(ratio * ratio)

    def growth(self, t: Floats) -> Floats:
        """An upper bound of the logarithm of the moment generating function at t."""
        if self.noise.kind == "gaussian":
            return self.many * (t * (self.weight * self.spread())) ** 2 / 2
        rate = float(1 / (2 * self.noise.parameter))
        ratio = np.exp(np.minimum(_log_sinh(self.weight * t / 2) - _log_sinh(rate), 0.0))
        found: Floats = np.full(t.shape, math.inf)
        np.log1p(-ratio * ratio, out=found, where=ratio < 1)
        return np.where(ratio < 1, -self.many * found, math.inf)

    def pole(self) -> float:
        """Where the moment generating function ends."""
        if self.noise.kind == "gaussian":
            return math.inf
        return 1 / (self.weight * float(self.noise.parameter))


def margin(
    terms: Sequence[tuple[float, Noise]],
    confidence: float,
    repeats: Sequence[int] | None = None,
    work: int = WORK,
) -> float:
    """The smallest m with P(|sum of w_i X_i| <= m) >= confidence, all X_i independent.

    One term is exact (an int where its weight is whole); several are rounded up, by about one
    part in a thousand where no lattice is at hand and `work`, which bounds the cost for every
    noise, is enough. `repeats` says how often each term occurs.
    """
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    doubt = 1 - Fraction(str(confidence))
    groups = _grouped(terms, repeats)
    if not groups:
        return 0
    if len(groups) == 1 and groups[0].many == 1:
        return _single(groups[0], doubt)
    groups, bits = _scaled_down(groups)
    found = _several(groups, float(doubt), work)
    return found if not bits else math.ceil(Fraction(found) * 2**bits)


def _grouped(terms: Sequence[tuple[float, Noise]], repeats: Sequence[int] | None) -> list[_Group]:
    """Equal terms counted together; terms without noise left out."""
    known = {id(noise): noise for _, noise in terms}
    seen: Counter[tuple[float, int]] = Counter()
    if repeats is None:
        seen.update((abs(weight), id(noise)) for weight, noise in terms)
    else:
        for (weight, noise), many in zip(terms, repeats, strict=True):
            seen[abs(weight), id(noise)] += many
    merged: Counter[tuple[float, Noise]] = Counter()
    for (weight, name), many in seen.items():
        if weight and many and known[name].parameter:
            merged[weight, known[name]] += many
    return [_Group(weight, noise, many) for (weight, noise), many in merged.items()]


def _single(group: _Group, doubt: Fraction) -> float:
    """The margin of one noise: weight times the smallest integer."""
    find = _laplace if group.noise.kind == "laplace" else _gaussian
    bound = Fraction(group.weight) * find(group.noise.parameter, doubt)
    if bound.denominator == 1 and float(group.weight).is_integer():
        return bound.numerator
    return float(bound) if bound < 10**300 else math.ceil(bound)


def _laplace(scale: Fraction, doubt: Fraction) -> int:
    """The smallest m with 2 q^(m+1) <= doubt (1 + q), q = exp(-1/scale); in big integers."""
    precision = 64 + math.floor(scale).bit_length() + math.floor(1 / doubt).bit_length()
    bound = doubt * ((1 << precision) + enclose(1 / scale, precision)[0])

    def excess(m: int) -> Fraction:
        return 2 * enclose((m + 1) / scale, precision)[1] / bound

    guess = math.floor(scale * Fraction(math.log(2 / doubt)))
    for _ in range(40 if scale > 1e12 else 0):  # a float's logarithm adds 15 digits each time
        step = math.floor(scale * Fraction(math.log1p(float(excess(guess) - 1))))
        guess += step
        if abs(step) <= 1:
            break
    return first(lambda m: excess(m) <= 1, 0, guess)


def _gaussian(variance: Fraction, doubt: Fraction) -> int:
    """The smallest m with P(|X| > m) <= doubt, rounded up where floats cannot tell."""
    if 2000 * variance < 1:
        return 0
    if variance < 10**6:
        x = np.arange(math.ceil(12 * math.sqrt(variance)) + 12, 0, -1, dtype=np.float64)
        tails = np.cumsum(2 * np.exp(-x * x / (2 * float(variance)))) / mass(float(variance))
        return int(x.size - np.searchsorted(tails, float(doubt) * (1 - 1e-12), "right"))
    z = -NormalDist().inv_cdf(float(doubt) / 2)
    root = Fraction(math.isqrt(math.ceil(variance * 10**30)) + 1, 10**15)
    return math.ceil(root * Fraction(z * (1 + 1e-12)) + Fraction(z / 1000) - Fraction(1, 2))


def _scaled_down(groups: list[_Group]) -> tuple[list[_Group], int]:
    """The groups with noise that floats can square, and by how many bits it was made smaller."""
    bits = max(_width(group.noise).bit_length() for group in groups) - WIDEST
    if bits <= 0:
        return groups, 0
    powers = {"laplace": Fraction(1, 2**bits), "gaussian": Fraction(1, 4**bits)}
    smaller = [Noise(g.noise.kind, g.noise.parameter * powers[g.noise.kind]) for g in groups]
    return [replace(g, noise=noise) for g, noise in zip(groups, smaller, strict=True)], bits


def _width(noise: Noise) -> int:
    """About how wide a noise is, at most."""
    whole = math.ceil(noise.parameter)
    return whole if noise.kind == "laplace" else math.isqrt(whole) + 1


def _merged(groups: list[_Group], doubt: float) -> list[_Group]:
    """The widest groups, a few dozen if they can be; the others are one Gaussian (`margin.md`)."""
    groups = sorted(groups, key=_Group.deviation, reverse=True)
    kept = DISTINCT
    while kept < len(groups) and _excess(groups[kept:]) > NORMAL:
        kept *= 2
    large, small = groups[:kept], groups[kept:]
    if not small:
        return large
    z = -NormalDist().inv_cdf(doubt / 2)
    widened = 1 + (max(z * z - 3, 0) + 1) * _excess(small) / 12
    step = math.hypot(*(group.deviation() for group in small)) * math.sqrt(widened) / 2**20
    return [*large, _Group(step, Noise("gaussian", Fraction(2**40)), 1)]


def _excess(groups: list[_Group]) -> float:
    """The excess kurtosis of a sum."""
    size = math.hypot(*(group.deviation() for group in groups))
    return math.fsum((group.deviation() / size) ** 4 * group.excess() for group in groups)


def _several(groups: list[_Group], doubt: float, work: int) -> float:
    """The margin of a sum, from its characteristic function."""
    heard = [group for group in groups if group.deviation() > 0]
    if sum(group.many * _stirred(group.noise) for group in heard) <= doubt:
        return 0  # they are all zero more often than is asked
    parts = _merged(heard, doubt)
    most = work // len(parts)
    unit = math.hypot(*(group.deviation() for group in parts))
    if doubt < FINEST or most < COARSEST:
        return _reach(heard, math.log(2 / doubt))
    reach = _reach(parts, math.log(2 / doubt) + 16)
    step = _common(parts)
    if step and 2 * reach / step < min(POINTS, most):
        return _lattice(parts, doubt, step, reach)
    return _smooth(parts, doubt, (unit, reach), most)


def _stirred(noise: Noise) -> float:
    """An upper bound of the probability that a noise is not zero."""
    if noise.kind == "gaussian":
        odds = 2 * math.exp(-float(min(Fraction(700), 1 / (2 * noise.parameter))))
        return min(1.0, 2 * odds)  # the further terms of the series are smaller together
    ratio = math.exp(-float(min(Fraction(700), 1 / noise.parameter)))
    return 2 * ratio / (1 + ratio)


def _reach(groups: list[_Group], exponent: float) -> float:
    """Chernoff's bound: |sum| passes this with probability 2 exp(-exponent) at most."""
    unit = math.hypot(*(group.deviation() for group in groups))
    # t K' - K >= (t unit)^2 / 2 is the exponent at the best t, and K ends at the first pole
    most = min(math.sqrt(2 * exponent) / unit, *(group.pole() for group in groups))
    t = np.geomspace(most / 1000, most, 400)
    growth = np.sum([group.growth(t) for group in groups], axis=0)
    return float(np.min((growth + exponent) / t))


def _log_sinh(x: Any) -> Any:
    """The logarithm of sinh for x > 0, also where sinh is past the floats."""
    return x + np.log(-np.expm1(-2 * x)) - math.log(2)


def _common(groups: list[_Group]) -> float:
    """The largest step that every weight is a multiple of."""
    weights = [Fraction(repr(float(group.weight))) for group in groups]
    below = math.lcm(*(weight.denominator for weight in weights))
    return float(Fraction(math.gcd(*(int(weight * below) for weight in weights)), below))


def _lattice(groups: list[_Group], doubt: float, step: float, reach: float) -> float:
    """The sum takes multiples of a step: all its probabilities from one Fourier transform."""
    points = 1 << math.ceil(2 * reach / step + 4).bit_length()
    t = np.arange(points // 2 + 1, dtype=np.float64) * (2 * math.pi / points / step)
    law = np.fft.irfft(_waves(groups, t), points)[: points // 2]
    within = np.cumsum(law) * 2 - law[0]
    place = np.searchsorted(within, 1 - doubt * (1 - 1e-6) + 1e-13)
    found = int(place) * step
    return int(found) if step.is_integer() else found


def _waves(groups: list[_Group], t: Floats) -> Floats:
    """The characteristic function of the sum."""
    logarithm = np.zeros(t.shape)
    for group in groups:
        logarithm += group.wave(t)
    wave: Floats = np.exp(logarithm)
    return wave


def _smooth(groups: list[_Group], doubt: float, sizes: tuple[float, float], most: int) -> float:
    """The sum plus a bump of width h, by Fourier series; the width is added to the margin.

    The series has `most` terms at the most: where that is not enough the bump is wider.
    """
    unit, reach = sizes[0], sizes[1] / sizes[0]
    fine = 4e-4 * max(-NormalDist().inv_cdf(doubt / 2), 0.5)
    h = max(fine, 2 * reach / (2 * math.pi * most / SHARP - 2))
    period = 2 * reach + 2 * h
    t = np.arange(1.0, _modes(groups, unit, h, period) + 1) * (2 * math.pi / period)
    wave = _waves(groups, t / unit) * _bump(t * h)
    points = max(1 << (2 * t.size + 2).bit_length(), POINTS)
    series = np.zeros(points // 2 + 1, complex)
    series[1 : t.size + 1] = wave * (-1j * points / math.pi) / np.arange(1, t.size + 1)
    m = np.arange(points // 2) * (period / points)
    within = np.fft.irfft(series, points)[: points // 2] + 2 * m / period
    enough = np.flatnonzero(within >= 1 - doubt * (1 - 1e-6) + 3e-8)
    return float(m[enough[0]] + h if enough.size else reach) * unit


def _bump(t: Floats) -> Floats:
    """The transform of the density I0(b sqrt(1 - x^2)) on -1..1, b = SHARP, for t up to b."""
    root = np.sqrt(np.maximum(SHARP**2 - t * t, 1e-12))
    found: Floats = np.sinh(root) / root * (SHARP / math.sinh(SHARP))
    return found


def _modes(groups: list[_Group], unit: float, h: float, period: float) -> int:
    """How many terms of the series matter: to where the sum's own wave, or the bump's, is flat."""
    last = SHARP / h
    t: Floats = np.geomspace(min(1.0, last), last, 100)
    # up to half its period (pi over the weight) a wave falls steadily; later it comes back
    steady = last * max(group.weight for group in groups) / unit < math.pi
    flat = t[_waves(groups, t / unit) < 1e-10]
    return max(1, math.floor((flat[0] if steady and flat.size else last) * period / (2 * math.pi)))


def _theta(angle: Floats, variance: float) -> Floats:
    """The characteristic function of one integer Gaussian."""
    if variance < 1:
        x = np.arange(1, 13)
        law = 2 * np.exp(-x * x / (2 * variance)) / mass(variance)
        total: Floats = 1 / mass(variance) + np.cos(np.multiply.outer(angle, x)) @ law
        return np.maximum(total, 0)
    near = angle - 2 * math.pi * np.rint(angle / (2 * math.pi))
    images = [np.exp(-variance * (near + 2 * math.pi * k) ** 2 / 2) for k in (-1, 0, 1)]
    both: Floats = np.sum(images, axis=0)
    return both / (1 + 2 * math.exp(-2 * math.pi**2 * variance))
