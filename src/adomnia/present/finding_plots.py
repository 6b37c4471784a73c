"""Which picture a finding gets: a line or bars where it has figures, else a gauge."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adomnia.formatting import share
from adomnia.present.disclosure_plot import disclosure_plot
from adomnia.present.drawing.bars import Bar, bar_chart
from adomnia.present.drawing.gauges import share_gauge
from adomnia.present.drawing.plot import Plot, Series, draw

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["against", "plot"]

Picture = tuple[str, str]
"""A drawing, and the sentence below it; either may be empty."""


def plot(finding: Finding) -> Picture:
    """The picture of a finding; empty where there is nothing to draw."""
    drawn = _DRAWN.get(finding.attack)
    if drawn is not None:
        return drawn(finding)
    success = finding.success
    if not 0 <= success.value <= 1:
        return "", ""
    ends = (success.low, success.high)
    return share_gauge(success.value, ends, finding.baseline, against(finding)), ""


def against(finding: Finding) -> str:
    """Whose figure the baseline is."""
    return str(finding.details.get("against", "somebody who saw nothing"))


def _disclosure(finding: Finding) -> Picture:
    drawing = disclosure_plot(finding.details["readings"], finding.details.get("chosen"))
    return drawing, (
        "Each point is an epsilon; the ring is the policy's. To the right the tables are useless, "
        "to the left they tell more about groups."
    )


def _reconstruct(finding: Finding) -> Picture:
    curve = finding.details["curve"]
    levels = [("guessing", finding.baseline)]
    if "ceiling" in finding.details:
        levels.append(("the promise's limit", finding.details["ceiling"]))
    line = Series("this attack", [point["answers"] for point in curve],
                  [point["recovered"] for point in curve])  # fmt: skip
    return draw(
        Plot(
            "Secrets guessed right, by the answers used", "answers used", "secrets guessed right",
            [line], log_across=True, ends_up=(0.0, 1.0), levels=levels, show_up=share,
        ),
        heading=False,
    ), ""  # fmt: skip


def _uniqueness(finding: Finding) -> Picture:
    counts = {"as it is": finding.details["uniques"]}
    for column in finding.details["columns"]:
        counts[f"without {column['column']}"] = column["uniques_without"]
    bars = [Bar(name, count, None, f"{count:,}") for name, count in counts.items()]
    return bar_chart(bars, "people who are alone if a column is left out"), (
        "How many people are alone in the file, and how many would be if one column were left out."
    )


def _leak(finding: Finding) -> Picture:
    names = {"blind": "without any answer", "after": "this database",
             "before": "exact ones ignored"}  # fmt: skip
    bars = []
    for key, name in names.items():
        if finding.details.get(key):
            rate = finding.details[key]["cells"]
            off = 50 * (rate["high"] - rate["low"])
            bars.append(Bar(name, 100 * rate["value"], off, share(rate["value"])))
    return bar_chart(bars, "cells that come out exactly, in percent"), (
        "Cells that come out exactly, in percent."
    )


def _claim(finding: Finding) -> Picture:
    levels = {"claimed": finding.baseline, "seen at least": finding.success.low}
    bars = [Bar(name, level, None, f"ε {level:.3g}") for name, level in levels.items()]
    title = ", ".join(f"{name} {level:.3g}" for name, level in levels.items())
    return bar_chart(bars, title), ""


def _nothing(_: Finding) -> Picture:
    return "", ""


_DRAWN: dict[str, Callable[[Finding], Picture]] = {
    "claim": _claim,
    "disclosure": _disclosure,
    "given away": _nothing,
    "prior-leak": _leak,
    "questionnaire": _nothing,
    "reconstruct": _reconstruct,
    "uniqueness": _uniqueness,
}
