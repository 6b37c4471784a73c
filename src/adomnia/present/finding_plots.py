"""Which picture a finding gets: a curve or bars where it has figures, else a gauge."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from adomnia.present.bars import bars
from adomnia.present.curves import Axis, Line, curves, gauge
from adomnia.present.disclosure_plot import disclosure_plot
from adomnia.present.findings import against

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["plot"]

SHARE = "{:.0%}".format


def plot(one: Finding) -> str:
    """The picture of a finding; empty where there is nothing to draw."""
    drawn = _DRAWN.get(one.attack)
    if drawn is not None:
        return drawn(one)
    success = one.success
    if not 0 <= success.value <= 1:
        return ""
    return gauge(success.value, (success.low, success.high), one.baseline, against(one))


def _disclosure(one: Finding) -> str:
    return disclosure_plot(one.details["readings"], one.details.get("chosen")) + _soft(
        "Each point is an epsilon; the ring is the policy's. To the right the tables are useless, "
        "to the left they tell more about groups."
    )


def _reconstruct(one: Finding) -> str:
    curve = one.details["curve"]
    points = [(point["answers"], point["recovered"]) for point in curve]
    levels = [("guessing", one.baseline)]
    if "ceiling" in one.details:
        levels.append(("the promise's limit", one.details["ceiling"]))
    many = Axis("answers used", True, "{:,.0f}".format)
    share = Axis("secrets guessed right", show=SHARE, ends=(0.0, 1.0))
    return curves([Line("this attack", points)], many, share, "secrets guessed right", levels)


def _uniqueness(one: Finding) -> str:
    columns = one.details["columns"]
    names = [f"without {column['column']}" for column in columns]
    values = [column["uniques_without"] for column in columns]
    title = "people who are alone if a column is left out"
    drawn = bars(["as it is", *names], [one.details["uniques"], *values], [0.0] * (1 + len(names)),
                 title)  # fmt: skip
    return drawn + _soft("How many people are alone in the file, and how many would be if one "
                         "column were left out.")  # fmt: skip


def _leak(one: Finding) -> str:
    shares = [
        (name, one.details[key]["cells"])
        for name, key in (("without any answer", "blind"), ("this database", "after"),
                          ("exact ones ignored", "before"))
        if one.details.get(key)
    ]  # fmt: skip
    values = [100 * rate["value"] for _, rate in shares]
    margins = [50 * (rate["high"] - rate["low"]) for _, rate in shares]
    title = "cells that come out exactly, in percent"
    return bars([name for name, _ in shares], values, margins, title) + _soft(title + ".")


def _claim(one: Finding) -> str:
    labels, values = ["claimed", "seen at least"], [one.baseline, one.success.low]
    return _epsilons(labels, values)


def _epsilons(labels: list[str], values: list[float]) -> str:
    most = max([*values, 1e-9])
    rows = "".join(
        f'<text x="120" y="{24 + 26 * i}" text-anchor="end">{label}</text>'
        f'<rect class="bar" x="130" y="{12 + 26 * i}" width="{360 * value / most:.1f}" '
        f'height="16"/><text x="{138 + 360 * value / most:.1f}" y="{24 + 26 * i}">'
        f"ε {value:.3g}</text>"
        for i, (label, value) in enumerate(zip(labels, values, strict=True))
    )
    title = ", ".join(f"{n} {v:.3g}" for n, v in zip(labels, values, strict=True))
    return f'<svg role="img" aria-label="{title}" viewBox="0 0 560 66" width="560">{rows}</svg>'


def _nothing(_: Finding) -> str:
    return ""


def _questions(one: Finding) -> str:
    """What the answers so far ask for, and what is not answered yet."""
    steps: list[dict[str, Any]] = one.details["steps"]
    asked: dict[str, str] = one.details.get("questions", {})
    sure = "".join(
        f"<li><strong>{escape(step['use'])}</strong>: {escape(step['reason'])} "
        f'<span class="soft">({escape(step["reference"])})</span></li>'
        for step in steps
        if step["question"] not in asked
    )
    open_ones = "".join(
        f"<li><code>{escape(name)}</code>: {escape(text)}</li>" for name, text in asked.items()
    )
    said = f"<p>What the answers in the policy call for:</p><ul>{sure}</ul>" if sure else ""
    if open_ones:
        said += f"<p>Not answered yet, and only a person can:</p><ul>{open_ones}</ul>"
    return said


def _soft(text: str) -> str:
    return f'<p class="soft">{text[:1].upper()}{text[1:]}</p>'


_DRAWN: dict[str, Callable[[Finding], str]] = {
    "claim": _claim,
    "disclosure": _disclosure,
    "given away": _nothing,
    "prior-leak": _leak,
    "questionnaire": _questions,
    "reconstruct": _reconstruct,
    "uniqueness": _uniqueness,
}
