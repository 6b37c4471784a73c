"""Small tables behind a policy of their own, and sessions on them, for tests of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import adomnia
from adomnia.curator.answers.answer import tabulate
from adomnia.curator.planning.plan import LossRequest, make_plan
from adomnia.privacy.loss import exact
from adomnia.testing.worlds import World, listed, number
from tests.enforced import released

__all__ = ["Unbooked", "listed", "number", "opened"]

Columns = Mapping[str, Sequence[Any]]


@contextmanager
def opened(
    folder: Path, columns: Columns, domains: Mapping[str, str], privacy: str = "epsilon = 100000"
) -> Iterator[adomnia.Database]:
    """A database on these columns."""
    with World(columns, domains, privacy, table="small").open(folder) as database:
        yield database


class Unbooked:
    """A session that plans and draws noise as the real one does, but keeps no ledger.

    So a model can be fitted hundreds of times in seconds: plans are made and exact values read
    once a question, the noise is drawn anew each time.
    """

    def __init__(self, database: adomnia.Database) -> None:
        self._backend, self.table = database._backend, database.session().table
        self._measured: dict[str, Any] = {}
        self._made = lru_cache(maxsize=1000)(self._make)
        self.plan = lru_cache(maxsize=1000)(database.session().plan)

    def ask(self, sql: str, epsilon: Any) -> Any:
        """An answer with fresh noise."""
        plan = self._made(sql, exact(epsilon))
        found = released(plan, self._backend.table, self)
        table = tabulate(plan, found, 0.95, self._backend.table.attributes)
        spent = {"epsilon": exact(epsilon)}
        return SimpleNamespace(
            rows=table.rows, columns=table.columns, spent=spent, noise=table.noise
        )

    def measure(self, request: Any) -> Any:
        """What the engine measures, sealed; the same request is not read again."""
        place = repr(request)
        if place not in self._measured:
            self._measured[place] = self._backend.engine.measure(request)
        return self._measured[place]

    def _make(self, sql: str, epsilon: Any) -> Any:
        return make_plan(self._backend.bind(sql), self._backend.policy, LossRequest(epsilon))
