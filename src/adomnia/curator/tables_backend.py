"""One use of several tables: each of its mechanisms is checked against a table of its own and reads
that one; the ledger is that of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adomnia.curator.table_backend import TableBackend
from adomnia.ledger.journal import Journal
from adomnia.ledger.reserve import Budgets
from adomnia.mechanisms.mechanism import Mechanism
from adomnia.privacy.premises import Facts
from adomnia.privacy.reads import Reads
from adomnia.queries.blocks import Touched
from adomnia.schema.sealed import Sealed

__all__ = ["TablesBackend"]


@dataclass(frozen=True)
class TablesBackend:
    """Where such a use is spent: `each` has a table for every mechanism, in their order, and every
    mechanism reads something."""

    base: TableBackend
    each: tuple[TableBackend, ...]

    @property
    def journal(self) -> Journal:
        """The ledger."""
        return self.base.journal

    def budgets(self, analyst: str) -> Budgets:
        """The budgets of the data and of an analyst, as the policy says."""
        return self.base.budgets(analyst)

    def check(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Refuse what is priced below its cost on its own table."""
        for table, mechanism in zip(self.each, mechanisms, strict=True):
            table.check([mechanism])

    def ready(self, wanted: Sequence[Reads]) -> None:
        """Refuse what the engine cannot compute safely."""
        for table, reads in zip(self.each, wanted, strict=True):
            table.ready([reads])

    def facts(self, version: str) -> Facts:
        """What is the same on all neighbours: which edition."""
        return self.base.facts(version)

    def touched(self, wanted: Sequence[Reads]) -> Touched | None:
        """All blocks."""
        return None

    @property
    def derived(self) -> Mapping[str, Any]:
        """Nothing: such a use names its tables itself."""
        return {}

    def read(self, wanted: Sequence[Reads], version: str) -> list[Sealed[Any]]:
        """The exact values, sealed, all of the edition that was named before it was paid."""
        pairs = zip(self.each, wanted, strict=True)
        return [table.read([reads], version)[0] for table, reads in pairs]
