"""The whole audit: one step after another, each with its time, on a copy of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.errors import AdomniaError
from adomnia.present import terminal
from adomnia.review.audit_report import AuditReport
from adomnia.review.audit_steps import STEPS, Case, Skip
from adomnia.review.rehearsal import rehearsal

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = ["Case", "examine"]


def examine(case: Case) -> AuditReport:
    """Run every step; a step that cannot be made is listed with the reason."""
    findings: list[Finding] = []
    skipped: list[tuple[str, str]] = []
    with rehearsal(case.policy) as database, terminal.progress("auditing", len(STEPS)) as bar:
        spent, released = database.budget()["data"]["spent"], database.desk.public()[0]
        for name, step in STEPS:
            try:
                findings += step(case, database)
            except Skip as error:
                skipped.append((name, str(error)))
            except AdomniaError as error:
                if _named(case, name):
                    raise  # the curator asked for this one, and said something wrong
                skipped.append((name, f"{error.message}. {error.hint}".strip()))
            bar(1)
        told = database.policy
    return AuditReport(told, tuple(findings), tuple(skipped), case.names, spent, released)


def _named(case: Case, step: str) -> bool:
    """Whether the curator himself asked for a step."""
    asked = {
        "disclosures": bool(case.public or case.sensitive),
        "the microdata file": case.microdata is not None,
    }
    return asked.get(step, False)
