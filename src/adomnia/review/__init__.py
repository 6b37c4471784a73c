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
    from adomnia.review.check.tables_check import TablesCheck, check_tables
    from adomnia.review.disclosures import Roles, count_disclosures, disclosures_of
    from adomnia.review.drafts.draft import Draft, DraftColumn, Wish, confirmed, draft_policy
    from adomnia.review.gate import ReleaseCheck, check_release, gate_of
    from adomnia.review.microdata.numbers_comparison import ComparedNumbers
    from adomnia.review.microdata.records_comparison import (
        Association,
        ComparedCell,
        ComparedTable,
        RecordsComparison,
        compare_records,
        refuse_comparison,
    )
    from adomnia.review.tables_draft.draft import draft_tables
    from adomnia.review.tables_draft.drafted_tables import DraftTable, TablesDraft

_MEMBERS = {
    "attacks": "Sums attack_averaging attack_made_up attack_prior attack_sums attack_tracker "
    "planned_repeats",
    "audit_report": "COLOURS AuditReport judge",
    "check.examination": "check_source",
    "check.remarks": "Remark remarks",
    "check.source_check": "ExceededLimit SourceCheck",
    "check.tables_check": "TablesCheck check_tables",
    "disclosures": "Roles count_disclosures disclosures_of",
    "drafts.draft": "Draft DraftColumn Wish confirmed draft_policy",
    "gate": "ReleaseCheck check_release gate_of",
    "microdata.numbers_comparison": "ComparedNumbers",
    "microdata.records_comparison": "Association ComparedCell ComparedTable RecordsComparison "
    "compare_records refuse_comparison",
    "tables_draft.draft": "draft_tables",
    "tables_draft.drafted_tables": "DraftTable TablesDraft",
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
    "DraftTable",
    "ExceededLimit",
    "RecordsComparison",
    "ReleaseCheck",
    "Remark",
    "Roles",
    "SourceCheck",
    "Sums",
    "TablesCheck",
    "TablesDraft",
    "Wish",
    "attack_averaging",
    "attack_made_up",
    "attack_prior",
    "attack_sums",
    "attack_tracker",
    "check_release",
    "check_source",
    "check_tables",
    "compare_records",
    "confirmed",
    "count_disclosures",
    "disclosures_of",
    "draft_policy",
    "draft_tables",
    "gate_of",
    "judge",
    "planned_repeats",
    "refuse_comparison",
    "remarks",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
