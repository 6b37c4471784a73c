"""How far noise may carry an answer: the margin of a weighted sum of noises (`margin.md`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.exponential import enclose
from adomnia.mechanisms.gaussian import mass
from adomnia.mechanisms.selection import first

__all__ = ["Noise", "margin"]

Floats = NDArray[np.float64]
POINTS = 1 << 17
DISTINCT = 32
FINEST = 1e-7


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
            return _root(self.noise.parameter) if self.noise.parameter > Fraction(1, 2000) else 0.0
        rate = 1 / (2 * self.noise.parameter)
        return math.sqrt(0.5) / math.sinh(float(rate)) if rate < 350 else 0.0

    def deviation(self) -> float:
        """The standard deviation of them all."""
        return self.weight * self.spread() * math.sqrt(self.many)

    def wave(self, t: Floats) -> Floats:
        """The characteristic function of them all at t."""
        angle = self.weight * t
        if self.noise.kind == "gaussian":
            return np.power(_theta(angle, float(self.noise.parameter)), self.many)
        ratio = np.sin(angle / 2) * (math.sqrt(2) * self.spread())
        wave: Floats = np.exp(-self.many * np.log1p(ratio * ratio))
        return wave

    def growth(self, t: Floats) -> Floats:
        """An upper bound of the logarithm of the moment generating function at t."""
        if self.noise.kind == "gaussian":
            return self.many * (t * (self.weight * self.spread())) ** 2 / 2
        with np.errstate(all="ignore"):  # what overflows is past every bound: infinity
            ratio = np.sinh(self.weight * t / 2) * (math.sqrt(2) * self.spread())
            return np.where(ratio < 1, -self.many * np.log1p(-ratio * ratio), math.inf)


def margin(
    terms: Sequence[tuple[float, Noise]],
    confidence: float,
    repeats: Sequence[int] | None = None,
) -> float:
    """The smallest m with P(|sum of w_i X_i| <= m) >= confidence, all X_i independent.

    One term is exact (an int where its weight is whole); several are rounded up, by about one
    part in a thousand where no lattice is at hand. `repeats` says how often each term occurs.
    """
    if not 0 < confidence < 1:
        raise ValueError("a confidence lies between 0 and 1")
    doubt = 1 - Fraction(str(confidence))
    groups = _grouped(terms, repeats)
    if not groups:
        return 0
    if len(groups) == 1 and groups[0].many == 1:
        return _single(groups[0], doubt)
    return _several(_merged(groups, float(doubt)), float(doubt))


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
    if variance < 10**6:
        x = np.arange(math.ceil(12 * math.sqrt(variance)) + 12, 0, -1, dtype=np.float64)
        tails = np.cumsum(2 * np.exp(-x * x / (2 * float(variance)))) / mass(float(variance))
        return int(x.size - np.searchsorted(tails, float(doubt) * (1 - 1e-12), "right"))
    z = -NormalDist().inv_cdf(float(doubt) / 2)
    root = Fraction(math.isqrt(math.ceil(variance * 10**30)) + 1, 10**15)
    return math.ceil(root * Fraction(z * (1 + 1e-12)) + Fraction(z / 1000) - Fraction(1, 2))


def _merged(groups: list[_Group], doubt: float) -> list[_Group]:
    """At most a few dozen groups: the small ones become one Gaussian, widened (`margin.md`)."""
    groups = sorted(groups, key=_Group.deviation, reverse=True)
    large, small = groups[:DISTINCT], groups[DISTINCT:]
    variance = math.fsum(group.deviation() ** 2 for group in small)
    if not variance:
        return large
    fourth = math.fsum((group.deviation() ** 2 / variance) ** 2 / group.many for group in small)
    z = NormalDist().inv_cdf(1 - doubt / 2)
    widened = variance * (1 + (max(z * z - 3, 0) + 1) * fourth / 4)
    step = math.sqrt(widened) / 2**20
    return [*large, _Group(step, Noise("gaussian", Fraction(2**40)), 1)]


def _several(groups: list[_Group], doubt: float) -> float:
    """The margin of a sum, from its characteristic function."""
    unit = math.hypot(*(group.deviation() for group in groups))
    if unit == 0 or sum(group.many * _stirred(group.noise) for group in groups) <= doubt:
        return 0  # they are all zero more often than is asked
    reach = _reach(groups, unit, math.log(2 / doubt))
    if doubt < FINEST:
        return reach
    reach = _reach(groups, unit, math.log(2 / doubt) + 16)
    step = _common(groups)
    if step and reach / step < POINTS:
        return _lattice(groups, doubt, step, reach)
    return _smooth(groups, doubt, unit, reach)


def _stirred(noise: Noise) -> float:
    """An upper bound of the probability that a noise is not zero."""
    if noise.kind == "gaussian":
        odds = 2 * math.exp(-min(700.0, float(1 / (2 * noise.parameter))))
        return min(1.0, 2 * odds)  # the further terms of the series are smaller together
    ratio = math.exp(-min(700.0, float(1 / noise.parameter)))
    return 2 * ratio / (1 + ratio)


def _reach(groups: list[_Group], unit: float, exponent: float) -> float:
    """Chernoff's bound: |sum| passes this with probability 2 exp(-exponent) at most."""
    t = np.geomspace(1e-3, 1e3, 400)
    growth = np.sum([group.growth(t / unit) for group in groups], axis=0)
    return float(np.min((growth + exponent) / t)) * unit


