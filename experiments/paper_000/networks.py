"""Section 3: what one early edge does to a network that grows, and what edge privacy misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from adomnia.audit.networks.growth.models import MODELS
from adomnia.audit.networks.growth.odds import MeanEstimate
from adomnia.audit.networks.influence import PAPER_FIGURES, InfluenceReport, influence
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.measured import Measured, combined

__all__ = ["NETWORKS"]

BAND = 1.959964


@dataclass(frozen=True)
class Figure:
    """One figure: the model, what is kept, and what is varied."""

    title: str
    model: str
    fixed: dict[str, Any]
    varied: str
    quick: Sequence[float]
    full: Sequence[float]
    across: str

    def points(self, scale: Scale) -> list[tuple[float, InfluenceReport]]:
        """The figure's points."""
        runs, places = scale.pick(3000, 1_000_000), self.quick if scale.quick else self.full
        # Other chance at every place: errors of a difference are then those of its parts.
        return [
            (place, influence(self.model, runs=runs, seed=1000 * scale.seed + i, workers=2,
                              **self.fixed, **{self.varied: place}))
            for i, place in enumerate(places)
        ]  # fmt: skip

    def drawn(self, points: list[tuple[float, InfluenceReport]]) -> str:
        """The figure as SVG."""
        kinds = {"with Bob's edge": "with_edge", "without it": "without", "Y": "difference"}
        lines = [
            Series(name, [place for place, _ in points],
                 [getattr(report, kind).mean for _, report in points],
                 [BAND * getattr(report, kind).se for _, report in points])
            for name, kind in kinds.items()
        ]  # fmt: skip
        return draw(Plot(self.title, self.across, "cross-community edges", lines))


TENTHS = [part / 10 for part in range(11)]
FIGURE2 = Figure("Figure 2: copying model, 50 nodes", "copying", {"nodes": 50}, "p",
                 [0, 0.3, 1.0], TENTHS, "random link probability p")  # fmt: skip
FIGURE3 = Figure("Figure 3: copying model, p = 0.05", "copying", {"p": 0.05}, "nodes",
                 [20, 60, 120], [10, *range(20, 201, 20)], "final network size")  # fmt: skip
FIGURE4 = Figure("Figure 4: MVS model, 20 nodes, 100 steps", "mvs", {"nodes": 20, "steps": 100},
                 "xi", [0, 0.5, 1.0], TENTHS, "introduction probability ξ")  # fmt: skip
FIGURE5 = Figure("Figure 5: MVS model, 20 nodes, ξ = 1", "mvs", {"nodes": 20, "xi": 1.0}, "steps",
                 [0, 50, 150, 400, 1000], [0, 25, 50, 100, 150, 200, 300, 400, 600, 800, 1000],
                 "time steps")  # fmt: skip


def copying(scale: Scale) -> Found:
    """Figures 2 and 3."""
    by_p, by_size = FIGURE2.points(scale), FIGURE3.points(scale)
    falling, growing = [_y(one) for _, one in by_p], [_y(one) for _, one in reversed(by_size)]
    return Found(
        f"Y is {falling[0]} at p = 0 and {falling[-1]} at p = 1; {growing[-1]} at "
        f"{by_size[0][0]} nodes and {growing[0]} at {by_size[-1][0]}",
        _falls(falling) and _falls(growing),
        "Both curves are judged from end to end and from point to point, each with its error; "
        "the figures carry no numbers in the text.",
        f"{by_p[0][1].runs:,} pairs of networks a point; {_numbers(by_p[0][1], but='p nodes')}",
        plots=[FIGURE2.drawn(by_p), FIGURE3.drawn(by_size)],
    )


def meeting(scale: Scale) -> Found:
    """Figures 4 and 5."""
    by_xi, by_time = FIGURE4.points(scale), FIGURE5.points(scale)
    most, peak = (max((_y(one) for _, one in points), key=_value) for points in (by_xi, by_time))
    gone = _y(by_time[-1][1])
    large = most.above(2)
    # Steady states are neared, not reached: with runs enough something is left at any time.
    disappears = gone.below(1) and combined([1, -1 / 5], [gone, peak]).below(0)
    return Found(
        f"Y up to {most} over ξ; over time up to {peak}, after {by_time[-1][0]:,} steps {gone}",
        large and disappears,
        f"The effect {'can be' if large else 'is not'} moderately large, which we take to be more "
        "than twice the one edge that edge privacy is about, and "
        f"{'disappears' if disappears else 'stays'}: what is left in the end "
        f"{'is' if disappears else 'is not'} surely less than a fifth of the most there was, and "
        "less than the edge itself.",
        f"{by_xi[0][1].runs:,} pairs of networks a point; {_numbers(by_xi[0][1], but='xi steps')}; "
        "η (eta) and λ (lam) are not given in the text, these are ours",
        plots=[FIGURE4.drawn(by_xi), FIGURE5.drawn(by_time)],
    )


