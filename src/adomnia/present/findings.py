"""Findings for people: their titles, their figures in words, and their pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.formatting import one_line, share
from adomnia.present import terminal
from adomnia.present.disclosure_plot import disclosure_plot
from adomnia.present.drawing.bars import Bar, bar_chart
from adomnia.present.drawing.gauges import share_gauge
from adomnia.present.drawing.plot import Plot, Series, draw
from adomnia.present.records_plot import RECORDS, records_picture, records_text

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["LATE", "FindingView", "success_text", "tell", "view"]

TITLES = {
    "questionnaire": "Does the promise fit the data?",
    "family": "People who are alike",
    "claim": "Is the noise as strong as claimed?",
    "given away": "Cells that exact releases give away",
    "prior-leak": "Exact releases and noisy answers together",
    "disclosure": "What tables say about groups",
    "reconstruct": "Rebuilding secrets from many answers",
    "averaging": "Asking the same question again",
    "uniqueness": "People who are alone in a file",
    "singling-out": "Describing one person by one record",
    "inference": "Guessing secrets by the nearest record",
    "membership": "Telling who was in the data",
}
LABELS = {"green": "green: fine", "amber": "amber: look at it", "red": "red: act"}


@dataclass(frozen=True)
class FindingView:
    """A finding as a page shows it; the caption stands below the picture.

    `called_for` are steps that answers in the policy call for, `unanswered` its open questions.
    """

    finding: Finding
    title: str
    colour: str
    label: str
    figures: str
    drawing: str
    caption: str
    called_for: tuple[dict[str, Any], ...]
    unanswered: tuple[tuple[str, str], ...]

    @property
    def anchor(self) -> str:
        """Its name in addresses."""
        return self.finding.attack.replace(" ", "-")


def view(finding: Finding, colour: str) -> FindingView:
    """How a finding of this colour is shown."""
    drawing, caption = plot(finding)
    asked: dict[str, str] = finding.details.get("questions", {})
    steps = finding.details.get("steps", []) if finding.attack == "questionnaire" else []
    return FindingView(
        finding,
        TITLES.get(finding.attack, finding.attack),
        colour,
        LABELS[colour],
        success_text(finding),
        drawing,
        caption,
        tuple(step for step in steps if step["question"] not in asked),
        tuple(asked.items()) if finding.attack == "questionnaire" else (),
    )


def success_text(finding: Finding) -> str:
    """Success against baseline, as a person says it."""
    success, base = finding.success, finding.baseline
    if finding.attack in {"disclosure", "given away"}:
        return f"{success.value:,.0f} cases; somebody who saw nothing has none"
    if finding.attack == "claim":
        return f"epsilon {success.low:.3g} or more was seen; {base:g} is claimed"
    if finding.attack == "questionnaire":
        return f"{success.value:.0%} of the questions raise a doubt"
    if finding.attack in RECORDS and finding.details.get("scored") is not False:
        return records_text(finding)
    if finding.details.get("scored") is False:
        return f"not scored: the truth was not given; {against(finding)}: {share(base)}"
    width = ""
    if success.high > success.low:
        width = f" ({share(success.low)} to {share(success.high)}, {success.confidence:.0%} sure)"
    return f"{share(success.value)}{width}; {against(finding)}: {share(base)}"


# Which picture a finding gets: a line or bars where it has figures, else a gauge.

Picture = tuple[str, str]
"""A drawing, and the sentence below it; either may be empty."""


def plot(finding: Finding) -> Picture:
    """The picture of a finding; empty where there is nothing to draw."""
    drawn = _DRAWN.get(finding.attack)
    if drawn is not None and finding.details.get("scored") is not False:
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
    "singling-out": records_picture,
    "inference": records_picture,
    "membership": records_picture,
}


# In a terminal

LATE = "it was ended before it was done: this is what there was by then"


def tell(found: Finding, form: str, named: bool = False) -> None:
    """Print a finding; who and what exactly only where names were asked for."""
    facts = found.to_json() if named else found.without_names()
    if form == "json":
        terminal.json_text(facts)
        return
    screen = terminal.console()
    screen.print(one_line(found.claim), style="bold")
    rows = [
        ("success", success_text(found)),
        ("affected", found.affected),
        ("promise", "covers this" if found.covered else "does not cover this"),
        ("remedy", found.remedy),
        ("source", found.source),
    ]
    for name, text in rows:
        screen.print(f"  {name:<9}{one_line(text)}")
    if not found.complete:
        screen.print(LATE, style="yellow")
    for key in sorted(set(facts["details"]) - set(found.without_names()["details"])):
        screen.print(f"  {key}: {one_line(str(facts['details'][key]), 2000)}", style="red")
