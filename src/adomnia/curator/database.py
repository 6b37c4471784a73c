"""The database: a policy, its engine and its ledger, opened together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from adomnia.curator import reading
from adomnia.curator.plan import Asked, make_plan
from adomnia.curator.policy import Policy, read_policy
from adomnia.curator.reuse import Known
from adomnia.curator.session import Session
from adomnia.curator.source import open_engine, read_public
from adomnia.errors import AdomniaError, NotAllowedError, PolicyError
from adomnia.ledger.entry import Entry
from adomnia.ledger.journal import Journal, Verification
from adomnia.ledger.sqlite import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Amount, Loss, exact
from adomnia.queries.question import Question
from adomnia.queries.sql.bind import bind
from adomnia.schema.table import Table

__all__ = ["CURATOR", "Database", "open_database"]

CURATOR = "curator"
"""The name under which questions are asked when no analyst is named."""


class Database:
    """Sensitive data behind its promise. Close it, or use it in a `with` statement."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.journal: Journal = _journal(policy)
        self.engine = open_engine(policy)
        self.table = _table(policy, self.engine.columns())
        self._bind = lru_cache(maxsize=512)(self._bound)
        self._known: dict[str, list[Known]] = {}

    def session(self, analyst: str | None = None, *, name: str | None = None,
                epsilon: Amount | None = None) -> Session:  # fmt: skip
        """A session of an analyst; with an epsilon, it cannot spend more than that.

        A session's budget holds across processes for those that give it the same name.
        """
        who = CURATOR if analyst is None else analyst
        known = self.policy.analysts
        if known and who not in known and analyst is not None:
            raise NotAllowedError(
                f"{str(who)[:80]!r} is not an analyst of this data",
                "the curator names analysts in the policy: [analysts.NAME]",
            )
        if epsilon is None:
            return Session(self, who, name)
        label = name or f"{who}/{hashlib.sha256(str(id(self)).encode()).hexdigest()[:8]}"
        return Session(self, who, label, Budget(epsilon=exact(epsilon)))

    def bind(self, sql: str) -> Question:
        """The question that a statement asks of this data."""
        return self._bind(sql)

    def budget(self) -> dict[str, Any]:
        """What is spent and left: of the data, and of every analyst."""
        account = self.journal.account()
        spent = {name: account.analysts.get(name, Loss()) for name in self.policy.analysts}
        return {
            "data": _state(self.policy.budget, account.total),
            "analysts": {
                name: _state(budget, spent[name]) for name, budget in self.policy.analysts.items()
            },
        }

    def ledger(self) -> list[Entry]:
        """Every entry of the ledger, in order."""
        return list(self.journal.entries())

    def verify(self) -> Verification:
        """Whether the ledger's chain holds, and what is wrong where it does not."""
        return self.journal.verify()

    def version(self) -> str:
        """A digest that changes when the data does; salted, so that it says nothing else."""
        facts = f"{self.policy.digest}:{self.engine.version()}"
        return hashlib.sha256(facts.encode()).hexdigest()[:32]

    def known(self, analyst: str) -> list[Known]:
        """What this analyst has been told of this version of the data."""
        version = self.version()
        out: list[Known] = []
        for receipt, reserved, body in self.journal.account().answers(analyst):
            if body.get("version") != version:
                continue
            if receipt not in self._known:
                self._known[receipt] = self._recall(str(reserved["statement"]), body)
            out += self._known[receipt]
        return out

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self.engine.close()
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _bound(self, sql: str) -> Question:
        return bind(sql, self.table, tuple(self.engine.columns()))

    def _recall(self, statement: str, body: Mapping[str, Any]) -> list[Known]:
        try:
            question = self.bind(statement)
            plan = make_plan(question, self.policy, Asked(epsilon=exact(1)))
            found = reading.from_json(body)
        except AdomniaError:
            return []  # it was asked under another policy
        if len(found.parts) != len(plan.steps):
            return []
        return [
            Known(question.where, question.keys, step.measurement, part, found.keys)
            for step, part in zip(plan.steps, found.parts, strict=True)
        ]


def open_database(policy: str | Path = "adomnia.toml") -> Database:
    """The database that a policy file describes."""
    read = read_policy(policy)
    if not read.confirmed:
        raise PolicyError(
            "the domains are not confirmed",
            "read every domain, correct what must not be public, then set confirmed = true",
            str(read.file),
        )
    return Database(read)


def _journal(policy: Policy) -> Journal:
    if policy.ledger.startswith("postgresql://"):
        raise PolicyError("a ledger in PostgreSQL is not supported yet", "use a file",
                          str(policy.file))  # fmt: skip
    return SqliteJournal(policy.beside(policy.ledger))


def _state(budget: Budget, total: Loss) -> dict[str, str]:
    """Spent and left, in the budget's main currency, with delta beside it where there is one."""
    spent, left = budget.spent(total), budget.remaining(total)
    main = "rho" if budget.rho is not None else "epsilon"
    state = {"spent": str(spent[main]), "remaining": str(left[main]), "unit": main}
    if budget.delta is not None:
        state |= {"delta_spent": str(spent["delta"]), "delta_remaining": str(left["delta"])}
    return state


def _table(policy: Policy, columns: Mapping[str, str]) -> Table:
    """The private table, checked against the columns that the source really has."""
    missing = [name for name in policy.attributes if name not in columns]
    if policy.unit is not None and policy.unit not in columns:
        missing.append(policy.unit)
    if missing:
        from adomnia.curator.policy import line_of  # noqa: PLC0415

        raise PolicyError(
            f"the data has no column {missing[0]!r}",
            "its columns are: " + ", ".join(list(columns)[:30]),
            str(policy.file),
            line_of(policy, missing[0]),
        )
    rows = policy.neighbors.rows or 1
    return Table(policy.table, policy.attributes, policy.unit, rows, read_public(policy))