def forest_fire(scale: Scale) -> Found:
    """The forest fire's two means, under each reading of the text."""
    runs = scale.pick(8000, 1_000_000)
    reports = {
        reading: influence("forest-fire", runs=runs, seed=scale.seed + i, reading=reading)
        for i, reading in enumerate(MODELS["forest-fire"].readings)
    }
    printed = [PAPER_FIGURES[key] for key in ("without", "with")]
    means = {
        reading: [_measured(one) for one in (report.without, report.with_edge)]
        for reading, report in reports.items()
    }
    close = [reading for reading, pair in means.items() if all(map(_about, pair, printed))]
    spread = all(_y(report).above(1) for report in reports.values())
    rows = [
        (reading, *means[reading], _y(report), _measured(report.naive.success))
        for reading, report in reports.items()
    ]
    rows.append(("the paper", *(f"≈ {one}" for one in printed), f"≈ {printed[1] - printed[0]}", ""))
    fewer = {one: means[one][1] for one in means if means[one][1].below(printed[1] / 2)}
    return Found(
        "; ".join(f"{reading}: {pair[0]} and {pair[1]}" for reading, pair in means.items()),
        bool(close) and spread,
        (f"Read as '{' or '.join(close)}' the means are surely within 15 % of the printed ones. "
         if close else "No reading comes out near the printed means. ")
        + (f"Read as '{' or '.join(fewer)}' networks of as many nodes have far fewer such edges: "
           f"{' and '.join(str(one) for one in fewer.values())}. " if fewer else "")
        + ("Under every reading Bob's one edge is worth more than one, so that noise for one edge "
           "does not hide it" if spread else "Bob's edge is not worth more than one everywhere")
        + ": the last column is how often it is guessed from one count with ε = 1.",
        f"{runs:,} pairs of networks for each reading; {_numbers(reports['literal'])}: forward and "
        "backward are the geometric parameters of out- and inlinks",
        [Table(("reading", "without Bob's edge", "with it", "difference Y", "guessed right"),
               rows)],
    )  # fmt: skip


def _measured(one: MeanEstimate) -> Measured:
    return Measured(one.mean, one.se)


def _y(report: InfluenceReport) -> Measured:
    return _measured(report.difference)


def _value(one: Measured) -> float:
    return one.value


def _about(found: Measured, printed: float) -> bool:
    """Whether it is surely within 15 % of what is printed with an 'about'."""
    return found.above(0.85 * printed) and found.below(1.15 * printed)


def _falls(values: Sequence[Measured]) -> bool:
    """Surely from the first to the last, and nowhere surely the other way."""
    steps = [combined([1, -1], [one, other]) for one, other in pairwise(values)]
    fallen = combined([1, -1], [values[0], values[-1]])
    return fallen.above(0) and not any(step.below(0) for step in steps)


def _numbers(report: InfluenceReport, but: str = "") -> str:
    """The model's numbers, but for those that are varied."""
    kept = {
        name: value for name, value in report.growth.parameters.items() if name not in but.split()
    }
    return ", ".join(f"{name} = {value:g}" for name, value in kept.items())


NETWORKS = (
    Claim("000", "Section 3, forest fire",
          "With Bob's edge the expected number of cross-community edges is about 240, without it "
          "about 119, at 50 nodes.",
          "240 and 119", forest_fire, seconds=(6, 60)),
    Claim("000", "Figures 2 and 3",
          "In the copying model the causal effect falls with the random link probability and "
          "grows with the network.",
          "curves without printed numbers", copying, seconds=(4, 300)),
    Claim("000", "Figures 4 and 5",
          "In the MVS model the effect can be moderately large, and disappears in the steady "
          "state.",
          "curves without printed numbers", meeting, seconds=(4, 300)),
)  # fmt: skip
