"""Lemma 1, Theorem 1 and Figure 1: the ratio of two noisy counts."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from adomnia.audit.closeness import closeness_probability
from adomnia.audit.ratio import laplace_ratio
from experiments.claim import Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.measured import Measured, share

__all__ = ["LEMMA"]

DELTA = 25
EPSILONS = (2.0, 1.0, 0.5, 0.1, 0.01)
TAUS, CONFIDENCES, SIZES = (0.1, 0.2, 0.3), (0.5, 0.7, 0.9), (100, 1000, 2000)
DEFAULT = {"tau": 0.2, "confidence": 0.7, "phi": 1000}


def printed(z: float, phi: float, theta: float, b: float) -> float:
    """Lemma 1 as it is printed, equations 8 to 10."""
    first = -np.exp(-(theta + phi) / b) / (2 * (z + 1)) + np.exp(-phi / b) / 2
    inner, outer = (theta - z * phi) / (z * b), (z * phi - theta) / b
    if z < 0:
        rest = z**2 / (2 * (1 - z**2)) * np.exp(inner) - np.exp(outer) / (2 * (z**2 - 1))
    elif z <= theta / phi:
        rest = z**2 / (2 * (z**2 - 1)) * np.exp(-inner) - np.exp(outer) / (2 * (z**2 - 1))
    else:
        rest = 1 + z**2 / (2 * (1 - z**2)) * np.exp(inner) - np.exp(-outer) / (2 * (1 - z**2))
    return float(first + rest)


def simulated(scale: Scale) -> Found:
    """The lemma on a grid, against draws and against the package's own law."""
    draws, chance = scale.pick(200_000, 10_000_000), scale.chance(2, 1)
    worst, apart, rows, inside = 0.0, 0.0, [], True
    for phi, confidence, b in product((20, 100, 1000), (0.1, 0.5, 0.9), (5.0, 50.0)):
        theta = phi * confidence
        x, y = (mean + chance.laplace(0, b, draws) for mean in (phi, theta))
        ratio = y / x
        for z in (-0.7, 0.3 * confidence, 0.9 * confidence, 1.1 * confidence, 2.3):
            claimed = printed(z, phi, theta, b)
            seen = share(int(np.count_nonzero(ratio <= z)), draws)
            ours = float(laplace_ratio(z, phi, theta, b))
            inside &= seen.near(claimed)
            worst = max(worst, abs(seen.value - claimed) / seen.se)
            apart = max(apart, abs(ours - claimed))
            if (phi, confidence, b) == (100, 0.5, 50.0):
                rows.append((z, Measured(claimed), Measured(ours), seen))
    return Found(
        f"largest distance {worst:.1f} standard errors over {18 * 5} points",
        inside and apart < 1e-9,
        f"The formula as printed is the law of the ratio; the package's own form, which has no "
        f"poles at 0 and ±1, is the same to {apart:.1g}.",
        f"{draws:,} draws for each of 18 pairs of counts and scales, at 5 places",
        [Table(("z", "Lemma 1", "adomnia", "simulated"), rows, "φ = 100, θ = 50, b = 50")],
    )


def limit(scale: Scale) -> Found:
    """Theorem 1.2: the closeness probability goes to one as the group grows."""
    sizes = [10**power for power in range(1, 7)]
    values = closeness_probability(sizes, [0.7 * size for size in sizes], 0.2, DELTA / 0.5)
    found = [float(value) for value in values]
    rising = all(a <= b + 1e-12 for a, b in pairwise(found))
    return Found(
        f"{found[0]:.3f} at φ = 10, {found[-1]:.6f} at φ = 1,000,000",
        rising and found[-1] > 1 - 1e-9,
        "However wide the noise is, a large enough group is seen through it.",
        "τ = 0.2, θ/φ = 0.7, b = 50; exact values, nothing is drawn",
    )


def closeness(scale: Scale) -> Found:
    """Figure 1: how closeness depends on τ, confidence, group size and epsilon."""
    runs, chance = scale.pick(20_000, 1_000_000), scale.chance(2, 2)
    worst, plots, inside = 0.0, [], True
    panels = (("tau", TAUS, "τ"), ("confidence", CONFIDENCES, "θ/φ"), ("phi", SIZES, "φ"))
    for name, places, sign in panels:
        lines = []
        for epsilon in EPSILONS:
            curve = [_at(epsilon, name, place) for place in places]
            seen = [_seen(epsilon, name, place, runs, chance) for place in places]
            inside &= all(s.near(a) for a, s in zip(curve, seen, strict=True))
            worst = max(worst, *(abs(a - s.value) / s.se for a, s in zip(curve, seen, strict=True)))
            lines.append(Line(f"ε = {epsilon:g}", places, curve, [1.96 * s.se for s in seen]))
        title = f"Closeness probability against {sign}"
        plots.append(draw(Plot(title, sign, "closeness probability", lines, ends_up=(0, 1))))
    effect = _effects()
    return Found(
        "moves by at most "
        + ", ".join(f"{value:.2f} over {name}" for name, value in effect.items()),
        inside and min(effect["epsilon"], effect["phi"]) > effect["tau"],
        "Smaller epsilon and smaller groups hide the confidence; it grows with each of the four, "
        "as observed. That τ 'does not affect CP much' holds against epsilon and group size; by "
        "itself it moves CP by the figure above. Simulation lies on the curves "
        f"(largest distance {worst:.1f} standard errors).",
        f"Δ = 25; τ = 0.2, θ/φ = 0.7, φ = 1000, ε = 0.5 by default; bands of {runs:,} draws each",
        plots=plots,
    )


def _at(epsilon: float, name: str, place: float) -> float:
    said = DEFAULT | {name: place}
    theta = said["confidence"] * said["phi"]
    return float(closeness_probability(said["phi"], theta, said["tau"], DELTA / epsilon))


def _seen(
    epsilon: float, name: str, place: float, runs: int, chance: np.random.Generator
) -> Measured:
    said = DEFAULT | {name: place}
    x = said["phi"] + chance.laplace(0, DELTA / epsilon, runs)
    y = said["confidence"] * said["phi"] + chance.laplace(0, DELTA / epsilon, runs)
    close = np.abs(y / x / said["confidence"] - 1) <= said["tau"]
    return share(int(close.sum()), runs)


def _effects() -> dict[str, float]:
    """How far closeness moves over the range of each parameter, the others at their defaults."""
    ranges = {"tau": TAUS, "confidence": CONFIDENCES, "phi": SIZES}
    found = {
        name: max(_at(0.5, name, place) for place in places)
        - min(_at(0.5, name, place) for place in places)
        for name, places in ranges.items()
    }
    ends = [_at(epsilon, "tau", 0.2) for epsilon in EPSILONS]
    return {**found, "epsilon": max(ends) - min(ends)}


LEMMA = (
    Claim(
        "002",
        "Lemma 1",
        "The distribution function of the ratio of two counts with Laplace noise, in closed form.",
        "F(z) by equations 8 to 10",
        simulated,
        seconds=(2, 60),
    ),
    Claim(
        "002",
        "Theorem 1",
        "As a group grows, the noisy confidence comes as close to the true one as one likes.",
        "the probability goes to 1",
        limit,
        seconds=(0.1, 0.1),
    ),
    Claim(
        "002",
        "Figure 1",
        "How the closeness probability varies with τ, the true confidence, the group's size and "
        "epsilon; noise and small groups are the two leading factors, τ matters less.",
        "curves without printed numbers; CP grows with τ, θ/φ, φ and ε",
        closeness,
        seconds=(1, 20),
    ),
)
