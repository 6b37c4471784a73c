"""The page of the audit: what the last one found, with the pictures of the report room.

An audit rests on exact data, so it is for curators; and what names groups or exact values is left
out here, also of an audit that was made with names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError
from adomnia.present.audit_page import TITLES, WORDS
from adomnia.present.finding_plots import plot
from adomnia.present.findings import COLOURS, NAMING, measured

if TYPE_CHECKING:
    from adomnia.policy.policy import Policy
    from adomnia.server.console.console import PageContext

__all__ = ["show"]

LARGEST = 50 * 1024 * 1024


@dataclass(frozen=True)
class Shown:
    """A finding with its title, colour, figures in words and picture."""

    finding: Finding
    title: str
    colour: str
    word: str
    figures: str
    drawing: str


async def show(context: PageContext) -> Response:
    """The findings of the newest audit beside the policy, or how to make one."""
    if not context.is_curator:
        return await context.page("audit.html", audit=None, findings=[])
    policy = context.service.database.policy
    audit, findings = await context.service.run(_latest, policy)
    same = audit is not None and audit.get("policy") == policy.digest
    return await context.page("audit.html", audit=audit, findings=findings, same=same, words=WORDS)


def _latest(policy: Policy) -> tuple[Mapping[str, Any] | None, list[Shown]]:
    read = [found for file in policy.file.parent.glob("*/audit.json") if (found := _read(file))]
    newest = max(read, key=lambda audit: str(audit["made"]), default=None)
    if newest is None:
        return None, []
    try:
        shown = [_shown(facts) for facts in _findings(newest)]
    except (KeyError, TypeError, ValueError):
        raise QuestionError(
            "the newest audit beside the policy cannot be read",
            "make a new one",
        ) from None
    return newest, sorted(shown, key=lambda one: -COLOURS.index(one.colour))


def _read(file: Path) -> dict[str, Any] | None:
    try:
        if file.stat().st_size > LARGEST:
            return None
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(found, dict) and {"made", "verdict", "findings", "policy"} <= found.keys()
    return found if known else None


def _findings(audit: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for facts in audit["findings"]:
        kept = {name: value for name, value in facts["details"].items() if name not in NAMING}
        yield {**facts, "details": kept}


def _shown(facts: dict[str, Any]) -> Shown:
    colour = facts["colour"]
    fields = {name: value for name, value in facts.items() if name != "colour"}
    one = Finding(**{**fields, "success": Rate(**facts["success"])})
    return Shown(one, TITLES.get(one.attack, one.attack), colour, WORDS[colour], measured(one),
                 plot(one))  # fmt: skip
