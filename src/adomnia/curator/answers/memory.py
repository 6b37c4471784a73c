"""Memory: what an analyst has been told, found in the ledger and read when it is needed.

Nothing is kept in a process: the ledger's index leads from a digest of what was measured to the
receipts, and records and answers are read from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from adomnia.curator.answers.released_tables import released
from adomnia.curator.answers.reuse import Known
from adomnia.curator.planning.plan import SUMMED, Plan, tables_of
from adomnia.errors import LedgerError
from adomnia.ledger.account import RELEASED, Account
from adomnia.ledger.journal import Journal
from adomnia.mechanisms.measurement_mechanisms import Measuring
from adomnia.mechanisms.noisy_values import Noisy
from adomnia.policy.policy import Policy
from adomnia.queries.canonical import digest, expression_from, measurement_from
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import Measurement

__all__ = ["Memory", "Recorded", "recorded"]

Place = tuple[int, int | None]
"""Which mechanism of a use released it, and which of its parts where it has several."""

MAX_TABLES = 100
"""Only the latest tables are tried for a coarser one, so that asking stays fast."""

MAX_SAME = 20
"""Of equal measurements each is sharper than the one before: the latest are tried."""


@dataclass(frozen=True)
class Recorded:
    """What a receipt's record says: rows and cells, and each measurement with its digest and its
    place in the answer."""

    where: Expr | None
    keys: tuple[Expr, ...]
    parts: tuple[tuple[Measurement, str, Place], ...]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Recorded:
        """The record of a use that answered a question."""
        listed: list[tuple[Measurement, Place]] = []
        for number, part in enumerate(record["parts"]):
            together = part.get("parts")  # selected keys: several measurements in one release
            for place, inner in enumerate(together or (part,)):
                at = (number, place if together else None)
                listed.append((measurement_from(inner["measurement"]), at))
        digests = record["measured"][: len(listed)]
        parts = tuple((m, name, at) for (m, at), name in zip(listed, digests, strict=True))
        return cls(expression_from(record["where"]), _keys(record["keys"]), parts)


Recall = Callable[[str], Recorded]
"""The record under a receipt; it never changes, so whoever asks may keep some."""


def recorded(journal: Journal, receipt: str) -> Recorded:
    """The record under a receipt, read from the ledger."""
    entry = journal.reservation(receipt)
    if entry is None:
        raise LedgerError("the ledger does not have a receipt that it has")
    return Recorded.of(entry.body["use"])


@dataclass(frozen=True)
class Memory:
    """What one analyst was told of one version of the data."""

    journal: Journal
    policy: Policy
    analyst: str
    version: str
    recall: Recall

    def candidates(self, plan: Plan, step: Measuring) -> Iterator[Known]:
        """The same measurement if there is one, then tables that might be summed to it."""
        yield from self.same(plan, step)
        if isinstance(step.measurement, SUMMED):
            tables = self._receipts(tables_of(self.version))
            for receipt in islice(reversed(tables), MAX_TABLES):
                yield from self._told(receipt)
            for receipt in self._receipts(RELEASED + digest(self.version)):
                for published in self._answer(receipt)["released"]:
                    yield from released(self.policy, receipt, published["marginals"])

    def same(self, plan: Plan, step: Measuring) -> Iterator[Known]:
        """The same measurement, the newest first."""
        name = plan.found_by(step, self.version)
        for receipt in islice(reversed(self._receipts(name)), MAX_SAME):
            yield from self._told(receipt, name)

    @cached_property
    def _account(self) -> Account:
        return self.journal.account()

    def _receipts(self, name: str) -> tuple[str, ...]:
        return self._account.measured(self.analyst, name)

    def _told(self, receipt: str, only: str | None = None) -> Iterator[Known]:
        """What was released under a receipt; the one measurement of this digest, or all."""
        record = self.recall(receipt)
        for measurement, found, at in record.parts:
            if only in (None, found):
                told = _Told(self, receipt, at)
                yield Known(
                    record.where, record.keys, measurement, told.load, receipt, told.keys,
                    same=only is not None,
                )  # fmt: skip

    def _answer(self, receipt: str) -> Mapping[str, Any]:
        body = self.journal.answer(receipt)
        if body is None:
            raise LedgerError("the ledger does not have an answer that it has")
        return body


@dataclass(frozen=True)
class _Told:
    """One measurement of an answer, read from the ledger when its values are needed."""

    memory: Memory
    receipt: str
    at: Place

    @cached_property
    def _body(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.memory._answer(self.receipt)["released"][self.at[0]]
        return found

    def load(self) -> Noisy:
        """The noisy values."""
        part = self._body if self.at[1] is None else self._body["parts"][self.at[1]]
        return Noisy.from_json(part)

    def keys(self) -> tuple[tuple[Any, ...], ...] | None:
        """The keys that were selected; None where all keys are public."""
        keys = self._body.get("keys")
        return None if keys is None else tuple(tuple(key) for key in keys)


def _keys(records: Any) -> tuple[Expr, ...]:
    keys = tuple(expression_from(record) for record in records)
    return tuple(key for key in keys if key is not None)
