"""The whole audit: one step after another, each with its time, on a copy of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adomnia.curator.policy_lines import refuse_several
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
    view: str | None = None,
) -> AuditReport:
    """Run every step; a step that cannot be made is listed with the reason.

    `progress` is called with what was done of the `STEPS`, together 1 for each. A QuestionError
    comes out only of a step that the curator asked for himself, by saying what is public or giving
    a file. Of several tables a `view` is audited, as the one table that it is.
    """
    if view is None:
        refuse_several(policy, "an audit is of one table")
    findings: list[Finding] = []
    skipped: list[tuple[str, str]] = []
    with rehearsal(policy, source, view) as database:
        spent, released = database.budget()["data"]["spent"], release_count(database)
        for name, step in STEPS:
            part = _StepProgress(progress)
            try:
                findings += step(replace(case, advance=part.advance), database)
            except Skip as error:
                skipped.append((name, str(error)))
            except AdomniaError as error:
                if _asked_for(case, name):
                    raise  # the curator asked for this one, and said something wrong
                skipped.append((name, f"{error.message}. {error.hint}".strip()))
            part.end()
        audited = database.policy
    return AuditReport(audited, tuple(findings), tuple(skipped), case.names, spent, released)


class _StepProgress:
    """One step of a progress that may be told in parts: together they are 1."""

    def __init__(self, progress: Callable[[float], None] | None) -> None:
        self._progress, self._left = progress, 1.0

    def advance(self, share: float) -> None:
        """So much more of the step is done."""
        some = min(share, self._left)
        self._left -= some
        if self._progress is not None:
            self._progress(some)

    def end(self) -> None:
        """The step is done."""
        self.advance(self._left)


def _asked_for(case: AuditCase, step: str) -> bool:
    """Whether the curator himself asked for a step."""
    asked = {
        "disclosures": bool(case.public or case.sensitive),
        "the microdata file": case.microdata is not None,
    }
    return asked.get(step, False)
