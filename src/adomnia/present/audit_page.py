"""The page of an audit, for a data protection officer: promise, findings, what to change."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.curator.releases.release_folder import refuse_folder
from adomnia.errors import MachineryError
from adomnia.present.findings import view
from adomnia.present.promise import promise_text
from adomnia.present.records_plot import records_chart
from adomnia.present.templating import render
from adomnia.review.audit_report import COLOURS, AuditReport

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["audit_json", "audit_page", "write_audit"]

MOST_NAMED = 200


def write_audit(report: AuditReport, folder: str | Path) -> Path:
    """`index.html` and `audit.json` in a new folder, whole or not at all."""
    place = Path(folder)
    refuse_folder(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix=".audit-", dir=place.parent))
    try:
        (room / "index.html").write_text(audit_page(report), "utf-8")
        facts = json.dumps(audit_json(report), indent=1, ensure_ascii=False, default=str)
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


def audit_json(report: AuditReport) -> dict[str, Any]:
    """The audit as plain JSON values, with the promise in words."""
    return {**report.to_json(), "promise": _promise(report)}


def audit_page(report: AuditReport) -> str:
    """The HTML of an audit."""
    pairs = zip(report.findings, report.colours(), strict=True)
    views = [view(one, colour) for one, colour in pairs]
    alarming = [one for one in views if one.colour != "green"]
    facts = {
        "table": report.policy.table,
        "made": f"{datetime.now(UTC):%d %B %Y, %H:%M} UTC",
        "names": report.names,
        "views": views,
        "changes": sorted(alarming, key=lambda one: -COLOURS.index(one.colour)),
        "promise": _promise(report),
        "named": {one.anchor: list(_named(one.finding)) for one in views} if report.names else {},
        "skipped": report.skipped,
        "audit": report.policy.audit,
        "records": records_chart(report.findings),
    }
    return render("audit.html", facts)


def _promise(report: AuditReport) -> list[str]:
    return promise_text(report.policy, report.spent, report.released)


def _named(finding: Finding) -> Iterator[tuple[str, list[str], int]]:
    """Who and what exactly, where it was asked for; and how many more are only in the JSON."""
    harmless = set(finding.without_names()["details"])
    for key, listed in finding.details.items():
        if key in harmless or key == "guess" or not isinstance(listed, list) or not listed:
            continue
        items = [_item(item) for item in listed[:MOST_NAMED]]
        yield key.replace("_", " "), items, max(0, len(listed) - MOST_NAMED)


def _item(item: Any) -> str:
    if isinstance(item, dict) and "group" in item:
        group = ", ".join(f"{name} {value}" for name, value in item["group"].items())
        return f"{group}: {item['value']}, {item['j']:.1f} times as common as among all"
    return str(item)
