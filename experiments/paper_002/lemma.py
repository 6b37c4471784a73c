"""Lemma 1, Theorem 1 and Figure 1: the ratio of two noisy counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise, product

import numpy as np

from adomnia.audit.disclosure.closeness import closeness_probability
from adomnia.audit.disclosure.ratio import laplace_ratio
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.measured import Measured, combined, share

__all__ = ["LEMMA"]

DELTA = 25
EPSILONS = (2.0, 1.0, 0.5, 0.1, 0.01)
RANGES: dict[str, tuple[float, ...]] = {
    "tau": (0.1, 0.2, 0.3),
    "confidence": (0.5, 0.7, 0.9),
    "phi": (100, 1000, 2000),
    "epsilon": EPSILONS,
}
SIGNS = {"tau": "τ", "confidence": "θ/φ", "phi": "φ"}
"""What Figure 1 has across; there is a line for each epsilon."""
DEFAULT = {"tau": 0.2, "confidence": 0.7, "phi": 1000, "epsilon": 0.5}


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
        f"The formula as printed {'is' if inside else 'is not'} the law of the ratio; the "
        f"package's own form, which has no poles at 0 and ±1, is the same to {apart:.1g}.",
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
        "However wide the noise is, a large enough group is seen through it."
        if rising
        else "It does not rise with every size.",
        "τ = 0.2, θ/φ = 0.7, b = 50; exact values, nothing is drawn",
    )


def closeness(scale: Scale) -> Found:
    """Figure 1: how closeness depends on τ, confidence, group size and epsilon."""
    runs, chance = scale.pick(20_000, 1_000_000), scale.chance(2, 2)
    worst, plots, inside = 0.0, [], True
    for name, sign in SIGNS.items():
        places, lines, dots = RANGES[name], [], []
        for epsilon in EPSILONS:
            curve = [_at({name: place, "epsilon": epsilon}) for place in places]
            seen = [_seen({name: place, "epsilon": epsilon}, runs, chance) for place in places]
            inside &= all(s.near(a) for a, s in zip(curve, seen, strict=True))
            worst = max(worst, *(abs(a - s.value) / s.se for a, s in zip(curve, seen, strict=True)))
            lines.append(Series(f"ε = {epsilon:g}", places, curve))
            dots += zip(places, seen, strict=True)
        lines.append(Series("simulated", [place for place, _ in dots], [s.value for _, s in dots],
                          [1.96 * s.se for _, s in dots], dots=True))  # fmt: skip
        title = f"Closeness probability against {sign}"
        plots.append(draw(Plot(title, sign, "closeness probability", lines, ends_up=(0, 1))))
    effect = {name: _at({name: max(r)}) - _at({name: min(r)}) for name, r in RANGES.items()}
    falls = _falls()
    leading = min(effect["epsilon"], effect["phi"]) > max(effect["tau"], effect["confidence"])
    rows = [(SIGNS.get(name, "ε"), min(r), max(r), effect[name], falls[name])
            for name, r in RANGES.items()]  # fmt: skip
    return Found(
        f"falls with none of the four at {_steps()} steps"
        if not any(falls.values())
        else ", ".join(f"falls with {name} {many} times" for name, many in falls.items() if many),
        inside and not any(falls.values()) and leading,
        f"Over the grid of Table II closeness {'grows' if not any(falls.values()) else 'falls'} "
        f"{'with each of the four' if not any(falls.values()) else 'at times'}. Epsilon and the "
        f"group's size {'are' if leading else 'are not'} the two that move it most, from the "
        f"defaults. Simulation {'lies' if inside else 'does not lie'} on the curves (largest "
        f"distance {worst:.1f} standard errors).",
        f"Δ = 25; τ = 0.2, θ/φ = 0.7, φ = 1000, ε = 0.5 by default; lines are exact, dots are of "
        f"{runs:,} draws each",
        [Table(("over", "from", "to", "CP moves by", "steps down"), rows)],
        plots,
    )


def little(scale: Scale) -> Found:
    """Observation ii: τ does not affect closeness much, by what the others do."""
    runs, chance = scale.pick(20_000, 1_000_000), scale.chance(2, 3)
    effect = {
        name: combined([1, -1], [_seen({name: end(places)}, runs, chance) for end in (max, min)])
        for name, places in RANGES.items()
    }
    tau, confidence = effect["tau"], effect["confidence"]
    more = combined([1, -1], [tau, confidence])
    rows = [(SIGNS.get(name, "ε"), _at({name: max(r)}) - _at({name: min(r)}), effect[name])
            for name, r in RANGES.items()]  # fmt: skip
    return Found(
        f"τ moves CP by {tau}, the true confidence by {confidence}",
        not more.above(0),
        "The text gives no number for 'much'. "
        + (
            "Of the four τ does not even move CP the least: it surely moves it more than the true "
            "confidence does, of which observation iii makes a point. It is less than what "
            "epsilon and the group's size do."
            if more.above(0)
            else "Of the four τ does not surely move CP more than the least."
        ),
        f"each from its least to its largest value in Table II, the others at their defaults; "
        f"{runs:,} draws at each end",
        [Table(("over", "CP moves by", "simulated"), rows)],
    )


def _at(changed: Mapping[str, float]) -> float:
    """The closeness probability at the defaults, but for what is changed."""
    said = DEFAULT | changed
    theta, b = said["confidence"] * said["phi"], DELTA / said["epsilon"]
    return float(closeness_probability(said["phi"], theta, said["tau"], b))


def _seen(changed: Mapping[str, float], runs: int, chance: np.random.Generator) -> Measured:
    """The same, simulated."""
    said = DEFAULT | changed
    b = DELTA / said["epsilon"]
    x = said["phi"] + chance.laplace(0, b, runs)
    y = said["confidence"] * said["phi"] + chance.laplace(0, b, runs)
    close = np.abs(y / x / said["confidence"] - 1) <= said["tau"]
    return share(int(close.sum()), runs)


def _falls() -> dict[str, int]:
    """At how many steps of the whole grid closeness falls as one parameter rises."""
    grids = [sorted(places) for places in RANGES.values()]
    values = [_at(dict(zip(RANGES, place, strict=True))) for place in product(*grids)]
    table = np.reshape(values, [len(grid) for grid in grids])
    return {
        name: int((np.diff(table, axis=axis) < -1e-12).sum()) for axis, name in enumerate(RANGES)
    }


def _steps() -> int:
    """How many steps the grid has."""
    lengths = [len(places) for places in RANGES.values()]
    return sum(math.prod(lengths) // many * (many - 1) for many in lengths)


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
        "epsilon: it grows with each, and epsilon and the group's size are the leading factors.",
        "curves without printed numbers; CP grows with τ, θ/φ, φ and ε",
        closeness,
        seconds=(1, 20),
    ),
    Claim(
        "002",
        "Figure 1, observation ii",
        "As τ increases CP increases as well, but τ does not affect the value of CP much.",
        "not much, without a number",
        little,
        DIFFERS,
        seconds=(0.5, 5),
    ),
)
