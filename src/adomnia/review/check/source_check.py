"""A source held against its policy: what is wrong with it, exactly, for the curator's eyes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from adomnia.engines.source_facts import (
    CutRows,
    InspectedColumn,
    InspectedNumbers,
    Inspection,
    LineCounts,
    SourceChanges,
    UndeclaredColumn,
)
from adomnia.errors import CheckError
from adomnia.policy.policy import Policy
from adomnia.review.check.personal_text import looks_like
from adomnia.review.check.row_sizes import row_sizes
from adomnia.review.check.table_links import TableLinks
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Timestamps, step_text

__all__ = ["UNSAID", "ExceededLimit", "InspectedColumn", "SourceCheck", "bound_text", "share_of"]

UNSAID = "not said"
"""The origin of a domain of which the policy says nothing."""


@dataclass(frozen=True)
class ExceededLimit:
    """A limit of the policy that was exceeded: its name, of what, how far, and how far it may.

    >>> ExceededLimit("left_out", "income", 0.2, 0.01).limit
    'left_out'
    """

    limit: str
    about: str
    found: float
    allowed: float


@dataclass(frozen=True)
class SourceCheck:
    """What a source is like beside its policy, and beside the edition that is in force.

    All of it is exact and for the curator alone. `exceeded` are the limits of the policy that it
    exceeds, `edition` the number of the edition it was compared with, and `version` tells which
    state of the source it was. One of several tables has `links`: its key, and what it refers to.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     check = database.check()
    >>> check.inspection.rows, check.edition, check.exceeded
    (50, 1, ())
    """

    policy: Policy
    inspection: Inspection
    changes: SourceChanges | None = None
    edition: int | None = None
    version: str | None = None
    unknown_receipts: frozenset[str] = field(default_factory=frozenset)
    lines: LineCounts | None = None
    links: TableLinks | None = None

    @property
    def exceeded(self) -> tuple[ExceededLimit, ...]:
        """The limits of the policy that are exceeded, the farthest first."""
        found = [one for one in self._shares() if one.found > one.allowed]
        return tuple(sorted(found, key=lambda one: (one.allowed - one.found, one.about)))

    def enforce(self) -> None:
        """Raise a CheckError where the source exceeds a limit of the policy."""
        if self.exceeded:
            named = dict.fromkeys(f"{one.limit} ({one.about})" for one in self.exceeded)
            raise CheckError(
                "the source exceeds limits of [check]: " + ", ".join(named),
                "adomnia check says how far; correct the source or the policy, and check again",
            )

    def origin(self, name: str) -> str:
        """Whence the domain of an attribute is: public, paid, taken from the data, or not said."""
        told = self.policy.origins.get(name)
        if told is None:
            return UNSAID
        if told in ("public", "data"):
            return {"public": "public knowledge", "data": "taken from the data, not covered"}[told]
        known = told not in self.unknown_receipts
        return f"paid, receipt {told}" if known else f"receipt {told}, which the ledger lacks"

    def _shares(self) -> list[ExceededLimit]:
        """Everything that a limit is set for, whether it is exceeded or not."""
        limits, look = self.policy.check, self.inspection
        found = [("left_out", one.name, share_of(one.left_out, one.present))
                 for one in look.columns]  # fmt: skip
        if look.units is not None:
            found += [("cut", bound_text(cut), share_of(cut.rows, cut.of))
                      for cut in look.units.cuts]  # fmt: skip
            found.append(("nobody", "the unit", share_of(look.units.nobody, look.rows)))
        found.append(("repeated", "rows", share_of(look.repeated, look.rows)))
        if self.links is not None and self.links.key is not None:
            found.append(("repeated", self.links.key, share_of(self.links.repeated, look.rows)))
        if self.changes is not None:
            found += [("drift", one.name, one.variation) for one in self.changes.columns]
            found.append(("gone", "rows", share_of(self.changes.gone, self.changes.before)))
        allowed = asdict(limits)
        return [ExceededLimit(limit, about, share, allowed[limit])
                for limit, about, share in found if allowed[limit] is not None]  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """The check as plain JSON values."""
        look, limits = self.inspection, asdict(self.policy.check)
        return {
            "table": self.policy.table,
            "rows": look.rows,
            "edition": self.edition,
            "exceeded": [vars(one) for one in self.exceeded],
            "limits": {name: limit for name, limit in limits.items() if limit is not None},
            "columns": [self._column(one) for one in look.columns],
            "undeclared": [_undeclared(one) for one in look.undeclared],
            "repeated": {"rows": look.repeated, "most_alike": look.most_alike,
                         "share": share_of(look.repeated, look.rows)},
            "lines": None if self.lines is None else asdict(self.lines),
            "unit": self._units(),
            "changes": _changes(self.changes),
            **({} if self.links is None else self.links.to_json()),
        }  # fmt: skip

    def _column(self, one: InspectedColumn) -> dict[str, Any]:
        domain = self.policy.attributes[one.name].domain
        return {
            "name": one.name,
            "domain": _domain(domain),
            "origin": self.origin(one.name),
            "values": one.present,
            "null": one.rows - one.present,
            "null_share": share_of(one.rows - one.present, one.rows),
            "unread": one.unread,
            "unlisted": one.unlisted,
            "other": one.moved,
            "left_out": one.left_out,
            "left_out_share": share_of(one.left_out, one.present),
            "frequent": [list(pair) for pair in one.frequent],
            "counts": [[value, many] for value, many in one.counts.items()],
            **({} if one.numbers is None else _numbers(one.numbers)),
        }

    def _units(self) -> dict[str, Any] | None:
        units = self.inspection.units
        if units is None:
            return None
        return {
            "column": self.policy.unit,
            "nobody": units.nobody,
            "nobody_share": share_of(units.nobody, self.inspection.rows),
            **row_sizes(units.sizes),
            "cut": [
                {"bound": cut.bound, "group_by": cut.key, "rows": cut.rows, "of": cut.of,
                 "share": share_of(cut.rows, cut.of), "units": cut.units,
                 "sums": {name: {"cut": float(part), "whole": float(whole)}
                          for name, (part, whole) in cut.sums.items()}}
                for cut in units.cuts
            ],
        }  # fmt: skip


def share_of(part: int, whole: int) -> float:
    """A part as a share; of nothing it is none.

    >>> share_of(1, 4), share_of(0, 0)
    (0.25, 0.0)
    """
    return part / whole if whole else 0.0


def bound_text(cut: CutRows) -> str:
    """A bound, and the groups in which it cuts."""
    return cut.bound if cut.key is None else f"{cut.bound} by {cut.key}"


def _domain(domain: Domain) -> dict[str, Any]:
    if isinstance(domain, Categories):
        return {"values": list(domain.values), "other": domain.other}
    if isinstance(domain, Dates):
        return {"low": domain.low.isoformat(), "high": domain.high.isoformat()}
    if isinstance(domain, Timestamps):
        ends = {"low": domain.low.isoformat(), "high": domain.high.isoformat()}
        return {**ends, "step": step_text(domain.step), "zone": domain.zone}
    if isinstance(domain, Grid):
        return {name: float(getattr(domain, name)) for name in ("low", "high", "step")}
    return {}


def _numbers(numbers: InspectedNumbers) -> dict[str, Any]:
    bins = numbers.bins
    return {
        "below": numbers.below,
        "above": numbers.above,
        "ends": None if numbers.ends is None else [_plain(end) for end in numbers.ends],
        "mean": numbers.mean,
        "cleaned_mean": numbers.cleaned_mean,
        "bounds": [
            {"left_out": float(part), "low": _plain(low), "high": _plain(high)}
            for part, (low, high) in numbers.bounds.items()
        ],
        "spikes": [
            {"value": one.text if one.is_day else one.value, "rows": one.rows}
            for one in numbers.spikes
        ],
        "histogram": None if bins is None else asdict(bins),
    }


def _plain(end: float | date) -> Any:
    """An end as JSON has it: infinity is a text."""
    if isinstance(end, date):
        return end.isoformat()
    return end if math.isfinite(end) else str(end)


def _undeclared(one: UndeclaredColumn) -> dict[str, Any]:
    return {
        "name": one.name,
        "values": one.present,
        "null": one.rows - one.present,
        "distinct": one.distinct,
        "most_rows": one.most_rows,
        "looks_like": looks_like(one),
    }


def _changes(changes: SourceChanges | None) -> dict[str, Any] | None:
    if changes is None:
        return None
    return {
        "rows_before": changes.before,
        "rows_added": changes.added,
        "rows_gone": changes.gone,
        "rows_compared": changes.rows is not None,
        "columns": [
            {"name": one.name, "drift": one.variation, "new_values": one.new,
             "frequent": [list(pair) for pair in one.frequent]}
            for one in changes.all_columns
        ],
    }  # fmt: skip
