"""Findings for people: their colour, their figures in words, and what of them names nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.policy.policy import Audit

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["COLOURS", "against", "judge", "measured", "without_names"]

COLOURS = ("green", "amber", "red")
"""From harmless to alarming."""

NAMING = frozenset(
    {
        "claims",
        "forced",
        "found",
        "given_away",
        "guess",
        "guesses",
        "intervals",
        "learned",
        "links",
        "ranges",
        "unique_rows",
    }
)
"""Details that say who, or what exactly."""

_VERDICTS = {
    "violated": "red",
    "out of reach": "amber",
    "not refuted": "green",
    "does not fit": "red",
    "fits with": "amber",
    "unknown": "amber",
    "fits": "green",
}


def judge(finding: Finding, audit: Audit) -> str:
    """Green, amber or red.

    A verdict has its own colour, and so have disclosures and cells that are given away: one is
    amber, and more than the policy allows are red. Everything else is judged by how far the
    attacker gets above somebody who saw nothing; where that may be luck, because the interval
    reaches down to knowing nothing, it is one colour milder. What was not scored is amber, and so
    is a file in which anybody is alone.
    """
    verdict = finding.details.get("verdict")
    if verdict in _VERDICTS:
        return _VERDICTS[verdict]
    if finding.attack == "disclosure":
        return _counted(finding.success.value, audit.disclosures)
    if finding.attack == "given away":
        return _counted(finding.success.value, 0)
    if finding.details.get("scored") is False:
        return "amber"
    above = finding.success.value - finding.baseline
    place = int(above > audit.amber) + int(above > audit.red)
    doubtful = finding.success.low <= finding.baseline
    alone = finding.attack == "uniqueness" and finding.success.value > 0
    return COLOURS[max(int(alone), place - doubtful)]


def _counted(many: float, allowed: int | None) -> str:
    if allowed is not None and many > allowed:
        return "red"
    return "amber" if many else "green"


def measured(finding: Finding) -> str:
    """Success against baseline, as a person says it."""
    success, base = finding.success, finding.baseline
    if finding.attack in {"disclosure", "given away"}:
        return f"{success.value:,.0f} cases; somebody who saw nothing has none"
    if finding.attack == "claim":
        return f"epsilon {success.low:.3g} or more was seen; {base:g} is claimed"
    if finding.attack == "questionnaire":
        return f"{success.value:.0%} of the questions raise a doubt"
    if finding.details.get("scored") is False:
        return f"not scored: the truth was not given; {against(finding)}: {_share(base)}"
    width = ""
    if success.high > success.low:
        width = f" ({_share(success.low)} to {_share(success.high)}, {success.confidence:.0%} sure)"
    return f"{_share(success.value)}{width}; {against(finding)}: {_share(base)}"


def against(finding: Finding) -> str:
    """Whose figure the baseline is."""
    return str(finding.details.get("against", "somebody who saw nothing"))


def without_names(finding: Finding) -> dict[str, Any]:
    """The finding as plain JSON values, less what names people, groups or exact cells."""
    facts = finding.to_json()
    return {**facts, "details": {k: v for k, v in facts["details"].items() if k not in NAMING}}


def _share(value: float) -> str:
    return f"{100 * value:.3g}%"
