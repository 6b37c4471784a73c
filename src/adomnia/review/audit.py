"""The whole audit: one step after another, each with its time, on a copy of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adomnia.errors import AdomniaError
from adomnia.policy.policy import Policy
from adomnia.review.audit_report import AuditReport
from adomnia.review.audit_steps import STEPS, AuditCase, Skip
from adomnia.review.exact_columns import release_count
from adomnia.review.rehearsal import rehearsal

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["STEPS", "AuditCase", "examine"]


def examine(
    policy: Policy,
    case: AuditCase,
    source: Any = None,
    progress: Callable[[float], None] | None = None,
) -> AuditReport:
    """Run every step; a step that cannot be made is listed with the reason.

    `progress` is called with 1 after each of the `STEPS`. A QuestionError comes out only of a
    step that the curator asked for himself, by saying what is public or giving a file.
    """
    findings: list[Finding] = []
    skipped: list[tuple[str, str]] = []
    with rehearsal(policy, source) as database:
        spent, released = database.budget()["data"]["spent"], release_count(database)
        for name, step in STEPS:
            try:
                findings += step(case, database)
            except Skip as error:
                skipped.append((name, str(error)))
            except AdomniaError as error:
                if _asked_for(case, name):
                    raise  # the curator asked for this one, and said something wrong
                skipped.append((name, f"{error.message}. {error.hint}".strip()))
            if progress is not None:
                progress(1)
        audited = database.policy
    return AuditReport(audited, tuple(findings), tuple(skipped), case.names, spent, released)


def _asked_for(case: AuditCase, step: str) -> bool:
    """Whether the curator himself asked for a step."""
    asked = {
        "disclosures": bool(case.public or case.sensitive),
        "the microdata file": case.microdata is not None,
    }
    return asked.get(step, False)
