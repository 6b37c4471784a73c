"""The page of the audit: what the last one found, as the report shows it.

An audit rests on exact data, so it is for curators; and what names groups or exact values is left
out here, also of an audit that was made with names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from adomnia.audit.finding import NAMING, Finding, Rate
from adomnia.errors import QuestionError
from adomnia.present.findings import FindingView, view
from adomnia.review.audit_report import COLOURS

if TYPE_CHECKING:
    from adomnia.policy.policy import Policy
    from adomnia.server.console.console import PageContext

__all__ = ["show"]

LARGEST = 50 * 1024 * 1024


async def show(context: PageContext) -> Response:
    """The findings of the newest audit beside the policy, or how to make one."""
    if not context.is_curator:
        return await context.page("audit.html", audit=None, views=[])
    policy = context.service.database.policy
    audit, views = await context.service.run(_latest, policy)
    same = audit is not None and audit.get("policy") == policy.digest
    return await context.page("audit.html", audit=audit, views=views, same=same)


def _latest(policy: Policy) -> tuple[Mapping[str, Any] | None, list[FindingView]]:
    read = [found for file in policy.file.parent.glob("*/audit.json") if (found := _read(file))]
    newest = max(read, key=lambda audit: str(audit["made"]), default=None)
    if newest is None:
        return None, []
    try:
        shown = [_view(facts) for facts in _findings(newest)]
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


def _view(facts: dict[str, Any]) -> FindingView:
    colour = facts["colour"]
    fields = {name: value for name, value in facts.items() if name != "colour"}
    return view(Finding(**{**fields, "success": Rate(**facts["success"])}), colour)
