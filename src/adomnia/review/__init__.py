"""A curator judges data, releases and the promise itself, with every attack at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.exports import Exports

if TYPE_CHECKING:
    from adomnia.review.attacks import (
        Sums,
        attack_averaging,
        attack_made_up,
        attack_prior,
        attack_sums,
        attack_tracker,
        planned_repeats,
    )
    from adomnia.review.audit_report import COLOURS, AuditReport, judge
    from adomnia.review.check.examination import check_source
    from adomnia.review.check.remarks import Remark, remarks
    from adomnia.review.check.source_check import ExceededLimit, SourceCheck
    from adomnia.review.disclosures import Roles, count_disclosures, disclosures_of
    from adomnia.review.draft import Draft, DraftColumn, Wish, confirmed, draft_policy
    from adomnia.review.gate import ReleaseCheck, check_release, gate_of
    from adomnia.review.numbers_comparison import ComparedNumbers
    from adomnia.review.records_comparison import (
        Association,
        ComparedCell,
        ComparedTable,
        RecordsComparison,
        compare_records,
        refuse_comparison,
    )

_MEMBERS = {
    "attacks": "Sums attack_averaging attack_made_up attack_prior attack_sums attack_tracker "
    "planned_repeats",
    "audit_report": "COLOURS AuditReport judge",
    "check.examination": "check_source",
    "check.remarks": "Remark remarks",
    "check.source_check": "ExceededLimit SourceCheck",
    "disclosures": "Roles count_disclosures disclosures_of",
    "draft": "Draft DraftColumn Wish confirmed draft_policy",
    "gate": "ReleaseCheck check_release gate_of",
    "numbers_comparison": "ComparedNumbers",
    "records_comparison": "Association ComparedCell ComparedTable RecordsComparison "
    "compare_records refuse_comparison",
}
"""What each module of the room gives to everybody."""

__all__ = [
    "COLOURS",
    "Association",
    "AuditReport",
    "ComparedCell",
    "ComparedNumbers",
    "ComparedTable",
    "Draft",
    "DraftColumn",
    "ExceededLimit",
    "RecordsComparison",
    "ReleaseCheck",
    "Remark",
    "Roles",
    "SourceCheck",
    "Sums",
    "Wish",
    "attack_averaging",
    "attack_made_up",
    "attack_prior",
    "attack_sums",
    "attack_tracker",
    "check_release",
    "check_source",
    "compare_records",
    "confirmed",
    "count_disclosures",
    "disclosures_of",
    "draft_policy",
    "gate_of",
    "judge",
    "planned_repeats",
    "refuse_comparison",
    "remarks",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
