"""Findings for people: their titles, their figures in words, and their pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adomnia.formatting import share
from adomnia.present.finding_plots import against, plot

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["FindingView", "success_text", "view"]

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
    if finding.details.get("scored") is False:
        return f"not scored: the truth was not given; {against(finding)}: {share(base)}"
    width = ""
    if success.high > success.low:
        width = f" ({share(success.low)} to {share(success.high)}, {success.confidence:.0%} sure)"
    return f"{share(success.value)}{width}; {against(finding)}: {share(base)}"
