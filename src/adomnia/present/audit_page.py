"""The page of an audit, for a data protection officer: promise, findings, what to change."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.curator.releases.release_folder import refuse_taken
from adomnia.errors import MachineryError
from adomnia.policy.policy import Policy
from adomnia.present.finding_plots import plot
from adomnia.present.findings import COLOURS, judge, measured, without_names
from adomnia.present.page import page
from adomnia.present.promise import promised

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["AuditReport", "audit_page", "write_audit"]

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
WORDS = {"green": "green: fine", "amber": "amber: look at it", "red": "red: act"}
MOST_NAMED = 200
_STYLE = """<style>
:root { --green: #1a7f37; --amber: #9a6700; --red: #cf222e; --purple: #8a5a9e; --back: #eef1f4; }
@media (prefers-color-scheme: dark) { :root { --green: #3fb950; --amber: #d29922; --red: #f85149;
  --purple: #bc8cff; --back: #21262d; } }
.finding { border: 1px solid var(--line); border-left: .5rem solid; border-radius: .3rem;
  padding: .2rem 1.2rem 1rem; margin: 1.5rem 0; break-inside: avoid; }
.finding h3 { margin: .8rem 0 .2rem; } .finding p.claim { font-size: 1.1rem; margin: .4rem 0 1rem; }
.green { border-left-color: var(--green); } .amber { border-left-color: var(--amber); }
.red { border-left-color: var(--red); }
.chip { border-radius: 1rem; padding: .1rem .7rem; color: #fff; font-weight: 600;
  white-space: nowrap; }
.chip.green { background: #1a7f37; } .chip.amber { background: #9a6700; }
.chip.red { background: #cf222e; }
dl { display: grid; grid-template-columns: 13rem 1fr; gap: .35rem 1rem; margin: 1rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
.note { background: var(--back); border-radius: .3rem; padding: .7rem 1rem; }
.warning { border: 2px solid var(--red); border-radius: .3rem; padding: .7rem 1rem; }
.overview td { vertical-align: top; } .overview td:first-child { padding-top: .4rem; }
svg .line { fill: none; stroke-width: 2; } svg .level { stroke: var(--soft);
  stroke-dasharray: 5 4; } svg .ring { fill: none; stroke: var(--error); stroke-width: 2; }
svg .c0 { stroke: var(--bar); } svg .c1 { stroke: var(--purple); }
svg circle.c0 { fill: var(--bar); } svg circle.c1 { fill: var(--purple); }
svg .soft { fill: var(--soft); } svg .back { fill: var(--back); }
svg .tick { stroke: var(--ink); stroke-width: 2; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .6rem; } }
@media print { .finding { border-color: #888; } }
</style>"""


@dataclass(frozen=True)
class AuditReport:
    """A policy, what was found about it, and what was not looked at (its name, and why).

    `spent` is what its ledger has paid out, and `released` how many exact releases it knows.
    """

    policy: Policy
    findings: tuple[Finding, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    names: bool = False
    spent: str = "0"
    released: int = 0

    def colours(self) -> list[str]:
        """The colour of each finding, by the policy's thresholds."""
        return [judge(one, self.policy.audit) for one in self.findings]

    def verdict(self) -> str:
        """The worst colour."""
        return max(self.colours(), key=COLOURS.index, default="green")

    def promise(self) -> list[str]:
        """What is promised, in plain words."""
        return promised(self.policy, self.spent, self.released)

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON values; who and what exactly only where names are wanted."""
        audit = self.policy.audit
        return {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "policy": self.policy.digest,
            "verdict": self.verdict(),
            "names": self.names,
            "promise": self.promise(),
            "thresholds": {
                "amber": audit.amber,
                "red": audit.red,
                "disclosures": audit.disclosures,
            },
            "findings": [
                {"colour": colour, **(one.to_json() if self.names else without_names(one))}
                for one, colour in zip(self.findings, self.colours(), strict=True)
            ],
            "skipped": [{"what": name, "why": why} for name, why in self.skipped],
        }


def write_audit(made: AuditReport, folder: str | Path) -> Path:
    """`index.html` and `audit.json` in a new folder, whole or not at all."""
    place = Path(folder)
    refuse_taken(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix=".audit-", dir=place.parent))
    try:
        (room / "index.html").write_text(audit_page(made), "utf-8")
        facts = json.dumps(made.to_json(), indent=1, ensure_ascii=False, default=str)
        (room / "audit.json").write_text(facts + "\n", "utf-8")
        if place.exists():
            place.rmdir()
        room.rename(place)  # only its owner may read it: it rests on exact data
    except OSError as error:
        reason = error.strerror or "the disk refused"
        raise MachineryError(f"the report could not be written: {reason}") from None
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return place


def audit_page(made: AuditReport) -> str:
    """The HTML of an audit."""
    return page("Privacy audit", [_STYLE, *_body(made)])


def _body(made: AuditReport) -> Iterator[str]:
    table = escape(made.policy.table)
    yield f"<h1>Privacy audit of “{table}”</h1>"
    made_at = f"{datetime.now(UTC):%d %B %Y, %H:%M} UTC"
    yield f'<p class="soft">Made {made_at}, for the data protection officer.</p>'
    yield _secrecy(made)
    yield "<h2>In short</h2>"
    yield from _overview(made)
    yield "<h2>What to change</h2>"
    yield from _changes(made)
    yield "<h2>What is promised</h2>"
    yield "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in made.promise()) + "</ul>"
    yield "<h2>What was found</h2>"
    for one, colour in zip(made.findings, made.colours(), strict=True):
        yield from _finding(one, colour, made.names)
    yield "<h2>What was not looked at</h2>"
    yield from _skipped(made)
    yield "<h2>How the colours come about</h2>"
    yield from _colours(made)


def _secrecy(made: AuditReport) -> str:
    if made.names:
        return (
            '<p class="warning"><strong>This report names groups and exact values of the data, '
            "because it was asked to (<code>--names</code>). Keep it where the data is kept, and "
            "do not pass it on.</strong></p>"
        )
    return (
        '<p class="note">This report names nobody. But some of its numbers were counted from the '
        "exact data, without noise: it is for those who may see the data, not for publication.</p>"
    )


def _overview(made: AuditReport) -> Iterator[str]:
    rows = "".join(
        f'<tr><td>{_chip(colour)}</td><td><a href="#{_anchor(one)}">{_title(one)}</a><br>'
        f'<span class="soft">{escape(measured(one))}</span></td></tr>'
        for one, colour in zip(made.findings, made.colours(), strict=True)
    )
    yield f'<div class="wide overview"><table><tbody>{rows}</tbody></table></div>'


def _changes(made: AuditReport) -> Iterator[str]:
    pairs = zip(made.findings, made.colours(), strict=True)
    alarming = sorted(
        ((one, colour) for one, colour in pairs if colour != "green"),
        key=lambda pair: -COLOURS.index(pair[1]),
    )
    if not alarming:
        yield "<p>Nothing that was looked at calls for a change.</p>"
        return
    items = "".join(
        f"<li>{_chip(colour)} <strong>{_title(one)}</strong> {escape(_sentence(one.remedy))}</li>"
        for one, colour in alarming
    )
    yield f"<ul>{items}</ul>"


def _finding(one: Finding, colour: str, names: bool) -> Iterator[str]:
    covered = (
        "Yes. The promise limits how far anybody gets with this."
        if one.covered
        else "No. It lies outside of what is promised."
    )
    facts = {
        "Who is affected": _sentence(one.affected),
        "How far it gets": _sentence(measured(one)),
        "Covered by the promise": covered,
        "What would reduce it": _sentence(one.remedy),
        "Derived from": _sentence(one.source),
    }
    if not one.complete:
        facts["Note"] = "It was ended, or lacked answers, before it was done; this is what it had."
    yield f'<section class="finding {colour}" id="{_anchor(one)}">'
    yield f"<h3>{_title(one)} {_chip(colour)}</h3>"
    yield f'<p class="claim">{escape(_sentence(one.claim))}</p>'
    yield plot(one)
    yield "<dl>" + "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in facts.items()) + "</dl>"
    if names:
        yield from _names(one)
    yield "</section>"


def _names(one: Finding) -> Iterator[str]:
    """Who and what exactly, where it was asked for."""
    known = set(without_names(one)["details"])
    for key, listed in one.details.items():
        if key in known or key == "guess" or not isinstance(listed, list) or not listed:
            continue
        items = "".join(f"<li>{escape(_item(item))}</li>" for item in listed[:MOST_NAMED])
        more = f"<li>and {len(listed) - MOST_NAMED:,} more, in audit.json</li>"
        more = more if len(listed) > MOST_NAMED else ""
        label = escape(key.replace("_", " "))
        yield f"<details><summary>Exact data: {label}</summary><ul>{items}{more}</ul></details>"


def _item(item: Any) -> str:
    if isinstance(item, dict) and "group" in item:
        group = ", ".join(f"{name} {value}" for name, value in item["group"].items())
        return f"{group}: {item['value']}, {item['j']:.1f} times as common as among all"
    return str(item)


def _skipped(made: AuditReport) -> Iterator[str]:
    if not made.skipped:
        yield "<p>Every step of the audit was made.</p>"
        return
    items = "".join(
        f"<li><strong>{escape(name)}</strong>: {escape(why)}</li>" for name, why in made.skipped
    )
    yield f"<ul>{items}</ul>"


def _colours(made: AuditReport) -> Iterator[str]:
    audit = made.policy.audit
    most = (
        "any is amber, as the policy sets no limit"
        if audit.disclosures is None
        else f"more than {audit.disclosures:,} are red, fewer are amber"
    )
    yield (
        f"<p>An attacker who gets more than {audit.amber:.0%} above somebody who saw nothing is "
        f"amber, more than {audit.red:.0%} is red; one colour milder where that may be luck. "
        f"Disclosures about groups: {most}. A cell that exact releases give away is red. A file "
        "in which anybody is alone is amber or worse. A claim that is refuted and a promise that "
        "does not fit are red; what could not be decided, and what was not scored, is "
        "amber. The policy can set other limits, in <code>[audit]</code>.</p>"
    )
    yield (
        '<p class="soft">No attack that fails proves safety: others may be better. What the '
        "promise covers, it covers against all of them.</p>"
    )


def _title(one: Finding) -> str:
    return escape(TITLES.get(one.attack, one.attack))


def _anchor(one: Finding) -> str:
    return escape(one.attack.replace(" ", "-"))


def _chip(colour: str) -> str:
    return f'<span class="chip {colour}">{WORDS[colour]}</span>'


def _sentence(text: str) -> str:
    said = text[:1].upper() + text[1:]
    return said if said.endswith((".", "…")) else f"{said}."