def _common(groups: list[_Group]) -> float:
    """The largest step that every weight is a multiple of."""
    weights = [Fraction(repr(float(group.weight))) for group in groups]
    below = math.lcm(*(weight.denominator for weight in weights))
    return float(Fraction(math.gcd(*(int(weight * below) for weight in weights)), below))


def _lattice(groups: list[_Group], doubt: float, step: float, reach: float) -> float:
    """The sum takes multiples of a step: all its probabilities from one Fourier transform."""
    points = 1 << math.ceil(2 * reach / step + 4).bit_length()
    t = np.arange(points // 2 + 1, dtype=np.float64) * (2 * math.pi / points / step)
    wave = np.prod([group.wave(t) for group in groups], axis=0)
    law = np.fft.irfft(wave, points)[: points // 2]
    within = np.cumsum(law) * 2 - law[0]
    place = np.searchsorted(within, 1 - doubt * (1 - 1e-6) + 1e-13)
    found = int(place) * step
    return int(found) if step.is_integer() else found


def _smooth(groups: list[_Group], doubt: float, unit: float, reach: float) -> float:
    """The sum plus a bump of width h, by Fourier series; the width is added to the margin."""
    h = 4e-4 * max(-NormalDist().inv_cdf(doubt / 2), 0.5)
    period = 2 * reach / unit + 2 * h
    t = np.arange(1.0, _modes(groups, unit, h, period) + 1) * (2 * math.pi / period)
    wave = np.prod([group.wave(t / unit) for group in groups], axis=0)
    wave *= np.sinc(t * (h / 8 / math.pi)) ** 8
    points = max(1 << (2 * t.size + 2).bit_length(), POINTS)
    series = np.zeros(points // 2 + 1, complex)
    series[1 : t.size + 1] = wave * (-1j * points / math.pi) / np.arange(1, t.size + 1)
    m = np.arange(points // 2) * (period / points)
    within = np.fft.irfft(series, points)[: points // 2] + 2 * m / period
    place = int(np.argmax(within >= 1 - doubt * (1 - 1e-6) + 1e-8))
    return float(m[place] + h) * unit


def _modes(groups: list[_Group], unit: float, h: float, period: float) -> int:
    """How many terms of the series matter: to where the sum's own wave, or the bump's, is flat."""
    most = 64 * period / (2 * math.pi * h)
    t: Floats = np.geomspace(1, most * 2 * math.pi / period, 100)
    wave = np.prod([group.wave(t / unit) for group in groups], axis=0)
    # up to half its period (pi over the weight) a wave falls steadily; later it comes back
    steady = t[-1] * max(group.weight for group in groups) / unit < math.pi
    flat = t[wave < 1e-10]
    last = float(flat[0] if steady and flat.size else t[-1])
    return math.ceil(last * period / (2 * math.pi))


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


def _root(number: Fraction) -> float:
    """The square root, also of numbers past the range of floats."""
    return math.sqrt(number) if number < 10**300 else float(math.isqrt(math.floor(number)))
