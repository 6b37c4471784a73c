"""What noisy tables of the policy's own data would say about groups, counted exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.audit.files import CodedColumns
from adomnia.curator.database import PrivateDatabase
from adomnia.errors import QuestionError
from adomnia.policy.policy import Audit, Policy
from adomnia.privacy.loss import Amount
from adomnia.review.exact_columns import own_columns

if TYPE_CHECKING:
    from adomnia.audit.disclosure.disclosure_report import (
        DisclosureReport,
        DisclosureTerms,
        TableNeighbors,
    )

__all__ = ["Roles", "count_disclosures", "disclosures_of", "relation", "terms_of"]

EPSILONS = ("2", "1", "0.5", "0.1", "0.01")


@dataclass(frozen=True)
class Roles:
    """Which attributes somebody may know of a person, and which should not be learned.

    >>> Roles(("sex", "age"), "income").names
    ('sex', 'age', 'income')
    """

    public: tuple[str, ...]
    sensitive: str

    @classmethod
    def of(cls, public: Sequence[str], sensitive: str | None, audit: Audit) -> Roles:
        """As told, else as the policy says; raises a QuestionError where they make no table."""
        known, secret = tuple(public) or audit.public, sensitive or audit.sensitive
        if not known or not secret:
            raise QuestionError(
                "say what is public and what is sensitive",
                "for example --public sex,region --sensitive income, or in [audit] of the policy",
            )
        if len(known) < 2:
            raise QuestionError("two public attributes or more", "tables of two are looked at")
        if secret in known:
            raise QuestionError(f"{secret!r} cannot be both public and sensitive", "name it once")
        return cls(known, secret)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, the sensitive one last."""
        return (*self.public, self.sensitive)


def relation(policy: Policy) -> TableNeighbors:
    """The neighbours of the paper that a policy's come nearest to."""
    return "unbounded" if policy.neighbors.relation == "unbounded" else "bounded"


def terms_of(audit: Audit, neighbors: TableNeighbors, **given: Any) -> DisclosureTerms:
    """What counts as a disclosure: as given, else as the policy says."""
    from adomnia.audit.disclosure.disclosure_report import DisclosureTerms  # noqa: PLC0415 (slow to import)

    limits = {name: given.pop(name, None) for name in ("tau", "kj", "kcp")}
    chosen = {n: getattr(audit, n) if value is None else value for n, value in limits.items()}
    chosen["kj"] = Fraction(str(chosen["kj"]))  # told as it was written: 3, not 3.0
    return DisclosureTerms(**chosen, neighbors=neighbors, **given)


def count_disclosures(
    columns: CodedColumns, roles: Roles, epsilons: Iterable[Amount], terms: DisclosureTerms
) -> DisclosureReport:
    """What all two-way tables of these columns would disclose, at each epsilon.

    Returns the number of disclosures and the error of the tables, by reading and epsilon. Raises a
    QuestionError where a role is no column or an epsilon is none.

    >>> import numpy as np
    >>> from adomnia.audit import DisclosureTerms
    >>> from adomnia.audit.files import CodedColumns
    >>> codes = {name: np.array([0, 1] * 20) for name in ("sex", "region", "ill")}
    >>> columns = CodedColumns(codes, dict.fromkeys(codes, ("no", "yes")))
    >>> roles, terms = Roles(("sex", "region"), "ill"), DisclosureTerms()
    >>> report = count_disclosures(columns, roles, [1], terms)
    >>> list(report.readings)
    ['pair']
    """
    from adomnia.audit.disclosure.disclosure import disclosures  # noqa: PLC0415 (slow to import)

    return disclosures(
        columns.codes, columns.domains, roles.public, roles.sensitive, epsilons, terms
    )


def disclosures_of(
    database: PrivateDatabase,
    roles: Roles,
    epsilons: Iterable[Amount] = EPSILONS,
    terms: DisclosureTerms | None = None,
) -> DisclosureReport:
    """What tables of the policy's own data would disclose; exact, and for the curator alone.

    Returns the number of disclosures and the error of the tables, by reading and epsilon. Raises a
    QuestionError where a role is not declared or an epsilon is none.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     report = disclosures_of(database, Roles(("sex", "age"), "region"), [1])
    >>> list(report.readings)
    ['pair', 'all']
    """
    policy = database.policy
    if terms is None:
        terms = terms_of(policy.audit, relation(policy), reading="both")
    return count_disclosures(own_columns(database, roles.names), roles, epsilons, terms)
