"""Memory: what an analyst has been told, found in the ledger and read when it is needed.

Nothing is kept in a process: the ledger's index leads from a digest of what was measured to the
receipts, and records and answers are read from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from adomnia.curator.plan import SUMMED, Plan, tables_of
from adomnia.curator.policy import Policy
from adomnia.curator.register import released
from adomnia.curator.reuse import Known
from adomnia.errors import LedgerError
from adomnia.ledger.account import RELEASED, Account
from adomnia.ledger.journal import Journal
from adomnia.mechanisms.measuring import Measuring
from adomnia.mechanisms.noisy import Noisy
from adomnia.queries.canonical import digest, expression_from, measurement_from
from adomnia.queries.expression import Expr

__all__ = ["Memory"]

MAX_TABLES = 100
"""Only the latest tables are tried for a coarser one, so that asking stays fast."""

MAX_SAME = 20
"""Of equal measurements each is sharper than the one before: the latest are tried."""


@dataclass(frozen=True)
class Memory:
    """What one analyst was told of one version of the data."""

    journal: Journal
    policy: Policy
    analyst: str
    version: str

    def candidates(self, plan: Plan, step: Measuring) -> Iterator[Known]:
        """The same measurement if there is one, then tables that might be summed to it."""
        same = self._receipts(plan.found_by(step, self.version))
        for receipt in islice(reversed(same), MAX_SAME):
            yield from self._told(receipt, plan.found_by(step, self.version))
        if isinstance(step.measurement, SUMMED):
            tables = self._receipts(tables_of(self.version))
            for receipt in islice(reversed(tables), MAX_TABLES):
                yield from self._told(receipt)
            for receipt in self._receipts(RELEASED + digest(self.version)):
                (published,) = self._answer(receipt)["released"]
                yield from released(self.policy, receipt, published["marginals"])

    @cached_property
    def _account(self) -> Account:
        return self.journal.account()

    def _receipts(self, name: str) -> tuple[str, ...]:
        return self._account.measured(self.analyst, name)

    def _told(self, receipt: str, only: str | None = None) -> Iterator[Known]:
        """What was released under a receipt; the one measurement of this digest, or all."""
        record = self._record(receipt)
        where, keys = expression_from(record["where"]), _keys(record["keys"])
        place = 0
        for number, part in enumerate(record["parts"]):
            together = "parts" in part  # selected keys: several measurements in one release
            for inner in part["parts"] if together else (part,):
                at = (number, place if together else None)
                found = record["measured"][place]
                place += 1
                if only in (None, found):
                    measurement = measurement_from(inner["measurement"])
                    name = _Told(self, receipt, at)
                    yield Known(
                        where, keys, measurement, name.load, receipt, name.keys,
                        same=only is not None,
                    )  # fmt: skip

    def _record(self, receipt: str) -> Mapping[str, Any]:
        entry = self.journal.reservation(receipt)
        if entry is None:
            raise LedgerError("the ledger does not have a receipt that it has")
        found: Mapping[str, Any] = entry.body["use"]
        return found

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
    at: tuple[int, int | None]

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
