"""The examination of a source as it would be loaded now, beside the edition that is in force."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from typing import Any

from adomnia.curator.data.editions import Edition, Editions
from adomnia.curator.data.source_tables import line_counts
from adomnia.curator.ledger_view import open_ledger
from adomnia.curator.loading import opened_source
from adomnia.engines.exact import changes, inspect
from adomnia.engines.source_facts import SourceChanges
from adomnia.errors import PolicyError
from adomnia.policy.policy import Policy
from adomnia.review.check.personal_text import PATTERNS
from adomnia.review.check.source_check import SourceCheck

__all__ = ["check_source", "refuse_no_limits"]


def check_source(policy: Policy, source: Any = None) -> SourceCheck:
    """What the source of a policy is like now; nothing is loaded, written or spent.

    `source` is read in the place of the policy's where it is handed in. A policy need not be
    confirmed for it. Returns exact numbers, for the curator alone. Raises a PolicyError where the
    source cannot be read or lacks a column that the policy names.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     check_source(database.policy).inspection.rows
    50
    """
    editions, current = _in_force(policy, source)
    with opened_source(policy, source) as (engine, table):
        version = engine.version()
        found = inspect(engine, table, PATTERNS)
        changed: SourceChanges | None = None
        if current is not None:
            with closing(editions.open(current, table)) as before:
                changed = changes(engine, table, before)
    place = policy.beside(policy.source) if source is None else source
    lines = line_counts(place, policy.relation or policy.table)
    unknown = frozenset(_unknown(policy, policy.origins.values()))
    number = None if current is None or changed is None else current.number
    return SourceCheck(policy, found, changed, number, version, unknown, lines)


def refuse_no_limits(policy: Policy) -> None:
    """Refuse to load by limits that nobody has set."""
    if not policy.check.any:
        raise PolicyError(
            "the policy sets no limits by which a source could be checked",
            "write them, for example [check] and below it left_out = 0.01",
            str(policy.file),
        )


def _in_force(policy: Policy, source: Any) -> tuple[Editions, Edition | None]:
    """The edition that is asked; there is none where the source is read in place."""
    editions = Editions(policy)
    return editions, None if policy.in_place or source is not None else editions.known()


def _unknown(policy: Policy, origins: Iterable[str]) -> list[str]:
    """Receipts of origins that the ledger does not know."""
    receipts = [one for one in origins if one not in ("public", "data")]
    if not receipts:
        return []
    with open_ledger(policy) as journal:
        return [one for one in receipts if journal is None or journal.reservation(one) is None]
