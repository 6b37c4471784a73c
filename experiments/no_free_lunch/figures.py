"""Figures 2 to 5 and the forest fire of Kifer and Machanavajjhala, No free lunch in data privacy.

    python experiments/no_free_lunch/figures.py --runs 1000000 --out DIR

The paper has a million runs for each point. Ctrl-C ends it with what is done. Each figure shows
the expected number of edges between the communities with and without Bob's edge, and their
difference Y, with bands of 1.96 standard errors. The paper prints neither eta and lambda of the
MVS model nor the sizes of Figure 3 in words: those here are ours.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from lines import Line, lines

from adomnia.audit.growth.models import MODELS
from adomnia.audit.influence import PAPER_FIGURES, InfluenceReport, influence

BAND = 1.959964
TENTHS = [part / 10 for part in range(11)]


@dataclass(frozen=True)
class Figure:
    """One figure: the model, what is kept, and what is varied."""

    name: str
    title: str
    model: str
    fixed: dict[str, Any]
    varied: str
    places: Iterable[float]
    across: str


FIGURES = (
    Figure(
        "figure2",
        "Copying model, 50 nodes",
        "copying",
        {"nodes": 50},
        "p",
        TENTHS,
        "random link probability p",
    ),
    Figure(
        "figure3",
        "Copying model, p = 0.05",
        "copying",
        {"p": 0.05},
        "nodes",
        [10, *range(20, 201, 20)],
        "final network size",
    ),
    Figure(
        "figure4",
        "MVS model, 20 nodes, 100 steps",
        "mvs",
        {"nodes": 20, "steps": 100},
        "xi",
        TENTHS,
        "introduction probability ξ",
    ),
    Figure(
        "figure5",
        "MVS model, 20 nodes, ξ = 1",
        "mvs",
        {"nodes": 20, "xi": 1.0},
        "steps",
        [0, 25, 50, 100, 150, 200, 300, 400, 600, 800, 1000],
        "time steps",
    ),
)


def fires(how: dict[str, Any]) -> dict[str, InfluenceReport]:
    """The forest fire under each reading, up to the first that was interrupted."""
    found: dict[str, InfluenceReport] = {}
    for reading in MODELS["forest-fire"].readings:
        found[reading] = influence("forest-fire", reading=reading, **how)
        if not found[reading].complete:
            break
    return found


def reports(figure: Figure, how: dict[str, Any]) -> list[tuple[float, InfluenceReport]]:
    """The figure's points, up to the first that was interrupted."""
    points: list[tuple[float, InfluenceReport]] = []
    for place in figure.places:
        report = influence(figure.model, **how, **figure.fixed, **{figure.varied: place})
        points.append((place, report))
        shown = f"Y = {report.difference.mean:.3f} ± {report.difference.se:.3f}"
        print(f"{figure.name} {figure.varied} = {place:g}: {shown} ({report.runs:,} runs)")
        if not report.complete:
            break
    return points


def drawn(figure: Figure, points: list[tuple[float, InfluenceReport]]) -> str:
    """The figure as SVG."""
    kinds = (("with Bob's edge", "with"), ("without it", "without"), ("difference Y", "difference"))
    found = [report.to_json() for _, report in points]
    series = [
        Line(
            name,
            [place for place, _ in points],
            [one[kind]["mean"] for one in found],
            [BAND * one[kind]["se"] for one in found],
        )
        for name, kind in kinds
    ]
    return lines(figure.title, figure.across, "expected cross-community edges", series)


def table(readings: dict[str, InfluenceReport]) -> list[list[str]]:
    """The forest fire under every reading, beside what the paper prints."""
    rows = [["reading", "without", "with", "difference Y", "guessed right at this epsilon", "runs"]]
    for name, report in readings.items():
        means = (report.without, report.with_edge, report.difference)
        cells = [f"{one.mean:.2f} ± {one.se:.2f}" for one in means]
        rows.append([name, *cells, f"{report.naive.success.mean:.1%}", f"{report.runs:,}"])
    without, with_edge = PAPER_FIGURES["without"], PAPER_FIGURES["with"]
    known = [f"≈ {without}", f"≈ {with_edge}", f"{with_edge - without}"]
    return [*rows, ["the paper", *known, "", "1,000,000"]]


def as_text(rows: list[list[str]]) -> str:
    """The table in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    padded = ([cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded) + "\n"


def as_html(rows: list[list[str]]) -> str:
    """The table as a page."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    style = "table{border-collapse:collapse;font:14px system-ui}td,th{padding:4px 12px}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Forest fire</title>'
        f"<style>{style}</style><table><caption>Edges between the communities at 50 nodes"
        f"</caption><tr>{head}</tr>{body}</table></html>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--out", type=Path, required=True)
    options = vars(parser.parse_args())
    out: Path = options.pop("out")
    out.mkdir(parents=True, exist_ok=True)
    readings = fires(options)
    rows = table(readings)
    print(as_text(rows))
    (out / "forest_fire.txt").write_text(as_text(rows), "utf-8")
    (out / "forest_fire.html").write_text(as_html(rows), "utf-8")
    kept: dict[str, Any] = {"forest_fire": {n: one.to_json() for n, one in readings.items()}}
    done = all(report.complete for report in readings.values())
    for figure in FIGURES if done else ():
        points = reports(figure, options)
        (out / f"{figure.name}.svg").write_text(drawn(figure, points), "utf-8")
        kept[figure.name] = [{figure.varied: place, **one.to_json()} for place, one in points]
        (out / "figures.json").write_text(json.dumps(kept, indent=1), "utf-8")
        done = points[-1][1].complete
        if not done:
            break
    if not done:
        sys.exit("ended early: the last figures rest on fewer runs than asked")


if __name__ == "__main__":
    main()
