"""The gate of a release: what its tables would disclose, seen by the curator before it is paid.

It reads exact counts and spends nothing, so its outcome is no differentially private answer:
only the curator may see it (`docs/audit.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.audit.files import CodedColumns
from adomnia.curator.database import PrivateDatabase
from adomnia.curator.releases.release_plan import CONSISTENT, ReleasePlan
from adomnia.errors import NotAllowedError, QuestionError
from adomnia.policy.audit_section import Gate
from adomnia.review.disclosures import relation, terms_of
from adomnia.review.exact_columns import own_columns

if TYPE_CHECKING:
    from adomnia.audit.disclosure.disclosure_report import Disclosure

__all__ = ["ReleaseCheck", "check_release", "gate_of"]

LEAST = 1e-6
"""A scale of noise in the place of none, where a table comes out exactly."""


@dataclass(frozen=True)
class ReleaseCheck:
    """How much planned tables disclose in expectation, and how much the policy allows.

    `found` names groups and values: exact data, for the curator's own eyes. `gate` is what the
    policy does where too much is disclosed: refuse or warn.

    >>> check = ReleaseCheck(tables=2, allowed=0, found=())
    >>> check.passed, check.to_json()["disclosures"]
    (True, 0)
    """

    tables: int
    allowed: int
    found: tuple[Disclosure, ...]
    gate: Gate = "refuse"

    @property
    def passed(self) -> bool:
        """Whether no more is disclosed than is allowed."""
        return len(self.found) <= self.allowed

    def enforce(self) -> None:
        """Raise a NotAllowedError where it has not passed and the policy refuses then."""
        if not self.passed and self.gate == "refuse":
            raise NotAllowedError(
                "the planned tables would disclose more than the policy allows; nothing was spent",
                'publish fewer or coarser tables, pay less, or set gate = "warn" in [audit]',
            )

    def to_json(self) -> dict[str, Any]:
        """The check as plain JSON values, groups and values by their names."""
        return {
            "allowed": self.allowed,
            "disclosures": len(self.found),
            "found": [vars(one) for one in self.found],
        }


def gate_of(
    database: PrivateDatabase, planned: ReleasePlan, analyst: str | None = None, asked: bool = False
) -> ReleaseCheck | None:
    """The check that a planned release has to pass before it is paid; None where it has none.

    Without a limit in the policy there is a gate only if it is `asked` for, and nothing may be
    disclosed. Behind it only the curator releases: its outcome would tell others.

    Raises a NotAllowedError where an `analyst` would release behind a gate, and what
    `check_release` raises.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     gate_of(database, database.plan_release(ways=1, epsilon=1)) is None
    True
    """
    if database.policy.audit.disclosures is None and not asked:
        return None
    if analyst is not None:  # whether or not it would pass: the outcome would tell
        raise NotAllowedError(
            "a release behind the gate is the curator's own", "leave --analyst out"
        )
    return check_release(database, planned)


def check_release(database: PrivateDatabase, planned: ReleasePlan) -> ReleaseCheck:
    """What the tables of a planned release would disclose, in expectation, before it is paid.

    Returns how much, which, and how much the policy allows. Raises a QuestionError where [audit] of
    the policy does not say what is public and sensitive, or the method's noise has no scale.

    >>> from adomnia.testing import town
    >>> audit = '[audit]\\npublic = ["sex"]\\nsensitive = "region"'
    >>> with town(rows=50, more=audit).open() as database:
    ...     check_release(database, database.plan_release(ways=2, epsilon="0.01")).allowed
    0
    """
    audit = database.policy.audit
    if not audit.public or audit.sensitive is None:
        raise QuestionError(
            "the gate does not know what is sensitive",
            'say in [audit] of the policy: public = ["sex", …] and sensitive = "…"',
        )
    if planned.spec.method == CONSISTENT:
        raise QuestionError(
            f"the gate cannot judge --method {CONSISTENT}", "its noise has no scale; leave one out"
        )
    tables = _tables(planned, audit.public, audit.sensitive)
    found: list[Disclosure] = []
    if tables:
        names = dict.fromkeys(name for axes in tables for name in axes)
        columns = own_columns(database, [*names])
        for axes, scale in tables.items():
            found += _expected(database, columns, axes, scale)
    return ReleaseCheck(len(tables), audit.disclosures or 0, tuple(found), audit.gate)


def _tables(
    planned: ReleasePlan, public: tuple[str, ...], sensitive: str
) -> dict[tuple[str, ...], float]:
    """Tables of public attributes and the sensitive one that follow, with the least noise of each.

    Other attributes of a table can be summed over. That adds up their noise; it is taken as if
    it did not, and a key such as `age / 10` as if it were the column, so that no disclosure is
    missed.
    """
    keys = planned.layout.keys
    tables: dict[tuple[str, ...], float] = {}
    for subset in planned.workload.marginals:
        held = dict.fromkeys(name for index in subset for name in keys[index].columns)
        axes = (*(name for name in held if name in public), sensitive)
        if sensitive in held and len(axes) > 1:
            scale = _scale(planned, subset)
            tables[axes] = min(scale, tables.get(axes, scale))
    return tables


def _expected(
    database: PrivateDatabase, columns: CodedColumns, axes: tuple[str, ...], scale: float
) -> tuple[Disclosure, ...]:
    from adomnia.audit.disclosure.disclosure import expected_disclosures  # noqa: PLC0415 (slow)

    policy = database.policy
    report = expected_disclosures(
        {axes: columns.table(axes)},
        ["1"],
        terms_of(policy.audit, relation(policy), names=True),
        sensitivity=Fraction(scale),
        domains=columns.domains,
    )
    return report.readings["planned"][0].found


def _scale(planned: ReleasePlan, subset: tuple[int, ...]) -> float:
    """The scale of Laplace noise as wide as that of the table's cells, before they are fitted.

    The paper's methods promise no deviation of a cell: there it is that of tables counted one by
    one.
    """
    deviation = planned.deviations.get(subset)
    if deviation is not None:
        return max(LEAST, deviation / math.sqrt(2))
    loss = planned.spec.tables_loss
    epsilon = float(loss.epsilon) if loss.epsilon else math.sqrt(2 * float(loss.rho))
    return 2 * len(planned.workload.marginals) / epsilon
