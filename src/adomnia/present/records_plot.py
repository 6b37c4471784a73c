"""Attacks on published records: the risk of each, beside that of a careless release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adomnia.formatting import share
from adomnia.present.drawing.bars import Bar, bar_chart

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["RECORDS", "left_out_text", "records_chart", "records_picture", "records_text"]

RECORDS = {
    "singling-out": "one person described",
    "inference": "a secret guessed",
    "membership": "being in the data",
}
"""The attacks on records, and what each of them tells, in a few words."""

_TOLD = {
    "singling-out": "Tried: descriptions that fit exactly one record of the release. A stranger "
    "learns from one that is right that somebody like this is there, and that it is one person; "
    "not who.",
    "inference": "Tried: the released record that is most like a person, and what it says of a "
    "column that the stranger does not know. What is as true of people who were not in the data is "
    "not counted: it can be learned without them.",
    "membership": "Tried: the release made again and again, with and without some people, until a "
    "program tells the difference. The stranger knows everybody else. That somebody is in the data "
    "can itself be the secret, as in a register of patients.",
}
_NOT_TOLD = "Not told by this: what a better attack would learn. A promise bounds those as well."
_NO_CONTROL = (
    "There was no control group: what follows for everybody of a kind cannot be told apart from "
    "what follows from a person's own record. Give rows of people who were not in the data "
    "(--control)."
)


def records_text(finding: Finding) -> str:
    """The risk and its interval, and that of a careless release."""
    parts = [_with_interval(vars(finding.success))]
    if "careless" in finding.details:
        parts.append(f"a careless release: {share(finding.details['careless']['value'])}")
    if finding.details.get("verdict"):
        shown, claimed = finding.details["epsilon_at_least"], finding.details["claimed"]["epsilon"]
        parts.append(f"epsilon {shown:.2g} or more was seen, {claimed:.3g} is promised")
    return "; ".join(parts)


def _with_interval(rate: Mapping[str, Any]) -> str:
    ends = f"{share(rate['low'])} to {share(rate['high'])}, {rate['confidence']:.0%} sure"
    return f"risk {share(rate['value'])} ({ends})"


def records_picture(finding: Finding) -> tuple[str, str]:
    """Two bars, and below them what was tried, what is learned and what is not told."""
    chart = bar_chart(list(_bars(finding)), f"risk in percent: {RECORDS[finding.attack]}")
    told = [_TOLD[finding.attack], _NOT_TOLD]
    if finding.details.get("control") is False:
        told.append(_NO_CONTROL)
    left_out = left_out_text(finding)
    return chart, " ".join([*told, *([f"{left_out}."] if left_out else [])])


def records_chart(findings: Sequence[Finding]) -> str:
    """All attacks on the records in one picture; nothing where there was none."""
    bars = [
        Bar(f"{RECORDS[one.attack]}: {bar.label}", bar.value, None, bar.figure, bar.interval)
        for one in findings
        if one.attack in RECORDS and "careless" in one.details
        for bar in _bars(one)
    ]
    if not bars:
        return ""
    return bar_chart(bars, "the risk of each attack, beside a careless release", axis="risk in %")


def left_out_text(finding: Finding) -> str:
    """The columns that were not looked at, and why; nothing where there are none."""
    left_out = finding.details.get("left_out") or {}
    said = ", ".join(f"{name} ({why})" for name, why in left_out.items())
    return f"Columns that were not looked at: {said}" if said else ""


def _bars(finding: Finding) -> Iterator[Bar]:
    rates = {"this release": vars(finding.success)}
    if "careless" in finding.details:
        rates["careless"] = finding.details["careless"]
    for name, rate in rates.items():
        ends = (100 * rate["low"], 100 * rate["high"])
        yield Bar(name, 100 * rate["value"], None, share(rate["value"]), ends)
