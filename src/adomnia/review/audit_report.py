"""The report of an audit: what was found, its colours by the policy's limits, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from adomnia.audit.finding import Finding
from adomnia.policy.policy import Audit, Policy

__all__ = ["COLOURS", "AuditReport", "Colour", "judge"]

Colour = Literal["green", "amber", "red"]
COLOURS: tuple[Colour, ...] = get_args(Colour)
"""From harmless to alarming."""

_VERDICTS: dict[str, Colour] = {
    "violated": "red",
    "out of reach": "amber",
    "not refuted": "green",
    "does not fit": "red",
    "fits with": "amber",
    "unknown": "amber",
    "fits": "green",
}


def judge(finding: Finding, audit: Audit) -> Colour:
    """Green, amber or red.

    A verdict has its own colour, and so have disclosures and cells that are given away: one is
    amber, and more than the policy allows are red. Everything else is judged by how far the
    attacker gets above somebody who saw nothing; where that may be luck, because the interval
    reaches down to knowing nothing, it is one colour milder. What was not scored is amber, and so
    is a file in which anybody is alone, and what was attacked without a control group. Whether
    people are found to be in the data is judged like that, too, and not by the promise alone.

    >>> from adomnia.audit import Finding, Rate
    >>> from adomnia.policy.policy import Audit
    >>> sure = Rate(1.0, 0.9, 1.0)
    >>> finding = Finding("tracker", "All came out.", "all", sure, 0.5, False, "", "add noise")
    >>> judge(finding, Audit())
    'red'
    """
    verdict = finding.details.get("verdict")
    if verdict in _VERDICTS and finding.attack != "membership":
        return _VERDICTS[verdict]
    if finding.attack == "disclosure":
        return _counted(finding.success.value, audit.disclosures)
    if finding.attack == "given away":
        return _counted(finding.success.value, 0)
    if finding.details.get("scored") is False or finding.details.get("control") is False:
        return "amber"
    if verdict == "violated":
        return "red"
    above = finding.success.value - finding.baseline
    place = int(above > audit.amber) + int(above > audit.red)
    doubtful = finding.success.low <= finding.baseline
    alone = finding.attack == "uniqueness" and finding.success.value > 0
    return COLOURS[max(int(alone), place - doubtful)]


def _counted(many: float, allowed: int | None) -> Colour:
    if allowed is not None and many > allowed:
        return "red"
    return "amber" if many else "green"


@dataclass(frozen=True)
class AuditReport:
    """A policy, what was found about it, and what was not looked at (its name, and why).

    `spent` is what its ledger has paid out, and `released` how many exact releases it knows.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     report = AuditReport(database.policy, (), skipped=(("the microdata file", "no file"),))
    >>> report.verdict(), report.to_json()["skipped"][0]["why"]
    ('green', 'no file')
    """

    policy: Policy
    findings: tuple[Finding, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    names: bool = False
    spent: str = "0"
    released: int = 0

    def colours(self) -> list[Colour]:
        """The colour of each finding, by the policy's thresholds."""
        return [judge(one, self.policy.audit) for one in self.findings]

    def verdict(self) -> Colour:
        """The worst colour."""
        return max(self.colours(), key=COLOURS.index, default="green")

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON values; who and what exactly only where names are wanted."""
        audit = self.policy.audit
        return {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "policy": self.policy.digest,
            "verdict": self.verdict(),
            "names": self.names,
            "thresholds": {
                "amber": audit.amber,
                "red": audit.red,
                "disclosures": audit.disclosures,
            },
            "findings": [
                {"colour": colour, **(one.to_json() if self.names else one.without_names())}
                for one, colour in zip(self.findings, self.colours(), strict=True)
            ],
            "skipped": [{"what": name, "why": why} for name, why in self.skipped],
        }
