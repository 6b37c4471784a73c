"""Section 4, limitations: columns rebuilt from answers that are too accurate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from adomnia.audit.finding import Finding
from adomnia.audit.reconstruction.decoding import Channel, decoding, threshold
from adomnia.audit.reconstruction.hadamard import hadamard
from adomnia.audit.reconstruction.subset_sums import subset_sums
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.measured import Measured, Share, mean, share

__all__ = ["ATTACKS", "breaks"]

NEARLY_ALL, SHARP = 0.95, 0.06
"""What counts as nearly the whole column, and how narrow a sharp threshold is."""


def dinur_nissim(scale: Scale) -> Found:
    """Random subset sums with noise of some multiple of the root of n."""
    n, runs, parts = scale.pick(64, 128), 24, (0.25, 0.5, 1.0, 2.0, 4.0)
    asked = {"8 n": 8 * n, "n log² n": round(n * math.log2(n) ** 2)}
    seen = {
        name: [_rebuilt([subset_sums(n, many, part * math.sqrt(n), seed, 120.0)
                         for seed in _seeds(scale, runs)]) for part in parts]
        for name, many in asked.items()
    }  # fmt: skip
    first, *_, last = seen["n log² n"]
    lines = {f"{asked[name]:,} = {name} questions": found for name, found in seen.items()}
    plot = _curve(f"Subset sums, n = {n}", parts, lines)
    return Found(
        f"{first} of the bits at noise √n/4, {last} at 4√n, from n log² n questions",
        first.above(NEARLY_ALL) and last.below(NEARLY_ALL),
        f"Agrees where noise of √n/4 surely leaves more than {NEARLY_ALL:.0%} of the column and "
        "noise of 4√n surely does not, both with the paper's n log² n questions, by the binary "
        f"logarithm. As few as 8 n give {seen['8 n'][0]} at √n/4; at √n they give "
        f"{seen['8 n'][2]}, where n log² n give {seen['n log² n'][2]}.",
        f"n = {n}, uniform noise, least absolute differences, {runs} columns a point",
        [Table(("noise / √n", *seen), list(zip(parts, *seen.values(), strict=True)))],
        [draw(plot)],
    )


def yekhanin(scale: Scale) -> Found:
    """The n Fourier questions, each with noise below the root of n."""
    n, runs, parts = scale.pick(1024, 16_384), scale.pick(24, 100), (0.1, 0.25, 0.5, 1.0, 2.0)
    seen = [
        _rebuilt([hadamard(n, part * math.sqrt(n), seed) for seed in _seeds(scale, runs)])
        for part in parts
    ]
    proven = [max(0.0, 1 - 4 * part * part) for part in parts]
    plot = _curve(f"Fourier questions, n = {n:,}", parts, {"rebuilt": seen},
                  Series("proven: 1 - 4E²/n", parts, proven, paper=True))  # fmt: skip
    return Found(
        f"{seen[0]} of the bits at noise √n/10, {seen[-1]} at 2√n",
        seen[0].above(0.999)
        and seen[-1].below(NEARLY_ALL)
        and not any(one.below(least) for one, least in zip(seen, proven, strict=True)),
        "n questions are enough, and one fast transform answers for the column. By Parseval's "
        "equation noise within ±E leaves at most 4E² bits wrong, which is o(n) where E is o(√n).",
        f"n = {n:,}, uniform noise within ±E, {runs} columns a point",
        [Table(("E / √n", "rebuilt", "proven"), list(zip(parts, seen, proven, strict=True)))],
        [draw(plot)],
    )


def _seeds(scale: Scale, runs: int) -> range:
    """Seeds of attacks, other ones for each seed of the report."""
    return range(1000 * scale.seed, 1000 * scale.seed + runs)


def _rebuilt(found: Sequence[Finding]) -> Measured:
    """The share of bits that came back, over columns; one bit of all may always be off."""
    rate = mean([one.success.value for one in found])
    return replace(rate, se=max(rate.se, 1 / sum(one.details["n"] for one in found)))


def _curve(
    title: str, parts: Sequence[float], seen: dict[str, list[Measured]], *more: Series
) -> Plot:
    lines = [
        Series(name, parts, [one.value for one in found], [1.96 * one.se for one in found])
        for name, found in seen.items()
    ]
    lines += [*more, Series("guessing", parts, [0.5] * len(parts), paper=True)]
    return Plot(title, "noise in units of √n", "share of bits rebuilt", lines, log_across=True,
                ends_up=(0, 1))  # fmt: skip


def robust(scale: Scale) -> Found:
    """Where decoding breaks as a growing share of the answers is arbitrary."""
    n, trials, star = 30, scale.pick(40, 120), threshold()
    ratios = (20, 80, scale.pick(160, 300))
    rhos = (0.2, 0.22, 0.23, 0.24, 0.26)
    if not scale.quick:
        rhos = (0.18, 0.2, 0.21, 0.22, 0.225, 0.23, 0.235, 0.24, 0.245, 0.25, 0.26, 0.28)
    curves = {ratio: [_whole(Channel(n, ratio), rho, _seeds(scale, trials)) for rho in rhos]
              for ratio in ratios}  # fmt: skip
    lines = [
        Series(f"{ratio} n questions", rhos, [one.value for one in found],
             [1.96 * one.se for one in found])
        for ratio, found in curves.items()
    ]  # fmt: skip
    lines.append(Series(f"ρ* = {star:.3f}", [star, star], [0.0, 1.0], paper=True))
    plot = Plot(f"Robust decoding, n = {n}: whole columns rebuilt", "share ρ of arbitrary answers",
                "share of trials", lines, ends_up=(0, 1))  # fmt: skip
    held, lost = breaks(rhos, curves[ratios[-1]])
    few = breaks(rhos, curves[ratios[0]])
    return Found(
        f"breaks between ρ = {held:g} and {lost:g}; ρ* = {star:.4f}",
        held < star < lost and lost - held <= SHARP,
        "Agrees where ρ* lies between a share at which surely more than half of the columns come "
        f"back and one at which surely fewer do, at most {SHARP:g} apart. ρ* is P(|g| > √(2 ln 2)) "
        f"for a standard normal g, a limit for many questions: with {ratios[0]} a bit decoding "
        f"breaks between {few[0]:g} and {few[1]:g}. The curator lies where it hurts most, and the "
        "other answers are exact, where the paper allows errors of o(√n).",
        f"n = {n}, up to {Channel(n, ratios[-1]).many:,} Gaussian questions, {trials} trials each",
        [Table(("ρ", *(f"{ratio} n questions" for ratio in curves)),
               list(zip(rhos, *curves.values(), strict=True)))],
        [draw(plot)],
    )  # fmt: skip


def _whole(channel: Channel, rho: float, seeds: range) -> Share:
    """How often the whole column comes back."""
    found = [decoding(channel, rho, seed, 120.0) for seed in seeds]
    return share(sum(one.details["whole"] for one in found), len(found))


def breaks(rhos: Sequence[float], found: Sequence[Share]) -> tuple[float, float]:
    """The last share of lies surely overcome in most trials, and the first surely not overcome."""
    pairs = list(zip(rhos, found, strict=True))
    held = max((rho for rho, one in pairs if one.above(0.5)), default=0.0)
    return held, min((rho for rho, one in pairs if one.below(0.5)), default=1.0)


ATTACKS = (
    Claim("004", "Section 4, Dinur and Nissim",
          "If answers to n log² n random subset sums are within o(√n), nearly the whole column is "
          "reconstructed.",
          "all but o(n) entries", dinur_nissim, seconds=(6, 150)),
    Claim("004", "Section 4, Yekhanin",
          "n Fourier queries with noise o(√n) suffice.",
          "n queries", yekhanin, seconds=(1, 5)),
    Claim("004", "Section 4, robust decoding",
          "There is a sharp threshold ρ* ≈ 0.239: if a smaller share of answers is arbitrary and "
          "the others are accurate, the column is reconstructed.",
          "0.239", robust, seconds=(20, 200)),
)  # fmt: skip
