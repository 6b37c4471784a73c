"""The desk: a policy, its engine and its ledger, opened together for those who ask."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from adomnia.curator import reading
from adomnia.curator.books import open_journal
from adomnia.curator.doors import CURATOR
from adomnia.curator.knowledge import Knowledge
from adomnia.curator.plan import Asked, make_plan
from adomnia.curator.policy import Policy, line_of
from adomnia.curator.register import released
from adomnia.curator.reuse import Known as Told
from adomnia.curator.reuse import Memory
from adomnia.curator.source import open_engine, read_public
from adomnia.errors import AdomniaError, PolicyError
from adomnia.priors.known import Known
from adomnia.privacy.loss import exact
from adomnia.queries.question import Question
from adomnia.queries.sql.bind import bind
from adomnia.schema.table import Table

__all__ = ["Desk"]


@dataclass
class _Recalled:
    """A memory, and how many answers to each analyst it has looked at."""

    memory: Memory
    counts: dict[str, int]


class Desk:
    """Where a question meets data and budget; sessions sit at it."""

    def __init__(self, policy: Policy, accept: bool = False, source: Any = None) -> None:
        self.policy = policy
        with _located(policy, ("data", "source")):
            self.engine = open_engine(policy, source)
        self.table = _table(policy, self.engine.columns())
        with _located(policy, ("privacy", "unit")):
            self.engine.check(self.table)
        self.journal = open_journal(policy)
        self._binders = lru_cache(maxsize=64)(lambda _: lru_cache(maxsize=512)(self._bound))
        self._memories: dict[tuple[str, str], _Recalled] = {}
        self._public = (-1, Known())
        self.knowledge = Knowledge(policy, self.journal, self.bind, tuple(self.engine.columns()))
        try:
            self.knowledge.add_declared(accept)
            self.knowledge.check_promise(accept)
        except BaseException:
            self.close()
            raise

    def public(self) -> tuple[int, Known]:
        """How many exact releases there are, and what they say together."""
        priors = self.journal.account().priors
        if self._public[0] != len(priors):
            self._public = (len(priors), self.knowledge.known(priors))
        return self._public

    def bind(self, sql: str, analyst: str = CURATOR) -> Question:
        """The question that a statement asks of this data.

        It is remembered for this analyst alone: how long it takes tells of nobody else.
        """
        return self._binders(analyst)(sql)

    def version(self) -> str:
        """A digest that changes when the data does; salted, so that it says nothing else.

        Where the policy declares a version, the data is what the curator says it is.
        """
        declared = self.policy.version
        seen = self.engine.version() if declared is None else f"declared {declared}"
        facts = f"{self.policy.digest}:{seen}"
        return hashlib.sha256(facts.encode()).hexdigest()[:32]

    def known(self, analyst: str) -> Memory:
        """What this analyst has been told of this version of the data, and what everybody was."""
        version, account = self.version(), self.journal.account()
        recalled = self._memories.setdefault((analyst, version), _Recalled(Memory(), {}))
        for name in {analyst, *account.analysts}:
            looked = recalled.counts.get(name, 0)
            answers = list(account.answered(name, looked))
            for receipt in answers:
                body = self.journal.answer(receipt) or {}
                if body.get("version") == version:
                    own = name == analyst and "readings" in body
                    found = self._recall(name, receipt, body) if own else ()
                    for known in (*found, *released(self.policy, body.get("marginals", ()))):
                        recalled.memory.add(replace(known, receipt=receipt))
            recalled.counts[name] = looked + len(answers)
        return recalled.memory

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self.engine.close()
        self.journal.close()

    def _bound(self, sql: str) -> Question:
        return bind(sql, self.table, tuple(self.engine.columns()))

    def _recall(self, analyst: str, receipt: str, body: Mapping[str, Any]) -> list[Told]:
        reserved = self.journal.reservation(receipt)
        assert reserved is not None  # it was answered
        try:
            question = self.bind(str(reserved.body["statement"]), analyst)
            plan = make_plan(question, self.policy, Asked(epsilon=exact(1)))  # its measurements
            found = reading.from_json(body)
        except AdomniaError:
            return []  # it was asked under another policy
        if len(found.parts) != len(plan.steps):
            return []
        return [
            Told(
                question.where, question.keys, step.measurement, part, found.keys, single=part.tied
            )
            for step, part in zip(plan.steps, found.parts, strict=True)
        ]


@contextmanager
def _located(policy: Policy, path: tuple[str, ...]) -> Iterator[None]:
    """An error about what the policy names, with the line that names it."""
    try:
        yield
    except PolicyError as error:
        if error.line is not None:
            raise
        file, line = str(policy.file), line_of(policy, path)
        raise PolicyError(error.message, error.hint, file, line) from None


def _table(policy: Policy, columns: Mapping[str, str]) -> Table:
    """The private table, checked against the columns that the source really has."""
    named = {name: ("attributes", name) for name in policy.attributes}
    if policy.unit is not None:
        named.setdefault(policy.unit, ("privacy", "unit"))
    for name, path in named.items():
        if name not in columns:
            raise PolicyError(
                f"the data has no column {name!r}",
                "its columns are: " + ", ".join(list(columns)[:30]),
                str(policy.file),
                line_of(policy, path),
            )
    bounds = policy.neighbors
    with _located(policy, ("public",)):
        public = read_public(policy)
    return Table(
        policy.table,
        policy.attributes,
        policy.unit,
        bounds.rows or 1,
        public,
        bounds.groups,
        bounds.each,
    )
